"""How much the review says of the ordinary commits of any repositories, without a model.

    python -m benchmarks.ordinary REPO... [--commits 100] [--skip 0] [--items FILE]

REPO is a git directory with its history. The newest commits that change Python outside of tests are
reviewed, merges left out. `--items` writes what is shown, with its place, for readers who judge it.
"""

import argparse
import json
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.undone import reviewed
from leadhand.errors import LeadhandError
from leadhand.synthesis.findings import Review
from leadhand_teams.review.snapshot import write_snapshot
from leadhand_teams.review.syntax import is_test


def commits(repo: Path, number: int, skip: int) -> list[str]:
    """The newest `number` commits after the first `skip` that change Python outside of tests."""
    command = [
        "git",
        "-C",
        str(repo),
        "log",
        "--no-merges",
        "--no-renames",
        "--format=%x00%H",
        "--name-only",
    ]
    log = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found: list[str] = []
    for part in log.split("\0")[1:]:
        commit, *paths = part.split()
        if any(path.endswith(".py") and not is_test(path) for path in paths):
            found.append(commit)
            if len(found) == number + skip:
                break
    return found[skip:]


def reviews(repo: Path, number: int, skip: int) -> Iterator[tuple[str, Review]]:
    """Each commit and its review."""
    for commit in commits(repo, number, skip):
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "change"
            try:
                change = write_snapshot(folder, repo=repo, revision=commit)
            except LeadhandError as error:
                print(f"    left out: {commit[:9]}: {error}")
                continue
            yield commit, reviewed(change)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repos", nargs="+", type=Path)
    parser.add_argument("--commits", type=int, default=100)
    parser.add_argument("--skip", type=int, default=0, help="leave out so many newest commits")
    parser.add_argument("--items", type=Path, help="write what is shown as JSON lines")
    options = parser.parse_args()
    for repo in options.repos:
        counts: Counter[str] = Counter()
        rules: Counter[str] = Counter()
        for commit, review in reviews(repo, options.commits, options.skip):
            counts["commits"] += 1
            for section in ("findings", "look", "suppressed"):
                for one in getattr(review, section):
                    counts[section] += 1
                    if section != "suppressed":
                        rules[one.rule] += 1
                    if options.items is not None:
                        row = one.model_dump(mode="json") | {
                            "repo": str(repo), "commit": commit, "section": section
                        }  # fmt: skip
                        with options.items.open("a", encoding="utf-8") as file:
                            file.write(json.dumps(row) + "\n")
        shown = counts["findings"] + counts["look"]
        print(
            f"{repo.parent.name}: {counts['commits']} commits, {counts['findings']} findings, "
            f"{counts['look']} to look at; together {100 * shown / max(1, counts['commits']):.1f} "
            "per 100",
            flush=True,
        )
        print("    " + ", ".join(f"{rule} {count}" for rule, count in rules.most_common()))


if __name__ == "__main__":
    main()
