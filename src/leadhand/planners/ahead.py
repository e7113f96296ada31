"""The model planner: shows a model the request and the team, and gets a valid plan from it.

It has no tools, and the model sees only texts of the user and the team's author; of the runs that a
request follows, digests as data.
"""

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial

from leadhand import ports
from leadhand.contracts.task import EarlierRun, Plan
from leadhand.contracts.team import Team
from leadhand.engine.recorder import Recorder
from leadhand.errors import PlanError
from leadhand.models.calls import Caller, CallRequest
from leadhand.models.exchange import PieceListener
from leadhand.models.prompts import joined, prompt
from leadhand.models.request import PLAN_TOKENS
from leadhand.models.structured import MAX_REPAIRS, BadAnswer, StructuredAnswer, ask_structured
from leadhand.planners import earlier_runs
from leadhand.planners.early_tasks import EarlyTasks, SoundTasks, told
from leadhand.planners.first_round import record_rejected
from leadhand.planners.levels import Level
from leadhand.planners.proposal import (
    catalogue,
    data_in,
    form,
    proposed,
    proposed_task,
    roster,
    shortened,
    without_needs,
)
from leadhand.planners.task_reader import TaskReader
from leadhand.plans.checks import Problem, check, errors_in
from leadhand.untrusted.fence import Fence

_PACKAGE = "leadhand.planners"

Rejected = Callable[[Plan | None, Sequence[str]], None]
"""None if it could not be parsed."""


@dataclass(frozen=True, slots=True)
class ModelPlanner:
    name = "planner"

    caller: Caller
    fence: Fence
    _: KW_ONLY
    rejected: Rejected
    level: Level | None = None
    early: EarlyTasks | None = None

    async def plan(self, request: ports.PlanRequest, team: Team) -> Plan:
        """A plan without errors. Raises `PlanError` with every problem of the last proposal if
        repairs didn't help, and `ModelError` if no model answered, or no answer contained a
        proposal."""
        proposals = itertools.count(1)

        def read(answer: StructuredAnswer) -> Plan:
            plan, problems = self._read(answer, request, team)
            if plan is not None and not problems:
                return plan
            if next(proposals) > MAX_REPAIRS:
                raise PlanError(problems)
            said = shortened([problem.message for problem in problems])
            self.rejected(plan, said)
            raise BadAnswer(_numbered(said))

        return await ask_structured(
            self.caller,
            self.caller.planning_requester(self.name),
            self._question(request),
            request=_asked(team, request.after),
            models=team.models_of(team.planner),
            read=read,
            follow=self._follow(request, team),
        )

    def _question(self, request: ports.PlanRequest) -> str:
        inputs = " ".join(request.inputs.split())
        before = earlier_runs.shown(request.after, self.fence)
        around = self.level.shown(self.fence) if self.level is not None else ""
        known = f"Inputs: {inputs}" if inputs else ""
        asked = f"Plan this request:\n\n{request.text}"
        return joined(asked, known, before, around, told(self.early))

    def _read(
        self, answer: StructuredAnswer, request: ports.PlanRequest, team: Team
    ) -> tuple[Plan | None, Sequence[Problem]]:
        """None if it can't be parsed."""
        data = data_in(answer, "plan")
        plan = proposed(data, request.text, team, with_artifacts=bool(request.after))
        if not isinstance(plan, Plan):
            return None, plan
        tasks, removed = without_needs(plan.tasks)
        if removed:
            self.rejected(plan, [removed])
            plan = plan.model_copy(update={"tasks": tasks})
        found = check(plan, team, author="model", request=request.text, earlier=request.earlier)
        deeper = self.level.problems(plan) if self.level is not None else ()
        return plan, [*errors_in(found), *deeper]

    def _follow(self, request: ports.PlanRequest, team: Team) -> Callable[[], PieceListener] | None:
        """Makes a listener for each plan as it is written; None if no task may start early."""
        early = self.early
        if early is None or early.start is None:
            return None

        def listener() -> PieceListener:
            tasks = SoundTasks(early, request, team)
            readers: defaultdict[int, TaskReader] = defaultdict(TaskReader)

            def hear(part: int, piece: str) -> None:
                for data in readers[part].feed(piece):
                    tasks.add(proposed_task(data, team, with_artifacts=bool(request.after)))

            return hear

        return listener


def _asked(team: Team, after: Sequence[EarlierRun]) -> CallRequest:
    role = team.planner
    if role.plain:
        return CallRequest(role.instructions, settings=role.settings)
    factory = team.worker_factory
    last = prompt(_PACKAGE, "last") if team.synthesis == "last" else ""
    instructions = joined(
        prompt(_PACKAGE, "planner"),
        roster(team.workers) or "It has no workers.",
        joined(prompt(_PACKAGE, "factory"), catalogue(factory)) if factory is not None else "",
        last,
        prompt(_PACKAGE, "recursive") if team.subplanner is not None else "",
        prompt(_PACKAGE, "early_start") if team.early_start else "",
        earlier_runs.rules(after),
        role.instructions,
    )
    return CallRequest(
        instructions,
        output=form(team, after, factory=factory),
        settings=role.settings,
        answers=role.answers,
        tokens=PLAN_TOKENS,
    )


def _numbered(problems: Sequence[str]) -> str:
    lines = (f"{number}. {problem}" for number, problem in enumerate(problems, start=1))
    return joined(prompt(_PACKAGE, "rejected"), "\n".join(lines))


def ahead(
    caller: Caller,
    _: Team,
    fence: Fence,
    recorder: Recorder,
    *,
    level: Level | None,
    early: EarlyTasks | None,
) -> ModelPlanner:
    """The planner of the kinds that write whole plans."""
    rejected = partial(record_rejected, recorder, ModelPlanner.name)
    return ModelPlanner(caller, fence, rejected=rejected, level=level, early=early)
