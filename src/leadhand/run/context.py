"""What every step of a run works with."""

from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from leadhand.contracts.budget import Budget, LimitName
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.engine.attempts import GRACE_S, Slots
from leadhand.engine.recorder import Recorder
from leadhand.engine.shared_workers import SharedWorkers, TeamPath
from leadhand.planners.levels import Level
from leadhand.plans.planned_workers import with_planned_workers
from leadhand.run.deadline import Deadline
from leadhand.run.people import People
from leadhand.run.roles import Roles
from leadhand.run.stopping import ActiveRun

NESTED_GRACE = 0.6
"""The share of a run's `grace_s` that a nested run has."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What a run's first event keeps, so that another process can resume the run."""

    budget: Budget | None = None
    own_limits: tuple[LimitName, ...] = ()
    inputs: tuple[str, ...] = ()
    """Absolute paths."""
    origin: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """What the program that started the run needs to set it up again."""
    amend: bool = True
    """Whether the plan may be amended; false for a plan of the caller's own without `amend`."""
    has_context: bool = False
    """Whether the run has a context, which itself is not kept."""
    fingerprint: str = ""
    """A digest of what was asked for."""


@dataclass(frozen=True, slots=True)
class Capacity:
    """How much of a run happens at once."""

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

    @classmethod
    def of(cls, concurrency: int, shared_workers: SharedWorkers) -> "Capacity":
        """The capacity of a run that is not nested."""
        return cls(concurrency, shared_workers, Slots(concurrency))

    def within(self, worker: str) -> "Capacity":
        """The capacity of a nested run that does a task of `worker`.

        A task that is broken down has the workers of the run around it.
        """
        path = self.team_path if worker == SUBPLANNER else (*self.team_path, worker)
        return replace(self, team_path=path, grace_s=self.grace_s * NESTED_GRACE)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """What a step works with. A step that changes something of it returns a new one."""

    team: Team
    recorder: Recorder
    roles: Roles
    active: ActiveRun
    people: People | None
    capacity: Capacity
    deadline: Deadline
    unplanned: str | None = None
    """Why there is no plan, if planning failed, ran out of time or budget, or a person refused."""
    late: bool = False
    """Whether a step gave up a model because of the deadline."""

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
        team, capacity = with_planned_workers(self.team, plan), self.capacity
        if team is self.team:
            return self
        made = team.workers[len(self.team.workers) :]
        shared = capacity.shared_workers.with_own(capacity.team_path, made)
        return replace(
            self,
            team=team,
            roles=self.roles.with_team(team),
            capacity=replace(capacity, shared_workers=shared),
        )

    def loop_time(self, elapsed_s: float | None) -> float | None:
        """The event loop's time at `elapsed_s` into the run."""
        return None if elapsed_s is None else self.recorder.monotonic(elapsed_s)

    def with_deadline(self, deadline: Deadline) -> "StepContext":
        """The same with another deadline, which commits keep to as well."""
        self.recorder.wait_for_commits_until(deadline.work_ends_s)
        return replace(self, deadline=deadline)

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
