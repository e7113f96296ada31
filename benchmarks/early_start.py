"""How much sooner tasks start, and the answer comes, if they do not wait for the whole plan.

    python -m benchmarks.early_start [--rounds 3] [--quick]

The scripted server writes 50 tokens a second: a plan of ten tasks, the tasks' answers, the
synthesis. Runs with and without `early_start` take turns; ratios are taken within a round, and the
median of the rounds counts. Then plans of other shapes in virtual time, where a task takes exactly
20 s: these figures are the same each time. `--quick` measures only these.
"""

import argparse
import asyncio
import json
import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from leadhand import Handoff, Supervisor, Team, Worker, events
from leadhand.testing import ScriptedModel, ScriptedServer, VirtualClock, run_virtual
from leadhand.testing.json_data import Json, Object

TOKENS_PER_S = 50.0
TASKS = 10
TASK_S = 20.0
REQUEST = "Compare the metals by price, by use and by the mines that they come from."
SHARE = 1 / 5
"""The target: the first task starts before this share of the plan is written."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One run."""

    makespan_s: float
    first_s: float
    """When the first task started."""
    planned_s: float
    """When the plan was complete."""
    cpu_s: float
    requests: int


def written(needs: Sequence[Sequence[int]]) -> Object:
    """The rule by which the planner writes a plan; `needs` by task: which tasks it depends on."""
    tasks: list[Json] = [
        {
            "id": f"t{number}",
            "worker": "reader",
            "intent": f"Find the figures on metal {number} for the last five years, with sources",
            "depends_on": [f"t{one}" for one in needed],
            "done_when": "Every figure has its source",
            "tolerates_missing": False,
            "limits": None,
        }
        for number, needed in enumerate(needs)
    ]
    plan: Object = {"tasks": tasks, "synthesis": "merge", "instruction": "Write one table."}
    return {"match": {"role": "planner"}, "reply": {"json": plan}}


async def measured(team: Team, supervisor: Supervisor) -> Measured:
    """A run of `team`."""
    log: list[events.Event] = []
    started_s = time.process_time()
    answer = await supervisor.run(REQUEST, listener=log.append)
    if answer.status != "complete":
        raise SystemExit(f"{team.name} was not what it should be: {answer.status}, {answer.gaps}")
    at = {type(event): event.elapsed_s for event in reversed(log)}
    return Measured(
        answer.metrics.makespan_s,
        at[events.TaskDispatched],
        at[events.PlanAccepted],
        time.process_time() - started_s,
        answer.metrics.requests,
    )


def by_models(rounds: int) -> None:
    """Ten tasks of models over HTTP, in real time."""
    reader = Worker("reader", "Finds figures", instructions="Find figures.", tools=["calculate"])
    team = Team("metals", model="openai-chat:scripted", workers=[reader])
    early = replace(team, early_start=True)
    plan = written([()] * TASKS)
    pairs: list[tuple[Measured, Measured]] = []
    with ScriptedServer([plan], tokens_per_s=TOKENS_PER_S) as server:
        os.environ.update(server.env())
        asyncio.run(measured(team, Supervisor(team)))  # imports and connections
        for _ in range(rounds):
            waits = asyncio.run(measured(team, Supervisor(team)))
            pairs.append((asyncio.run(measured(early, Supervisor(early))), waits))
    share = statistics.median(one.first_s / one.planned_s for one, _ in pairs)
    print(f"first task after {share:.0%} of the plan (target: less than {SHARE:.0%})")
    print(f"first task after {_median([one.first_s for one, _ in pairs]):.1f} s, waiting for the "
          f"plan {_median([two.first_s for _, two in pairs]):.1f} s")  # fmt: skip
    ratio = statistics.median(one.makespan_s / two.makespan_s for one, two in pairs)
    print(f"answer after {_median([one.makespan_s for one, _ in pairs]):.1f} s, waiting "
          f"{_median([two.makespan_s for _, two in pairs]):.1f} s: {ratio:.2f} times")  # fmt: skip
    cpu = statistics.median(one.cpu_s / two.cpu_s for one, two in pairs)
    print(f"CPU {_median([one.cpu_s for one, _ in pairs]) * 1000:.0f} ms, waiting "
          f"{_median([two.cpu_s for _, two in pairs]) * 1000:.0f} ms: {cpu:.2f} times")  # fmt: skip
    print(f"requests {pairs[0][0].requests}, waiting {pairs[0][1].requests}")
    if share >= SHARE:
        raise SystemExit("the first task starts too late")


def by_shape() -> None:
    """Other plans, in virtual time."""

    async def work(handoff: Handoff) -> str:
        await asyncio.sleep(TASK_S)
        return handoff.task_id

    shapes: dict[str, tuple[list[list[int]], int]] = {
        "ten at once": ([[] for _ in range(TASKS)], 64),
        "ten in 4 slots": ([[] for _ in range(TASKS)], 4),
        "ten in 2 slots": ([[] for _ in range(TASKS)], 2),
        "a chain of three, then seven others": ([[], [0], [1], *([[]] * 7)], 64),
        "seven others, then a chain of three": ([*([[]] * 7), [], [7], [8]], 64),
        "a chain of ten": ([[n - 1] if n else [] for n in range(TASKS)], 64),
        "nine, and one that needs them all": ([*([[]] * 9), [*range(9)]], 64),
    }
    reader = Worker("reader", "Finds figures", run=work, read_only=True)
    rows: list[dict[str, object]] = []
    for name, (needs, concurrency) in shapes.items():
        model = ScriptedModel(script=[written(needs)], tokens_per_s=TOKENS_PER_S)
        found: list[Measured] = []
        for early in (True, False):
            team = Team("metals", model=model.model, workers=[reader], early_start=early)
            by = Supervisor(team, concurrency=concurrency, clock=VirtualClock())
            found.append(run_virtual(measured(team, by)))
        one, two = found
        print(
            f"{name}: {one.makespan_s:.1f} s, waiting {two.makespan_s:.1f} s: "
            f"{one.makespan_s / two.makespan_s:.2f} times"
        )
        rows.append({"shape": name, "early_s": one.makespan_s, "waiting_s": two.makespan_s})
    print(json.dumps(rows))


def _median(values: Sequence[float]) -> float:
    return statistics.median(values)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="only in virtual time")
    given = parser.parse_args()
    by_shape()
    if not given.quick:
        by_models(given.rounds)


if __name__ == "__main__":
    main()
