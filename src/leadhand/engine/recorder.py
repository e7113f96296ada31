"""The recorder: the one pen of a run. What it writes is stamped, applied, kept and shown."""

import asyncio
import datetime as dt
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypedDict

from leadhand.contracts import events
from leadhand.contracts.team import Team
from leadhand.errors import JournalError
from leadhand.ports import Clock, Log
from leadhand.state.fold import RunState, apply, fold
from leadhand.state.run_state import crashes as crashes_of
from leadhand.state.run_state import known_crashes

PATIENCE_S = 60.0
"""How long a commit may take in a run without a deadline."""
Listener = Callable[[events.Event], None]

_log = logging.getLogger("leadhand")


class EventStamp(TypedDict):
    """The fields that every event has."""

    seq: int
    at: dt.datetime
    elapsed_s: float
    run_id: str


class TaskEventStamp(EventStamp):
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
        past: Sequence[events.Event] = (),
        state: RunState | None = None,
        crashes: Mapping[str, int] | None = None,
    ) -> None:
        """`path` goes before the ids of a nested run's tasks where all runs meet: `legal/`.

        `past` are the events of a run that goes on; the time since the last of them counts for
        nothing. `crashes` are those of its tasks, where the run around it knows.
        """
        self.run_id = run_id
        self.path = path
        self.past = past
        self.state = fold(past) if state is None else state
        self._crashes = crashes
        self._before_s = past[-1].elapsed_s if past else 0.0
        self._journal = journal
        self._clock = clock
        self._listeners = list(listeners)
        self._patience_s = None if path else PATIENCE_S  # else the run around it has its own
        self._until_s: float | None = None
        self._hurried_s: float | None = None
        self._waiting: set[asyncio.Timeout] = set()
        self.unkept: str | None = None
        """Why nothing more of the run is kept: its journal was waited for as long as there was
        time. What was committed before stands."""
        self._zero = clock.monotonic() - self._before_s

    def crashes(self, team: Team) -> dict[str, int]:
        """What `RunResumed` says of them, of a run of `team` that is resumed now."""
        return crashes_of(self.state, team) if self._crashes is None else dict(self._crashes)

    def start(self) -> None:
        """The run starts now; what came before, such as importing libraries, is not of it."""
        self._zero = self._clock.monotonic() - self._before_s

    def elapsed_s(self) -> float:
        """Seconds since the run started."""
        return self._clock.monotonic() - self._zero

    def monotonic(self, elapsed_s: float) -> float:
        """The event loop's time at `elapsed_s` seconds into the run."""
        return self._zero + elapsed_s

    def stamp(self) -> EventStamp:
        """The stamp of the next event; to be recorded before another is asked for."""
        return {
            "seq": self.state.seq + 1,
            "at": self._clock.now(),
            "elapsed_s": self._clock.monotonic() - self._zero,
            "run_id": self.run_id,
        }

    def task_stamp(self, task_id: str, attempt: int) -> TaskEventStamp:
        """The stamp of the next event, which is about a task."""
        return {
            "seq": self.state.seq + 1,
            "at": self._clock.now(),
            "elapsed_s": self._clock.monotonic() - self._zero,
            "run_id": self.run_id,
            "task_id": task_id,
            "attempt": attempt,
        }

    def record(self, event: events.Event) -> None:
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
        task = self.state.tasks[task_id]
        past = self._past_within(task_id) if task.resumable else []
        crashes = known_crashes(task.nested) if past and task.nested is not None else {}
        journal = NestedJournal(self, task_id, past)
        path = f"{self.path}{task_id}/"
        recorder = Recorder(
            self.run_id, journal, clock=self._clock, path=path, past=past, crashes=crashes
        )
        return recorder, journal

    def _past_within(self, task_id: str) -> list[events.Event]:
        """The events of the last run that did a task, as that run saw them."""
        within = [events.unnested(event) for event in self.past if event.within[:1] == (task_id,)]
        started = [n for n, event in enumerate(within) if isinstance(event, events.RunStarted)]
        outer = [n for n in started if not within[n].within]
        return within[outer[-1] :] if outer else []

    def log(self) -> Sequence[events.Event]:
        """Everything recorded so far, in order."""
        return self._journal.events(self.run_id)

    def keep_until(self, elapsed_s: float | None) -> None:
        """Let commits take until that many seconds into the run; `None`: for `PATIENCE_S` each."""
        self._until_s = elapsed_s

    @property
    def time_left_s(self) -> float:
        """Seconds until the run's work must end; infinite where it has no deadline."""
        until_s = self._until_s
        return math.inf if until_s is None else until_s - self.elapsed_s()

    def hurry(self, patience_s: float) -> None:
        """From now on commits have `patience_s` seconds in all: the run is to end."""
        self._hurried_s = self.elapsed_s() + patience_s
        for waiting in self._waiting:
            when = waiting.when()
            hurried = self.monotonic(self._hurried_s)
            waiting.reschedule(hurried if when is None else min(when, hurried))

    async def commit(self) -> None:
        """Return once everything recorded so far is safe, or there is no time to wait for that.

        Then `unkept` says so, and nothing is waited for any more. Raises `JournalError`.
        """
        if self.unkept is not None:
            return
        ends = [end for end in (self._until_s, self._hurried_s) if end is not None]
        patience_s = None if ends else self._patience_s
        if patience_s is not None:
            ends = [self.elapsed_s() + patience_s]
        try:
            async with asyncio.timeout_at(self.monotonic(min(ends)) if ends else None) as waiting:
                self._waiting.add(waiting)
                try:
                    await self._journal.commit(self.run_id)
                finally:
                    self._waiting.remove(waiting)
        except TimeoutError:
            if patience_s is not None and self._hurried_s is None:
                raise JournalError(
                    f"run {self.run_id!r} can't be kept: the journal has not answered for "
                    f"{patience_s:g} s; what was committed stands: `leadhand resume {self.run_id}`"
                ) from None
            self.unkept = "the journal did not answer in time"


class NestedJournal:
    """The journal of a nested run: all that happens in it is recorded by the run around it."""

    def __init__(self, outer: Recorder, task_id: str, past: Sequence[events.Event] = ()) -> None:
        self._outer = outer
        self._task_id = task_id
        self._events = [*past]
        self._closed = False

    def append(self, event: events.Event) -> None:
        """Record it within the task, as the outer run's next event."""
        if not self._closed:
            self._events.append(event)
            self._outer.record(replace(events.nested(event, self._task_id), **self._outer.stamp()))

    async def commit(self, run_id: str | None = None) -> None:
        """Return once everything appended before is safe; there is no other run in here."""
        await self._outer.commit()

    def events(self, run_id: str) -> Sequence[events.Event]:
        """The nested run's events as it wrote them itself; there is no other run in here."""
        return self._events

    def close(self) -> None:
        """Take no more: the attempt is over, and what comes from it now comes too late."""
        self._closed = True
