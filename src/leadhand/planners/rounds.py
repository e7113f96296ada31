"""The first round of a stepwise planner, whose tasks are the first plan of the run."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from leadhand.contracts.rounds import Decision
from leadhand.contracts.task import Plan, PlanRequest
from leadhand.contracts.team import Team
from leadhand.engine.rounds import checked, next_round, repeats
from leadhand.errors import ModelError, PlanError
from leadhand.plans.checks import Problem, check, errors_in
from leadhand.ports import Decider
from leadhand.state.fold import RunState

Decided = Callable[[Decision], None]


class StepwisePlanner:
    """Plans what its decider decides in round 1."""

    def __init__(
        self,
        decider: Decider,
        state: RunState,
        *,
        decided: Decided,
        rejected: Callable[[Plan | None, Sequence[str]], None],
    ) -> None:
        """`decided` is called with the decision, `rejected` with the problems of one before it."""
        self.decider = decider
        self._state = state
        self._decided = decided
        self._rejected = rejected

    @property
    def name(self) -> str:
        """The decider's."""
        return self.decider.name

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """The tasks to start with. Raises `PlanError` and `ModelError`."""

        def plan_of(decision: Decision) -> Plan:
            return Plan(
                goal=request.text,
                tasks=decision.tasks,
                synthesis=team.synthesis,
                max_rounds=None if decision.done else team.planner.max_rounds,
            )

        def problems(decision: Decision) -> Sequence[str]:
            sound = checked(decision)
            if isinstance(sound, str):
                return (sound,)
            plan = plan_of(sound)
            found = _checked(plan, request, team)
            messages = [problem.message for problem in found]
            if messages:
                self._rejected(plan if plan.tasks else None, messages)
            return messages

        now = replace(
            next_round(self._state, team),
            request=request.text,
            inputs=request.inputs,
            after=request.after,
        )
        decision = checked(await self.decider.decide(now, problems=problems))
        if isinstance(decision, str):
            raise ModelError(decision, transient=False)
        plan = plan_of(decision)
        if found := _checked(plan, request, team):
            raise PlanError(found)
        self._decided(decision)
        return plan


def _checked(plan: Plan, request: PlanRequest, team: Team) -> Sequence[Problem]:
    """The errors of a plan."""
    found = check(plan, team, author="model", request=request.text, earlier=request.earlier)
    repeated = (Problem("repeated_task", message) for message in repeats(plan.tasks, ()))
    return (*errors_in(found), *repeated)
