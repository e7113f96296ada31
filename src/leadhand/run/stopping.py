"""Stopping a run that is under way, in whichever step it is.

That it was told to stop is recorded at once, before its process ends: a process that resumes it
then knows that its tasks were stopped, not the cause of a crash.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

from leadhand.contracts import events
from leadhand.engine.attempts import AbandonableTask
from leadhand.engine.recorder import Recorder
from leadhand.engine.scheduler import Scheduler
from leadhand.errors import JournalError

ROLE_GRACE_S = 0.1
"""How long a cancelled role may take to clean up."""

T = TypeVar("T")


class Cancelled(Exception):
    """The run is to stop."""


class ActiveRun:
    """Stops a run: the handle of `Supervisor.cancel`."""

    def __init__(self) -> None:
        self.reason: str | None = None
        """Why the run is to stop; `None` if it is not."""
        self.on_stop: list[Callable[[str], object]] = []
        """Called with the reason, once, before anything is stopped."""
        self._stopped = asyncio.Event()
        self._scheduler: Scheduler | None = None

    def stop(self, reason: str) -> None:
        """End the step that is under way. The first reason counts."""
        if self.reason is None:
            self.reason = reason
            for call in self.on_stop:
                call(reason)
        self._stopped.set()
        if self._scheduler is not None:
            self._scheduler.stop(self.reason)

    def record_stop(self, reason: str) -> None:
        """Record that the run is interrupted by its program, which cancels its task right after."""
        if self.reason is None:
            for call in self.on_stop:
                call(reason)

    def stop_with(self, scheduler: Scheduler) -> None:
        """Stop `scheduler` as well, from now on."""
        self._scheduler = scheduler
        if self.reason is not None:
            scheduler.stop(self.reason)

    async def unless_stopped(
        self, work: Coroutine[object, object, T], *, until_s: float | None = None
    ) -> T:
        """The result of `work`, as of `run_until`. Raises `Cancelled` if the run is to stop."""
        return await run_until(self._stopped, work, until_s=until_s)


async def run_until(
    stop: asyncio.Event, work: Coroutine[object, object, T], *, until_s: float | None = None
) -> T:
    """The result of `work`.

    Raises `Cancelled` when `stop` is set, and `TimeoutError` at the event loop's time `until_s`;
    work that does not end within `ROLE_GRACE_S` of its cancellation is abandoned.
    """
    abandonable = AbandonableTask(work)
    working = asyncio.ensure_future(abandonable)
    stopping = asyncio.ensure_future(stop.wait())
    left_s = None if until_s is None else until_s - asyncio.get_running_loop().time()
    try:
        await asyncio.wait([working, stopping], timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Cancelled if stopping.done() else TimeoutError
        return working.result()
    finally:
        stopping.cancel()
        working.cancel()
        # A timer: this wait may itself be abandoned, by a run whose grace period is shorter.
        end = asyncio.get_running_loop().call_later(ROLE_GRACE_S, _abandon, abandonable, working)
        try:
            await asyncio.wait([working, stopping])
        finally:  # the run may be cancelled meanwhile, too
            end.cancel()
            _abandon(abandonable, working)
            await asyncio.wait([working])
        if not working.cancelled():
            working.exception()  # retrieved, so that asyncio does not log it


def _abandon(abandonable: AbandonableTask[T], working: asyncio.Future[T]) -> None:
    abandonable.abandon()
    working.cancel()


COMMIT_S = 1.0
"""How long a run that is cancelled may take to commit that."""


@asynccontextmanager
async def stop_recorded(recorder: Recorder, active: ActiveRun) -> AsyncGenerator[None]:
    """While the block lasts, record and commit when the run is told to stop or is cancelled."""
    committing: asyncio.Task[None] | None = None

    def stop(reason: str) -> None:
        nonlocal committing
        state = recorder.state
        if state.phase == "finished" or state.stopped:
            return
        recorder.record(events.RunStopped(**recorder.stamp(), reason=reason))
        committing = asyncio.ensure_future(_commit(recorder))

    active.on_stop.append(stop)
    if active.reason is not None:
        stop(active.reason)
    try:
        yield
    except asyncio.CancelledError:
        stop("the run was cancelled by its program")
        raise
    finally:
        if committing is not None:
            await asyncio.wait([committing], timeout=COMMIT_S)
            committing.cancel()


async def _commit(recorder: Recorder) -> None:
    with suppress(JournalError):  # the run's own commits raise it
        await recorder.commit()
