"""A stored run as a program or a command reads it, once; and the right to write it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from leadhand.contracts.events import Event
from leadhand.errors import InputError, JournalError
from leadhand.ports import Journal
from leadhand.state.fold import RunState, fold

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class StoredRun:
    """The events of a stored run and the state that follows from them."""

    run_id: str
    events: Sequence[Event] = ()
    state: RunState = field(default_factory=RunState)
    """While the run is resumed, its live state."""

    @classmethod
    def of(cls, run_id: str, events: Sequence[Event]) -> "StoredRun":
        """The run with these events. Raises `InputError` if there are none."""
        stored = cls(run_id)
        stored.replace(events)
        return stored

    def replace(self, events: Sequence[Event]) -> None:
        """Make it the run with these events. Raises `InputError` if there are none."""
        if not events:
            raise InputError(f"there is no run {self.run_id!r}")
        self.events, self.state = events, fold(events)


@asynccontextmanager
async def hold_run(journal: Journal, run_id: str, *, limit_s: float | None) -> AsyncGenerator[int]:
    """`journal.hold`. Raises `JournalError` if that takes longer than `limit_s`."""
    async with AsyncExitStack() as stack:
        yield await answer_within(limit_s, stack.enter_async_context(journal.hold(run_id)))


async def answer_within(limit_s: float | None, answer: Awaitable[T]) -> T:
    """What a call of a journal returns. Raises `JournalError` after `limit_s`."""
    timeout = asyncio.timeout(limit_s)
    try:
        async with timeout:
            return await answer
    except TimeoutError:
        if not timeout.expired():
            raise
        raise JournalError(
            f"the journal did not answer within {limit_s:g} s: try again once it does"
        ) from None


INBOX_POLL_S = 0.5
"""Seconds between two looks at a run of another process."""


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
            await asyncio.sleep(INBOX_POLL_S)
