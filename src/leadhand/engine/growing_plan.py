"""A plan that is still being written while its first tasks run.

Until there is a plan, no task is tried again or handed to another worker, no person is asked about
one, and no result changes the plan: all of this follows afterwards.
"""

import asyncio
from collections.abc import Callable, Collection

from leadhand.contracts.outcome import Outcome
from leadhand.contracts.task import Task
from leadhand.engine.attempts import Attempt, Attempts
from leadhand.engine.call_approvals import CallApprovals
from leadhand.engine.recovery import Recovery
from leadhand.engine.run_tasks import RunTasks
from leadhand.state.fold import RunState


class GrowingPlan:
    """What the planner does to the tasks of a run that has started."""

    def __init__(
        self,
        state: RunState,
        tasks: RunTasks,
        attempts: Attempts,
        recovery: Recovery,
        call_approvals: CallApprovals,
        handle: Callable[[Attempt, Outcome | None], None],
        stop: Callable[[str], None],
    ) -> None:
        """`handle` handles an attempt that ended; `stop` starts no more tasks, for a reason."""
        self._state = state
        self._tasks = tasks
        self._attempts = attempts
        self._recovery = recovery
        self._call_approvals = call_approvals
        self._handle = handle
        self._stop = stop

    @property
    def may_grow(self) -> bool:
        """Whether the planner may still add tasks."""
        return self._tasks.growing and self._tasks.stopped is None

    def add(self, task: Task) -> None:
        """Start a task that is recorded already, once its dependencies have ended."""
        self._tasks.amend((task,), (), ())

    async def cancel(self, ids: Collection[str], *, reason: str) -> None:
        """Cancel tasks that the plan does not have. Returns once none of them runs."""
        self._tasks.withdraw(ids)
        attempts = [one for id, one in self._attempts.running.items() if id in ids]
        for attempt in attempts:
            self._attempts.request_stop(attempt, reason)
        for id in ids:
            task = self._state.tasks[id]
            if not task.ended and id not in self._attempts.running:
                self._tasks.cancel(id, task.attempts, reason=reason)
        if works := [one.work for one in attempts if one.work is not None]:
            await asyncio.wait(works)  # those that do not stop in time are abandoned
        while self._attempts.ended:
            self._handle(*self._attempts.ended.popleft())

    def accepted(self) -> None:
        """Continue with the accepted plan: its other tasks start too."""
        self._tasks.adopt()
        if self._tasks.stopped is None:
            self._recovery.resume()
            self._call_approvals.ask_postponed()
        else:
            self._tasks.cancel_waiting(running=self._attempts.running)

    def failed(self, why: str) -> None:
        """There is no plan: what runs may end, and nothing else starts."""
        self._tasks.growing = False
        self._stop(why)
