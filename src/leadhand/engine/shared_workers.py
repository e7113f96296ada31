"""The load, latency and breaker of each worker, over all runs of a supervisor.

Runs queue for a worker with one place each, so that a small run does not wait for all tasks of a
large one. In quarantine, tasks that were running at two crashes run alone, which shows the cause: a
worker that kills the process ends all runs of an event loop.
"""

import asyncio
import copy
import datetime as dt
import weakref
from collections import ChainMap
from collections.abc import Iterable, Iterator, MutableMapping, Sized
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

from leadhand.contracts.outcome import Completed, Escalated, Outcome
from leadhand.contracts.summary import WorkerHealth
from leadhand.contracts.team import Ladder, Team, Worker
from leadhand.engine.current_attempt import current_attempt
from leadhand.policies.breaker import Breaker
from leadhand.ports import Clock, Runner

SUSPECT_CRASHES = 2
"""A task that was running at so many crashes in a row runs alone."""
MAX_CRASHES = 3
"""A task that was running at so many crashes in a row is given up."""
_WEIGHT = 0.3

_shared: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Quarantine]" = (
    weakref.WeakKeyDictionary()
)


@dataclass(slots=True, eq=False)
class Quarantine:
    """Counts working workers; a suspect runs once there are none."""

    users: list[asyncio.Event] = field(default_factory=list[asyncio.Event])
    claims: list[asyncio.Event] = field(default_factory=list[asyncio.Event])
    """The scheduler whose suspect runs, then those that wait. Nothing else starts meanwhile."""
    _working: int = 0

    @classmethod
    def here(cls) -> "Quarantine":
        """The quarantine of the running event loop; a run that a worker started has its own."""
        current = current_attempt.get()
        if current is not None and current.in_worker:
            return cls()
        return _shared.setdefault(asyncio.get_running_loop(), cls())

    def claim(self, by: asyncio.Event) -> bool:
        """Whether `by` may start a suspect now; otherwise it is woken when it may."""
        if by not in self.claims:
            self.claims.append(by)
        return self.claims[0] is by and not self._working

    def release(self, by: asyncio.Event) -> None:
        if by in self.claims:
            self.claims.remove(by)
            self._wake(self.users)

    def enter(self) -> None:
        self._working += 1

    def leave(self) -> None:
        self._working -= 1
        if not self._working:
            self._wake(self.claims)

    def _wake(self, users: list[asyncio.Event]) -> None:
        for user in users:
            user.set()


Lock = AbstractContextManager[object]
TeamPath = tuple[str, ...]
"""The names of the workers around a nested team, the outermost first."""


@dataclass(slots=True, eq=False)
class Waiter:
    wake_up: asyncio.Event
    _loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    def wake(self) -> None:
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is self._loop:
            self.wake_up.set()
        elif not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self.wake_up.set)


class SharedWorker:
    def __init__(self, name: str, concurrency: int | None, lock: Lock) -> None:
        self.name = name
        self.concurrency = concurrency
        self.running = 0
        self.ready: dict[Waiter, Sized] = {}
        self.latency_s: float | None = None
        self.code_s: float | None = None
        """The longest recent call of its offline code."""
        self.breaker = Breaker()
        self._queue: dict[Waiter, None] = {}
        """The runs that have a task for it, in order of arrival."""
        self._awaiting_probe: dict[Waiter, None] = {}
        self._lock = lock

    @property
    def waiting(self) -> int:
        with self._lock:
            return sum(len(ready) for ready in self.ready.values())

    def may_start(self, waiter: Waiter) -> bool:
        """Whether a run may start a task on it now: it has room, and it is the run's turn."""
        if self.concurrency is None:
            return True
        with self._lock:
            free = self.concurrency - self.running
            for place, other in enumerate(self._queue):
                if place >= free or other is waiter:
                    return place < free
            return len(self._queue) < free

    def take(self, waiter: Waiter, task: str) -> bool:
        """Start a task of a run; False if a run in another thread was faster."""
        with self._lock:
            if not self.may_start(waiter):
                return False
            self._queue.pop(waiter, None)
            self.running += 1
            if self.breaker.failures:
                self.breaker.dispatched(task)
            return True

    def release(self, waiter: Waiter, took_s: float | None = None) -> None:
        """Note that an attempt ended, and wake the next run; `waiter` itself needs no waking."""
        with self._lock:
            self.running -= 1
            if took_s is not None:
                before_s = took_s if self.latency_s is None else self.latency_s
                self.latency_s = before_s + _WEIGHT * (took_s - before_s)
            self._wake_next(waiter)

    def line_up(self, waiter: Waiter, *, wants: bool) -> None:
        """Join the queue, or leave it. At its turn, a run has another reason to wait."""
        with self._lock:
            if wants and not self.may_start(waiter):
                self._queue.setdefault(waiter)
            elif waiter in self._queue:
                del self._queue[waiter]
                self._wake_next(waiter)

    def wake_after_probe(self, waiter: Waiter) -> None:
        with self._lock:
            self._awaiting_probe.setdefault(waiter)

    def join(self, waiter: Waiter, ready: Sized) -> None:
        """Count the tasks in `ready`, now and later, until the run leaves."""
        with self._lock:
            self.ready[waiter] = ready

    def leave(self, waiter: Waiter) -> None:
        self.line_up(waiter, wants=False)
        with self._lock:
            self._awaiting_probe.pop(waiter, None)
            self.ready.pop(waiter, None)

    def ended(self, task: str, outcome: Outcome | None, ladder: Ladder, now_s: float) -> bool:
        """Report an attempt's end to the breaker; returns whether it opens or closes.

        Only transient failures open it, and only `Completed` or `Escalated` close it. `None`: the
        run stopped the attempt.
        """
        with self._lock:
            breaker, changes = self.breaker, False
            if isinstance(outcome, Completed | Escalated):
                changes = breaker.failures > 0 and breaker.succeeded()
            elif outcome is not None and outcome.transient:
                changes = breaker.failed(task, outcome.message, ladder, now_s)
            else:
                breaker.released(task)
            if self._awaiting_probe and breaker.probe is None:
                waiters, self._awaiting_probe = self._awaiting_probe, {}
                for waiter in waiters:
                    waiter.wake()
            return changes

    def _wake_next(self, besides: Waiter) -> None:
        free = (self.concurrency or 0) - self.running
        for place, waiter in enumerate(self._queue):
            if place >= free:
                break
            if waiter is not besides:
                waiter.wake()


