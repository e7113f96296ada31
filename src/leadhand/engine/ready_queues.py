"""Lanes: the tasks that are ready, worker by worker, and who takes the next one. Starts nothing."""

import heapq
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from leadhand.contracts.team import Team
from leadhand.engine.attempts import Lane, Slots
from leadhand.engine.shared_workers import SharedWorker, Waiter, Way, Workforce
from leadhand.policies.load import Load, taker
from leadhand.ports import Runner


class Turn(NamedTuple):
    """A task that is to be started, or that can't be."""

    task_id: str
    lane: Lane
    """Who takes it, or was to."""
    because: str = ""
    """Why it is not the task's own worker."""
    refused: str | None = None
    """Why nobody may be given it; None: it is to be started."""


class _Choice(NamedTuple):
    """Who takes the first task of a lane."""

    lane: Lane | None
    """None: it waits for the end of a probe."""
    because: str = ""
    refused: str | None = None


class Lanes:
    """The lanes of a team, by worker."""

    def __init__(
        self,
        team: Team,
        runners: Mapping[str, Runner],
        *,
        slots: Slots,
        team_slots: Slots,
        shared_slots: Mapping[str, Sequence[Slots]],
        workforce: Workforce,
        way: Way,
        waiter: Waiter,
    ) -> None:
        """`slots` are for all tasks but those that nested teams do, `team_slots` for these.

        `runners` and `shared_slots` are by worker name. `way` is where the team is in the tree that
        the `workforce` is of, and `waiter` wakes the run when it may be its turn.
        """
        self._waiter = waiter
        self._lanes = {
            worker.name: Lane(
                worker,
                runners[worker.name],
                (
                    team_slots if worker.team is not None else slots,
                    *shared_slots.get(worker.name, ()),
                ),
                workforce.of(way, worker),
                waiter,
            )
            for worker in team.workers
        }
        self._limited = [
            lane.shared for lane in self._lanes.values() if lane.shared.concurrency is not None
        ]
        self._order = 0
        self._bound: set[str] = set()
        roles: dict[str, list[Lane]] = {}
        for lane in self._lanes.values():
            if lane.worker.role is not None:
                roles.setdefault(lane.worker.role, []).append(lane)
        self._mates = {
            lane.worker.name: [mate for mate in lanes if mate is not lane]
            for lanes in roles.values()
            for lane in lanes
        }

    @property
    def any_ready(self) -> bool:
        """Whether any task waits for a slot."""
        return any(lane.ready for lane in self._lanes.values())

    def resting(self, now_s: float) -> list[str]:
        """The workers that get no new task now, as their breakers are open."""
        return [name for name, lane in self._lanes.items() if not lane.shared.breaker.admits(now_s)]

    def add(self, id: str, worker: str, rank: float, *, bound: bool = False) -> None:
        """A task is ready for `worker`; the highest rank goes first where slots are short.

        `bound`: it was tried before, and is not given to others because of their load.
        """
        if bound:
            self._bound.add(id)
        self._order += 1
        lane = self._lanes[worker]
        lane.shared.wait(1)
        heapq.heappush(lane.ready, (-rank, self._order, id))

    def remove(self, ids: Collection[str]) -> None:
        """Tasks are ready no more. O(ready tasks)."""
        for lane in self._lanes.values():
            kept = [entry for entry in lane.ready if entry[2] not in ids]
            lane.shared.wait(len(kept) - len(lane.ready))
            lane.ready = kept
            heapq.heapify(lane.ready)

    def close(self) -> None:
        """The run ends: nothing of it waits any more."""
        for lane in self._lanes.values():
            lane.shared.leave(self._waiter, len(lane.ready))
            lane.ready = []

    def next(self, now_s: float) -> Turn | None:
        """The task that is started next, or refused; None: all that are ready must wait.

        Of those that may start it is the one with the longest remaining path.
        """
        best: Lane | None = None
        chosen: _Choice | None = None
        for lane in self._lanes.values():
            if not lane.ready or (best is not None and best.ready[0] <= lane.ready[0]):
                continue
            choice = self._choice(lane, now_s)
            if choice.refused is not None or (choice.lane is not None and choice.lane.open()):
                best, chosen = lane, choice
        if best is None or chosen is None:
            return None
        id = heapq.heappop(best.ready)[2]
        best.shared.wait(-1)
        self._bound.discard(id)
        return Turn(id, chosen.lane or best, chosen.because, chosen.refused)

    def line_up(self, *, idle: bool = False) -> None:
        """Stand in the queues of the workers that tasks wait for, and in no others.

        `idle`: in none, as the run starts nothing for the time being.
        """
        if not self._limited:
            return
        wanted: set[SharedWorker] = set()
        for lane in self._lanes.values():
            if lane.ready and not idle:
                wanted.update(one.shared for one in self._takers(lane) if one.has_room)
        for shared in self._limited:
            shared.line_up(self._waiter, wants=shared in wanted)

    def _takers(self, lane: Lane) -> list[Lane]:
        """Those that may get a lane's tasks as far as load is concerned."""
        worker = lane.worker
        takers = [lane, *self._mates.get(worker.name, ())]
        if worker.fallback is not None and worker.max_queue is not None:
            takers.append(self._lanes[worker.fallback])
        return takers

    def _choice(self, lane: Lane, now_s: float) -> _Choice:
        """Who takes the first task of a lane, as its breaker and its load have it."""
        breaker, worker = lane.shared.breaker, lane.worker
        if breaker.openings and not breaker.admits(now_s):
            return self._spared(lane, now_s, retry=lane.ready[0][2] in self._bound)
        if worker.role is not None or worker.max_queue is not None:
            return self._helped(lane, now_s)
        return _Choice(lane)

    def _spared(self, lane: Lane, now_s: float, *, retry: bool) -> _Choice:
        """Who takes a task of a worker whose breaker is open."""
        breaker, worker = lane.shared.breaker, lane.worker
        fallback = self._lanes[worker.fallback] if worker.fallback is not None else None
        why = f"the breaker of {worker.name} is open: {breaker.reason}"
        if fallback is not None and fallback.shared.breaker.admits(now_s):
            return _Choice(fallback, why)
        if breaker.admits(now_s, retry=retry):
            return _Choice(lane)
        if worker.offline is not None and worker.run is None:
            return _Choice(lane)  # where its model is down, its code does the work
        if retry and breaker.probe is not None:
            lane.shared.hold(self._waiter)
            return _Choice(None)
        if fallback is not None:
            why = f"{why}; so is that of its fallback {fallback.worker.name}"
        return _Choice(lane, refused=why)

    def _helped(self, lane: Lane, now_s: float) -> _Choice:
        """Who takes a task of a worker that shares its load with others."""
        worker = lane.worker
        if lane.ready[0][2] in self._bound:
            return _Choice(lane)
        mates = [
            _load(mate)
            for mate in self._mates.get(worker.name, ())
            if mate.shared.breaker.admits(now_s)
        ]
        fallback = self._lanes.get(worker.fallback) if worker.fallback is not None else None
        if fallback is not None and not fallback.shared.breaker.admits(now_s):
            fallback = None
        taken = taker(
            _load(lane),
            mates,
            fallback=_load(fallback) if fallback is not None else None,
            max_queue=worker.max_queue,
        )
        if taken is None:
            return _Choice(lane)
        return _Choice(self._lanes[taken.worker], taken.reason)


def _load(lane: Lane) -> Load:
    shared = lane.shared
    return Load(lane.worker.name, lane.open(), shared.running, shared.waiting, shared.latency_s)
