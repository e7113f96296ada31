"""Turns labels into the table that the review ships with, and says what precision it shows.

python -m benchmarks.precision.table            # writes precision.json from labels.jsonl
python -m benchmarks.precision.table held-out   # precision of what is shown on the held-out ten
"""

import argparse
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.precision.packages import HELD_OUT, TABLE
from leadhand.teams.review.precision import Confidence, Hits, PrecisionTable, wilson_lower
from leadhand.teams.review.team import rules

HERE = Path(__file__).parent
TARGET = HERE.parent.parent / "src" / "leadhand" / "teams" / "review" / "precision.json"
METHOD = (
    "Hits of every rule on the sources, at most 40 a rule drawn at random over packages; each was "
    "labelled by itself from the code around it, without its confidence or the rule's figures: "
    "true where a senior reviewer would want it said of this change, else false."
)
LABELLED_BY = "language models working as independent reviewers, one label a hit"


@dataclass(frozen=True, slots=True)
class Label:
    """What was decided on one hit."""

    key: str
    set: Literal["table", "held-out"]
    rule: str
    source: str
    path: str
    line: int
    true: bool
    why: str


def labels(which: Literal["table", "held-out"]) -> list[Label]:
    """The labels of one set."""
    lines = (HERE / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    every = [Label(**json.loads(line)) for line in lines]
    return [label for label in every if label.set == which]


def table(given: list[Label]) -> PrecisionTable:
    """k and n of every rule that has labels."""
    families = {rule.id: rule.family for rule in rules()}
    n = Counter(label.rule for label in given if label.rule in families)
    k = Counter(label.rule for label in given if label.true)
    return PrecisionTable(
        method=METHOD,
        sources=(
            *(f"{one.name} {one.older} and {one.newer}" for one in TABLE),
            "121 insecure samples (SecurityEval)",
        ),
        labelled_by=LABELLED_BY,
        rules={rule: Hits(family=families[rule], k=k[rule], n=n[rule]) for rule in sorted(n)},
    )


def main() -> None:
    """Write the table, or print the precision on the held-out packages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", nargs="?", choices=["table", "held-out"], default="table")
    options = parser.parse_args()
    if options.which == "held-out":
        given = labels("held-out")
        k, n = sum(label.true for label in given), len(given)
        share = k / n if n else 0.0
        print(
            f"shown on {len(HELD_OUT)} held-out packages: {n} findings, {k} true ({share:.0%}; "
            f"95 % lower bound {wilson_lower(k, n):.0%})"
        )
        return
    made = table(labels("table"))
    TARGET.write_text(made.model_dump_json(indent=2) + "\n", encoding="utf-8")
    families = {rule.id: rule.family for rule in rules()}
    confidence = Confidence(made, families)
    for rule in sorted(families):
        own = made.rules.get(rule)
        counted = f"{own.k:3} of {own.n:3}" if own else "    none  "
        print(f"{rule:45} {families[rule]:32} {counted}  confidence {confidence(rule).confidence}")


if __name__ == "__main__":
    main()
