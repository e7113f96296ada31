"""How many of eight mistakes, each planted in five styles of code, the review shows.

    python -m benchmarks.planted

Each of the 40 changes makes one mistake in a file of some hundred lines, as `planted/changes.yaml`
has it. It counts as shown if a finding, or an item that needs a look, lies within three lines.
The files and the changes were written before the rules on changed behaviour.
"""

import argparse
import difflib
from collections.abc import Iterator
from pathlib import Path

import yaml
from pydantic import TypeAdapter

from benchmarks.undone import Reviewed, Sample, of_sample, repository

FOLDER = Path(__file__).parent / "planted"
_NEAR = 3


def samples() -> Iterator[Sample]:
    """One sample for each mistake in each style."""
    shape = TypeAdapter(dict[str, dict[str, dict[str, str]]])
    changes = shape.validate_python(yaml.safe_load((FOLDER / "changes.yaml").read_text("utf-8")))
    number = 0
    for style, mistakes in changes.items():
        before = (FOLDER / f"{style}.py.txt").read_text("utf-8")
        for mistake, one in mistakes.items():
            if before.count(one["old"]) != 1:
                raise SystemExit(
                    f"{style}, {mistake}: `old` is there {before.count(one['old'])} times"
                )
            after = before.replace(one["old"], one["new"])
            number += 1
            path = f"{style}/app.py"
            yield Sample(
                number=number,
                id=f"{style}: {mistake}",
                kind=mistake,
                files=((path, before, after),),
                near={path: frozenset(_near(before, after))},
            )


def _near(before: str, after: str) -> Iterator[int]:
    """The lines of `after` that differ from `before`, and those near them."""
    matcher = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    for tag, _, _, first, end in matcher.get_opcodes():
        if tag != "equal":
            yield from range(first + 1 - _NEAR, end + 1 + _NEAR)


def report(rows: list[Reviewed]) -> None:
    """Print what was shown, by mistake and style."""
    kinds = list(dict.fromkeys(row.sample.kind for row in rows))
    for kind in kinds:
        of_kind = [row for row in rows if row.sample.kind == kind]
        shown = [bool(row.near((*row.findings, *row.look))) for row in of_kind]
        print(f"{kind:20} {sum(shown)} of {len(shown)}")
        for row in of_kind:
            rules = sorted({one.rule for one in row.near((*row.findings, *row.look))})
            other = len(row.findings) + len(row.look) - len(row.near((*row.findings, *row.look)))
            print(
                f"    {row.sample.id:30} {', '.join(rules) or 'MISSED'}"
                + f" +{other}" * bool(other)
            )
    total = sum(bool(row.near((*row.findings, *row.look))) for row in rows)
    print(f"{total} of {len(rows)}")


def main() -> None:
    """Measure and print."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    planted = list(samples())
    with repository(planted) as repo:
        report([of_sample(row, repo, number, None) for number, row in enumerate(planted)])


if __name__ == "__main__":
    main()
