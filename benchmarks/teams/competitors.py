"""What the team `competitors` finds changed between snapshots whose changes are known.

    python -m benchmarks.teams.competitors [--workloads DIR]

Reads `teams/competitive`: prices of language models of five vendors on three dates, and free tiers
of five categories of services on four dates. The files are given as users would: a file a date.
A competitor under a new name counts as added and removed in the known changes; it is listed apart.
A number that is now written as a word ("ten users") counts there as changed, and here does not.
"""

import argparse
import json
import os
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, cast

from leadhand_teams.competitors.changes import all_changes
from leadhand_teams.competitors.output import MarketChange
from leadhand_teams.competitors.sources import sources_of


class Score(NamedTuple):
    """How many known changes were found, and how many found ones are known."""

    known: int
    found: int
    right: int

    def __str__(self) -> str:
        recall, precision = self.right / (self.known or 1), self.right / (self.found or 1)
        return f"{recall:.3f} of {self.known} found, {precision:.3f} of {self.found} right"


def score(found: Iterable[object], known: Iterable[object]) -> Score:
    """How well two sets agree."""
    ours, theirs = set(found), set(known)
    return Score(len(theirs), len(ours), len(ours & theirs))


def added(scores: Iterable[Score]) -> Score:
    """The sum of scores."""
    rows = list(scores)
    return Score(*(sum(column) for column in zip(*rows, strict=True)))


def changes_of(files: Mapping[str, str]) -> list[MarketChange]:
    """What the team finds in snapshots, by file name."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in files]
        for path in paths:
            path.write_text(files[path.name], encoding="utf-8")
        sources = sources_of([str(path) for path in paths])
    return all_changes(sources.facts)


def model_prices(folder: Path) -> Score:
    """Models added and removed, and prices changed, over all vendors."""
    files: dict[str, str] = defaultdict(str)
    for line in (folder / "llm_prices.jsonl").read_text(encoding="utf-8").splitlines():
        files[f"{json.loads(line)['date']}.jsonl"] += f"{line}\n"
    changes = changes_of(files)
    gold = json.loads((folder / "llm_prices_gold.json").read_text(encoding="utf-8"))
    scores: list[Score] = []
    for vendor, known in gold.items():
        for step in known["changes"]:
            own = [one for one in changes if (one.competitor, one.since) == (vendor, step["from"])]
            priced = {
                (one.item, one.attribute, float(one.before or 0), float(one.after or 0))
                for one in own
                if one.kind == "changed" and one.attribute in ("input", "output")
            }
            wanted = {(p["model"], p["field"], p["old"], p["new"]) for p in step["price_changed"]}
            scores.append(score(priced, wanted))
            gone = {one.item for one in own if one.kind == "removed"}
            scores.append(score(gone, step["removed"]))
            come = sum(one.kind == "added" for one in own)  # only their number is known
            scores.append(Score(step["added"], come, min(step["added"], come)))
    return added(scores)


def free_tiers(folder: Path) -> tuple[Score, Score, list[str]]:
    """Services added and removed; services whose numbers changed; and what was found renamed."""
    files: dict[str, dict[str, str]] = defaultdict(dict)
    for line in (folder / "free_tiers.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        files[row["category"]][f"{row['date']}.md"] = row["markdown"]
    gold = json.loads((folder / "free_tiers_gold.json").read_text(encoding="utf-8"))
    listed: list[Score] = []
    numbers: list[Score] = []
    renamed: list[str] = []
    for category, steps in gold.items():
        changes = changes_of(files[category])
        for step in steps:
            own = [one for one in changes if one.since == step["from"]]
            renamed += [f"{one.before} -> {one.after}" for one in own if one.kind == "renamed"]
            for kind in ("added", "removed"):
                found = {one.competitor for one in own if one.kind == kind}
                listed.append(score(found, cast("list[str]", step[kind])))
            found = {one.competitor for one in own if one.kind == "changed"}
            numbers.append(score(found, {one["vendor"] for one in step["numbers_changed"]}))
    return added(listed), added(numbers), renamed


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    default = os.environ.get("LEADHAND_WORKLOADS", "../shared/workloads")
    parser.add_argument("--workloads", type=Path, default=Path(default))
    folder = cast("Path", parser.parse_args().workloads) / "teams" / "competitive"
    if not folder.is_dir():
        raise SystemExit(f"there is no {folder}: name the folder of the workloads with --workloads")
    print(f"prices of language models: {model_prices(folder)}")
    listed, numbers, renamed = free_tiers(folder)
    print(f"free tiers, added and removed: {listed}; renamed: {', '.join(renamed)}")
    print(f"free tiers, services whose numbers changed: {numbers}")


if __name__ == "__main__":
    main()