@dataclass(slots=True, eq=False)
class Slots:
    """How many tasks may run at once; shared by ready queues, also those of nested runs."""

    free: int
    users: list[asyncio.Event] = field(default_factory=list[asyncio.Event])

    def release(self, by: asyncio.Event) -> None:
        """Free one slot, and wake every other scheduler."""
        self.free += 1
        for user in self.users:
            if user is not by:
                user.set()


@dataclass(slots=True, eq=False)
class ReadyQueue:
    """The tasks of a run that are ready for one worker, and what each of them takes to start."""

    worker: Worker
    runner: Runner
    waiter: Waiter
    slots: tuple[Slots, ...]
    shared: SharedWorker
    limits: tuple[SharedWorker, ...]
    """The limit of the tasks of all runs, which a team's own task does not count for; `shared`."""
    ready: list[tuple[float, int, str]] = field(default_factory=list[tuple[float, int, str]])
    """A heap of (minus the remaining path, order of arrival, task id)."""

    @property
    def has_room(self) -> bool:
        return min([slots.free for slots in self.slots]) > 0

    def may_start(self) -> bool:
        return self.has_room and all(one.may_start(self.waiter) for one in self.limits)

    def take(self, task: str) -> bool:
        """Start a task; False if a run in another thread was faster."""
        for taken, one in enumerate(self.limits):
            if not one.take(self.waiter, task):
                for other in self.limits[:taken]:
                    other.release(self.waiter)
                return False
        return True

    def release(self, took_s: float) -> None:
        for one in self.limits:
            one.release(self.waiter, took_s)


class SharedWorkers:
    """The shared workers of a team and of the teams nested in it."""

    def __init__(
        self,
        team: Team | None = None,
        *,
        lock: Lock | None = None,
        max_concurrency: int | None = None,
    ) -> None:
        """`lock`: a reentrant lock, if several threads have event loops."""
        self._lock = lock or nullcontext()
        self.total: SharedWorker | None = None
        """The limit of all tasks, as of one worker that does them all."""
        if max_concurrency is not None:
            self.total = SharedWorker("", max_concurrency, self._lock)
        self._workers: MutableMapping[TeamPath, SharedWorker] = {}
        self._same: dict[int, SharedWorker] = {}
        """By `id` of the worker: one that occurs twice in the tree is shared."""
        if team is not None:
            for path, worker in _all(team, ()):
                shared = self._same.get(id(worker)) or self.of(path, worker)
                self._workers[(*path, worker.name)] = self._same[id(worker)] = shared

    def of(self, path: TeamPath, worker: Worker) -> SharedWorker:
        key = (*path, worker.name)
        if key not in self._workers:
            shared = SharedWorker("/".join(key), worker.concurrency, self._lock)
            self._workers[key] = shared
        return self._workers[key]

    def with_own(self, path: TeamPath, workers: Iterable[Worker]) -> "SharedWorkers":
        """The same, with `workers` of one run at `path`, which are dropped with that run."""
        mine = copy.copy(self)
        mine._workers = ChainMap({}, self._workers)
        for worker in workers:
            mine.of(path, worker)
        return mine

    def health(self, clock: Clock) -> tuple[WorkerHealth, ...]:
        with self._lock:
            each = {id(shared): shared for shared in self._workers.values()}
            return tuple(_health(shared, clock) for shared in each.values())


def _health(shared: SharedWorker, clock: Clock) -> WorkerHealth:
    breaker, until = shared.breaker, None
    if breaker.status == "open":
        left_s = max(breaker.pause_ends_s - clock.monotonic(), 0.0)
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
        reason=None if breaker.is_closed else breaker.reason,
    )


def _all(team: Team, path: TeamPath) -> Iterator[tuple[TeamPath, Worker]]:
    for worker in team.workers:
        yield path, worker
        if worker.team is not None:
            yield from _all(worker.team, (*path, worker.name))
