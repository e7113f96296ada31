"""leadhand's own roles against leadhand's scripted model server: what a run with a model costs.

    python -m benchmarks.model_alone

Needs nothing from outside and compares with nobody. The planner's form, typed answers and the
synthesizer's form are all there, so prompts are longer than the peers' plain ones.
"""

import asyncio
import gc
import os
import statistics
import time

from leadhand import Supervisor, Team, Worker
from leadhand.testing import ScriptedServer

SIZES = (10, 100, 200)
"""200 tasks are the most that a model may plan."""
TEAM = Team(
    "alone",
    model="openai-chat:scripted",
    workers=tuple(
        Worker(name, f"Does {name}", instructions=f"You are good at {name}.")
        for name in ("research", "analysis", "writing")
    ),
)


def run(tasks: int) -> tuple[float, float]:
    """Wall seconds and CPU milliseconds a task of one run."""
    gc.collect()
    cpu, wall = time.process_time(), time.perf_counter()
    request = f"Write the report on the catalogue: tasks={tasks}."
    answer = asyncio.run(Supervisor(TEAM).run(request))
    used = time.process_time() - cpu
    assert answer.status == "complete", answer.gaps
    assert len(answer.tasks) == tasks
    return time.perf_counter() - wall, 1_000 * used / tasks


def measure(server: ScriptedServer, *, tasks: int, latency_ms: int, rounds: int = 5) -> str:
    """One line of the table: medians of some runs."""
    server.reset(latency_ms=latency_ms)
    runs = [run(tasks) for _ in range(rounds)]
    wall_s, cpu_ms = (statistics.median(values) for values in zip(*runs, strict=True))
    requests = server.stats().requests / rounds
    return f"{tasks:5} {latency_ms:4} {wall_s:8.3f} {cpu_ms:14.3f} {requests:9.0f}"


def main() -> None:
    """Measure and print."""
    with ScriptedServer(keep_bodies=0) as server:
        os.environ.update(server.env())
        run(3)  # imports
        print(f"{'N':>5} {'ms':>4} {'wall s':>8} {'CPU ms a task':>14} {'requests':>9}")
        for tasks in SIZES:
            for latency_ms in (0, 100):
                print(measure(server, tasks=tasks, latency_ms=latency_ms), flush=True)


if __name__ == "__main__":
    main()
