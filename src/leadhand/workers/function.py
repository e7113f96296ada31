"""A plain Python function as a worker: async in the event loop, sync in a daemon thread.

Whatever the function does, `run` gives an outcome; the one exception that leaves it is the
cancellation of the very task that awaits it.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import cast

from leadhand.contracts.outcome import Completed, Escalated, Failed, Handoff, Outcome
from leadhand.workers.output import failure_of, outcome_of
from leadhand.workers.threads import DaemonThreads

Function = Callable[[Handoff], object]
"""Takes a handoff; returns an outcome, a `Result` or any plain value, or an awaitable of one."""

_log = logging.getLogger("leadhand")


class FunctionWorker:
    """A `Runner` over a function."""

    __slots__ = ("_function", "_is_async", "_output", "_threads")

    def __init__(
        self,
        function: Function,
        *,
        threads: DaemonThreads | None = None,
        output: object = None,
    ) -> None:
        """`threads` run a function that is not async; `output` is the type it must return."""
        self._function = function
        self._is_async = _is_async(function)
        self._threads = threads or DaemonThreads()
        self._output = output

    async def run(self, handoff: Handoff) -> Outcome:
        """One attempt at one task."""
        try:
            if not self._is_async:
                return await self._run_in_thread(handoff)
            value = await cast("Awaitable[object]", self._function(handoff))
            return outcome_of(value, self._output)
        except asyncio.CancelledError as error:
            if _is_being_cancelled():
                raise
            return _failed(error, handoff)
        except BaseException as error:
            return _failed(error, handoff)

    async def _run_in_thread(self, handoff: Handoff) -> Outcome:
        name = f"worker {handoff.to_agent!r}, task {handoff.task_id!r}"
        given = await self._threads.call(self._attempt, handoff, name=name)
        if isinstance(given, Completed | Escalated | Failed):
            return given
        return outcome_of(await given, self._output)

    def _attempt(self, handoff: Handoff) -> Outcome | Awaitable[object]:
        """The outcome of a sync function; of one that proves to be async, what to await."""
        try:
            value = self._function(handoff)
            if inspect.isawaitable(value):
                return cast("Awaitable[object]", value)
            # Here rather than in the loop: making a large output plain takes a while.
            return outcome_of(value, self._output)
        except BaseException as error:
            return _failed(error, handoff)


def _is_async(function: Function) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004
    )


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _failed(error: BaseException, handoff: Handoff) -> Failed:
    _log.debug("worker %r failed task %r", handoff.to_agent, handoff.task_id, exc_info=error)
    return failure_of(error)
