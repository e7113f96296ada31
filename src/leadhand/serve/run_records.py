"""Runs as they were read from the journal, kept so that only new events are read again."""

import asyncio
import datetime as dt
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from leadhand.contracts import events
from leadhand.contracts.events import Event
from leadhand.ports import Journal
from leadhand.trace.run_history import RunHistory

R = TypeVar("R")

MAX_KEPT_EVENTS = 60_000
"""Of all runs together; the run that was read last is kept whatever its size."""
MAX_INLINE = 200
"""Events of a run that is read and shown at once; of a larger one, in a thread."""
_REPLANS = (
    events.PlanAccepted,
    events.PlanAmended,
    events.RoundDecided,
    events.RunFinished,
    events.RunResumed,
    events.RunWaiting,
    events.TaskPlanned,
    events.TaskSplit,
)


async def within(function: Callable[..., R], *args: object, size: int) -> R:
    """Calls it, in a thread if what it works on is so large that others would wait."""
    if size < MAX_INLINE:
        return function(*args)
    return await asyncio.to_thread(function, *args)


@dataclass(slots=True, eq=False)
class RunRecord:
    """A run up to the event `seq`, and what its history does not say of its events."""

    history: RunHistory = field(default_factory=RunHistory)
    seq: int = 0
    updated_at: dt.datetime | None = None
    changed: dict[str, int] = field(default_factory=dict[str, int])
    """The last event of each task; those of a nested run are events of the task around it."""
    replanned: int = 0
    """The last event that may have changed any task."""
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    def add(self, new: Sequence[Event]) -> None:
        for event in new:
            self.history.add(event)
            self.seq, self.updated_at = event.seq, event.at
            task_id: str | None = getattr(event, "task_id", None)
            if event.within or task_id is not None:
                self.changed[event.within[0] if event.within else task_id or ""] = event.seq
            if isinstance(event, _REPLANS) and not event.within:
                self.replanned = event.seq

    def changed_since(self, task_id: str, seq: int) -> bool:
        return self.replanned > seq or self.changed.get(task_id, 0) > seq


class RunRecords:
    """The records of the runs that were read last."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._kept: OrderedDict[str, RunRecord] = OrderedDict()

    async def read(self, run_id: str) -> RunRecord | None:
        """The run as it is now; `None` if there is no such run."""
        record = self._kept.get(run_id) or RunRecord()
        async with record.reading:
            new = await self._journal.events(run_id, after_seq=max(record.seq - 1, 0))
            if not new or (record.seq and not _follows(record, new[0])):
                # It was deleted, and there may be another one by its id.
                self.forget(run_id)
                return await self.read(run_id) if new or record.seq else None
            await within(record.add, new[1:] if record.seq else new, size=len(new))
        self._keep(run_id, record)
        return record

    def forget(self, run_id: str) -> None:
        self._kept.pop(run_id, None)

    def _keep(self, run_id: str, record: RunRecord) -> None:
        self._kept[run_id] = record
        self._kept.move_to_end(run_id)
        while len(self._kept) > 1 and sum(one.seq for one in self._kept.values()) > MAX_KEPT_EVENTS:
            self._kept.popitem(last=False)


def _follows(record: RunRecord, last_known: Event) -> bool:
    return (last_known.seq, last_known.at) == (record.seq, record.updated_at)
