"""A plain Python function as a worker: async in the event loop, sync in a daemon thread.

Whatever the function does, `run` gives an outcome; the one exception that leaves it is the
cancellation of the very task that awaits it.
"""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import cast

from leadhand.contracts.outcome import Completed, Escalated, Failed, Handoff, Outcome
from leadhand.engine.failures import failure_of
from leadhand.workers.output import outcome_of
from leadhand.workers.returns import outcome_of_nothing
from leadhand.workers.threads import DaemonThreads

Function = Callable[[Handoff], object]
"""Takes a handoff; returns an outcome, a `Result` or any plain value, or an awaitable of one."""

_log = logging.getLogger("leadhand")


class FunctionWorker:
    """A `Runner` over a function."""

    __slots__ = ("_function", "_is_async", "_output", "_retry_on", "_threads")

    def __init__(
        self,
        function: Function,
        *,
        threads: DaemonThreads | None = None,
        output: object = None,
        retry_on: Collection[str] | None = None,
    ) -> None:
        """`threads` run a function that is not async; `output` is the type it must return.

        `retry_on` names the exceptions that are transient, if not all but the permanent ones are.
        """
        self._function = function
        self._is_async = _is_async(function)
        self._threads = threads or DaemonThreads()
        self._output = output
        self._retry_on = retry_on

    async def run(self, handoff: Handoff) -> Outcome:
        """One attempt at one task."""
        try:
            if not self._is_async:
                return await self._run_in_thread(handoff)
            value = await cast("Awaitable[object]", self._function(handoff))
            return self._outcome(value, handoff)
        except asyncio.CancelledError as error:
            if _is_being_cancelled():
                raise
            return self._failed(error, handoff)
        except BaseException as error:
            return self._failed(error, handoff)

    async def _run_in_thread(self, handoff: Handoff) -> Outcome:
        name = f"worker {handoff.to_agent!r}, task {handoff.task_id!r}"
        # Quiet: the run names the functions that have not returned when it ends.
        given = await self._threads.call(self._attempt, handoff, name=name, quiet=True)
        if isinstance(given, Completed | Escalated | Failed):
            return given
        return self._outcome(await given, handoff)

    def _attempt(self, handoff: Handoff) -> Outcome | Awaitable[object]:
        """The outcome of a sync function; of one that proves to be async, what to await."""
        try:
            value = self._function(handoff)
            if inspect.isawaitable(value):
                return cast("Awaitable[object]", value)
            # Here rather than in the loop: making a large output plain takes a while.
            return self._outcome(value, handoff)
        except BaseException as error:
            return self._failed(error, handoff)

    def _outcome(self, value: object, handoff: Handoff) -> Outcome:
        if value is None:
            return outcome_of_nothing(self._function, self._output, worker=handoff.to_agent)
        # A JSON Schema binds models alone: a function's author declares a type.
        output = None if isinstance(self._output, Mapping) else self._output
        return outcome_of(value, output)

    def _failed(self, error: BaseException, handoff: Handoff) -> Failed:
        _log.debug("worker %r failed task %r", handoff.to_agent, handoff.task_id, exc_info=error)
        return failure_of(error, on=self._retry_on)


def _is_async(function: Function) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004
    )


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
