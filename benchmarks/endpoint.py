"""A run against a model endpoint that misbehaves, beside the same run against one that does not.

Of its answers 10 % are 429, 5 % are 500, 5 % are connections reset, and 2 % are tool calls whose
JSON is cut in half. Both runs have the same plan of 100 tasks and the same latency; they take
turns, and the medians count. The endpoint is leadhand's own scripted server, on loopback; its 429
asks for one second. The floor is what a client needs that knows the faults are stray ones: it
waits as a 429 asks it to, and not at all after another fault.

    python -m benchmarks.endpoint [--latency-ms 2000] [--concurrency 16] [--rounds 3] [--seed 0]
"""

import argparse
import asyncio
import heapq
import logging
import os
import statistics
from dataclasses import dataclass

from benchmarks.model_alone import TEAM
from leadhand import Supervisor
from leadhand.testing import ScriptedServer
from leadhand.testing.exchange import Request
from leadhand.testing.script import Script

FAULTS = {"429": 0.10, "500": 0.05, "reset": 0.05, "cut_json": 0.02}
RETRY_AFTER_S = 1.0
"""What the server's 429 asks for."""
MAX_WALL = 1.5
"""Times the clean run's wall time."""
MAX_REQUESTS = 1.4
"""Times the clean run's requests."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one run came to."""

    wall_s: float
    requests: int
    completed: int
    misbehaved: int


class Floor:
    """A client that loses no time, against the faults that the server draws for a seed."""

    def __init__(self, *, faults: dict[str, float], seed: int, latency_s: float) -> None:
        self._script = Script(None, faults, seed=seed)
        self._latency_s = latency_s

    def run_s(self, *, tasks: int, concurrency: int) -> float:
        """Seconds for a plan, so many tasks, lost calls before new ones, and a synthesis."""
        planned_s = self._answered_s(0.0, calls=1, at_once=1)
        done_s = self._answered_s(planned_s, calls=tasks, at_once=concurrency)
        return self._answered_s(done_s, calls=1, at_once=1)

    def _answered_s(self, start_s: float, *, calls: int, at_once: int) -> float:
        free_s, again_s, last_s = [start_s] * at_once, list[float](), start_s
        while calls or again_s:
            at_s = heapq.heappop(free_s)
            if again_s and (not calls or again_s[0] <= at_s):
                at_s = max(at_s, heapq.heappop(again_s))
            else:
                calls -= 1
            ends_s = at_s + self._latency_s
            heapq.heappush(free_s, ends_s)
            wait_s = self._next_wait_s()
            if wait_s is None:
                last_s = max(last_s, ends_s)
            else:
                heapq.heappush(again_s, ends_s + wait_s)
        return last_s

    def _next_wait_s(self) -> float | None:
        """How long to wait after the next call; None where it is answered."""
        faults = self._script.reply(Request("openai", "scripted", ()), "worker").misbehave
        return RETRY_AFTER_S if "429" in faults else 0.0 if faults else None


def run(
    server: ScriptedServer, *, tasks: int, faults: dict[str, float], seed: int, concurrency: int
) -> Run:
    """One run by leadhand's front door, all roles played by the server."""
    server.reset(faults=faults, seed=seed)
    supervisor = Supervisor(TEAM, concurrency=concurrency)
    answer = asyncio.run(supervisor.run(f"Write the report on the catalogue: tasks={tasks}."))
    stats = server.stats()
    return Run(
        wall_s=answer.metrics.makespan_s,
        requests=stats.requests,
        completed=sum(task.status == "completed" for task in answer.tasks),
        misbehaved=sum(stats.misbehaved.values()),
    )


def measure(
    server: ScriptedServer, *, tasks: int, seeds: range, concurrency: int
) -> tuple[list[Run], list[Run]]:
    """Clean and troubled runs, in turn, a round for each seed."""
    clean: list[Run] = []
    troubled: list[Run] = []
    for seed in seeds:
        clean.append(run(server, tasks=tasks, faults={}, seed=seed, concurrency=concurrency))
        troubled.append(run(server, tasks=tasks, faults=FAULTS, seed=seed, concurrency=concurrency))
    return clean, troubled


def floor_ratio(*, tasks: int, seeds: range, concurrency: int, latency_s: float) -> float:
    """The floor's wall time over its own without faults, the median of the same rounds."""
    ratios: list[float] = []
    for seed in seeds:
        troubled_s, clean_s = (
            Floor(faults=faults, seed=seed, latency_s=latency_s).run_s(
                tasks=tasks, concurrency=concurrency
            )
            for faults in (FAULTS, {})
        )
        ratios.append(troubled_s / clean_s)
    return statistics.median(ratios)


def report(clean: list[Run], troubled: list[Run], *, tasks: int, floor: float) -> str:
    """The table, and each target with whether it was met."""
    wall = _ratio([one.wall_s for one in troubled], [one.wall_s for one in clean])
    requests = _ratio([one.requests for one in troubled], [one.requests for one in clean])
    worst = min(one.completed for one in troubled)
    lines = [f"{'':10} {'wall s':>8} {'requests':>9} {'completed':>10} {'misbehaved':>11}"]
    for name, runs in (("clean", clean), ("troubled", troubled)):
        wall_s = statistics.median(one.wall_s for one in runs)
        asked = statistics.median(one.requests for one in runs)
        done = min(one.completed for one in runs)
        bad = statistics.median(one.misbehaved for one in runs)
        lines.append(f"{name:10} {wall_s:8.2f} {asked:9.0f} {done:10} {bad:11.0f}")
    for said, met in (
        (f"wall {wall:.2f} times the clean run's, at most {MAX_WALL}", wall <= MAX_WALL),
        (f"requests {requests:.2f} times, at most {MAX_REQUESTS}", requests <= MAX_REQUESTS),
        (f"in the worst round {worst} of {tasks} tasks completed, all", worst == tasks),
    ):
        lines.append(f"{said}: {'met' if met else 'MISSED'}")
    each = ", ".join(
        f"{one.wall_s / other.wall_s:.2f}" for one, other in zip(troubled, clean, strict=True)
    )
    lines.append(f"wall by round: {each}; a client that loses no time: {floor:.2f} (median)")
    return "\n".join(lines)


def _ratio(values: list[float] | list[int], others: list[float] | list[int]) -> float:
    """The median of the rounds' ratios: a machine that slows down for a round changes none."""
    return statistics.median(one / other for one, other in zip(values, others, strict=True))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency-ms", type=float, default=2_000.0)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0, help="of the first round; then one more")
    parser.add_argument("--tasks", type=int, default=100)
    options = parser.parse_args()
    logging.getLogger("leadhand").setLevel(logging.ERROR)
    seeds = range(options.seed, options.seed + options.rounds)
    tasks, concurrency, latency_ms = options.tasks, options.concurrency, options.latency_ms
    with ScriptedServer(latency_ms=latency_ms, keep_bodies=0) as server:
        os.environ.update(server.env())
        run(server, tasks=3, faults={}, seed=0, concurrency=3)  # imports
        clean, troubled = measure(server, tasks=tasks, seeds=seeds, concurrency=concurrency)
    floor = floor_ratio(
        tasks=tasks, seeds=seeds, concurrency=concurrency, latency_s=latency_ms / 1_000
    )
    print(
        f"{tasks} tasks, {concurrency} at once, {latency_ms:g} ms a call, "
        f"seeds {seeds.start} to {seeds.stop - 1}"
    )
    print(report(clean, troubled, tasks=tasks, floor=floor))


if __name__ == "__main__":
    main()
