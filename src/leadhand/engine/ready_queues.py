"""Ready queues: the tasks that are ready for each worker, and which starts next. Starts nothing."""

import heapq
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from leadhand.contracts.team import Team
from leadhand.engine.shared_workers import (
    ReadyQueue,
    SharedWorker,
    SharedWorkers,
    Slots,
    TeamPath,
    Waiter,
)
from leadhand.policies.load_balancing import WorkerLoad, substitute
from leadhand.ports import Runner


class Turn(NamedTuple):
    """The worker that takes a task, or why none may."""

    queue: ReadyQueue
    reason: str = ""
    """Why it is another worker than the task's."""
    refused: str | None = None
    """Why no worker may take it; `None`: it is to start."""


class ReadyQueues:
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
        """Nested teams' tasks use `team_slots`. `waiter` wakes the run when it may be its turn."""
        self._waiter = waiter
        total = shared_workers.total
        self._queues: dict[str, ReadyQueue] = {}
        self._limited = [] if total is None else [total]
        for worker in team.all_workers:
            own, shared = shared_slots.get(worker.name, ()), shared_workers.of(team_path, worker)
            queue = ReadyQueue(
                worker,
                runners[worker.name],
                waiter,
                (slots if worker.team is None else team_slots, *own),
                shared,
                (shared,) if total is None or worker.team is not None else (total, shared),
            )
            shared.join(waiter, queue.ready)
            self._queues[worker.name] = queue
            if shared.concurrency is not None:
                self._limited.append(shared)
        self._order = 0
        self._pinned: set[str] = set()
        roles: dict[str, list[ReadyQueue]] = {}
        for queue in self._queues.values():
            if queue.worker.role is not None:
                roles.setdefault(queue.worker.role, []).append(queue)
        self._peers = {
            queue.worker.name: [peer for peer in queues if peer is not queue]
            for queues in roles.values()
            for queue in queues
        }

    @property
    def any_ready(self) -> bool:
        return any(queue.ready for queue in self._queues.values())

    def not_admitted(self, now_s: float) -> list[str]:
        return [
            name for name, queue in self._queues.items() if not queue.shared.breaker.admits(now_s)
        ]

    def add(self, id: str, worker: str, rank: float, *, pinned: bool = False) -> None:
        """The highest `rank` goes first if slots are short. `pinned`: not load-balanced, because
        `worker` has made an attempt."""
        if pinned:
            self._pinned.add(id)
        self._order += 1
        heapq.heappush(self._queues[worker].ready, (-rank, self._order, id))

    def remove(self, ids: Collection[str]) -> None:
        for queue in self._queues.values():
            queue.ready[:] = [entry for entry in queue.ready if entry[2] not in ids]
            heapq.heapify(queue.ready)

    def close(self) -> None:
        for queue in self._queues.values():
            queue.shared.leave(self._waiter)
            queue.ready.clear()

    def next(self, now_s: float) -> tuple[str, Turn] | None:
        """The next task to start or to refuse, by rank; `None` if all ready tasks must wait."""
        best: ReadyQueue | None = None
        chosen: Turn | None = None
        for queue in self._queues.values():
            if not queue.ready or (best is not None and best.ready[0] <= queue.ready[0]):
                continue
            turn = self._turn(queue, now_s)
            if turn is not None and (turn.refused is not None or turn.queue.may_start()):
                best, chosen = queue, turn
        if best is None or chosen is None:
            return None
        id = heapq.heappop(best.ready)[2]
        self._pinned.discard(id)
        return id, chosen

    def line_up(self, *, idle: bool = False) -> None:
        """Queue for the shared workers that this run needs, and leave all other queues. `idle`:
        leave all, as the run starts nothing for now."""
        if not self._limited:
            return
        wanted: set[SharedWorker] = set()
        for queue in self._queues.values():
            if queue.ready and not idle:
                wanted.update(one.shared for one in self._candidates(queue) if one.has_room)
                if queue.has_room:
                    wanted.update(queue.limits)
        for shared in self._limited:
            shared.line_up(self._waiter, wants=shared in wanted)

    def _candidates(self, queue: ReadyQueue) -> list[ReadyQueue]:
        """The workers that load balancing may give a queue's tasks to."""
        worker = queue.worker
        candidates = [queue, *self._peers.get(worker.name, ())]
        if worker.fallback is not None and worker.max_queue is not None:
            candidates.append(self._queues[worker.fallback])
        return candidates

    def _turn(self, queue: ReadyQueue, now_s: float) -> Turn | None:
        """Which worker takes the first task of a queue, by breakers and load; `None` until a probe
        has ended."""
        breaker, worker = queue.shared.breaker, queue.worker
        if breaker.failures and not breaker.admits(now_s):
            return self._while_open(queue, now_s, retry=queue.ready[0][2] in self._pinned)
        if worker.role is not None or worker.max_queue is not None:
            return self._balanced(queue, now_s)
        return Turn(queue)

    def _while_open(self, queue: ReadyQueue, now_s: float, *, retry: bool) -> Turn | None:
        """Which worker takes a task whose worker's breaker is open."""
        breaker, worker = queue.shared.breaker, queue.worker
        fallback = self._queues[worker.fallback] if worker.fallback is not None else None
        why = f"the breaker of {worker.name} is open: {breaker.reason}"
        if fallback is not None and fallback.shared.breaker.admits(now_s):
            return Turn(fallback, why)
        if breaker.admits(now_s, retry=retry):
            return Turn(queue)
        if worker.offline is not None and worker.run is None:
            return Turn(queue)  # its offline code works without the model
        if retry and breaker.probe is not None:
            queue.shared.wake_after_probe(self._waiter)
            return None
        if fallback is not None:
            why = f"{why}; so is that of its fallback {fallback.worker.name}"
        return Turn(queue, refused=why)

    def _balanced(self, queue: ReadyQueue, now_s: float) -> Turn:
        worker = queue.worker
        if queue.ready[0][2] in self._pinned:
            return Turn(queue)
        peers = [
            _load(peer)
            for peer in self._peers.get(worker.name, ())
            if peer.shared.breaker.admits(now_s)
        ]
        fallback = self._queues.get(worker.fallback) if worker.fallback is not None else None
        if fallback is not None and not fallback.shared.breaker.admits(now_s):
            fallback = None
        taken = substitute(
            _load(queue),
            peers,
            fallback=_load(fallback) if fallback is not None else None,
            max_queue=worker.max_queue,
        )
        if taken is None:
            return Turn(queue)
        return Turn(self._queues[taken.worker], taken.reason)


def _load(queue: ReadyQueue) -> WorkerLoad:
    shared = queue.shared
    return WorkerLoad(
        queue.worker.name, queue.may_start(), shared.running, shared.waiting, shared.latency_s
    )
