"""The first round of a stepwise planner, whose tasks are the first plan of the run."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from leadhand.contracts import events
from leadhand.contracts.planner_kinds import Decision
from leadhand.contracts.task import Plan, PlanRequest
from leadhand.contracts.team import Team
from leadhand.engine.recorder import Recorder
from leadhand.engine.rounds import checked, next_round, repeats
from leadhand.errors import ModelError, PlanError
from leadhand.plans.checks import Problem, check, errors_in
from leadhand.ports import Decider
from leadhand.untrusted.fence import Fence

if TYPE_CHECKING:
    from leadhand.models.calls import Caller


class StepwisePlanner:
    def __init__(self, decider: Decider, recorder: Recorder) -> None:
        self.decider = decider
        self._recorder = recorder

    @property
    def name(self) -> str:
        return self.decider.name

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """Raises `PlanError` if the decisions stay invalid, and `ModelError` if none came."""
        rejected: Sequence[Problem] = ()

        def plan_of(decision: Decision) -> Plan:
            return Plan(
                goal=request.text,
                tasks=decision.tasks,
                synthesis=team.synthesis,
                max_rounds=None if decision.done else team.planner.max_rounds,
            )

        def problems(decision: Decision) -> Sequence[str]:
            nonlocal rejected
            sound = checked(decision)
            if isinstance(sound, str):
                return (sound,)
            plan = plan_of(sound)
            rejected = found = _checked(plan, request, team)
            messages = [problem.message for problem in found]
            if not plan.tasks:
                messages = ["put at least one task into `tasks`: none runs yet"]
            if messages:
                record_rejected(self._recorder, self.name, plan if plan.tasks else None, messages)
            return messages

        now = replace(
            next_round(self._recorder.state, team),
            request=request.text,
            inputs=request.inputs,
            after=request.after,
        )
        try:
            decision = checked(await self.decider.decide(now, problems=problems))
        except ModelError as error:
            if rejected and not error.transient:
                raise PlanError(rejected) from error  # the model answers: others can use it
            raise
        if isinstance(decision, str):
            raise ModelError(decision, transient=False)
        plan = plan_of(decision)
        if found := _checked(plan, request, team):
            raise PlanError(found)
        # The plan that follows has its tasks.
        self._recorder.record(
            events.RoundDecided(
                **self._recorder.stamp(),
                round=1,
                reason=decision.reason,
                by=self.name,
                asks_after=decision.asks_after,
                end="done" if decision.done else None,
            )
        )
        return plan


def record_rejected(
    recorder: Recorder, by: str, plan: Plan | None, problems: Sequence[str]
) -> None:
    """Record a proposal that the planner has to fix; None if it could not be read."""
    if plan is not None:
        recorder.record(events.PlanProposed(**recorder.stamp(), plan=plan, by=by))
    recorder.record(events.PlanRejected(**recorder.stamp(), problems=tuple(problems)))


def stepwise(
    caller: "Caller", team: Team, fence: Fence, recorder: Recorder, **_: object
) -> StepwisePlanner:
    from leadhand.planners.stepwise import ModelDecider

    return StepwisePlanner(ModelDecider(caller, team, fence), recorder)


def _checked(plan: Plan, request: PlanRequest, team: Team) -> Sequence[Problem]:
    found = check(plan, team, author="model", request=request.text, earlier=request.earlier)
    repeated = (Problem("repeated_task", message) for message in repeats(plan.tasks, ()))
    return (*errors_in(found), *repeated)
