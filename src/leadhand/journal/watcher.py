"""The lookout: one look at a journal for all runs of an event loop, in one thread.

A thread for each run would be a thousand of them where a program has a thousand short runs.
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

LOOK_S = 0.5
"""How often a journal is looked at."""

_log = logging.getLogger("leadhand")


@dataclass(frozen=True, slots=True)
class RunActivity:
    """What there is of a run."""

    messages: Sequence[RunMessage] = ()
    taken_by: str | None = None
    """The other process that has taken the run over, in words."""
    error: JournalError | None = None
    """Why that can't be told."""


OnActivity = Callable[[RunActivity], None]

_watchers: WeakKeyDictionary[asyncio.AbstractEventLoop, "dict[int, Watcher]"] = WeakKeyDictionary()
"""By event loop, then by the id of the journal, as long as runs are watched."""


class Watcher:
    """Looks at one journal, for as long as runs are watched there."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._runs: dict[str, OnActivity] = {}
        self._looking: asyncio.Task[None] | None = None

    @classmethod
    @asynccontextmanager
    async def watch(cls, journal: Journal, run_id: str, hear: OnActivity) -> AsyncGenerator[None]:
        """While the block lasts, `hear` is called with what there is of the run."""
        known = _watchers.setdefault(asyncio.get_running_loop(), {})
        watcher = known.setdefault(id(journal), cls(journal))
        watcher._runs[run_id] = hear
        if watcher._looking is None:
            watcher._looking = asyncio.ensure_future(watcher._look_again())
        try:
            yield
        finally:
            del watcher._runs[run_id]
            if not watcher._runs:
                del known[id(journal)]
                watcher._looking.cancel()
                await asyncio.wait([watcher._looking])

    async def _look_again(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            ids = tuple(self._runs)
            try:
                seen = await call_journal(self._journal, self._look, ids)
            except JournalError as error:
                seen = dict.fromkeys(ids, RunActivity(error=error))
            for run_id, one in seen.items():
                if run_id in self._runs:
                    self._tell(self._runs[run_id], one)

    def _look(self, ids: Sequence[str]) -> dict[str, RunActivity]:
        return {id: self._look_at(id) for id in ids}

    def _look_at(self, run_id: str) -> RunActivity:
        try:
            return RunActivity(self._journal.messages(run_id), self._journal.taken_by(run_id))
        except JournalError as error:
            return RunActivity(error=error)

    def _tell(self, hear: OnActivity, seen: RunActivity) -> None:
        try:
            hear(seen)
        except Exception:
            _log.exception("what was left for a run could not be taken in")
