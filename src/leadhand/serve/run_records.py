"""Runs as they were read from the journal, kept so that only new events are read again."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from leadhand.contracts.events import Event, RunStarted
from leadhand.ports import Journal
from leadhand.run.stored import RUN_ID
from leadhand.state.fold import RunState
from leadhand.trace.run_history import RunHistory

R = TypeVar("R")

MAX_KEPT_RUNS, MAX_KEPT_EVENTS = 500, 60_000
"""Of all runs together; the run that was read last is kept whatever its size."""
MAX_INLINE = 200
"""Events of a run that is read and shown at once; of a larger one, in a thread."""


async def within(function: Callable[..., R], *args: object, size: int) -> R:
    """Calls it, in a thread if what it works on is so large that others would wait."""
    if size < MAX_INLINE:
        return function(*args)
    return await asyncio.to_thread(function, *args)


@dataclass(slots=True, eq=False)
class RunRecord:
    """A run up to its event `last`."""

    last: Event
    history: RunHistory = field(default_factory=RunHistory)
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def state(self) -> RunState:
        return self.history.state

    @classmethod
    def of(cls, log: Sequence[Event]) -> "RunRecord":
        record = cls(log[0])
        record.add(log)
        return record

    def add(self, new: Sequence[Event]) -> None:
        for event in new:
            self.history.add(event)
            self.last = event


class RunRecords:
    """The records of the runs that were read last."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._kept: OrderedDict[str, RunRecord] = OrderedDict()

    def known(self, run_id: str) -> RunRecord | None:
        """The run as it was when it was read last, if it was."""
        return self._kept.get(run_id)

    async def read(self, run_id: str) -> RunRecord | None:
        """The run as it is now; `None` if there is no such run."""
        if (record := self._kept.get(run_id)) is None:
            log = await self._journal.events(run_id) if RUN_ID.fullmatch(run_id) else ()
            if not log or not isinstance(log[0], RunStarted):
                return None
            record = await within(RunRecord.of, log, size=len(log))
        else:
            async with record.reading:
                last = record.last
                log = await self._journal.events(run_id, after_seq=last.seq - 1)
                if not log or (log[0].seq, log[0].at) != (last.seq, last.at):
                    # It was deleted, and there may be another one by its id.
                    self.forget(run_id)
                    return await self.read(run_id)
                await within(record.add, log[1:], size=len(log))
        self._keep(run_id, record)
        return record

    def forget(self, run_id: str) -> None:
        self._kept.pop(run_id, None)

    def _keep(self, run_id: str, record: RunRecord) -> None:
        self._kept[run_id] = record
        self._kept.move_to_end(run_id)
        while len(self._kept) > MAX_KEPT_RUNS or (
            len(self._kept) > 1
            and sum(one.last.seq for one in self._kept.values()) > MAX_KEPT_EVENTS
        ):
            self._kept.popitem(last=False)
