"""Recorded workflows through the real scheduler, in virtual time.

    python -m benchmarks.workflows [--workloads DIR]

For each trace, the makespan over the lower bound: with unlimited slots `critical path`, which must
be met exactly; with 8 slots `max(critical path, work / 8)`. First in, first out and level barriers
run beside it; with unknown durations the mean of 20 seeds that shuffle the order of ties.
"""

import argparse
import asyncio
import json
import os
import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from leadhand.contracts.events import PlanAccepted, PlanProposed, RunStarted
from leadhand.contracts.outcome import Completed, Handoff, Outcome, Result
from leadhand.contracts.task import Limits, Plan, Task
from leadhand.contracts.team import Team, Worker
from leadhand.engine.recorder import Recorder
from leadhand.engine.scheduler import Scheduler
from leadhand.journal import MemoryJournal
from leadhand.plans import graph
from leadhand.testing import VirtualClock, run_virtual

SLOTS = 8
SEEDS = 20
TEAM = Team(
    "bench", workers=(Worker("trace", "takes its time", run=str),), limits=Limits(timeout_s=1e9)
)


@dataclass(frozen=True, slots=True)
class Trace:
    """A recorded workflow."""

    name: str
    tasks: tuple[Task, ...]
    seconds: Mapping[str, float]

    @property
    def critical_s(self) -> float:
        """The longest chain."""
        return graph.critical_path(self.tasks, self.seconds)[0]

    @property
    def bound_s(self) -> float:
        """No schedule on `SLOTS` slots is shorter."""
        return max(self.critical_s, sum(self.seconds.values()) / SLOTS)


class Taking:
    """A runner whose tasks take as long as they were recorded to."""

    def __init__(self, seconds: Mapping[str, float]) -> None:
        self._seconds = seconds

    async def run(self, handoff: Handoff) -> Outcome:
        """Wait in virtual time."""
        await asyncio.sleep(self._seconds[handoff.task_id])
        return Completed(result=Result(output=None))


def load(folder: Path) -> list[Trace]:
    """The traces in `workflow_traces.jsonl`."""
    traces: list[Trace] = []
    for line in (folder / "workflow_traces.jsonl").read_text(encoding="utf-8").splitlines():
        raw = json.loads(line)
        tasks = tuple(
            Task(id=id, worker="trace", intent=f"run {id}", depends_on=tuple(parents))
            for id, _, parents in raw["tasks"]
        )
        traces.append(Trace(raw["name"], tasks, {id: float(s) for id, s, _ in raw["tasks"]}))
    return traces


def makespan_s(
    trace: Trace,
    *,
    slots: int,
    rank: Mapping[str, float] | None,
    tasks: Sequence[Task] | None = None,
) -> float:
    """How long the trace takes on `slots` slots, the highest rank first."""

    async def main() -> float:
        recorder = Recorder("bench", MemoryJournal(), clock=VirtualClock())
        plan = Plan(goal=trace.name, tasks=tuple(tasks or trace.tasks))
        recorder.record(
            RunStarted(**recorder.stamp(), team="bench", request="", engine="", deadline_s=None)
        )
        recorder.record(PlanProposed(**recorder.stamp(), plan=plan, by="bench"))
        recorder.record(PlanAccepted(**recorder.stamp()))
        runner = Taking(trace.seconds)
        await Scheduler(recorder, TEAM, {"trace": runner}, concurrency=slots, rank=rank).run()
        return max(task.finished_s or 0.0 for task in recorder.state.tasks.values())

    return run_virtual(main())


def levels_s(trace: Trace, slots: int) -> float:
    """Level barriers: every level waits for the whole level before it; greedy within a level."""
    depth: dict[str, int] = {}
    by_id = {task.id: task for task in trace.tasks}
    for id in graph.order(trace.tasks):
        depth[id] = max((depth[needed] + 1 for needed in by_id[id].depends_on), default=0)
    total = 0.0
    for level in range(max(depth.values()) + 1):
        ends = [0.0] * slots
        for id in (id for id in by_id if depth[id] == level):
            first = ends.index(min(ends))
            ends[first] += trace.seconds[id]
        total += max(ends)
    return total


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("LEADHAND_WORKLOADS", "../shared/workloads")
    parser.add_argument("--workloads", type=Path, default=Path(default))
    options = parser.parse_args()
    if not (options.workloads / "workflow_traces.jsonl").exists():
        raise SystemExit(
            f"no workflow_traces.jsonl in {options.workloads}: name its folder with --workloads"
        )
    traces = load(options.workloads)
    exact = 0
    known: list[float] = []
    fifo_known: list[float] = []
    barriers: list[float] = []
    unknown: list[list[float]] = []
    fifo: list[list[float]] = []
    for trace in traces:
        unlimited = makespan_s(trace, slots=len(trace.tasks), rank=None)
        exact += abs(unlimited - trace.critical_s) <= 1e-9 * max(1.0, trace.critical_s)
        bound = trace.bound_s
        rank = graph.remaining_path(trace.tasks, trace.seconds)
        level = dict.fromkeys(rank, 0.0)
        known.append(makespan_s(trace, slots=SLOTS, rank=rank) / bound)
        fifo_known.append(makespan_s(trace, slots=SLOTS, rank=level) / bound)
        barriers.append(levels_s(trace, SLOTS) / bound)
        by_seed: list[float] = []
        fifo_by_seed: list[float] = []
        for seed in range(SEEDS):
            shuffled = list(trace.tasks)
            random.Random(seed).shuffle(shuffled)
            by_seed.append(makespan_s(trace, slots=SLOTS, rank=None, tasks=shuffled) / bound)
            fifo_by_seed.append(makespan_s(trace, slots=SLOTS, rank=level, tasks=shuffled) / bound)
        unknown.append(by_seed)
        fifo.append(fifo_by_seed)
        print(
            f"{trace.name[-44:]:44} {len(trace.tasks):5} tasks  known {known[-1]:.3f}  "
            f"unknown {statistics.mean(by_seed):.3f}  fifo {statistics.mean(fifo_by_seed):.3f}  "
            f"barriers {barriers[-1]:.3f}",
            flush=True,
        )
    print(f"unlimited slots: {exact} of {len(traces)} traces take exactly their critical path")
    print(f"{SLOTS} slots, makespan over lower bound, mean of {len(traces)} traces:")
    print(f"  known durations, longest remaining path first  {statistics.mean(known):.4f}")
    print(f"  first in, first out, order as recorded         {statistics.mean(fifo_known):.3f}")
    print(f"  level barriers                                 {statistics.mean(barriers):.3f}")
    ours = [statistics.mean(row[seed] for row in unknown) for seed in range(SEEDS)]
    theirs = [statistics.mean(row[seed] for row in fifo) for seed in range(SEEDS)]
    print(f"  unknown durations, {SEEDS} seeds                    {statistics.mean(ours):.4f}")
    print(f"  first in, first out, the same seeds            {statistics.mean(theirs):.4f}")


if __name__ == "__main__":
    main()
