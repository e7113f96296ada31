"""The past reviews lens: new code that is nearly what an earlier review comment was about.

Works on an export of review comments that the user hands over, and on nothing else. It repeats
what was said then, with its author and link; whether it holds here too is the reader's to judge.
"""

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from leadhand.contracts.finding import Finding, LensReport, NotAssessed
from leadhand.contracts.outcome import Handoff
from leadhand.teams.review.change import Change, ChangedFile, Hunk
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.past_reviews.export import PastComment, load_export, plain
from leadhand.teams.review.lenses.past_reviews.likeness import (
    LikenessIndex,
    Line,
    PastLine,
    prepared,
)

__all__ = ["RULES", "PastComment", "load_export", "review"]

SIMILAR_HUNK = LensRule(
    id="past_reviews/similar-hunk",
    family="past_reviews/similar-hunk",
    severity="info",
    why="",
    fix="Read the earlier comment and see whether it holds here, too.",
)
RULES: tuple[LensRule, ...] = (SIMILAR_HUNK,)

_MIN_LINES = 3
_QUOTE_CHARS = 200
_NOISE = re.compile(
    r"\W*(?:nit(?:pick)?|lgtm|thanks?|thank you|thx|ty|nice|great|good|cool|awesome|perfect|love|"
    r"looks good|done|fixed|ditto|same(?: here)?|agreed?|yes|yep|no|ok(?:ay)?|sure|neat|\+1|👍)\b",
    re.IGNORECASE,
)
_MIN_WORDS = 3


@dataclass(frozen=True, slots=True)
class _Hit:
    """A line of the change that is nearly the same as one of a comment's code."""

    line: int
    likeness: float
    meant: bool
    long: bool


@dataclass(frozen=True, slots=True)
class _Match:
    """A comment that a hunk calls back to mind, and the line that does it most."""

    comment: PastComment
    line: int
    likeness: float
    lines: int


def review(handoff: Handoff, *, change: str, past_reviews: str | None = None) -> LensReport:
    """Findings where the files of `handoff` repeat what comments in the export were about."""
    if past_reviews is None:
        why = "no export of earlier reviews was handed over; give one with --past-reviews FILE"
        return LensReport(not_assessed=(NotAssessed(lens="past_reviews", why=why),))
    whole = Change.load(change)
    comments, index = _indexed(past_reviews, _stamp(past_reviews))
    files = [whole.by_path[path] for path in handoff.artifacts if path in whole.by_path]
    return LensReport(findings=tuple(_look(files, comments, index)))


def _stamp(export: str) -> int:
    try:
        return Path(export).stat().st_mtime_ns
    except OSError:
        return 0


@functools.lru_cache(maxsize=2)
def _indexed(export: str, stamp: int) -> tuple[tuple[PastComment, ...], LikenessIndex]:
    """The comments in `export` and their lines, kept as long as its `stamp` is the same."""
    del stamp
    comments = tuple(comment for comment in load_export(export) if _says_something(comment.body))
    return comments, LikenessIndex(
        (PastLine(number, meant), line)
        for number, comment in enumerate(comments)
        for line, meant in _prepared(comment)
    )


def _prepared(comment: PastComment) -> Iterator[tuple[Line, bool]]:
    """The lines of a comment's code that can be recognised, and whether it was put on them.

    A comment on a bare bracket means the code that the bracket closes: the nearest line above.
    """
    start = len(comment.lines) - comment.commented
    found = [(at, line) for at, text in enumerate(comment.lines) if (line := prepared(text))]
    meant = {at for at, _ in found if at >= start} or {at for at, _ in found[-1:]}
    seen: set[Line] = set()
    for at, line in sorted(found, key=lambda pair: pair[0] not in meant):
        if line not in seen:
            seen.add(line)
            yield line, at in meant


def _says_something(body: str) -> bool:
    """Whether a comment asks for anything: praise, thanks and nits are left in the past."""
    return (
        not (_NOISE.match(body) and len(body) < 80)
        and len(re.findall(r"[^\W\d_]{2,}", body)) >= _MIN_WORDS
        and not re.match(r"\W*nit\b", body, re.IGNORECASE)
    )


def _look(
    files: Sequence[ChangedFile], comments: Sequence[PastComment], index: LikenessIndex
) -> Iterator[Finding]:
    best: dict[str, tuple[tuple[bool, float], Finding]] = {}
    for file in files:
        for hunk in file.hunks:
            match = _best(file, hunk, comments, index)
            if match is None:
                continue
            finding = _finding(file, match)
            rank = (match.comment.path == file.path, match.likeness)
            # One comment says the same everywhere: keep the closest place of each file.
            key = f"{file.path}\0{match.comment.body}"
            if key not in best or rank > best[key][0]:
                best[key] = (rank, finding)
    for _, finding in best.values():
        yield finding


def _best(
    file: ChangedFile, hunk: Hunk, comments: Sequence[PastComment], index: LikenessIndex
) -> _Match | None:
    """The comment whose code `hunk` repeats most closely; one about the same file goes first."""
    alike: dict[int, dict[Line, _Hit]] = {}
    for number, text in enumerate(file.added_in(hunk), start=hunk.new_start):
        line = prepared(text)
        for place, likeness in index.like(line) if line else ():
            hit = _Hit(number, likeness, meant=place.meant, long=line.is_long if line else False)
            alike.setdefault(place.comment, {}).setdefault(cast("Line", line), hit)
    matches = [
        match
        for place, hits in alike.items()
        if (match := _judge(comments[place], list(hits.values()))) is not None
    ]
    return max(
        matches,
        key=lambda match: (
            match.comment.path == file.path, match.lines, match.likeness, match.comment.date,
        ),
        default=None,
    )  # fmt: skip


def _judge(comment: PastComment, hits: Sequence[_Hit]) -> _Match | None:
    """The match of a comment, if what it was put on is among the lines that are alike."""
    meant = [hit for hit in hits if hit.meant]
    if not meant or not (any(hit.long for hit in meant) or len(hits) >= _MIN_LINES):
        return None
    first = max(meant, key=lambda hit: (hit.long, hit.likeness, -hit.line))
    return _Match(comment, first.line, first.likeness, len(hits))


def _finding(file: ChangedFile, match: _Match) -> Finding:
    comment = match.comment
    where = "this file" if comment.path == file.path else f"`{comment.path}`"
    when = f" on {comment.date}" if comment.date else ""
    link = f" ({comment.url})" if comment.url else ""
    return SIMILAR_HUNK.finding(
        file,
        match.line,
        message=f"{comment.author} commented on nearly the same code in {where}{when}: "
        f'"{plain(comment.body, _QUOTE_CHARS)}"{link}',
        evidence=file.head_lines[match.line - 1].strip(),
    )
