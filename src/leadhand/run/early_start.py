"""Starting tasks of a run while its planner still writes the plan."""

import asyncio
from collections.abc import Collection
from dataclasses import replace
from types import TracebackType
from typing import Self

from leadhand.contracts import events
from leadhand.contracts.task import Plan, Task
from leadhand.ports import TeamRunner
from leadhand.run.context import StepContext
from leadhand.run.work_step import WorkStep
from leadhand.state.run_events import kept

NOT_IN_PLAN = "it was started early, and the final plan does not have it in this form"


class EarlyStart:
    """The work that begins while there is no plan, for the length of an `async with` block."""

    def __init__(self, context: StepContext, *, teams: TeamRunner, given: Plan | None) -> None:
        """Nothing starts early if a plan was `given`, or if a person has to approve plans."""
        self._context = context
        self._state = context.recorder.state
        self._step = WorkStep(context, teams=teams, growing=True)
        self._work: asyncio.Task[bool] | None = None
        people = context.people
        asks = people is not None and "plan" in people.occasions
        self._allowed = context.team.early_start and given is None and not asks

    async def __aenter__(self) -> Self:
        if self._allowed and self._state.proposed is None:
            self._context.roles.resources.early.start = self._start
            if any(not task.ended for task in self._state.tasks.values()):
                self._begin()  # they had started when the run was interrupted
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._context.roles.resources.early.start = None
        if self._work is not None and not self._work.done():
            self._work.cancel()
            await asyncio.wait([self._work])

    def _begin(self) -> None:
        self._work = asyncio.get_running_loop().create_task(self._step.run(), name="early-start")

    def _start(self, task: Task) -> None:
        """Record a task of the unfinished plan, and start it, unless the run is about to stop."""
        recorder, account = self._context.recorder, self._context.roles.account
        growing = self._step.growing_plan
        stops = (
            self._context.active.reason is not None
            or (account is not None and account.used_up is not None)
            or (growing is not None and not growing.may_grow)
            or (self._work is not None and self._work.done())
        )
        if stops:
            return
        by = self._context.roles.planner.name
        stamp = recorder.task_stamp(task.id, 0)
        recorder.record(events.TaskPlanned(**stamp, task=task, by=by))
        if growing is not None:
            growing.add(task)
        elif self._work is None:
            self._begin()

    async def drop_others(self, plan: Plan) -> None:
        """Cancel the tasks that `plan` does not have as they were started."""
        self._context.roles.resources.early.start = None
        dropped = self._state.tasks.keys() - kept(self._state, plan)
        if not dropped:
            return
        if self._step.growing_plan is not None:
            await self._step.growing_plan.cancel(dropped, reason=NOT_IN_PLAN)
        else:
            await self._stop_opening()
            self._cancel(dropped)

    def accepted(self) -> None:
        """Continue with the plan that was accepted."""
        self._step.growing = False
        if self._step.growing_plan is not None and self._is_working:
            self._step.growing_plan.accepted()

    async def finish(self, context: StepContext) -> tuple[StepContext, bool]:
        """Wait for the work that has begun, after planning left `context`.

        Returns the context now, and whether all that is left waits for a person. Without a plan
        only tasks that run may end.
        """
        if self._state.plan is None and self._state.tasks:
            why = f"there is no plan: {context.unplanned or context.active.reason}"
            if self._step.growing_plan is None:
                await self._stop_opening()
                self._step.cancel_all(why)
            elif self._is_working:
                self._step.growing_plan.failed(why)
        waits = False if self._work is None else await self._work
        left = self._step.context
        if left.roles is not self._context.roles:
            context = replace(context, roles=left.roles)
        return replace(context, late=context.late or left.late), waits

    @property
    def _is_working(self) -> bool:
        return self._work is not None and not self._work.done()

    async def _stop_opening(self) -> None:
        """Stop work of which no task has started, as its tools are not ready."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.wait([self._work])
            self._work = None

    def _cancel(self, ids: Collection[str]) -> None:
        recorder = self._context.recorder
        for id in ids:
            task = self._state.tasks[id]
            if not task.ended:
                stamp = recorder.task_stamp(id, task.attempts)
                recorder.record(events.TaskCancelled(**stamp, reason=NOT_IN_PLAN))
