"""Load: who takes a task where several workers of one role could, or a queue is too long. Pure.

Whoever has something to do at once is never kept waiting for a busier colleague: a task is given
away only at the moment in which someone can start it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

WEIGHT = 0.3
"""How much the last task counts in what a worker is known to take for one."""


@dataclass(frozen=True, slots=True)
class WorkerLoad:
    """What a worker has to do."""

    worker: str
    open: bool
    """Whether it can start one more task now."""
    running: int = 0
    """Tasks that it works on."""
    waiting: int = 0
    """Tasks that are ready for it, and wait."""
    latency_s: float | None = None
    """How long tasks took it lately; none where that is not known."""


@dataclass(frozen=True, slots=True)
class Substitute:
    """Who takes a task in its worker's place, and why."""

    worker: str
    reason: str


def substitute(
    own: WorkerLoad,
    mates: Sequence[WorkerLoad],
    *,
    fallback: WorkerLoad | None = None,
    max_queue: int | None = None,
) -> Substitute | None:
    """Who should take the next task that waits for `own`; none: its own worker.

    `mates` are of the same role. The `fallback` helps out while more than `max_queue` tasks wait
    and nobody of the role can start one.
    """
    able = [load for load in (own, *mates) if load.open]
    if able:
        usual_s = _usual_s((own, *mates))
        best = min(able, key=lambda load: _wait_s(load, usual_s, is_own=load is own))
        if best is own:
            return None
        return Substitute(
            best.worker, f"{best.worker}, of the same role as {own.worker}, is less busy"
        )
    if fallback is None or not fallback.open or max_queue is None or own.waiting <= max_queue:
        return None
    return Substitute(
        fallback.worker,
        f"{own.waiting} tasks wait for {own.worker}, more than {max_queue}: "
        f"{fallback.worker} helps out",
    )


def latency(before_s: float | None, took_s: float) -> float:
    """What a worker is known to take, after one more task: the last ones count the most."""
    return took_s if before_s is None else before_s + WEIGHT * (took_s - before_s)


def _usual_s(loads: Sequence[WorkerLoad]) -> float:
    """What is assumed of those of whom nothing is known."""
    known = [load.latency_s for load in loads if load.latency_s is not None]
    return sum(known) / len(known) if known else 1.0


def _wait_s(load: WorkerLoad, usual_s: float, *, is_own: bool) -> float:
    """Until the task would be done. The tasks that wait for its own worker are those to share."""
    ahead = load.running if is_own else load.running + load.waiting
    return (ahead + 1) * (usual_s if load.latency_s is None else load.latency_s)
