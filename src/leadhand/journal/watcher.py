"""The watcher: polls a journal for messages to all runs of an event loop at once."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from leadhand.contracts.people import RunMessage
from leadhand.errors import JournalError
from leadhand.ports import Journal

POLL_S = 0.5

_log = logging.getLogger("leadhand")


@dataclass(frozen=True, slots=True)
class RunActivity:
    messages: Sequence[RunMessage] = ()
    taken_by: str | None = None
    """The other process that took the run over, described in words."""
    error: JournalError | None = None


OnActivity = Callable[[RunActivity], Awaitable[None]]

_watchers: WeakKeyDictionary[asyncio.AbstractEventLoop, "dict[int, Watcher]"] = WeakKeyDictionary()
"""By event loop and `id` of the journal."""


class Watcher:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._runs: dict[str, OnActivity] = {}
        self._task: asyncio.Task[None] | None = None

    @classmethod
    @asynccontextmanager
    async def watch(
        cls, journal: Journal, run_id: str, on_activity: OnActivity
    ) -> AsyncGenerator[None]:
        """Call `on_activity` at every poll during the block."""
        known = _watchers.setdefault(asyncio.get_running_loop(), {})
        watcher = known.setdefault(id(journal), cls(journal))
        watcher._runs[run_id] = on_activity
        if watcher._task is None:
            watcher._task = asyncio.ensure_future(watcher._poll_forever())
        try:
            yield
        finally:
            del watcher._runs[run_id]
            if not watcher._runs:
                del known[id(journal)]
                watcher._task.cancel()
                await asyncio.wait([watcher._task])

    async def _poll_forever(self) -> None:
        while True:
            await asyncio.sleep(POLL_S)
            for run_id, one in (await self._poll(tuple(self._runs))).items():
                if run_id not in self._runs:
                    continue
                try:
                    await self._runs[run_id](one)
                except Exception:
                    _log.exception("a message for a run could not be handled")

    async def _poll(self, ids: Sequence[str]) -> Mapping[str, RunActivity]:
        try:
            messages, taken = await self._journal.messages(*ids), await self._journal.taken_by(*ids)
        except JournalError as error:
            if len(ids) == 1:
                return {ids[0]: RunActivity(error=error)}
            # One message that can't be read must not keep the others from their runs.
            each = [await self._poll([id]) for id in ids]
            return {id: one for found in each for id, one in found.items()}
        its_own = {id: [one for one in messages if one.run_id == id] for id in ids}
        return {id: RunActivity(its_own[id], taken.get(id)) for id in ids}
