"""Group commit: many runs, tasks and event loops share each transaction.

`append` only queues. One thread writes everything that was committed meanwhile in one transaction.
"""

import contextlib
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from leadhand.errors import JournalError

if TYPE_CHECKING:
    import asyncio

    from leadhand.contracts.events import Event

EventBatch = Mapping[str, "Sequence[Event]"]
"""Events by run, each run's in order."""
Write = Callable[[EventBatch], Mapping[str, str]]
"""Writes a batch in the one thread, each run's events completely or not at all. Returns the runs
that could not be written, with a reason in one line."""

_Ended = tuple["asyncio.Future[None]", str | None]
_CLOSED = "the journal is closed: open it again"


@dataclass(slots=True)
class _Group:
    events: "dict[str, list[Event]]" = field(default_factory=dict[str, "list[Event]"])
    waiters: list[_Ended] = field(default_factory=list[_Ended])


class GroupCommit:
    """The queue between runs and the one writing thread. Thread-safe."""

    def __init__(self, write: Write, *, name: str) -> None:
        """`name`: of the thread, which starts with the first commit."""
        self._write = write
        self._name = name
        self._changed = threading.Condition(threading.Lock())
        self._thread: threading.Thread | None = None
        self._open: dict[str, list[Event]] = {}
        """Events appended since the last commit of the run."""
        self._next = _Group()
        self._writing = _Group()
        self._failed: dict[str, str] = {}
        self._closed = False

    def append(self, event: "Event") -> None:
        """Queue an event; it is dropped if the run has failed."""
        with self._changed:
            if event.run_id not in self._failed:
                self._open.setdefault(event.run_id, []).append(event)

    async def commit(self, run_id: str | None = None) -> None:
        """Return once everything appended to the run, or to any, is safe. Raises `JournalError`
        if that fails, and then at every commit of the run."""
        # Imported late for speed: readers have no event loop.
        import asyncio

        from leadhand.threads import awaiting_outside_work

        with self._changed:
            why = _CLOSED if self._closed else _why(self._failed, run_id)
            if why is not None:
                raise JournalError(why)
            for id in [*self._open] if run_id is None else [run_id]:
                if events := self._open.pop(id, None):
                    self._next.events.setdefault(id, []).extend(events)
            group = self._group_of(run_id)
            if group is None:
                return
            future = asyncio.get_running_loop().create_future()
            group.waiters.append((future, run_id))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
            self._changed.notify_all()
        with awaiting_outside_work():
            await future

    def is_waited_for(self) -> bool:
        with self._changed:
            return any(not future.done() for future, _ in self._writing.waiters)

    def uncommitted(self, run_id: str) -> "list[Event]":
        with self._changed:
            sealed = [*self._writing.events.get(run_id, ()), *self._next.events.get(run_id, ())]
            return [*sealed, *self._open.get(run_id, ())]

    def forget(self, run_id: str) -> None:
        """Drop uncommitted events of the run, and its failure. An event loop may call it, so it
        waits only for the batch being written."""
        with self._changed:
            self._next.events.pop(run_id, None)
            waiters = self._next.waiters
            self._next.waiters = [waiter for waiter in waiters if waiter[1] != run_id]
            left = [
                (future, f"run {run_id!r} was given up") for future, id in waiters if id == run_id
            ]
            self._changed.wait_for(lambda: self._closed or run_id not in self._writing.events)
            self._open.pop(run_id, None)
            self._failed.pop(run_id, None)
        _settle(left)

    def close(self, *, limit_s: float | None = None) -> None:
        """End the thread after its current batch; waits `limit_s` at most. Other commits raise."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(limit_s)
        with self._changed:
            left, self._next = self._next.waiters, _Group()
            self._open.clear()
        _settle((future, _CLOSED) for future, _ in left)

    def _group_of(self, run_id: str | None) -> _Group | None:
        for group in (self._next, self._writing):
            if group.events if run_id is None else run_id in group.events:
                return group
        return None

    def _work(self) -> None:
        while self._round():
            pass

    def _round(self) -> bool:
        """Wait for a group and write it; False once closed. Keeps no reference to events."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._next.events or self._next.waiters)
            if self._closed:
                return False
            group = self._writing = self._next
            self._next = _Group()
        failed = self._written(group.events)
        with self._changed:
            self._writing = _Group()
            ended = [(future, _why(failed, run_id)) for future, run_id in group.waiters]
            if failed:
                ended += self._fail(failed)
            self._changed.notify_all()
        _settle(ended)
        return True

    def _written(self, events: EventBatch) -> Mapping[str, str]:
        try:
            return {run_id: str(why) for run_id, why in self._write(events).items()}
        except Exception as error:
            # Commits wait for a result, so no error may end the thread.
            return dict.fromkeys(events, f"the journal failed: {type(error).__name__}: {error}")

    def _fail(self, failed: Mapping[str, str]) -> list[_Ended]:
        """Returns the commits that wait for these runs."""
        self._failed.update(failed)
        for run_id in failed:
            self._open.pop(run_id, None)
            self._next.events.pop(run_id, None)
        waiters = self._next.waiters
        self._next.waiters = [(future, id) for future, id in waiters if _why(failed, id) is None]
        return [(future, why) for future, id in waiters if (why := _why(failed, id)) is not None]


def _why(failed: Mapping[str, str], run_id: str | None) -> str | None:
    """Why the run can't be written; without `run_id`, why any can't."""
    return failed.get(run_id) if run_id is not None else next(iter(failed.values()), None)


def _settle(ended: Iterable[_Ended]) -> None:
    """Let commits return or raise, with one wake-up per event loop."""
    by_loop: defaultdict[asyncio.AbstractEventLoop, list[_Ended]] = defaultdict(list)
    for future, why in ended:
        by_loop[future.get_loop()].append((future, why))
    for loop, its_own in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(_wake, its_own)


def _wake(ended: Iterable[_Ended]) -> None:
    for future, why in ended:
        if future.done():
            continue  # its task was cancelled
        if why is None:
            future.set_result(None)
        else:
            future.set_exception(JournalError(why))
