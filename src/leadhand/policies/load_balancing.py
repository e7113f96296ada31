"""Load balancing: which worker starts the next task of a worker's queue. Pure.

Workers with the same `role` take tasks from each other, and a fallback helps while a queue is
longer than `max_queue`. A task moves only to a worker that can start it at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WorkerLoad:
    worker: str
    has_room: bool
    running: int = 0
    waiting: int = 0
    latency_s: float | None = None
    """Moving average of its tasks; `None` if it has completed none."""


@dataclass(frozen=True, slots=True)
class Substitute:
    worker: str
    reason: str


def substitute(
    own: WorkerLoad,
    peers: Sequence[WorkerLoad],
    *,
    fallback: WorkerLoad | None = None,
    max_queue: int | None = None,
) -> Substitute | None:
    """The worker that should take the next task of `own`, if any: one of its role's `peers`, or
    the `fallback` if more than `max_queue` tasks wait and no peer has room."""
    ready = [load for load in (own, *peers) if load.has_room]
    if ready:
        default_s = _average_s((own, *peers))
        best = min(ready, key=lambda load: _wait_s(load, default_s, is_own=load is own))
        if best is own:
            return None
        return Substitute(
            best.worker, f"{best.worker}, of the same role as {own.worker}, is less busy"
        )
    if fallback is None or not fallback.has_room or max_queue is None or own.waiting <= max_queue:
        return None
    return Substitute(
        fallback.worker,
        f"{own.waiting} tasks wait for {own.worker}, more than {max_queue}: "
        f"{fallback.worker} helps out",
    )


def _average_s(loads: Sequence[WorkerLoad]) -> float:
    """The latency assumed of workers without one."""
    known = [load.latency_s for load in loads if load.latency_s is not None]
    return sum(known) / len(known) if known else 1.0


def _wait_s(load: WorkerLoad, default_s: float, *, is_own: bool) -> float:
    """The queue of the task's own worker does not count: the task is the first in it."""
    ahead = load.running if is_own else load.running + load.waiting
    return (ahead + 1) * (default_s if load.latency_s is None else load.latency_s)
