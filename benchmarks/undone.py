"""How many undone fixes the review finds without a model, and how much it says of other commits.

    python -m benchmarks.undone [--workloads DIR] [--odd | --even] [--misses] [--hits FILE]

Each line of `undone_fixes.jsonl.gz` is a public fix turned round: `fixed` is the base and `broken`
the change. A hit lies on a line of `near` and quotes what the change removed; a finding there that
quotes something else is counted apart. The rules were tuned on odd lines (counted from 1), so
the even ones are the figures to believe. `ordinary_changes.jsonl.gz` gives the noise. The
whole team reviews every change, in this process.
"""

import argparse
import asyncio
import contextlib
import dataclasses
import gzip
import json
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.precision.collect import hits
from leadhand.contracts.answer import Finding
from leadhand.supervisor import Supervisor
from leadhand.synthesis.findings import Review
from leadhand_teams.review.change import Change
from leadhand_teams.review.snapshot import write_snapshot
from leadhand_teams.review.synthesizer import FindingsSynthesizer
from leadhand_teams.review.team import review_team, template_batches


@dataclass(frozen=True, slots=True)
class Sample:
    """One change of the data."""

    number: int
    """Its line in the file, from 1."""
    id: str
    kind: str
    """`vulnerability`, `bug` or `ordinary`."""
    files: tuple[tuple[str, str | None, str | None], ...]
    """(path, text before, text after); `None`: the file is not there."""
    near: dict[str, frozenset[int]]
    """Path -> lines of the new file at which a finding is a hit."""


@dataclass(frozen=True, slots=True)
class Reviewed:
    """What a review says of one sample."""

    sample: Sample
    findings: tuple[Finding, ...]
    look: tuple[Finding, ...]
    removed: frozenset[str]
    """Ids of the findings that quote a removed line."""

    def near(self, found: Sequence[Finding]) -> list[Finding]:
        """Those that lie where the fix was."""
        lines = self.sample.near
        return [
            one
            for one in found
            if not lines.get(one.path, frozenset()).isdisjoint(range(one.line, one.end_line + 1))
        ]

    def named(self, found: Sequence[Finding]) -> list[Finding]:
        """Those that lie where the fix was and quote what was removed."""
        return [one for one in self.near(found) if one.id in self.removed]


def samples(workloads: Path) -> Iterator[Sample]:
    """The undone fixes, then the ordinary changes."""
    for name, before, after in (
        ("undone_fixes", "fixed", "broken"),
        ("ordinary_changes", "before", "after"),
    ):
        file = workloads / f"{name}.jsonl.gz"
        if not file.exists():
            raise SystemExit(f"no {file.name} in {workloads}: name its folder with --workloads")
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                row = json.loads(line)
                yield Sample(
                    number=number,
                    id=row["id"],
                    kind=row.get("kind", "ordinary"),
                    files=tuple((one["path"], one[before], one[after]) for one in row["files"]),
                    near={one["path"]: frozenset(one.get("near", ())) for one in row["files"]},
                )


@contextlib.contextmanager
def repository(rows: Sequence[Sample]) -> Generator[Path]:
    """A repository with the commits `before-N` and `after-N` for the nth of `rows`."""
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["git", "init", "--quiet", "--bare", scratch], check=True)
        stream = b"".join(part for n, row in enumerate(rows) for part in _commits(n, row))
        command = ["git", "-C", scratch, "fast-import", "--quiet"]
        subprocess.run(command, input=stream, check=True)
        yield Path(scratch)


def _commits(number: int, row: Sample) -> Iterator[bytes]:
    for name, side in (("before", 1), ("after", 2)):
        yield f"commit refs/heads/{name}-{number}\n".encode()
        yield b"committer b <b@example.invalid> 0 +0000\ndata 6\nchange\n"
        if name == "after":
            yield f"from refs/heads/before-{number}\n".encode()
        for file in row.files:
            path, text = json.dumps(file[0]), file[side]
            if text is None:
                yield f"D {path}\n".encode() if name == "after" else b""
            else:
                data = text.encode()
                yield f"M 100644 inline {path}\ndata {len(data)}\n".encode() + data + b"\n"


