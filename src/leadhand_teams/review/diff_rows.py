"""Shows a change to a model as rows: a sign, the line's number, its text.

Only over-long lines and long runs of removed lines are cut, and each cut is marked.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from leadhand_teams.review.change import ChangedFile, Hunk

CONTEXT = 6
"""Unchanged lines around each hunk."""
MAX_LINE_CHARS = 400
MAX_REMOVED = 150
"""The most removed lines of one hunk that are shown: the first ones tell enough."""
_ROW_START = re.compile(r"^[+\- ]? *\d+ \| ?")


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One line of a diff."""

    line: int
    """Its line in the new file, or the line where it was removed."""
    text: str


def rows(file: ChangedFile, *, context: int = CONTEXT) -> Iterator[DiffRow]:
    """The diff of `file` from top to bottom; lines that are left out become a row of dots."""
    shown_to = 0
    total = len(file.head_lines) - (file.head_lines[-1] == "")
    for position, hunk in enumerate(file.hunks):
        first, after = _span(hunk)
        start = max(shown_to + 1, first - context)
        if start > shown_to + 1:
            yield DiffRow(start, "   ...")
        yield from _unchanged(file, start, first - 1)
        yield from _removed(file, hunk, first)
        for number in range(first, min(after, total + 1)):
            yield _row("+", number, file.head_lines[number - 1], number)
        following = file.hunks[position + 1 : position + 2]
        last = min(after + context - 1, total, *(_span(one)[0] - 1 for one in following))
        yield from _unchanged(file, after, last)
        shown_to = max(after - 1, last)


def around(file: ChangedFile, first_line: int, last_line: int, *, lines: int) -> list[str]:
    """The rows of lines `first_line` to `last_line`, and of `lines` before and after them."""
    return [
        row.text
        for row in rows(file, context=lines)
        if first_line - lines <= row.line <= last_line + lines
    ]


def header(file: ChangedFile) -> str:
    """The line above a file's diff: its path, status and language."""
    was = f", before {file.old_path}" if file.old_path else ""
    return f"=== {file.path} ({file.status}, {file.language}{was})"


def unmarked(quote: str) -> str:
    """`quote` without the signs and numbers of rows, if it has any."""
    return "\n".join(_ROW_START.sub("", line) for line in quote.split("\n"))


def numbered(lines: Sequence[str], first_line: int) -> str:
    """Lines of a file with their numbers."""
    return "\n".join(f"{number:>5} | {_cut(text)}" for number, text in enumerate(lines, first_line))


def fitting(entries: Sequence[str], max_chars: int) -> str:
    """The first entries, one after the other, that fit, and how many do not."""
    room = max_chars
    for number, entry in enumerate(entries):
        room -= len(entry) + 1
        if room < 0:
            return "\n".join([*entries[:number], f"(and {len(entries) - number:,} more)"])
    return "\n".join(entries)


def _span(hunk: Hunk) -> tuple[int, int]:
    """The first new line of a hunk and the one after its last; the same if it adds none."""
    first = hunk.new_start if hunk.new_count else hunk.new_start + 1
    return first, first + hunk.new_count


def _unchanged(file: ChangedFile, first: int, last: int) -> Iterator[DiffRow]:
    for number in range(max(first, 1), last + 1):
        text = file.head_lines[number - 1]
        # Lines that a patch does not show are blank.
        if file.complete or text.strip():
            yield _row(" ", number, text, number)


def _removed(file: ChangedFile, hunk: Hunk, at: int) -> Iterator[DiffRow]:
    gone = file.removed_in(hunk)
    for number, text in enumerate(gone[:MAX_REMOVED], hunk.old_start):
        yield _row("-", number, text, at)
    if len(gone) > MAX_REMOVED:
        yield DiffRow(at, f"   ... and {len(gone) - MAX_REMOVED:,} more removed lines")


def _row(sign: str, number: int, text: str, line: int) -> DiffRow:
    return DiffRow(line, f"{sign}{number:>5} | {_cut(text)}")


def _cut(text: str) -> str:
    return text if len(text) <= MAX_LINE_CHARS else f"{text[:MAX_LINE_CHARS]} ... (cut)"
