"""Whether the sequential time that a run reports is what one task at a time really takes.

    python -m benchmarks.speedup [ROUNDS]

Six shapes of work, each run at once and again with one task at a time, in turn. `sequential_s` of
the first, or the range where it can't be known exactly, over the wall time of the second: medians
of the rounds' ratios, since the machine may be busy with other things.
"""

import asyncio
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from leadhand import Handoff, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.answer import Metrics
from leadhand.contracts.budget import Rate
from leadhand.synthesis.merge import Merge
from leadhand.testing import ScriptedServer

MODEL = "openai-chat:scripted"
LATENCY_MS = 200.0
CPU_S = 0.3
WITHIN = 0.1


def compute(taking_s: float) -> None:
    """Keep this thread's processor busy for that long."""
    until_s = time.thread_time() + taking_s
    while time.thread_time() < until_s:
        sum(range(500))


def computing(_: Handoff) -> str:
    compute(CPU_S)
    return "done"


def waiting(_: Handoff) -> str:
    time.sleep(LATENCY_MS / 1_000)
    return "done"


async def sharing(_: Handoff) -> str:
    """Waits for things of its own, and computes in the event loop in between."""
    for _step in range(4):
        await asyncio.sleep(0.05)
        compute(0.002)
    return "done"


INNER = Team(
    "inner",
    workers=(Worker("first", "Waits", run=waiting), Worker("second", "Shares", run=sharing)),
)
WORKERS = (
    Worker("computing", "Computes in a thread", run=computing),
    Worker("waiting", "Waits in a thread", run=waiting),
    Worker("sharing", "Waits and computes in the event loop", run=sharing),
    Worker("asking", "Asks a model", instructions="Answer in a word.", model=MODEL),
    Worker("nested", "Has a team do it", team=INNER),
)
RATES = {MODEL: Rate(concurrency=1)}


@dataclass(frozen=True, slots=True)
class Shape:
    """A plan of independent tasks."""

    name: str
    tasks: Mapping[str, int]
    """How many for each worker."""
    rates: Mapping[str, Rate]

    def plan(self) -> Plan:
        workers = [name for name, count in self.tasks.items() for _ in range(count)]
        tasks = [Task(id=f"t{n}", worker=w, intent="Do the work.") for n, w in enumerate(workers)]
        return Plan(goal="Do all of it.", tasks=tuple(tasks))

    def metrics(self, concurrency: int) -> Metrics:
        """The figures of one run."""
        workers = tuple(worker for worker in WORKERS if worker.name in self.tasks)
        team = Team("shapes", workers=workers, rates=dict(self.rates))
        supervisor = Supervisor(team, concurrency=concurrency, synthesizer=Merge())
        return asyncio.run(supervisor.run(plan=self.plan())).metrics


SHAPES = (
    Shape("limited rate", {"asking": 10}, RATES),
    Shape("threads that compute", {"computing": 6}, {}),
    Shape("async", {"sharing": 12}, {}),
    Shape("model calls", {"asking": 12}, {}),
    Shape("nested teams", {"nested": 4}, {}),
    Shape("mixed", {"computing": 2, "waiting": 3, "sharing": 3, "asking": 3}, {}),
)


@dataclass(frozen=True, slots=True)
class Round:
    """One run at once, and one of one task at a time."""

    together: Metrics
    single: Metrics

    @property
    def low(self) -> float:
        """The sequential time that is reported, over the real one."""
        return self.together.sequential_s / self.single.makespan_s

    @property
    def high(self) -> float:
        """The same of the upper end of the range, where there is one."""
        together = self.together
        if together.speedup_high is None:
            return self.low
        return together.speedup_high * together.makespan_s / self.single.makespan_s


def row(name: str, rounds: Sequence[Round]) -> str:
    """A line of the table, and whether the real time is met or lies in the range."""

    def median(of: Callable[[Round], float]) -> float:
        return statistics.median(of(one) for one in rounds)

    low, high = median(lambda one: one.low), median(lambda one: one.high)
    ratio = f"{low:.2f}" if high - low < 0.005 else f"{low:.2f} to {high:.2f}"
    met = "yes" if low <= 1 + WITHIN and high >= 1 - WITHIN else "**no**"
    reported = median(lambda one: one.together.speedup or one.together.speedup_high or 0.0)
    true = median(lambda one: one.single.makespan_s / one.together.makespan_s)
    return f"| {name} | {true:.2f} | {reported:.2f} | {ratio} | {met} |"


def main() -> None:
    """Measure every shape and print a table."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print("| shape | real speed-up | reported | sequential_s over the real run | within 10 % |")
    print("|---|---|---|---|---|")
    with ScriptedServer(latency_ms=LATENCY_MS) as server:
        os.environ.update(server.env())
        for shape in SHAPES:
            shape.metrics(64)
            rounds = [Round(shape.metrics(64), shape.metrics(1)) for _ in range(count)]
            print(row(shape.name, rounds), flush=True)


if __name__ == "__main__":
    main()
