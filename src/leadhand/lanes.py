"""Lanes: the tasks that are ready, worker by worker, and who takes the next one. Starts nothing."""

import heapq
from collections.abc import Collection, Mapping, Sequence

from leadhand.attempts import Lane, Slots
from leadhand.breaker import Breaker, admits
from leadhand.contracts.team import Team
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
        self._order = 0

    def add(self, id: str, worker: str, rank: float) -> None:
        """A task is ready for `worker`; the highest rank goes first where slots are short."""
        self._order += 1
        heapq.heappush(self._lanes[worker].ready, (-rank, self._order, id))

    def remove(self, ids: Collection[str]) -> None:
        """Tasks are ready no more. O(ready tasks)."""
        for lane in self._lanes.values():
            lane.ready = [entry for entry in lane.ready if entry[2] not in ids]
            heapq.heapify(lane.ready)

    def next(self, breakers: Mapping[str, Breaker], now_s: float) -> tuple[Lane, str] | None:
        """Who takes which task now, the one with the longest remaining path; none: all must wait.

        It is not the task's own worker where that one's breaker is open and its fallback's is not.
        """
        best: Lane | None = None
        takes: Lane | None = None
        for lane in self._lanes.values():
            if not lane.ready or (best is not None and best.ready[0] <= lane.ready[0]):
                continue
            taker = self._taker(lane, breakers, now_s) if breakers else lane
            if taker.open():
                best, takes = lane, taker
        if best is None or takes is None:
            return None
        return takes, heapq.heappop(best.ready)[2]

    def _taker(self, lane: Lane, breakers: Mapping[str, Breaker], now_s: float) -> Lane:
        fallback = lane.worker.fallback
        if fallback is None or admits(breakers, lane.worker.name, now_s):
            return lane
        return self._lanes[fallback] if admits(breakers, fallback, now_s) else lane
