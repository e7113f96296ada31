"""The runs that one supervisor holds, and waiting until no process holds a run."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from leadhand.ports import Journal
from leadhand.run.stored import hold_run

POLL_S = 0.5
"""Seconds between two looks whether another process has released a run."""


class HeldRuns:
    """Holds runs of a journal for one supervisor."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._released: dict[str, asyncio.Event] = {}
        """By run that is held here: set once it is not."""

    def __contains__(self, run_id: object) -> bool:
        return run_id in self._released

    @asynccontextmanager
    async def hold(self, run_id: str, *, limit_s: float | None) -> AsyncGenerator[int]:
        """`Journal.hold`. Raises `RunTaken`, and `JournalError` after `limit_s`."""
        released: asyncio.Event | None = None
        try:
            async with hold_run(self._journal, run_id, limit_s=limit_s) as last_seq:
                released = self._released[run_id] = asyncio.Event()
                yield last_seq
        finally:
            if released is not None:
                del self._released[run_id]
                released.set()

    async def until_released(self, run_id: str) -> None:
        """Return once no process holds the run."""
        while True:
            released = self._released.get(run_id)
            if released is not None:
                with suppress(RuntimeError):  # it is held in another event loop: look again
                    await released.wait()
                    return
            elif await self._journal.holder(run_id) is None:
                return
            await asyncio.sleep(POLL_S)