def reviewed(change: Change) -> Review:
    """The whole team's review of a change, in this process."""
    team = review_team(change)
    workers = tuple(dataclasses.replace(one, isolate="none") for one in team.workers)
    supervisor = Supervisor(
        dataclasses.replace(team, workers=workers),
        deadline_s=600,
        synthesizer=FindingsSynthesizer(change),
    )
    answer = asyncio.run(supervisor.run(f"Review {change.title}", batches=template_batches(change)))
    for gap in answer.gaps:
        print(f"    missing: {gap.task_id}: {gap.why}", flush=True)
    return Review.model_validate(answer.output)


def of_sample(row: Sample, repo: Path, number: int, out: Path | None) -> Reviewed:
    """The review of one sample; its hits are added to `out`, for labelling."""
    with tempfile.TemporaryDirectory() as scratch:
        change = write_snapshot(
            Path(scratch) / "change", repo=repo, revision=f"before-{number}..after-{number}"
        )
        review = reviewed(change)
        if out is not None:
            every = (*review.findings, *review.look, *review.suppressed)
            found = [one for one in every if one.rule.startswith("security/removed-")]
            with out.open("a", encoding="utf-8") as file:
                for hit in hits(change, row.id, found):
                    file.write(json.dumps(dataclasses.asdict(hit)) + "\n")
    removed = {id for id, quote in review.quotes.items() if quote.side == "removed"}
    return Reviewed(row, review.findings, review.look, frozenset(removed))


def report(rows: Sequence[Reviewed]) -> None:
    """Print the recall by kind and half, and the noise."""
    print(f"{'':28} {'findings':>10} {'and what to look at':>27}")
    for kind in ("vulnerability", "bug"):
        for half, odd in (("odd, tuned on", 1), ("even", 0)):
            of_kind = [r for r in rows if r.sample.kind == kind and r.sample.number % 2 == odd]
            if not of_kind:
                continue
            shown = sum(bool(r.named(r.findings)) for r in of_kind)
            both = sum(bool(r.named((*r.findings, *r.look))) for r in of_kind)
            near = sum(bool(r.near((*r.findings, *r.look))) for r in of_kind)
            total = len(of_kind)
            print(
                f"{kind + ', ' + half:28} {shown:3} of {total:3} {both:15} of {total:3}"
                f"   + {near - both} that quote something else"
            )
    ordinary = [r for r in rows if r.sample.kind == "ordinary"]
    if ordinary:
        shown, more = (sum(len(r.findings) for r in ordinary), sum(len(r.look) for r in ordinary))
        per = 100 / len(ordinary)
        print(
            f"{len(ordinary)} ordinary commits: {shown} findings, {more} to look at; per 100: "
            f"{shown * per:.1f} and {more * per:.1f}, together {(shown + more) * per:.1f}"
        )
        rules = Counter(one.rule for r in ordinary for one in (*r.findings, *r.look))
        print("    " + ", ".join(f"{rule} {count}" for rule, count in rules.most_common()))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    default = os.environ.get("LEADHAND_WORKLOADS", "../shared/workloads")
    parser.add_argument("--workloads", type=Path, default=Path(default))
    half = parser.add_mutually_exclusive_group()
    half.add_argument("--odd", action="store_true", help="undone fixes of odd lines only")
    half.add_argument("--even", action="store_true", help="undone fixes of even lines only")
    parser.add_argument("--misses", action="store_true", help="name the odd fixes that are missed")
    parser.add_argument("--hits", type=Path, help="write removed protections for labelling")
    options = parser.parse_args()
    wanted = [
        row
        for row in samples(options.workloads)
        if row.kind == "ordinary" or not (options.odd or options.even)
        or row.number % 2 == options.odd
    ]  # fmt: skip
    with repository(wanted) as repo:
        rows: list[Reviewed] = []
        for number, row in enumerate(wanted):
            # What is found on even lines is counted and never read.
            read = row.kind == "ordinary" or row.number % 2
            rows.append(of_sample(row, repo, number, options.hits if read else None))
    report(rows)
    if options.misses:
        for one in rows:
            if one.sample.near and one.sample.kind != "ordinary" and one.sample.number % 2:
                named = one.named((*one.findings, *one.look))
                rules = ", ".join(sorted({finding.rule for finding in named}))
                print(f"{one.sample.number:3} {one.sample.id:50} {rules or 'MISSED'}")


if __name__ == "__main__":
    main()
