"""What the engine costs a task, with workers that do nothing and the event log on.

Measured beside a bare asyncio scheduler in the same process, round by round, so that a machine
that slows down slows both. CPU time, not wall time; the median of several rounds.

    python -m benchmarks.engine [--floor PATH/TO/scheduler_floor.py] [--json FILE]

The floor here keeps a log, a semaphore, a timeout and counters a task, and nothing else; with
`--floor` that file's `run(n)` is measured instead.
"""

import argparse
import asyncio
import gc
import importlib.util
import io
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast

from leadhand.contracts.events import PlanAccepted, PlanProposed, RunStarted
from leadhand.contracts.outcome import Completed, Handoff, Outcome, Result
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Team, Worker
from leadhand.engine.recorder import Recorder, SystemClock
from leadhand.engine.scheduler import Scheduler
from leadhand.journal import MemoryStore
from leadhand.plans.checks import check

Floor = Callable[[int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Row:
    """One shape of plan."""

    shape: str
    tasks: int
    us_a_task: float
    floor_us_a_task: float
    ratio: float
    kb_a_task: float
    check_s: float


class NoOp:
    """A runner that gives the loop one turn and returns, as the floor's tasks do."""

    async def run(self, handoff: Handoff) -> Outcome:
        """Done."""
        await asyncio.sleep(0)
        return Completed(result=Result(output="x"))


TEAM = Team("bench", workers=(Worker("noop", "does nothing", run=str),))


def independent(n: int) -> Plan:
    """`n` tasks that need nothing."""
    return Plan(
        goal="measure",
        tasks=tuple(Task(id=str(i), worker="noop", intent=f"count to {i}") for i in range(n)),
    )


def random_graph(n: int, seed: int = 7) -> Plan:
    """`n` tasks, each of which needs up to four of the 500 before it."""
    chance = random.Random(seed)
    return Plan(
        goal="measure",
        tasks=tuple(
            Task(
                id=str(i),
                worker="noop",
                intent=f"count to {i}",
                depends_on=tuple(
                    {str(chance.randrange(max(0, i - 500), i)) for _ in range(chance.randrange(5))}
                )
                if i
                else (),
            )
            for i in range(n)
        ),
    )


async def run(plan: Plan) -> None:
    """The whole plan through the real scheduler, with its events kept."""
    store = MemoryStore()
    recorder = Recorder("bench", store, clock=SystemClock())
    recorder.record(
        RunStarted(
            **recorder.stamp(), team="bench", request="", engine="deterministic", deadline_s=None
        )
    )
    recorder.record(PlanProposed(**recorder.stamp(), plan=plan, by="bench"))
    recorder.record(PlanAccepted(**recorder.stamp()))
    await Scheduler(recorder, TEAM, {"noop": NoOp()}, concurrency=64).run()
    assert all(task.status == "completed" for task in recorder.state.tasks.values())
    assert len(store.events("bench")) == 3 + 2 * len(plan.tasks)


async def own_floor(n: int) -> None:
    """A bare scheduler: each task waits for a slot, logs, has a timeout, and frees two others."""
    waiting = [2 if i >= 100 else 0 for i in range(n)]
    slots, log = asyncio.Semaphore(64), list[tuple[str, int, float]]()
    async with asyncio.TaskGroup() as group:

        async def one(i: int) -> None:
            async with slots:
                log.append(("started", i, time.monotonic()))
                async with asyncio.timeout(60):
                    await asyncio.sleep(0)
                log.append(("finished", i, time.monotonic()))
            for after in (i + 99, i + 100):
                if 100 <= after < n:
                    waiting[after] -= 1
                    if not waiting[after]:
                        group.create_task(one(after))

        # The first 100 need nothing; 100 + k needs k and k + 1.
        for i in range(min(n, 100)):
            group.create_task(one(i))
    assert len(log) >= 2 * min(n, 100)


def floor_of(file: Path) -> Floor:
    """`run(n)` of a scheduler floor kept elsewhere; what it prints on import is not shown."""
    spec = importlib.util.spec_from_file_location("scheduler_floor", file)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{file} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules["scheduler_floor"] = module
    with redirect_stdout(io.StringIO()):
        spec.loader.exec_module(module)
    return cast("Floor", module.run)


def cpu_us_a_task(work: Callable[[], None], n: int) -> float:
    """CPU microseconds a task."""
    gc.collect()
    started = time.process_time()
    work()
    return (time.process_time() - started) / n * 1e6


def measure(shape: str, plan: Plan, floor: Floor, rounds: int) -> Row:
    """One row: rounds of floor and engine in turn."""
    n = len(plan.tasks)
    ours: list[float] = []
    floors: list[float] = []
    for _ in range(rounds):
        floors.append(cpu_us_a_task(lambda: asyncio.run(_awaited(floor(n))), n))
        ours.append(cpu_us_a_task(lambda: asyncio.run(run(plan)), n))
    started = time.process_time()
    assert check(plan, TEAM) == ()
    check_s = time.process_time() - started
    ratios = [a / b for a, b in zip(ours, floors, strict=True)]
    return Row(
        shape,
        n,
        statistics.median(ours),
        statistics.median(floors),
        statistics.median(ratios),
        memory_kb(shape, n) / n,
        check_s,
    )


async def _awaited(work: Awaitable[None]) -> None:
    await work


def memory_kb(shape: str, n: int) -> float:
    """How much higher a fresh process stands after planning and running `n` tasks."""
    code = (
        "import asyncio, resource, sys\n"
        "from benchmarks import engine\n"
        f"asyncio.run(engine.run(engine.SHAPES[{shape!r}](10)))\n"
        "def peak():\n"
        "    try:  # what `getrusage` says on Linux may be of the process that started this one\n"
        "        rows = open('/proc/self/status').read().splitlines()\n"
        "        return next(int(row.split()[1]) for row in rows if row.startswith('VmHWM'))\n"
        "    except OSError:\n"
        "        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "before = peak()\n"
        f"plan = engine.SHAPES[{shape!r}]({n})\n"
        "asyncio.run(engine.run(plan))\n"
        "print(peak() - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    unit = 1024 if sys.platform == "darwin" else 1
    return float(done.stdout) / unit


SHAPES: dict[str, Callable[[int], Plan]] = {
    "independent": independent,
    "random graph": random_graph,
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--floor", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    floor = floor_of(options.floor) if options.floor else own_floor
    asyncio.run(run(independent(1_000)))  # warm-up
    print(
        f"{'shape':14} {'tasks':>8} {'us/task':>8} {'floor':>7} {'ratio':>6} {'KB/task':>8} check s"
    )
    rows: list[Row] = []
    for shape, n, rounds in (
        ("independent", 10, 50),
        ("independent", 1_000, 15),
        ("independent", 100_000, options.rounds),
        ("random graph", 100_000, options.rounds),
    ):
        row = measure(shape, SHAPES[shape](n), floor, rounds)
        rows.append(row)
        print(
            f"{row.shape:14} {row.tasks:8,} {row.us_a_task:8.1f} {row.floor_us_a_task:7.1f} "
            f"{row.ratio:6.2f} {row.kb_a_task:8.2f} {row.check_s:7.2f}",
            flush=True,
        )
    growth = rows[2].us_a_task / rows[1].us_a_task
    print(f"growth from 1,000 to 100,000 independent tasks: {growth:.2f} times")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=2) + "\n")


if __name__ == "__main__":
    main()
