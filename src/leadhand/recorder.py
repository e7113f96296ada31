"""The recorder: the one pen of a run. What it writes is stamped, applied, kept and shown."""

import datetime as dt
import logging
from collections.abc import Callable, Sequence
from typing import TypedDict

from leadhand.contracts.event import Event
from leadhand.ports import Clock, Journal
from leadhand.state import RunState, apply

Listener = Callable[[Event], None]

_log = logging.getLogger("leadhand")


class Stamp(TypedDict):
    """The fields that every event has."""

    seq: int
    at: dt.datetime
    elapsed_s: float
    run_id: str


class TaskStamp(Stamp):
    """The fields that every event about a task has."""

    task_id: str
    attempt: int


class Recorder:
    """Writes the events of one run and holds the state that follows from them."""

    def __init__(
        self,
        run_id: str,
        journal: Journal,
        *,
        clock: Clock,
        listeners: tuple[Listener, ...] = (),
    ) -> None:
        self.run_id = run_id
        self.state = RunState()
        self._journal = journal
        self._clock = clock
        self._listeners = list(listeners)
        self._zero = clock.monotonic()

    def elapsed_s(self) -> float:
        """Seconds since the run started."""
        return self._clock.monotonic() - self._zero

    def monotonic(self, elapsed_s: float) -> float:
        """The event loop's time at `elapsed_s` seconds into the run."""
        return self._zero + elapsed_s

    def stamp(self) -> Stamp:
        """The stamp of the next event; to be recorded before another is asked for."""
        return {
            "seq": self.state.seq + 1,
            "at": self._clock.now(),
            "elapsed_s": self._clock.monotonic() - self._zero,
            "run_id": self.run_id,
        }

    def task_stamp(self, task_id: str, attempt: int) -> TaskStamp:
        """The stamp of the next event, which is about a task."""
        return {**self.stamp(), "task_id": task_id, "attempt": attempt}

    def record(self, event: Event) -> None:
        """Apply an event to the state, hand it to the journal, and tell the listeners."""
        apply(self.state, event)
        self._journal.append(event)
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                # A view that breaks must not break the run that it shows.
                _log.exception("a listener failed and is not told of further events")
                self._listeners = [other for other in self._listeners if other is not listener]

    def log(self) -> Sequence[Event]:
        """Everything recorded so far, in order."""
        return self._journal.events(self.run_id)

    async def commit(self) -> None:
        """Return once everything recorded so far is safe."""
        await self._journal.commit()
