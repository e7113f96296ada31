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
from benchmarks.precision.shrinkage import by_family, expected_share, fitted
from leadhand_teams.review.precision import Confidence, Hits, PrecisionTable
from leadhand_teams.review.rules import rules

HERE = Path(__file__).parent
TARGET = HERE.parent.parent / "src" / "leadhand_teams" / "review" / "precision.json"
METHOD = (
    "Hits of every rule on the sources, at most 40 a rule drawn at random over packages; each was "
    "labelled by itself from the code around it, without its confidence or the rule's figures: "
    "true where a senior reviewer would want it said of this change, else false."
)
_BEHAVIOUR = {rule.id for rule in rules() if rule.family == "bugs/behaviour"}
RETIRED = {
    "bugs/export-not-a-string": "bugs/linted",
    "comments/parameter-undocumented": "comments/parameters",
    "comments/stale-default": "comments/parameters",
    "history/missing-companion": "history/companion",
    "history/reintroduced": "history/reintroduced",
    "performance/copied-each-pass": "performance/quadratic",
    "performance/frame-grown-in-loop": "performance/quadratic",
    "performance/list-as-queue": "performance/quadratic",
    "performance/list-as-set": "performance/quadratic",
    "performance/sorted-each-pass": "performance/quadratic",
    "performance/sum-of-lists": "performance/quadratic",
    "security/bind-all-interfaces": "security/files",
    "security/log-injection": "security/logging",
    "security/possible-secret": "security/secrets",
    "security/predictable-secret": "security/crypto",
    "security/removed-case": "security/removed-guard",
    "security/removed-condition": "security/removed-guard",
    "security/removed-handler": "security/removed-guard",
    "security/removed-lock": "security/removed-call",
    "security/unpickle": "security/unpickle",
    "tests/no-assertion": "tests/assertions",
    "tests/untested-change": "tests/coverage",
}
"""The families of rules that were deleted because too few of their hits were true, or because they
had too few hits. Their labels stay: without them, rules that have no labels yet would look better
than such rules were."""
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

    @property
    def is_ordinary(self) -> bool:
        """Whether something removed was reported of an ordinary commit, not of a fix undone."""
        removed = self.rule.startswith("security/removed-") or self.rule in _BEHAVIOUR
        return removed and "@" in self.source and not self.source.endswith(" undone")


def labels(which: Literal["table", "held-out"]) -> list[Label]:
    """The labels of one set."""
    lines = (HERE / "labels.jsonl").read_text(encoding="utf-8").splitlines()
    every = [Label(**json.loads(line)) for line in lines]
    return [label for label in every if label.set == which]


def table(given: list[Label]) -> PrecisionTable:
    """k and n of every rule that has labels, the fitted prior, and each family's expected share."""
    families = RETIRED | {rule.id: rule.family for rule in rules()}
    n = Counter(label.rule for label in given if label.rule in families)
    k = Counter(label.rule for label in given if label.true)
    ordinary = [label for label in given if label.is_ordinary]
    ordinary_n = Counter(label.rule for label in ordinary)
    ordinary_k = Counter(label.rule for label in ordinary if label.true)
    hits = {
        rule: Hits(
            family=families[rule],
            k=k[rule],
            n=n[rule],
            ordinary_k=ordinary_k[rule],
            ordinary_n=ordinary_n[rule],
        )
        for rule in sorted(n)
    }
    related = by_family(hits.values())
    prior = fitted(related)
    return PrecisionTable(
        method=METHOD,
        sources=(
            *(f"{one.name} {one.older} and {one.newer}" for one in TABLE),
            "121 insecure samples (SecurityEval)",
            "undone fixes and ordinary commits (removed protections): odd lines of the workloads,"
            " 180 and 300 commits of httpx, werkzeug and celery, 68 and 204 of 17 further projects",
            "560 ordinary commits of 8 projects and every commit of leadhand (removed protections)",
            "commits and whole trees of 19 projects (other rules with few labels)",
            "what was shown of 600 commits of 6 projects (healthchecks, warehouse, searxng, Kiwi,"
            " Radicale, netbox)",
            "what was shown of 998 commits of 6 projects (paperless-ngx, mealie, beets, ihatemoney,"
            " borg, kinto) and of 1,350 commits of privacyidea, streamlink and pulpcore",
            "odd lines of the undone fixes, 203 ordinary changes, 180 commits of anyio, click and"
            " marshmallow (changes of behaviour)",
        ),
        labelled_by=LABELLED_BY,
        prior=prior,
        families={name: round(expected_share(related[name], prior), 4) for name in sorted(related)},
        rules=hits,
    )


def main() -> None:
    """Write the table, or print the precision on the held-out packages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", nargs="?", choices=["table", "held-out"], default="table")
    options = parser.parse_args()
    if options.which == "held-out":
        given = labels("held-out")
        k, n = sum(label.true for label in given), len(given)
        print(f"shown on {len(HELD_OUT)} held-out packages: {n} findings, {k} of them true")
        return
    made = table(labels("table"))
    TARGET.write_text(made.model_dump_json(indent=2) + "\n", encoding="utf-8")
    confidence = Confidence(made, rules())
    print(made.prior)
    for rule in rules():
        own = made.rules.get(rule.id)
        counted = f"{own.k:3} of {own.n:3}" if own else "    none  "
        rated = confidence(rule.id).confidence
        print(f"{rule.id:45} {rule.family:32} {counted}  confidence {rated}")


if __name__ == "__main__":
    main()
