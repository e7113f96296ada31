"""A stored run as a program or a command reads it, once; and the right to write it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Sequence
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
