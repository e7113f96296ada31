"""The workforce: what all runs of a supervisor share of each worker. It starts nothing.

How many tasks a worker has, which run may give it the next one, how long it takes, and its breaker.
Runs that wait for a worker wait in a queue, one place each, so that a large run never keeps a small
one waiting for all its tasks.
"""

import asyncio
import datetime as dt
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext

from leadhand.contracts.health import WorkerHealth
from leadhand.contracts.outcome import Completed, Escalated, Outcome
from leadhand.contracts.team import Ladder, Team, Worker
from leadhand.policies.breaker import Breaker
from leadhand.policies.load_balancing import latency
from leadhand.ports import Clock

Lock = AbstractContextManager[object]
TeamPath = tuple[str, ...]
"""The names of the workers that a nested team is within, the outermost first."""


class Waiter:
    """A run that may wait for a worker."""

    __slots__ = ("_loop", "_wake_up")

    def __init__(self, wake_up: asyncio.Event) -> None:
        self._wake_up = wake_up
        self._loop = asyncio.get_running_loop()

    def wake(self) -> None:
        """Have the run look again for what it can start."""
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is self._loop:
            self._wake_up.set()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake_up.set)


class SharedWorker:
    """One worker, over all runs."""

    def __init__(self, name: str, concurrency: int | None, lock: Lock) -> None:
        self.name = name
        self.concurrency = concurrency
        self.running = 0
        """Attempts that it makes now."""
        self.waiting = 0
        """Tasks that are ready for it."""
        self.latency_s: float | None = None
        """How long an attempt took it lately."""
        self.code_s: float | None = None
        """The longest that its code took lately in place of a model."""
        self.breaker = Breaker()
        self._queue: dict[Waiter, None] = {}
        """The runs that could give it a task at once if it were free, in turn."""
        self._held: dict[Waiter, None] = {}
        """The runs that wait for the end of its probe."""
        self._lock = lock

    def may_start(self, waiter: Waiter) -> bool:
        """Whether a run may give it one more task now: there is room, and it is the run's turn."""
        if self.concurrency is None:
            return True
        with self._lock:
            free = self.concurrency - self.running
            for place, other in enumerate(self._queue):
                if place >= free or other is waiter:
                    return place < free
            return len(self._queue) < free

    def take(self, waiter: Waiter, task: str) -> bool:
        """Give it a task of a run; False if another run, in another thread, was quicker."""
        with self._lock:
            if not self.may_start(waiter):
                return False
            self._queue.pop(waiter, None)
            self.running += 1
            self.breaker.dispatched(task)
            return True

    def give_back(self, waiter: Waiter, took_s: float) -> None:
        """It has ended an attempt. The run that gives back looks for the next task by itself."""
        with self._lock:
            self.running -= 1
            self.latency_s = latency(self.latency_s, took_s)
            self._wake_next(waiter)

    def line_up(self, waiter: Waiter, *, wants: bool) -> None:
        """Join the queue, or leave it to the others.

        A run whose turn it is, and that starts nothing all the same, has other reasons to wait.
        """
        with self._lock:
            if wants and not self.may_start(waiter):
                self._queue.setdefault(waiter)
            elif waiter in self._queue:
                del self._queue[waiter]
                self._wake_next(waiter)

    def hold(self, waiter: Waiter) -> None:
        """Wake a run once the probe has ended."""
        with self._lock:
            self._held.setdefault(waiter)

    def leave(self, waiter: Waiter, waiting: int) -> None:
        """A run ends, with so many of its tasks still ready for this worker."""
        self.line_up(waiter, wants=False)
        with self._lock:
            self._held.pop(waiter, None)
            self.waiting -= waiting

    def wait(self, tasks: int) -> None:
        """So many more tasks wait for it."""
        with self._lock:
            self.waiting += tasks

    def ended(
        self, task: str, outcome: Outcome | None, ladder: Ladder, now_s: float
    ) -> float | bool | None:
        """Tell the breaker of an attempt's end; gives the pause if it opens, True if it closes.

        Only a failure that a retry could cure counts against the worker, and only an outcome of its
        own for it. No outcome: the run stopped the attempt.
        """
        with self._lock:
            breaker = self.breaker
            change: float | bool | None = None
            if isinstance(outcome, Completed | Escalated):
                change = breaker.succeeded() or None
            elif outcome is not None and outcome.transient:
                change = breaker.failed(task, outcome.message, ladder, now_s)
            else:
                breaker.released(task)
            if self._held and breaker.probe is None:
                held, self._held = self._held, {}
                for waiter in held:
                    waiter.wake()
            return change

    def _wake_next(self, but: Waiter) -> None:
        free = (self.concurrency or 0) - self.running
        for place, waiter in enumerate(self._queue):
            if place >= free:
                break
            if waiter is not but:
                waiter.wake()


class SharedWorkers:
    """The workers of a team and of the teams nested in it. It grows no larger than the team."""

    def __init__(self, team: Team | None = None, *, lock: Lock | None = None) -> None:
        """`lock`, one that can be taken again, where runs are in the loops of several threads."""
        self._lock = lock or nullcontext()
        self._workers: dict[TeamPath, SharedWorker] = {}
        self._same: dict[int, SharedWorker] = {}
        """By identity: a worker that has several places in the tree is one worker."""
        if team is not None:
            for path, worker in _all(team, ()):
                shared = self._same.get(id(worker)) or self.of(path, worker)
                self._workers[(*path, worker.name)] = self._same[id(worker)] = shared

    def of(self, path: TeamPath, worker: Worker) -> SharedWorker:
        """What is shared of a worker of the team that is within the workers `path`."""
        key = (*path, worker.name)
        if key not in self._workers:
            shared = SharedWorker("/".join(key), worker.concurrency, self._lock)
            self._workers[key] = shared
        return self._workers[key]

    def health(self, clock: Clock) -> tuple[WorkerHealth, ...]:
        """Every worker once, in the team's order."""
        with self._lock:
            each = {id(shared): shared for shared in self._workers.values()}
            return tuple(_health(shared, clock) for shared in each.values())


def _health(shared: SharedWorker, clock: Clock) -> WorkerHealth:
    breaker, until = shared.breaker, None
    if breaker.status == "open":
        left_s = max(breaker.until_s - clock.monotonic(), 0.0)
        until = clock.now() + dt.timedelta(seconds=left_s)
    return WorkerHealth(
        worker=shared.name,
        running=shared.running,
        waiting=shared.waiting,
        concurrency=shared.concurrency,
        latency_s=shared.latency_s,
        breaker=breaker.status,
        breaker_until=until,
        failures=breaker.failures,
        reason=breaker.reason if breaker.openings else None,
    )


def _all(team: Team, path: TeamPath) -> Iterator[tuple[TeamPath, Worker]]:
    for worker in team.workers:
        yield path, worker
        if worker.team is not None:
            yield from _all(worker.team, (*path, worker.name))
