"""The watcher: polls a journal for messages to all runs of an event loop, in one thread.

A thread per run would be a thousand threads for a thousand short runs.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from leadhand.contracts.people import RunMessage
from leadhand.errors import JournalError
from leadhand.journal.nonblocking import call_journal
from leadhand.ports import Journal

POLL_S = 0.5
"""Seconds between two polls."""

_log = logging.getLogger("leadhand")


@dataclass(frozen=True, slots=True)
class RunActivity:
    """News about a run."""

    messages: Sequence[RunMessage] = ()
    taken_by: str | None = None
    """The other process that took the run over, described in words."""
    error: JournalError | None = None
    """Why the journal can't be read."""


OnActivity = Callable[[RunActivity], None]

_watchers: WeakKeyDictionary[asyncio.AbstractEventLoop, "dict[int, Watcher]"] = WeakKeyDictionary()
"""By event loop and `id` of the journal, while runs are watched."""


class Watcher:
    """Polls one journal while runs are watched there."""

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
            ids = tuple(self._runs)
            try:
                seen = await call_journal(self._journal, self._poll, ids)
            except JournalError as error:
                seen = dict.fromkeys(ids, RunActivity(error=error))
            for run_id, one in seen.items():
                if run_id in self._runs:
                    self._tell(self._runs[run_id], one)

    def _poll(self, ids: Sequence[str]) -> dict[str, RunActivity]:
        return {id: self._activity(id) for id in ids}

    def _activity(self, run_id: str) -> RunActivity:
        try:
            return RunActivity(self._journal.messages(run_id), self._journal.taken_by(run_id))
        except JournalError as error:
            return RunActivity(error=error)

    def _tell(self, on_activity: OnActivity, seen: RunActivity) -> None:
        try:
            on_activity(seen)
        except Exception:
            _log.exception("a message for a run could not be handled")
