"""A run under way, and what stops it: once told, whichever step it is in comes to its end."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

from leadhand.engine.attempts import AbandonableTask
from leadhand.engine.scheduler import Scheduler

GRACE_S = 0.1
"""How long a role that was told to stop may take to clean up."""

T = TypeVar("T")


class Cancelled(Exception):
    """Whoever was at work was told to stop."""


class ActiveRun:
    """What `Supervisor.cancel` speaks to."""

    def __init__(self) -> None:
        self.reason: str | None = None
        """Why it was told to stop; none while it goes on."""
        self.on_stop: list[Callable[[str], object]] = []
        """What is called with the reason, once, before anything is stopped."""
        self._told = asyncio.Event()
        self._scheduler: Scheduler | None = None

    def stop(self, reason: str) -> None:
        """End the step that is under way; the first reason stands."""
        if self.reason is None:
            self.reason = reason
            for call in self.on_stop:
                call(reason)
        self._told.set()
        if self._scheduler is not None:
            self._scheduler.stop(self.reason)

    def works_with(self, scheduler: Scheduler) -> None:
        """From now on the work is `scheduler`'s to stop."""
        self._scheduler = scheduler
        if self.reason is not None:
            scheduler.stop(self.reason)

    async def unless_stopped(
        self, work: Coroutine[object, object, T], *, until_s: float | None = None
    ) -> T:
        """What `work` gives, as `unless` says; `Cancelled` means that the run is to stop."""
        return await unless(self._told, work, until_s=until_s)


async def unless(
    told: asyncio.Event, work: Coroutine[object, object, T], *, until_s: float | None = None
) -> T:
    """What `work` gives, within `GRACE_S` of the moment that ends the wait for it.

    Raises `Cancelled` as soon as `told` is set, and `TimeoutError` at the event loop's time
    `until_s`. Work that goes on all the same is let go of.
    """
    leash = AbandonableTask(work)
    working = asyncio.ensure_future(leash)
    telling = asyncio.ensure_future(told.wait())
    left_s = None if until_s is None else until_s - asyncio.get_running_loop().time()
    try:
        await asyncio.wait([working, telling], timeout=left_s, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Cancelled if telling.done() else TimeoutError
        return working.result()
    finally:
        telling.cancel()
        working.cancel()
        await asyncio.wait([working, telling], timeout=GRACE_S)
        leash.abandon()
        working.cancel()
        await asyncio.wait([working])
        if not working.cancelled():
            working.exception()  # what it raised on its way out is of no interest
