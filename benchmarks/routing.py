"""How often a router sends a request to the right worker, and leaves alone what is for none.

    python -m benchmarks.routing [--workloads DIR] [--trained [--test FILE]]

The requests of `routing_requests.jsonl` are routed without a model. First by static rules, `routes`
of words alone: the workers' names, then rules learnt from the `train` split as a decision list
(words and pairs of words, the surest first, down to a given sureness). With `--trained`, which
needs scikit-learn, by a router that was trained on `train`, its threshold chosen there. All are
measured on `val`; static rules also with the out-of-scope requests of `train`. The documented
figures of the trained router are of the larger `test` split, which is not in that file: `--test`
names the `data_full.json` of clinc/oos-eval, which has it. There, matching names gets 52.1 % of
domains and 39.8 % of intents, and a linear SVM over TF-IDF, trained on `train`, 96.9 % and 91.1 %.
"""

import argparse
import json
import os
import re
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import groupby, pairwise
from pathlib import Path
from typing import Literal, NamedTuple

from leadhand.contracts.team import Route
from leadhand.plans.routes import route_of
from leadhand.routing.examples import Example, calibration_error, figures
from leadhand.routing.trained import TrainedRouter
from leadhand.routing.training import train

Level = Literal["domain", "intent"]
SURENESS = (0.9, 0.7, 0.5)
LEAST_SEEN = 2
"""Requests of one worker in which words must occur to become a rule of its."""
_WORD = re.compile(r"\w+(?:['’]\w+)?")


class Row(NamedTuple):
    """One request."""

    split: str
    text: str
    intent: str | None
    """None: it is out of scope."""
    domain: str

    def of(self, level: Level) -> str:
        """Whose it is."""
        return self.domain if level == "domain" else self.intent or ""


def requests(workloads: Path) -> list[Row]:
    """Every request in the file."""
    file = workloads / "routing_requests.jsonl"
    if not file.exists():
        raise SystemExit(f"no {file.name} in {workloads}: name its folder with --workloads")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [Row(row["split"], row["text"], row["intent"], row["domain"] or "") for row in rows]


def by_name(rows: Sequence[Row], level: Level) -> list[Route]:
    """A rule for each worker: its name, or where it is two, each of them."""
    names = sorted({row.of(level) for row in rows})
    return [Route(name, words=tuple(name.replace("_", " ").split(" and "))) for name in names]


def learnt(rows: Sequence[Row], level: Level, *, sureness: float) -> list[Route]:
    """Rules of the words that speak for one worker in the share `sureness` of requests or more."""
    seen: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        words = _WORD.findall(row.text.casefold())
        pairs = (" ".join(pair) for pair in pairwise(words))
        for phrase in {*words, *pairs}:
            seen[phrase][row.of(level)] += 1
    workers = len({row.of(level) for row in rows})
    ranked: list[tuple[float, int, str, str]] = []
    for phrase, counts in seen.items():
        worker, count = counts.most_common(1)[0]
        # As if each phrase had been seen twice more, by everyone alike: few sightings prove little.
        share = (count + 2 / workers) / (counts.total() + 2)
        if count >= LEAST_SEEN and share >= sureness:
            ranked.append((-share, -count, phrase, worker))
    ranked.sort()
    return [
        Route(worker, words=tuple(phrase for _, _, phrase, _ in group))
        for worker, group in groupby(ranked, key=lambda one: one[3])
    ]


def measured(routes: Sequence[Route], rows: Sequence[Row], level: Level) -> str:
    """One line of the report."""
    inside = [row for row in rows if row.split == "val" and row.intent is not None]
    outside = [row for row in rows if row.intent is None]
    started = time.perf_counter()
    found = [route_of(routes, row.text) for row in inside]
    took_us = (time.perf_counter() - started) / len(inside) * 1e6
    taken = [(route, row) for route, row in zip(found, inside, strict=True) if route is not None]
    right = sum(route.worker == row.of(level) for route, row in taken)
    accepted = sum(route_of(routes, row.text) is not None for row in outside)
    phrases = sum(len(route.words) for route in routes)
    return (
        f"{phrases:8,} {right / len(inside):8.1%} {(len(taken) - right) / len(inside):8.1%} "
        f"{1 - len(taken) / len(inside):8.1%} {accepted / len(outside):10.1%} {took_us:10,.0f}"
    )


def trained(rows: Sequence[Row], test: Path | None) -> None:
    """Train a router on `train`, and print its figures on `test`, else on `val`."""
    split = {
        name: [Example(row.text, row.intent) for row in rows if row.split == name]
        for name in ("train", "val")
    }
    began_s = time.process_time()
    text = train(split["train"]).router.to_json()
    trained_s = time.process_time() - began_s
    began_s = time.process_time()
    router = TrainedRouter.from_json(text)
    loaded_ms = (time.process_time() - began_s) * 1e3
    if test is not None:
        data = json.loads(test.read_text(encoding="utf-8"))
        split["test"] = [Example(said, intent) for said, intent in data["test"]]
        split["test"] += [Example(said, None) for said, _ in data["oos_test"]]
    name, examples = split.popitem()
    began_s = time.process_time()
    guesses = [router.guess(example.text) for example in examples]
    each_ms = (time.process_time() - began_s) / len(guesses) * 1e3
    found = figures(examples, guesses)
    print(f"trained router: {found.examples:,} requests of {name}, {found.out_of_scope} for none")
    shares = {**found.named, "calibration error": calibration_error(examples, guesses)}
    for what, value in shares.items():
        print(f"{what:<42} {value:>8.1%}")
    print(
        f"threshold {router.weights.threshold:.1%}, {len(text):,} bytes, {trained_s:.0f} s to train"
    )
    print(f"loaded in {loaded_ms:.0f} ms, {each_ms:.2f} ms a request (CPU time)")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("LEADHAND_WORKLOADS", "../shared/workloads")
    parser.add_argument("--workloads", type=Path, default=Path(default))
    parser.add_argument("--trained", action="store_true", help="measure a trained router alone")
    parser.add_argument("--test", type=Path, help="data_full.json of clinc/oos-eval")
    given = parser.parse_args()
    rows = requests(given.workloads)
    if given.trained:
        trained(rows, given.test)
        return
    train = [row for row in rows if row.split == "train" and row.intent is not None]
    head = f"{'phrases':>8} {'right':>8} {'wrong':>8} {'left':>8} {'o-o-scope':>10} {'us each':>10}"
    levels: tuple[Level, ...] = ("domain", "intent")
    for level in levels:
        print(f"{len({row.of(level) for row in train})} {level}s".ljust(24), head)
        print("names".ljust(24), measured(by_name(train, level), rows, level), flush=True)
        for sureness in SURENESS:
            routes = learnt(train, level, sureness=sureness)
            said = f"learnt, {sureness:.0%} sure"
            print(said.ljust(24), measured(routes, rows, level), flush=True)


if __name__ == "__main__":
    main()
