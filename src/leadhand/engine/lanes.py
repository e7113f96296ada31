"""Lanes: the tasks that are ready, worker by worker, and who takes the next one. Starts nothing."""

import heapq
from collections.abc import Collection, Mapping, Sequence

from leadhand.breaker import Breaker, admits
from leadhand.contracts.team import Team
from leadhand.engine.attempts import Lane, Slots
from leadhand.policies.load import Load, taker
from leadhand.ports import Runner


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
    ) -> None:
        """`slots` are for all tasks but those that nested teams do, `team_slots` for these.

        `runners` and `shared_slots` are by worker name.
        """
        self._lanes = {
            worker.name: Lane(
                worker,
                runners[worker.name],
                (
                    team_slots if worker.team is not None else slots,
                    *([Slots(worker.concurrency)] if worker.concurrency is not None else []),
                    *shared_slots.get(worker.name, ()),
                ),
            )
            for worker in team.workers
        }
        for lane in self._lanes.values():
            if lane.worker.role is not None or lane.worker.max_queue is not None:
                lane.weighed = True
                if lane.worker.fallback is not None:
                    self._lanes[lane.worker.fallback].weighed = True
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

    def add(self, id: str, worker: str, rank: float, *, bound: bool = False) -> None:
        """A task is ready for `worker`; the highest rank goes first where slots are short.

        `bound`: for nobody else, however much there is to do.
        """
        if bound:
            self._bound.add(id)
        self._order += 1
        heapq.heappush(self._lanes[worker].ready, (-rank, self._order, id))

    def remove(self, ids: Collection[str]) -> None:
        """Tasks are ready no more. O(ready tasks)."""
        for lane in self._lanes.values():
            lane.ready = [entry for entry in lane.ready if entry[2] not in ids]
            heapq.heapify(lane.ready)

    def next(self, breakers: Mapping[str, Breaker], now_s: float) -> tuple[Lane, str, str] | None:
        """Who takes which task now, the one with the longest remaining path; none: all must wait.

        It is not the task's own worker where that one's breaker is open and its fallback's is not,
        or where it has so much to do that another one takes it; then the last value says why.
        """
        best: Lane | None = None
        takes: Lane | None = None
        because = ""
        for lane in self._lanes.values():
            if not lane.ready or (best is not None and best.ready[0] <= lane.ready[0]):
                continue
            takers = lane, ""
            if breakers:
                takers = self._spared(lane, breakers, now_s)
            if takers[0] is lane and (lane.worker.role or lane.worker.max_queue is not None):
                takers = self._helped(lane, breakers, now_s)
            if takers[0].open():
                best, (takes, because) = lane, takers
        if best is None or takes is None:
            return None
        id = heapq.heappop(best.ready)[2]
        self._bound.discard(id)
        return takes, id, because

    def _spared(
        self, lane: Lane, breakers: Mapping[str, Breaker], now_s: float
    ) -> tuple[Lane, str]:
        """Who takes a lane's next task as far as breakers are concerned, and why."""
        fallback = lane.worker.fallback
        if fallback is None or admits(breakers, lane.worker.name, now_s):
            return lane, ""
        if not admits(breakers, fallback, now_s):
            return lane, ""
        return self._lanes[fallback], f"the breaker of {lane.worker.name} is open"

    def _helped(
        self, lane: Lane, breakers: Mapping[str, Breaker], now_s: float
    ) -> tuple[Lane, str]:
        """Who takes a lane's next task as far as load is concerned, and why."""
        worker = lane.worker
        if lane.ready[0][2] in self._bound:
            return lane, ""
        mates = [
            _load(mate)
            for mate in self._mates.get(worker.name, ())
            if admits(breakers, mate.worker.name, now_s)
        ]
        fallback = self._lanes.get(worker.fallback) if worker.fallback is not None else None
        if fallback is not None and not admits(breakers, fallback.worker.name, now_s):
            fallback = None
        taken = taker(
            _load(lane),
            mates,
            fallback=_load(fallback) if fallback is not None else None,
            max_queue=worker.max_queue,
        )
        return (lane, "") if taken is None else (self._lanes[taken.worker], taken.reason)


def _load(lane: Lane) -> Load:
    return Load(lane.worker.name, lane.open(), lane.running, len(lane.ready), lane.latency_s)
