"""Collects hits to label: every rule of the review team, on changes made from pinned packages.

    python -m benchmarks.precision.collect table|held-out --cache DIR --out hits.jsonl

Each line is a hit with the code around it and without anything that would bias whoever labels it:
no confidence, no figure of the rule, no package's reputation. `--per-rule` hits of a rule are
drawn at random (by a fixed seed), spread over packages; with `--shown` only what a review would
show at its default threshold, and all of it.
"""

import argparse
import hashlib
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.insecure import change_of, reviewed, samples
from benchmarks.precision.packages import HELD_OUT, RANGES, TABLE, Package, repository
from leadhand.contracts.answer import Finding
from leadhand_teams.review.change import Change
from leadhand_teams.review.snapshot import write_snapshot

AROUND = 15
"""Lines of code that are shown before and after a hit."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A finding to be labelled."""

    key: str
    """Names the hit for as long as packages, path, rule and quoted code are the same."""
    rule: str
    source: str
    """Package, versions and kind of change, or the data set."""
    path: str
    line: int
    message: str
    evidence: str
    code: str
    """The lines around it; `>` marks lines that the change adds, `<` removed ones."""


def hits(change: Change, source: str, findings: Sequence[Finding]) -> Iterator[Hit]:
    """The findings of one change, ready for labelling."""
    for finding in findings:
        quoted = f"{source}\0{finding.path}\0{finding.rule}\0{finding.evidence}\0{finding.id}"
        yield Hit(
            key=hashlib.sha256(quoted.encode()).hexdigest()[:16],
            rule=finding.rule,
            source=source,
            path=finding.path,
            line=finding.line,
            message=finding.message,
            evidence=finding.evidence,
            code=_around(change, finding),
        )


def _around(change: Change, finding: Finding) -> str:
    file = change.by_path[finding.path]
    first = max(1, finding.line - AROUND)
    last = min(len(file.head_lines), finding.end_line + AROUND)
    removed_after: defaultdict[int, list[str]] = defaultdict(list)
    for hunk in file.hunks:
        before = hunk.new_start if not hunk.new_count else hunk.new_start - 1
        removed_after[before] += file.removed_in(hunk)
    lines = [f"<       {text}" for text in removed_after[first - 1]]
    for number in range(first, last + 1):
        mark = ">" if number in file.added else " "
        lines.append(f"{mark}{number:6} {file.head_lines[number - 1]}")
        lines += [f"<       {text}" for text in removed_after[number][:40]]
    return "\n".join(lines)


def of_package(package: Package, cache: Path, *, shown: bool) -> Iterator[Hit]:
    """The hits of a package's changes; what is `shown` is judged without the slips."""
    folder = repository(package, cache)
    for kind, revision in RANGES.items():
        if shown and kind == "slips":
            continue
        with tempfile.TemporaryDirectory() as scratch:
            change = write_snapshot(Path(scratch) / "change", repo=folder, revision=revision)
            found = reviewed(change, 80 if shown else 0)
            source = f"{package.name} {package.older} {package.newer} {kind}"
            print(f"  {source}: {len(found.findings)} hits", flush=True)
            yield from hits(change, source, found.findings)


def of_samples(workloads: Path) -> Iterator[Hit]:
    """The hits on the insecure samples."""
    with change_of([code for _, code in samples(workloads)]) as change:
        yield from hits(change, "insecure_python.jsonl", reviewed(change, 0).findings)


def kept(package: Package, cache: Path, *, shown: bool) -> list[Hit]:
    """The hits of a package, from `cache` where an earlier call left them there."""
    file = cache / ("shown" if shown else "hits") / f"{package.name}.jsonl"
    if not file.exists():
        found = list(of_package(package, cache, shown=shown))
        write(found, file)
    lines = file.read_text(encoding="utf-8").splitlines()
    return [Hit(**json.loads(line)) for line in lines]


def write(some: Sequence[Hit], file: Path) -> None:
    """One hit a line, in `file`, which appears whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial")
    with partial.open("w", encoding="utf-8") as out:
        out.writelines(json.dumps(asdict(hit)) + "\n" for hit in some)
    partial.replace(file)


def drawn(all_hits: Sequence[Hit], per_rule: int, seed: int = 20) -> list[Hit]:
    """At most `per_rule` hits of each rule, a package at a time in turn, in random order."""
    chance = random.Random(seed)
    by_rule: defaultdict[str, defaultdict[str, list[Hit]]] = defaultdict(lambda: defaultdict(list))
    for hit in all_hits:
        by_rule[hit.rule][hit.source.split(" ", 1)[0]].append(hit)
    out: list[Hit] = []
    for rule in sorted(by_rule):
        packages = list(by_rule[rule].values())
        for of_one in packages:
            chance.shuffle(of_one)
        chance.shuffle(packages)
        taken: list[Hit] = []
        while len(taken) < per_rule and any(packages):
            taken += [of_one.pop() for of_one in packages if of_one][: per_rule - len(taken)]
        out += taken
    chance.shuffle(out)
    return out


def main() -> None:
    """Collect and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", choices=["table", "held-out"])
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--workloads", type=Path, help="add the insecure samples in this folder")
    parser.add_argument("--per-rule", type=int, default=40)
    parser.add_argument("--shown", action="store_true")
    options = parser.parse_args()
    collected: list[Hit] = []
    for package in TABLE if options.which == "table" else HELD_OUT:
        collected += kept(package, options.cache, shown=options.shown)
    if options.workloads is not None:
        collected += of_samples(options.workloads)
    chosen = collected if options.shown else drawn(collected, options.per_rule)
    write(chosen, options.out)
    print(f"{len(chosen)} of {len(collected)} hits written to {options.out}")


if __name__ == "__main__":
    main()
