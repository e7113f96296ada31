"""Lanes: the tasks that are ready, worker by worker, and who takes the next one. Starts nothing."""

import heapq
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from leadhand.contracts.team import Team
from leadhand.engine.attempts import ReadyQueue, Slots
from leadhand.engine.shared_workers import SharedWorker, SharedWorkers, TeamPath, Waiter
from leadhand.policies.load_balancing import WorkerLoad, substitute
from leadhand.ports import Runner


class Turn(NamedTuple):
    """A task that is to be started, or that can't be."""

    task_id: str
    queue: ReadyQueue
    """Who takes it, or was to."""
    because: str = ""
    """Why it is not the task's own worker."""
    refused: str | None = None
    """Why nobody may be given it; None: it is to be started."""


class _Choice(NamedTuple):
    """Who takes the first task of a lane."""

    queue: ReadyQueue | None
    """None: it waits for the end of a probe."""
    because: str = ""
    refused: str | None = None


class ReadyQueues:
    """The lanes of a team, by worker."""

    def __init__(
        self,
        team: Team,
        runners: Mapping[str, Runner],
        *,
        slots: Slots,
        team_slots: Slots,
        shared_slots: Mapping[str, Sequence[Slots]],
        shared_workers: SharedWorkers,
        team_path: TeamPath,
        waiter: Waiter,
    ) -> None:
        """`slots` are for all tasks but those that nested teams do, `team_slots` for these.

        `runners` and `shared_slots` are by worker name. `team_path` is the team's place in the tree
        of `shared_workers`, and `waiter` wakes the run when it may be its turn.
        """
        self._waiter = waiter
        self._queues = {
            worker.name: ReadyQueue(
                worker,
                runners[worker.name],
                (
                    team_slots if worker.team is not None else slots,
                    *shared_slots.get(worker.name, ()),
                ),
                shared_workers.of(team_path, worker),
                waiter,
            )
            for worker in team.workers
        }
        self._limited = [
            queue.shared for queue in self._queues.values() if queue.shared.concurrency is not None
        ]
        self._order = 0
        self._bound: set[str] = set()
        roles: dict[str, list[ReadyQueue]] = {}
        for queue in self._queues.values():
            if queue.worker.role is not None:
                roles.setdefault(queue.worker.role, []).append(queue)
        self._mates = {
            queue.worker.name: [mate for mate in queues if mate is not queue]
            for queues in roles.values()
            for queue in queues
        }

    @property
    def any_ready(self) -> bool:
        """Whether any task waits for a slot."""
        return any(queue.ready for queue in self._queues.values())

    def resting(self, now_s: float) -> list[str]:
        """The workers that get no new task now, as their breakers are open."""
        return [
            name for name, queue in self._queues.items() if not queue.shared.breaker.admits(now_s)
        ]

    def add(self, id: str, worker: str, rank: float, *, bound: bool = False) -> None:
        """A task is ready for `worker`; the highest rank goes first where slots are short.

        `bound`: it was tried before, and is not given to others because of their load.
        """
        if bound:
            self._bound.add(id)
        self._order += 1
        queue = self._queues[worker]
        queue.shared.wait(1)
        heapq.heappush(queue.ready, (-rank, self._order, id))

    def remove(self, ids: Collection[str]) -> None:
        """Tasks are ready no more. O(ready tasks)."""
        for queue in self._queues.values():
            kept = [entry for entry in queue.ready if entry[2] not in ids]
            queue.shared.wait(len(kept) - len(queue.ready))
            queue.ready = kept
            heapq.heapify(queue.ready)

    def close(self) -> None:
        """The run ends: nothing of it waits any more."""
        for queue in self._queues.values():
            queue.shared.leave(self._waiter, len(queue.ready))
            queue.ready = []

    def next(self, now_s: float) -> Turn | None:
        """The task that is started next, or refused; None: all that are ready must wait.

        Of those that may start it is the one with the longest remaining path.
        """
        best: ReadyQueue | None = None
        chosen: _Choice | None = None
        for queue in self._queues.values():
            if not queue.ready or (best is not None and best.ready[0] <= queue.ready[0]):
                continue
            choice = self._choice(queue, now_s)
            if choice.refused is not None or (choice.queue is not None and choice.queue.open()):
                best, chosen = queue, choice
        if best is None or chosen is None:
            return None
        id = heapq.heappop(best.ready)[2]
        best.shared.wait(-1)
        self._bound.discard(id)
        return Turn(id, chosen.queue or best, chosen.because, chosen.refused)

    def line_up(self, *, idle: bool = False) -> None:
        """Stand in the queues of the workers that tasks wait for, and in no others.

        `idle`: in none, as the run starts nothing for the time being.
        """
        if not self._limited:
            return
        wanted: set[SharedWorker] = set()
        for queue in self._queues.values():
            if queue.ready and not idle:
                wanted.update(one.shared for one in self._takers(queue) if one.has_room)
        for shared in self._limited:
            shared.line_up(self._waiter, wants=shared in wanted)

    def _takers(self, queue: ReadyQueue) -> list[ReadyQueue]:
        """Those that may get a lane's tasks as far as load is concerned."""
        worker = queue.worker
        takers = [queue, *self._mates.get(worker.name, ())]
        if worker.fallback is not None and worker.max_queue is not None:
            takers.append(self._queues[worker.fallback])
        return takers

    def _choice(self, queue: ReadyQueue, now_s: float) -> _Choice:
        """Who takes the first task of a lane, as its breaker and its load have it."""
        breaker, worker = queue.shared.breaker, queue.worker
        if breaker.openings and not breaker.admits(now_s):
            return self._spared(queue, now_s, retry=queue.ready[0][2] in self._bound)
        if worker.role is not None or worker.max_queue is not None:
            return self._helped(queue, now_s)
        return _Choice(queue)

    def _spared(self, queue: ReadyQueue, now_s: float, *, retry: bool) -> _Choice:
        """Who takes a task of a worker whose breaker is open."""
        breaker, worker = queue.shared.breaker, queue.worker
        fallback = self._queues[worker.fallback] if worker.fallback is not None else None
        why = f"the breaker of {worker.name} is open: {breaker.reason}"
        if fallback is not None and fallback.shared.breaker.admits(now_s):
            return _Choice(fallback, why)
        if breaker.admits(now_s, retry=retry):
            return _Choice(queue)
        if worker.offline is not None and worker.run is None:
            return _Choice(queue)  # where its model is down, its code does the work
        if retry and breaker.probe is not None:
            queue.shared.hold(self._waiter)
            return _Choice(None)
        if fallback is not None:
            why = f"{why}; so is that of its fallback {fallback.worker.name}"
        return _Choice(queue, refused=why)

    def _helped(self, queue: ReadyQueue, now_s: float) -> _Choice:
        """Who takes a task of a worker that shares its load with others."""
        worker = queue.worker
        if queue.ready[0][2] in self._bound:
            return _Choice(queue)
        mates = [
            _load(mate)
            for mate in self._mates.get(worker.name, ())
            if mate.shared.breaker.admits(now_s)
        ]
        fallback = self._queues.get(worker.fallback) if worker.fallback is not None else None
        if fallback is not None and not fallback.shared.breaker.admits(now_s):
            fallback = None
        taken = substitute(
            _load(queue),
            mates,
            fallback=_load(fallback) if fallback is not None else None,
            max_queue=worker.max_queue,
        )
        if taken is None:
            return _Choice(queue)
        return _Choice(self._queues[taken.worker], taken.reason)


def _load(queue: ReadyQueue) -> WorkerLoad:
    shared = queue.shared
    return WorkerLoad(
        queue.worker.name, queue.open(), shared.running, shared.waiting, shared.latency_s
    )
