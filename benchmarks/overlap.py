"""How well `teams advise` tells workers that overlap from workers that do not.

    python -m benchmarks.overlap [--workloads DIR]

Two workers who share an intent of `routing_requests.jsonl` are given its requests by chance: they
overlap. Two workers with an intent each do not, also where both intents are of one domain. The
threshold of `leadhand.advice.overlap` was chosen on the `train` split.
"""

import argparse
import itertools
import json
import random
from collections.abc import Sequence
from pathlib import Path

from leadhand import Plan, Task, Team, Worker
from leadhand.advice.facts import RunFacts
from leadhand.advice.overlap import overlaps as overlaps_of

PAIRS = 500
"""Pairs of intents of any domain that are compared."""
MIN_INTENTS = 100
"""How many intents must have enough requests for a row."""
SIZES = (10, 20, 40)
"""Tasks of each worker."""


Intents = dict[tuple[str, str], list[str]]
"""Requests by domain and intent."""


def requests(workloads: Path) -> dict[str, Intents]:
    """The requests of each split; those out of scope are left out."""
    file = workloads / "routing_requests.jsonl"
    if not file.exists():
        raise SystemExit(
            f"no routing_requests.jsonl in {workloads}: name its folder with --workloads"
        )
    found: dict[str, Intents] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["domain"] is not None:
            intents = found.setdefault(row["split"], {})
            intents.setdefault((row["domain"], row["intent"]), []).append(row["text"])
    return found


def routed(task: Task) -> RunFacts:
    """A run in which a router gave a request to a worker."""
    plan = Plan(goal=task.intent, tasks=[task])
    return RunFacts("r", task.intent, planned_by="router", plan=plan, tasks=[task])


def overlaps(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether the advice is that a worker with these tasks overlaps another one."""
    team = Team("t", workers=[Worker("a", "Does a"), Worker("b", "Does b")])
    runs = [
        routed(Task(id="t", worker=name, intent=text))
        for name, texts in (("a", first), ("b", second))
        for text in texts
    ]
    return bool(overlaps_of(team, runs))


def row(intents: Intents, count: int, draw: random.Random) -> str | None:
    """The figures for workers with that many tasks; `None` with too few requests."""
    same = [draw.sample(texts, 2 * count) for texts in intents.values() if len(texts) >= 2 * count]
    if len(same) < MIN_INTENTS:
        return None
    pairs = [*itertools.combinations(sorted(intents), 2)]
    near = [pair for pair in pairs if pair[0][0] == pair[1][0]]
    shares = [sum(overlaps(texts[:count], texts[count:]) for texts in same) / len(same)]
    for chosen in (near, draw.sample(pairs, PAIRS)):
        called = sum(
            overlaps(draw.sample(intents[one], count), draw.sample(intents[two], count))
            for one, two in chosen
        )
        shares.append(called / len(chosen))
    return f"| {count} | {len(same)} | {shares[0]:.0%} | {shares[1]:.1%} | {shares[2]:.1%} |"


def main() -> None:
    """Print a row for each split and number of tasks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workloads", type=Path, default=Path("../shared/workloads"))
    by_split = requests(parser.parse_args().workloads)
    print("| split | tasks each | same intent | found | others of one domain | any others |")
    print("|---|---|---|---|---|---|")
    for split, count in itertools.product(("train", "val"), SIZES):
        figures = row(by_split[split], count, random.Random(1))
        if figures is not None:
            print(f"| {split} {figures}", flush=True)


if __name__ == "__main__":
    main()
