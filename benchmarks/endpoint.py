"""A run against a model endpoint that misbehaves, beside the same run against one that does not.

Of its answers 10 % are 429, 5 % are 500, 5 % are connections reset, and 2 % are tool calls whose
JSON is cut in half. Both runs have the same plan of 100 tasks and the same latency; they take
turns, and the medians count. The endpoint is leadhand's own scripted server, on loopback; its 429
asks for one second.

    python -m benchmarks.endpoint [--latency-ms 2000] [--concurrency 16] [--rounds 3]
"""

import argparse
import asyncio
import logging
import os
import statistics
from dataclasses import dataclass

from benchmarks.model_alone import TEAM
from leadhand import Supervisor
from leadhand.testing import ScriptedServer

FAULTS = {"429": 0.10, "500": 0.05, "reset": 0.05, "cut_json": 0.02}
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
    server: ScriptedServer, *, tasks: int, rounds: int, concurrency: int
) -> tuple[list[Run], list[Run]]:
    """Clean and troubled runs, in turn; each round has its own seed."""
    clean: list[Run] = []
    troubled: list[Run] = []
    for seed in range(rounds):
        clean.append(run(server, tasks=tasks, faults={}, seed=seed, concurrency=concurrency))
        troubled.append(run(server, tasks=tasks, faults=FAULTS, seed=seed, concurrency=concurrency))
    return clean, troubled


def report(clean: list[Run], troubled: list[Run], *, tasks: int) -> str:
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
    parser.add_argument("--tasks", type=int, default=100)
    options = parser.parse_args()
    logging.getLogger("leadhand").setLevel(logging.ERROR)
    with ScriptedServer(latency_ms=options.latency_ms, keep_bodies=0) as server:
        os.environ.update(server.env())
        run(server, tasks=3, faults={}, seed=0, concurrency=3)  # imports
        clean, troubled = measure(
            server, tasks=options.tasks, rounds=options.rounds, concurrency=options.concurrency
        )
    print(
        f"{options.tasks} tasks, {options.concurrency} at once, {options.latency_ms:g} ms a call, "
        f"{options.rounds} rounds"
    )
    print(report(clean, troubled, tasks=options.tasks))


if __name__ == "__main__":
    main()
