"""The runs that one supervisor holds, and waiting until no process holds a run."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from leadhand.ports import Journal
from leadhand.run.stored import hold_run

POLL_S = 0.5
"""Seconds between two looks whether another process has released a run."""


class HeldRuns:
    """Holds runs of a journal for one supervisor."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._released: dict[str, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}
        """By run that is held here: the loop that works on it, and what is set once it ends."""

    def __contains__(self, run_id: object) -> bool:
        return run_id in self._released

    @asynccontextmanager
    async def hold(self, run_id: str, *, limit_s: float | None) -> AsyncGenerator[int]:
        """`Journal.hold`. Raises `RunTaken`, and `JournalError` after `limit_s`."""
        held = asyncio.get_running_loop(), asyncio.Event()
        try:
            async with hold_run(self._journal, run_id, limit_s=limit_s) as last_seq:
                self._released[run_id] = held
                yield last_seq
        finally:
            # The next call may hold it already.
            if self._released.get(run_id) is held:
                del self._released[run_id]
            held[1].set()

    async def until_released(
        self, run_id: str, *, on_wait: Callable[[], object] = lambda: None
    ) -> None:
        """Return once no process holds the run. `on_wait` is called if one does."""
        while True:
            loop, released = self._released.get(run_id, (None, None))
            if released is not None:
                on_wait()
            if released is not None and loop is asyncio.get_running_loop():
                await released.wait()
                return
            # An event of another loop does not wake this one.
            if released is None and await self._journal.holder(run_id) is None:
                return
            on_wait()
            await asyncio.sleep(POLL_S)
