"""Which expert the team `experts` gives a question to, and which questions it leaves alone.

    python -m benchmarks.teams.experts [--workloads DIR] [--folds 5]

Reads `teams/routing/data.jsonl.gz`: questions of five domains, `other` among them, which is for no
expert. First the team out of the box, by its vocabulary alone. Its author read the mistakes on
every other row once and added words; the rows between them were never read. Both are printed. Then
the team with a router that was trained on the other folds, and that router alone. Folds are drawn
twice: by chance, and so that questions with nearly the same words are in one fold. `without the
source` trains on all other sources of a question. Training needs scikit-learn.
"""

import argparse
import gzip
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from leadhand.routing.examples import Example
from leadhand.routing.trained import TrainedRouter
from leadhand.routing.training import train
from leadhand_teams.experts.fields import EXPERTS, OTHER, choose

FIELDS = (*EXPERTS, OTHER)
OF_USERS = {
    "fiqa",
    "stackoverflow_titles",
    "askubuntu",
    "webapplications",
    "liveqa",
    "learned_hands",
}
ALIKE = 0.6
"""Share of the words of two questions that are in both, from which they are near-duplicates."""


class Row(NamedTuple):
    """One question."""

    domain: str
    source: str
    text: str


def questions(workloads: Path) -> list[Row]:
    """Every question in the file."""
    file = workloads / "teams" / "routing" / "data.jsonl.gz"
    if not file.exists():
        raise SystemExit(f"there is no {file}: name the folder of the workloads with --workloads")
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [Row(row["domain"], row["source"], row["text"]) for row in rows]


def by_team(text: str, router: TrainedRouter | None = None) -> str:
    """The field that the team chooses."""
    return choose(text, router).expert or OTHER


def measured(rows: Sequence[Row], given: Sequence[str]) -> str:
    """One line of the report: macro F1, users' questions right, others sent to an expert."""
    pairs = [(row.domain, field) for row, field in zip(rows, given, strict=True)]
    hits = Counter(one for one, other in pairs if one == other)
    asked, answered = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    scores = [2 * hits[field] / max(1, asked[field] + answered[field]) for field in FIELDS]
    users = [
        row.domain == by for row, by in zip(rows, given, strict=True) if row.source in OF_USERS
    ]
    sent = asked[OTHER] - hits[OTHER]
    each = " ".join(f"{score:.2f}" for score in scores)
    return (
        f"{sum(scores) / len(scores):8.3f} {sum(users) / len(users):8.3f} "
        f"{sent:4}/{asked[OTHER]:<3} {len(rows):6}   {each}"
    )


def near_duplicates(rows: Sequence[Row]) -> list[int]:
    """The group of each question: near-duplicates are in one."""
    words = [{*re.findall(r"\w+", row.text.lower())} for row in rows]
    group = [*range(len(rows))]
    for one, other in combinations(range(len(rows)), 2):
        both = len(words[one] & words[other])
        if group[one] != group[other] and both >= ALIKE * len(words[one] | words[other]):
            old, new = group[other], group[one]
            group = [new if name == old else name for name in group]
    return group


def folds_by_chance(rows: Sequence[Row], folds: int) -> list[int]:
    """The fold of each question; each has the same share of every domain."""
    seen: Counter[str] = Counter()
    found: list[int] = []
    for row in rows:  # the file is in the order of a hash of the text
        found.append(seen[row.domain] % folds)
        seen[row.domain] += 1
    return found


def folds_of_groups(groups: Sequence[int], folds: int) -> list[int]:
    """The fold of each question; a group is in one, the largest groups first."""
    size = [0] * folds
    place: dict[int, int] = {}
    for group, count in Counter(groups).most_common():
        place[group] = size.index(min(size))
        size[place[group]] += count
    return [place[group] for group in groups]


def routers(rows: Sequence[Row], parts: Iterable[object]) -> dict[object, TrainedRouter]:
    """For each part a router that was trained on the questions of the other parts."""
    pairs = [*zip(rows, parts, strict=True)]
    return {
        part: train(
            [
                Example(row.text, None if row.domain == OTHER else row.domain)
                for row, of in pairs
                if of != part
            ]
        ).router
        for part in dict.fromkeys(of for _, of in pairs)
    }


def alone(text: str, router: TrainedRouter) -> str:
    """The field that a trained router names, sure or not."""
    return router.guess(text).worker or OTHER


def abstaining(text: str, router: TrainedRouter) -> str:
    """The field that a trained router names if it is sure."""
    guess = router.guess(text)
    return (guess.worker or OTHER) if guess.accepted else OTHER


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("LEADHAND_WORKLOADS", "../shared/workloads")
    parser.add_argument("--workloads", type=Path, default=Path(default))
    parser.add_argument("--folds", type=int, default=5)
    given = parser.parse_args()
    rows = questions(given.workloads)
    head = f"{'macro F1':>8} {'users':>8} {'others':>8} {'rows':>6}   {' '.join(FIELDS)}"
    print("out of the box".ljust(44), head)
    parts = {"read": rows[::2], "never read": rows[1::2], "all": rows}
    for name, some in parts.items():
        print(name.ljust(44), measured(some, [by_team(row.text) for row in some]), flush=True)
    groups = near_duplicates(rows)
    print(f"{len(rows) - len({*groups})} questions repeat another one but for some words")
    ways: dict[str, Sequence[object]] = {
        "folds by chance": folds_by_chance(rows, given.folds),
        "folds without near-duplicates": folds_of_groups(groups, given.folds),
        "without the source": [row.source for row in rows],
    }
    choosers: dict[str, Callable[[str, TrainedRouter], str]] = {
        "team": by_team,
        "router alone": alone,
        "router alone, abstaining": abstaining,
    }
    for way, of in ways.items():
        print(way.ljust(44), head)
        trained = routers(rows, of)
        answers: defaultdict[str, list[str]] = defaultdict(list)
        for row, part in zip(rows, of, strict=True):
            for name, chosen in choosers.items():
                answers[name].append(chosen(row.text, trained[part]))
        for name, found in answers.items():
            print(name.ljust(44), measured(rows, found), flush=True)
        print("team, never read".ljust(44), measured(rows[1::2], answers["team"][1::2]), flush=True)


if __name__ == "__main__":
    main()
