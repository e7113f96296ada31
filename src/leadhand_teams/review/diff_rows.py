"""Shows a change to a model as rows (a sign, the line's number, its text), in parts.

Only over-long lines and long runs of removed lines are cut, and each cut is marked. Each part is
small enough to be read with care by one task; files beyond the limits are named.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from leadhand.contracts.task import Batch
from leadhand.extension.findings import NotAssessed
from leadhand_teams.review.change import Change, ChangedFile, Hunk

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


CHUNK_CHARS = 30_000
"""The characters of diff of one task."""
MAX_CHUNKS = 40
"""The most parts of a change, which limits the cost of a review."""
_WHY_BEYOND = f"beyond the {MAX_CHUNKS * CHUNK_CHARS:,} characters of diff that models review"


@dataclass(frozen=True, slots=True)
class ChangePiece:
    """One file of the change, or a part of a large one."""

    ref: str
    """Its name among a task's artifacts; unique in the change."""
    path: str
    text: str
    """Its diff."""


@dataclass(frozen=True, slots=True)
class Chunks:
    """The parts of a change; each part has a few pieces for one task."""

    pieces: dict[str, ChangePiece] = field(default_factory=dict[str, ChangePiece])
    batches: tuple[Batch, ...] = ()
    beyond: tuple[str, ...] = ()
    """The paths of files that are not, or not completely, in a part."""

    def of(self, artifacts: Iterable[str]) -> list[ChangePiece]:
        """The pieces for a task's artifacts."""
        return [self.pieces[ref] for ref in artifacts if ref in self.pieces]

    def not_assessed(self) -> tuple[NotAssessed, ...]:
        """The files that models don't see completely."""
        return tuple(NotAssessed(lens="model", path=path, why=_WHY_BEYOND) for path in self.beyond)


def chunks(change: Change, *, max_chars: int = CHUNK_CHARS, most: int = MAX_CHUNKS) -> Chunks:
    """`change` in at most `most` parts of about `max_chars` characters of diff."""
    batches: list[list[ChangePiece]] = []
    beyond: list[str] = []
    room = 0
    for file in change.files:
        for piece in _pieces(file, max_chars):
            if len(piece.text) > room:
                if len(batches) == most:
                    beyond.append(file.path)
                    break
                batches.append([])
                room = max_chars
            batches[-1].append(piece)
            room -= len(piece.text)
    return Chunks(
        pieces={piece.ref: piece for batch in batches for piece in batch},
        batches=tuple(Batch(tuple(piece.ref for piece in batch)) for batch in batches),
        beyond=tuple(beyond),
    )


def _pieces(file: ChangedFile, max_chars: int) -> Iterator[ChangePiece]:
    parts = list(_parts(file, max_chars - 2 * len(header(file))))
    for number, part in enumerate(parts, 1):
        of = f" (part {number} of {len(parts)})" if len(parts) > 1 else ""
        text = "\n".join([f"{header(file)}{of}", *part])
        yield ChangePiece(f"{file.path}{of}", file.path, text)


def _parts(file: ChangedFile, max_chars: int) -> Iterator[Sequence[str]]:
    """The rows of a file, cut between rows."""
    part: list[str] = []
    held = 0
    for row in rows(file):
        if part and held + len(row.text) + 1 > max_chars:
            yield part
            part, held = [], 0
        part.append(row.text)
        held += len(row.text) + 1
    if part:
        yield part
