"""The journal over a store: what may block is done in threads, with a limit."""

import asyncio
import contextlib
import datetime as dt
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import ParamSpec, TypeVar

from leadhand.contracts.events import Event
from leadhand.contracts.people import RunMessage
from leadhand.contracts.summary import Inspection, RunSummary
from leadhand.errors import JournalError
from leadhand.journal.store import Store
from leadhand.threads import DaemonThreads

PATIENCE_S = 60.0
"""How long a call may take."""
RELEASE_S = 0.5
"""How long the end of a run waits for its release, which continues in its thread."""

P = ParamSpec("P")
R = TypeVar("R")

_threads = DaemonThreads(idle_s=1.0)


class StoreJournal:
    """A journal over a store, which describes the methods."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def append(self, event: Event) -> None:
        self.store.append(event)

    async def commit(self, run_id: str | None = None) -> None:
        await self.store.commit(run_id)

    async def events(self, run_id: str, *, after_seq: int = 0) -> Sequence[Event]:
        return await self._call(self.store.events, run_id, after_seq=after_seq)

    async def last_seq(self, run_id: str) -> int:
        return await self._call(self.store.last_seq, run_id)

    @contextlib.asynccontextmanager
    async def hold(self, run_id: str) -> AsyncGenerator[int]:
        hold = contextlib.ExitStack()
        given_up = False

        def take() -> int:
            last_seq = hold.enter_context(self.store.hold(run_id))
            if given_up:
                hold.close()
            return last_seq

        try:
            last_seq = await self._call(take)
        except BaseException:
            given_up = True
            await self._release(hold)  # it may have been taken just before
            raise
        try:
            yield last_seq
        finally:
            await self._release(hold)

    async def holder(self, run_id: str) -> str | None:
        return await self._call(self.store.holder, run_id)

    async def taken_by(self, *run_ids: str) -> Mapping[str, str]:
        return await self._call(self.store.taken_by, *run_ids)

    async def post(self, message: RunMessage) -> None:
        await self._call(self.store.post, message)

    async def messages(self, *run_ids: str) -> Sequence[RunMessage]:
        return await self._call(self.store.messages, *run_ids)

    async def drop(self, message: RunMessage) -> None:
        await self._call(self.store.drop, message)

    async def runs(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        where: Callable[[RunSummary], bool] | None = None,
    ) -> Sequence[RunSummary]:
        return await self._call(self.store.runs, limit=limit, cursor=cursor, where=where)

    async def inspect(self, run_id: str) -> Inspection:
        return await self._call(self.store.inspect, run_id)

    async def delete(
        self, run_ids: Sequence[str], *, before: dt.datetime | None = None
    ) -> Sequence[str]:
        return await self._call(self.store.delete, run_ids, before=before)

    async def close(self) -> None:
        await self._call(self.store.close)

    async def _call(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        if not self.store.blocks:
            return function(*args, **kwargs)
        return await _in_thread(lambda: function(*args, **kwargs), PATIENCE_S)

    async def _release(self, hold: contextlib.ExitStack) -> None:
        with contextlib.suppress(JournalError):
            if not self.store.blocks:
                hold.close()
            else:
                await _in_thread(hold.close, RELEASE_S)


async def _in_thread(function: Callable[[], R], limit_s: float) -> R:
    """`function()`. Raises `JournalError` if that takes longer than `limit_s`."""
    try:
        async with asyncio.timeout(limit_s):
            return await _threads.call(lambda _: function(), None, name="the journal", quiet=True)
    except TimeoutError:
        raise JournalError(
            f"the journal did not answer within {limit_s:g} s: try again once it does"
        ) from None
