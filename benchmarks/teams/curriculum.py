"""How well the team `curriculum` orders concepts, and guesses prerequisites that are withheld.

    python -m benchmarks.teams.curriculum [--workloads DIR]

Reads `teams/curriculum`: concepts of metacademy with their prerequisites, and AL-CPL, pairs of
titles. Only prerequisites that are concepts of the file count.
"""

import argparse
import csv
import gzip
import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast

from leadhand import Supervisor
from leadhand.contracts.task import Batch
from leadhand.extension import load
from leadhand_teams.curriculum.output import Curriculum
from leadhand_teams.curriculum.structure import guessed
from leadhand_teams.curriculum.topics import Topic

Pair = tuple[str, str]
Row = Mapping[str, object]


class Agreement(NamedTuple):
    """How well guesses agree with what is known."""

    known: int
    found: int
    right: int

    def __str__(self) -> str:
        f1 = 2 * self.right / (self.known + self.found or 1)
        precision, recall = self.right / (self.found or 1), self.right / (self.known or 1)
        return f"F1 {f1:.3f} (precision {precision:.3f}, recall {recall:.3f}, {self.found} found)"


def agreement(found: Iterable[Pair], known: Iterable[Pair]) -> Agreement:
    """How well two sets of pairs agree."""
    ours, theirs = set(found), set(known)
    return Agreement(len(theirs), len(ours), len(ours & theirs))


def answered(rows: Sequence[Row]) -> Curriculum:
    """The team's answer to concepts as JSON Lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "concepts.jsonl")
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        batches = {"inputs": [Batch(artifacts=(str(path),))]}
        team = load("curriculum")
        answer = Supervisor(team, home=Path(folder, "home")).run_sync(
            "Order these topics", batches=batches
        )
    return Curriculum.model_validate(answer.output)


def metacademy(file: Path) -> None:
    """Print whether the order on given prerequisites holds, and how good guesses are."""
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        rows = [cast("dict[str, object]", json.loads(line)) for line in stream]
    ids = {str(row["id"]) for row in rows}
    known = {
        (one["resolved"], str(row["id"]))
        for row in rows
        for one in cast("list[dict[str, str]]", row["prerequisites"])
        if one.get("resolved") in ids - {row["id"]}
    }
    found = answered(rows)
    place = {name: n for n, name in enumerate(found.order)}
    given = {(one.before, one.after) for one in found.prerequisites if one.basis == "given"}
    valid = sum(place[before] < place[after] for before, after in known)
    print(
        f"order: {len(found.order)} of {len(ids)} concepts, {valid} of {len(known)} edges kept; "
        f"given edges found {len(given & known)}, others called given {len(given - known)}"
    )
    bare = [{key: value for key, value in row.items() if key != "prerequisites"} for row in rows]
    guesses = [(one.before, one.after) for one in answered(bare).prerequisites]
    print(f"edges withheld: {agreement(guesses, known)}")


def alcpl(file: Path) -> None:
    """Print how good guesses are from titles alone, and what "always yes" would have."""
    pairs: dict[str, dict[Pair, bool]] = defaultdict(dict)
    with file.open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            pairs[row["domain"]][row["prerequisite"], row["concept"]] = row["label"] == "1"
    for domain, labels in pairs.items():
        titles = sorted({title for pair in labels for title in pair})
        found = guessed([Topic(id=title, title=title) for title in titles])
        known = [pair for pair, label in labels.items() if label]
        print(
            f"{domain}: {agreement(set(found) & labels.keys(), known)}; "
            f"always yes: {agreement(labels, known)}"
        )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    default = os.environ.get("LEADHAND_WORKLOADS", "../shared/workloads")
    parser.add_argument("--workloads", type=Path, default=Path(default))
    folder = cast("Path", parser.parse_args().workloads) / "teams" / "curriculum"
    if not folder.is_dir():
        raise SystemExit(f"there is no {folder}: name the folder of the workloads with --workloads")
    metacademy(folder / "metacademy_concepts.jsonl.gz")
    alcpl(folder / "alcpl.csv")


if __name__ == "__main__":
    main()
