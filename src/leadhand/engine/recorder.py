"""The recorder: the only writer of a run's events, which it applies, journals and publishes."""

import asyncio
import datetime as dt
import logging
import math
import time
from collections.abc import Callable, Container, Mapping, Sequence
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
LAST_COMMIT_S = 0.2
"""The least that a commit may take. With the time for cleaning up, it is below the half second by
which an answer may be late."""
Listener = Callable[[events.Event], None]

_log = logging.getLogger("leadhand")


class SystemClock:
    """The real time; under an event loop with virtual time, durations are virtual too."""

    def now(self) -> dt.datetime:
        """The wall clock, in UTC."""
        return dt.datetime.now(dt.UTC)

    def monotonic(self) -> float:
        """The running event loop's time; outside of one, the monotonic clock that asyncio uses."""
        try:
            return asyncio.get_running_loop().time()
        except RuntimeError:
            return time.monotonic()


class EventStamp(TypedDict):
    seq: int
    at: dt.datetime
    elapsed_s: float
    run_id: str


class TaskEventStamp(EventStamp):
    task_id: str
    attempt: int


class Recorder:
    """Writes the events of one run and keeps the state that they fold to."""

    def __init__(
        self,
        run_id: str,
        log: Log,
        *,
        clock: Clock,
        listeners: tuple[Listener, ...] = (),
        path: str = "",
        past: Sequence[events.Event] = (),
        state: RunState | None = None,
        crashes: Mapping[str, int] | None = None,
        since_s: float | None = None,
        on_commit: Callable[[], object] | None = None,
    ) -> None:
        """The run's time counts from now, or from `since_s` by the clock.

        `path` is the prefix of a nested run's task ids, such as `legal/`. `past` are the events of
        a resumed run; the time since the last of them does not count. `crashes` are those of a
        nested run's tasks, if the outer run knows them. `on_commit` is called when what was
        recorded is safe.
        """
        self.run_id = run_id
        self.path = path
        self.prefix = f"{run_id}/{path}"
        """With the id of a task it is unique over all runs."""
        self.past = past
        self.state = fold(past) if state is None else state
        self._crashes = crashes
        self.began_s = past[-1].elapsed_s if past else 0.0
        """Seconds into the run when it started, or was resumed."""
        self._log = log
        self._clock = clock
        self._on_commit = on_commit
        self._listeners = list(listeners)
        self._patience_s = None if path else PATIENCE_S  # the outer run has its own
        self._until_s: float | None = None
        self._limited_s: float | None = None
        self._waiting: set[asyncio.Timeout] = set()
        self.commit_timeout: str | None = None
        """Why nothing more of the run is kept; what was committed before stands."""
        self._zero = (clock.monotonic() if since_s is None else since_s) - self.began_s
        self._last_s = self.began_s

    def crashes(self, team: Team) -> dict[str, int]:
        """The crashes in a row of each task, for `RunResumed` of a run that is resumed now."""
        return crashes_of(self.state, team) if self._crashes is None else dict(self._crashes)

    def skip_wait(self) -> None:
        """Go on from now as a resumed run: the time since the last event does not count."""
        self.began_s = self._last_s
        self._zero = self._clock.monotonic() - self.began_s

    def now(self) -> dt.datetime:
        return self._clock.now()

    def elapsed_s(self) -> float:
        return self._clock.monotonic() - self._zero

    def monotonic(self, elapsed_s: float) -> float:
        return self._zero + elapsed_s

    def stamp(self) -> EventStamp:
        """The stamp of the next event, which must be recorded before the next stamp."""
        return {
            "seq": self.state.seq + 1,
            "at": self._clock.now(),
            "elapsed_s": self.elapsed_s(),
            "run_id": self.run_id,
        }

    def task_stamp(self, task_id: str, attempt: int) -> TaskEventStamp:
        return {**self.stamp(), "task_id": task_id, "attempt": attempt}

    def record(self, event: events.Event) -> None:
        """Apply an event to the state, append it to the journal, and call the listeners."""
        apply(self.state, event)
        self._last_s = event.elapsed_s
        self._log.append(event)
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                # A broken view must not break the run.
                _log.exception("a listener failed and gets no more events")
                self._listeners = [other for other in self._listeners if other is not listener]

    def record_cancelled(self, reason: str, among: Container[str] | None = None) -> None:
        """Record that the tasks that have not ended, all or those `among` them, are cancelled."""
        for id, task in self.state.tasks.items():
            if not task.ended and (among is None or id in among):
                self.record(
                    events.TaskCancelled(**self.task_stamp(id, task.attempts), reason=reason)
                )

    def nested(self, task_id: str) -> "tuple[Recorder, NestedLog]":
        """The recorder and log of a nested run that does `task_id`.

        The nested run is resumed if the attempt began before this run was, unless the task is to be
        done again and has not started.
        """
        task = self.state.tasks[task_id]
        past = self._past_within(task_id) if task.resumable and task.nested is not None else []
        crashes = known_crashes(task.nested) if past and task.nested is not None else {}
        log = NestedLog(self, task_id)
        path = f"{self.path}{task_id}/"
        recorder = Recorder(
            self.run_id, log, clock=self._clock, path=path, past=past, crashes=crashes
        )
        return recorder, log

    def _past_within(self, task_id: str) -> list[events.Event]:
        """The events of the last nested run that did a task, as it recorded them."""
        within = [events.unnested(event) for event in self.past if event.within[:1] == (task_id,)]
        started = [n for n, event in enumerate(within) if isinstance(event, events.RunStarted)]
        outer = [n for n in started if not within[n].within]
        return within[outer[-1] :] if outer else []

    def wait_for_commits_until(self, elapsed_s: float | None) -> None:
        """Limit each commit to that time, but never below `LAST_COMMIT_S`; `None`: `PATIENCE_S`."""
        self._until_s = elapsed_s

    @property
    def time_left_s(self) -> float:
        """Seconds until the run's work must end; infinite without a deadline."""
        until_s = self._until_s
        return math.inf if until_s is None else until_s - self.elapsed_s()

    def limit_commits(self, patience_s: float) -> None:
        """Limit each further commit, because the run is to end; clean-up may take longer."""
        self._limited_s = patience_s
        limited = self.monotonic(self.elapsed_s() + patience_s)
        for waiting in self._waiting:
            when = waiting.when()
            waiting.reschedule(limited if when is None else min(when, limited))

    async def commit(self) -> None:
        """Return once everything is safe, or see `commit_timeout`. Raises `JournalError`."""
        if self.commit_timeout is not None:
            return
        until_s = self._until_s
        if until_s is not None:
            # Work may last until the deadline, and what it leaves has to be kept after it.
            until_s = max(until_s, self.elapsed_s() + LAST_COMMIT_S)
        limited_s = None if self._limited_s is None else self.elapsed_s() + self._limited_s
        ends = [end for end in (until_s, limited_s) if end is not None]
        patience_s = None if ends else self._patience_s
        if patience_s is not None:
            ends = [self.elapsed_s() + patience_s]
        try:
            async with asyncio.timeout_at(self.monotonic(min(ends)) if ends else None) as waiting:
                self._waiting.add(waiting)
                try:
                    await self._log.commit(self.run_id)
                finally:
                    self._waiting.remove(waiting)
            if self._on_commit is not None:
                self._on_commit()
        except TimeoutError:
            if patience_s is not None and self._limited_s is None:
                raise JournalError(
                    f"run {self.run_id!r} can't be kept: the journal has not answered for "
                    f"{patience_s:g} s; what was committed stands: `leadhand resume {self.run_id}`"
                ) from None
            self.commit_timeout = "the journal did not answer in time"


class NestedLog:
    """The log of a nested run: the outer run records its events."""

    def __init__(self, outer: Recorder, task_id: str) -> None:
        self._outer = outer
        self._task_id = task_id
        self._closed = False

    def append(self, event: events.Event) -> None:
        if not self._closed:
            self._outer.record(replace(events.nested(event, self._task_id), **self._outer.stamp()))

    async def commit(self, run_id: str | None = None) -> None:
        await self._outer.commit()

    def close(self) -> None:
        """Ignore further events: the attempt is over."""
        self._closed = True
