"""What every step of a run works with: its roles, deadline, budget and capacity."""

from dataclasses import dataclass, replace

from leadhand.contracts import events
from leadhand.contracts.budget import Budget
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.engine.attempts import GRACE_S
from leadhand.engine.recorder import Recorder
from leadhand.engine.shared_workers import SharedWorkers, Slots, TeamPath
from leadhand.models.ledger import Account, Amount, Ledger, nano_usd
from leadhand.planners.levels import Level
from leadhand.plans.planned_workers import with_planned_workers
from leadhand.run.people import People
from leadhand.run.roles import Roles
from leadhand.run.settings import RESERVE
from leadhand.run.stopping import ActiveRun

MAX_RESERVE_S = 60.0


def account_of(budget: Budget | None, recorder: Recorder) -> Account | None:
    """What a run may still spend, after what it spent before it was resumed; `None`: no limit."""
    if budget is None:
        return None
    calls = [event for event in recorder.past if isinstance(event, events.ModelCalled)]
    spent = Amount(
        len(calls),
        sum(call.input_tokens + call.output_tokens for call in calls),
        sum(nano_usd(call.cost_usd or 0.0) for call in calls),
    )
    return Account(Ledger(budget, spent=spent))


NESTED_GRACE = 0.6
"""The share of a run's `grace_s` that a nested run has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """What a step works with. A step that changes something of it returns a new one.

    Its times are seconds into the run, as in the events.
    """

    team: Team
    recorder: Recorder
    roles: Roles
    active: ActiveRun
    people: People | None
    concurrency: int
    """Tasks at once."""
    shared_workers: SharedWorkers
    """Shared by all runs of a supervisor."""
    slots: Slots
    """Shared by a run and all runs nested in it."""
    team_path: TeamPath = ()
    """The workers that a nested run is within."""
    grace_s: float = GRACE_S
    """How long work may take to stop."""
    limit_s: float | None = None
    """How many seconds the run has, from when it starts or is resumed; `None` for no limit."""
    due_s: float | None = None
    """When the answer is due."""
    reserve_s: float = 0.0
    """How long before that work stops, to leave time for the synthesis."""
    unplanned: str | None = None
    """Why there is no plan, if planning failed, ran out of time or budget, or a person refused."""
    late: bool = False
    """Whether a step gave up a model because of the deadline."""

    @classmethod
    def of(
        cls,
        team: Team,
        recorder: Recorder,
        roles: Roles,
        *,
        active: ActiveRun,
        deadline_s: float | None,
        concurrency: int,
        shared_workers: SharedWorkers,
        people: People | None = None,
    ) -> "StepContext":
        """What a run that is not nested begins with."""
        context = cls(
            team=team,
            recorder=recorder,
            roles=roles,
            active=active,
            people=people,
            concurrency=concurrency,
            shared_workers=shared_workers,
            slots=Slots(concurrency),
        )
        return context._due_in(deadline_s)

    def within(
        self,
        team: Team,
        recorder: Recorder,
        task: Handoff,
        *,
        request: str,
        active: ActiveRun,
        people: People | None,
        deadline_s: float | None,
    ) -> "StepContext":
        """What a run of `team` within this one begins with, which does `task`.

        A task that is broken down has the workers of the run around it.
        """
        path = self.team_path
        context = replace(
            self,
            team=team,
            recorder=recorder,
            roles=self.roles.nested(team, recorder, task, request=request),
            active=active,
            people=people,
            team_path=path if task.to_agent == SUBPLANNER else (*path, task.to_agent),
            grace_s=self.grace_s * NESTED_GRACE,
            unplanned=None,
            late=False,
        )
        return context._due_in(deadline_s)

    def _due_in(self, limit_s: float | None) -> "StepContext":
        """The same with a deadline, which counts from when the recorder was made."""
        if limit_s is None:
            return replace(self, limit_s=None, due_s=None, reserve_s=0.0)
        by_model = self.roles.synthesizer.calls_model
        reserve_s = min(RESERVE * limit_s, MAX_RESERVE_S) if by_model else 0.0
        due_s = self.recorder.began_s + limit_s
        return replace(self, limit_s=limit_s, due_s=due_s, reserve_s=reserve_s)

    @property
    def work_ends_s(self) -> float | None:
        """When work has to stop."""
        return None if self.due_s is None else self.due_s - self.reserve_s

    @property
    def is_nested(self) -> bool:
        """Whether this run does a task of another run."""
        return bool(self.recorder.path)

    @property
    def level(self) -> Level | None:
        """The place of the plan, if the planner is recursive."""
        return self.roles.resources.level

    @property
    def breaks_down(self) -> bool:
        """Whether the plan breaks down a task of the plan around it."""
        return self.level is not None and self.level.is_nested

    def with_workers_of(self, plan: Plan) -> "StepContext":
        """The same with the team that carries out `plan`: with the workers that it describes.

        They last as long as this run, and so do their queues and breakers.
        """
        team = with_planned_workers(self.team, plan)
        if team is self.team:
            return self
        made = team.workers[len(self.team.workers) :]
        shared = self.shared_workers.with_own(self.team_path, made)
        return replace(self, team=team, roles=self.roles.with_team(team), shared_workers=shared)

    def loop_time(self, elapsed_s: float | None) -> float | None:
        """The event loop's time at `elapsed_s` into the run."""
        return None if elapsed_s is None else self.recorder.monotonic(elapsed_s)

    def without_reserve(self) -> "StepContext":
        """The same with all the time for work: the synthesis calls no model."""
        return replace(self, reserve_s=0.0)._kept_in_time()

    def extended(self, seconds: float) -> "StepContext":
        """The same, due later by `seconds` in which the run only waited for a person."""
        due_s = None if self.due_s is None else self.due_s + seconds
        return replace(self, due_s=due_s)._kept_in_time()

    def _kept_in_time(self) -> "StepContext":
        """The same, once commits keep to its deadline as well."""
        self.recorder.wait_for_commits_until(self.work_ends_s)
        return self

    def without_models(self, why: str) -> "StepContext | None":
        """The same with code in all roles, because no model is available any more.

        Here and in the runs around this one, workers use their offline code from now on. `None`,
        and nothing changes, if not all workers of the team have such code.
        """
        roles = self.roles.without_models()
        if roles is None:
            return None
        roles.offline_switch.switch_on_everywhere(why)
        return replace(self, roles=roles)
