"""A Python function as a worker: async in the event loop, sync in a daemon thread. `run` raises
only the cancellation of its task."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import cast

from leadhand.contracts.outcome import Completed, Escalated, Failed, Handoff, Outcome
from leadhand.engine.failures import failure_of
from leadhand.threads import DaemonThreads
from leadhand.workers.output import outcome_of
from leadhand.workers.returns import outcome_of_none

Function = Callable[[Handoff], object]
"""Takes a handoff; returns an outcome, a `Result` or any plain value, or an awaitable of one."""

_log = logging.getLogger("leadhand")


class FunctionWorker:
    __slots__ = ("_function", "_is_async", "_output", "_retry_on", "_threads")

    def __init__(
        self,
        function: Function,
        *,
        threads: DaemonThreads | None = None,
        output: object = None,
        retry_on: Collection[str] | None = None,
    ) -> None:
        """`threads` run a function that is not async. `retry_on` names the transient exceptions;
        without it, all but the permanent ones."""
        self._function = function
        self._is_async = _is_async(function)
        self._threads = threads or DaemonThreads()
        self._output = output
        self._retry_on = retry_on

    async def run(self, handoff: Handoff) -> Outcome:
        handoff = _with_own_data(handoff)
        try:
            if not self._is_async:
                return await self._run_in_thread(handoff)
            value = await cast("Awaitable[object]", self._function(handoff))
            return self._outcome(value, handoff)
        except asyncio.CancelledError as error:
            if is_being_cancelled():
                raise
            return self._failed(error, handoff)
        except BaseException as error:
            return self._failed(error, handoff)

    async def _run_in_thread(self, handoff: Handoff) -> Outcome:
        name = f"worker {handoff.to_agent!r}, task {handoff.task_id!r}"
        # Quiet: the run reports the functions that have not returned when it ends.
        given = await self._threads.call(self._attempt, handoff, name=name, quiet=True)
        if isinstance(given, Completed | Escalated | Failed):
            return given
        return self._outcome(await given, handoff)

    def _attempt(self, handoff: Handoff) -> Outcome | Awaitable[object]:
        """The outcome of a sync function, or the awaitable that it returned."""
        try:
            value = self._function(handoff)
            if inspect.isawaitable(value):
                return cast("Awaitable[object]", value)
            # In the thread, because converting a large output would block the loop.
            return self._outcome(value, handoff)
        except BaseException as error:
            return self._failed(error, handoff)

    def _outcome(self, value: object, handoff: Handoff) -> Outcome:
        if value is None:
            return outcome_of_none(self._function, self._output, worker=handoff.to_agent)
        # A JSON Schema is for models; functions declare a type.
        output = None if isinstance(self._output, Mapping) else self._output
        return outcome_of(value, output)

    def _failed(self, error: BaseException, handoff: Handoff) -> Failed:
        _log.debug("worker %r failed task %r", handoff.to_agent, handoff.task_id, exc_info=error)
        return failure_of(error, on=self._retry_on)


def _with_own_data(handoff: Handoff) -> Handoff:
    """The handoff with copies of what the function could change for other tasks."""
    shared: dict[str, object] = {
        "inputs": handoff.inputs,
        "origin": handoff.origin,
        "payload": handoff.payload,
    }
    own = {name: mine for name, value in shared.items() if (mine := _copied(value)) is not value}
    return handoff.model_copy(update=own) if any(own.values()) else handoff


def _copied(value: object) -> object:
    """A copy of JSON data. Faster than `copy.deepcopy`, which looks for cycles."""
    if isinstance(value, dict):
        return {name: _copied(one) for name, one in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [_copied(one) for one in cast("list[object]", value)]
    return value


def _is_async(function: Function) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004
    )


def is_being_cancelled() -> bool:
    """Whether the current task is being cancelled, rather than its code raising the exception."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
