"""The recorder: the one pen of a run. What it writes is stamped, applied, kept and shown."""

import datetime as dt
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypedDict

from leadhand.contracts.event import Event, RunStarted
from leadhand.nesting import nested, unnested
from leadhand.ports import Clock, Log
from leadhand.state import apply, fold

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
        journal: Log,
        *,
        clock: Clock,
        listeners: tuple[Listener, ...] = (),
        path: str = "",
        past: Sequence[Event] = (),
    ) -> None:
        """`path` goes before the ids of a nested run's tasks where all runs meet: `legal/`.

        `past` are the events of a run that goes on; the time since the last of them counts for
        nothing.
        """
        self.run_id = run_id
        self.path = path
        self.past = past
        self.state = fold(past)
        self._before_s = past[-1].elapsed_s if past else 0.0
        self._journal = journal
        self._clock = clock
        self._listeners = list(listeners)
        self._zero = clock.monotonic() - self._before_s

    def start(self) -> None:
        """The run starts now; what came before, such as importing libraries, is not of it."""
        self._zero = self._clock.monotonic() - self._before_s

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
        return {
            "seq": self.state.seq + 1,
            "at": self._clock.now(),
            "elapsed_s": self._clock.monotonic() - self._zero,
            "run_id": self.run_id,
            "task_id": task_id,
            "attempt": attempt,
        }

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

    def nested(self, task_id: str) -> "tuple[Recorder, NestedJournal]":
        """The recorder of a run that does `task_id`, and what brings its events into this log.

        Where the attempt was begun before this run was resumed, the nested run goes on as well.
        """
        past = self._past_within(task_id) if self.state.tasks[task_id].goes_on else []
        journal = NestedJournal(self, task_id, past)
        path = f"{self.path}{task_id}/"
        return Recorder(self.run_id, journal, clock=self._clock, path=path, past=past), journal

    def _past_within(self, task_id: str) -> list[Event]:
        """The events of the last run that did a task, as that run saw them."""
        within = [unnested(event) for event in self.past if event.within[:1] == (task_id,)]
        started = [n for n, event in enumerate(within) if isinstance(event, RunStarted)]
        outer = [n for n in started if not within[n].within]
        return within[outer[-1] :] if outer else []

    def log(self) -> Sequence[Event]:
        """Everything recorded so far, in order."""
        return self._journal.events(self.run_id)

    async def commit(self) -> None:
        """Return once everything recorded so far is safe."""
        await self._journal.commit(self.run_id)


class NestedJournal:
    """The journal of a nested run: all that happens in it is recorded by the run around it."""

    def __init__(self, outer: Recorder, task_id: str, past: Sequence[Event] = ()) -> None:
        self._outer = outer
        self._task_id = task_id
        self._events = [*past]
        self._closed = False

    def append(self, event: Event) -> None:
        """Record it within the task, as the outer run's next event."""
        if not self._closed:
            self._events.append(event)
            self._outer.record(replace(nested(event, self._task_id), **self._outer.stamp()))

    async def commit(self, run_id: str | None = None) -> None:
        """Return once everything appended before is safe; there is no other run in here."""
        await self._outer.commit()

    def events(self, run_id: str) -> Sequence[Event]:
        """The nested run's events as it wrote them itself; there is no other run in here."""
        return self._events

    def close(self) -> None:
        """Take no more: the attempt is over, and what comes from it now comes too late."""
        self._closed = True
