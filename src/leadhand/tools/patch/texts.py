"""Reads a unified diff as files with their texts, piece by piece.

The diff is untrusted and may have any size, so each piece has limited memory. Lines between hunks
are blank. A pipe may never deliver anything and a device has no end, so reads are limited in time
(F42).
"""

import io
import itertools
import os
import select
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from unidiff.errors import UnidiffParseError
from unidiff.patch import Hunk, Line, PatchSet

from leadhand.errors import InputError
from leadhand.tools.git.history import unquoted
from leadhand.tools.git.process import OutOfTime, reading_time_left_s
from leadhand.tools.patch.pieces import COMBINED, PatchPiece, PatchSplitter
from leadhand.tools.text import (
    ChangedText,
    HunkNumbers,
    UnreadFile,
    path_text,
    plain_text,
    size_text,
)

_MODE_LINES = (b"index ", b"new file mode ", b"deleted file mode ", b"old mode ", b"new mode ")
_MODES = {b"120000": "symbolic link", b"160000": "submodule"}
_READ_BYTES = 1 << 16
_POLL_S = 3600.0
"""The longest single wait, because `poll` takes no infinite one in milliseconds."""
_PREFIXES = {("a", "b"), ("i", "w"), ("c", "i"), ("c", "w"), ("o", "w"), ("1", "2")}


def read_patch(
    source: IO[bytes], *, max_piece_bytes: int = 1 << 20
) -> Iterator[ChangedText | UnreadFile]:
    """The files of the patch, in order; text around them (mails, logs) is ignored.

    Raises `InputError` with the line if the patch is damaged or empty, and `OutOfTime` after
    `reading_until`.
    """
    count = 0
    for piece in PatchSplitter(within_time(source), max_piece_bytes).pieces():
        count += 1
        yield _read(piece, max_piece_bytes)
    if not count:
        raise InputError("there is no change in the patch: it is empty, or not a unified diff")


def _read(piece: PatchPiece, max_piece_bytes: int) -> ChangedText | UnreadFile:
    old, new = _names(piece.header)
    path = new or old or f"(a file at line {piece.line:,} of the patch)"
    why = _unreadable(piece, max_piece_bytes)
    if why is not None:
        return UnreadFile(path, why)
    text = plain_text(b"--- a\n+++ b\n" + b"".join(piece.body))
    try:
        # Only "\n" ends a line here, as in git.
        hunks = list(PatchSet(io.StringIO(text, newline="\n"))[0])
    except (UnidiffParseError, IndexError) as error:
        raise InputError(
            f"the patch is damaged in the part from line {piece.line:,} on: {error}"
        ) from error
    blocks = tuple(block for hunk in hunks for block in _blocks(hunk))
    if not blocks:
        return UnreadFile(path, "no lines changed")
    before = _Sparse([line for hunk in hunks for line in hunk.source_lines()], source=True)
    after = _Sparse([line for hunk in hunks for line in hunk.target_lines()], source=False)
    if old is None:
        whole = after.is_whole and not before.lines
        return ChangedText(path, None, "added", None, after.text(_open_end(hunks)), blocks, whole)
    if new is None:
        whole = before.is_whole and not after.lines
        return ChangedText(
            path, None, "deleted", before.text(_open_end(hunks)), None, blocks, whole
        )
    moved = old if old != new else None
    status = "renamed" if moved else "modified"
    return ChangedText(path, moved, status, before.text(False), after.text(False), blocks, False)


def _unreadable(piece: PatchPiece, max_piece_bytes: int) -> str | None:
    if piece.size > max_piece_bytes:
        return f"its part of the patch is larger than {size_text(max_piece_bytes)}"
    if piece.header[0].startswith(COMBINED):
        return "the combined diff of a merge"
    for line in piece.header:
        for mode, what in _MODES.items():
            if line.rstrip().endswith(b" " + mode) and line.startswith(_MODE_LINES):
                return what
        if line.startswith((b"Binary files ", b"GIT binary patch")):
            return "binary"
    if piece.body:
        return None
    kinds = {line.split(b" ", 1)[0] for line in piece.header}
    if b"rename" in kinds or b"copy" in kinds:
        return "renamed without a change"
    if b"old" in kinds:
        return "only its mode changed"
    if b"new" in kinds or b"deleted" in kinds:
        return "an empty file"
    raise InputError(
        f"the patch is damaged in the part from line {piece.line:,} on: it ends within its header"
    )


def _blocks(hunk: Hunk) -> Iterator[HunkNumbers]:
    """The blocks of removed and added lines of a hunk, without its context."""
    old = hunk.source_start + (hunk.source_length == 0)
    new = hunk.target_start + (hunk.target_length == 0)
    for is_context, lines in itertools.groupby(hunk, key=lambda line: line.is_context):
        run = list(lines)
        removed = [line.value for line in run if is_context or line.is_removed]
        added = [line.value for line in run if is_context or line.is_added]
        # If both sides are equal, only the line ends differed.
        if removed != added:
            start = (old if removed else old - 1, new if added else new - 1)
            yield (start[0], len(removed), start[1], len(added))
        old, new = old + len(removed), new + len(added)


def _open_end(hunks: list[Hunk]) -> bool:
    return bool(hunks) and bool(hunks[-1]) and hunks[-1][-1].line_type == "\\"


class _Sparse:
    """The lines of one side by number."""

    def __init__(self, lines: list[Line], *, source: bool) -> None:
        self.lines: dict[int, str] = {}
        for line in lines:
            number = line.source_line_no if source else line.target_line_no
            if number is not None:
                self.lines[number] = line.value.removesuffix("\n")

    @property
    def is_whole(self) -> bool:
        return max(self.lines, default=0) == len(self.lines)

    def text(self, open_end: bool) -> str:
        """All lines up to the last known one; unknown lines are blank."""
        parts: list[str] = []
        at = 1
        for number, line in self.lines.items():
            parts.append("\n" * (number - at) + line + "\n")
            at = number + 1
        text = "".join(parts).removeprefix("\ufeff")
        return text.removesuffix("\n") if open_end else text


def _names(header: list[bytes]) -> tuple[str | None, str | None]:
    """None if the file does not exist on that side."""
    facts: dict[bytes, bytes] = {}
    for line in header:
        text = line.rstrip(b"\r\n")
        for key in (b"--- ", b"+++ ", b"rename from ", b"rename to ", b"copy from ", b"copy to "):
            if text.startswith(key):
                facts[key.strip()] = unquoted(text[len(key) :].split(b"\t", 1)[0])
    old, new = facts.get(b"---"), facts.get(b"+++")
    if old is None or new is None:
        old, new = _git_names(header[0])
    kinds = [line.split(b" ", 2)[:2] for line in header]
    if [b"new", b"file"] in kinds:
        old = b"/dev/null"
    if [b"deleted", b"file"] in kinds:
        new = b"/dev/null"
    before, after = _without_prefixes(_side(old), _side(new))
    source, target = facts.get(b"rename from"), facts.get(b"rename to")
    source, target = source or facts.get(b"copy from"), target or facts.get(b"copy to")
    return (path_text(source) if source else before, path_text(target) if target else after)


def _git_names(line: bytes) -> tuple[bytes, bytes]:
    """Both names of a `diff --git` line, which differ only in their prefix."""
    names = line.rstrip(b"\r\n").removeprefix(b"diff --git ")
    if names.startswith(COMBINED):
        name = unquoted(names.split(b" ", 2)[2])
        return name, name
    half = len(names) // 2
    return unquoted(names[:half]), unquoted(names[half + 1 :])


def _side(name: bytes) -> str | None:
    return None if name == b"/dev/null" else path_text(name)


def _without_prefixes(old: str | None, new: str | None) -> tuple[str | None, str | None]:
    pair = (old or "a/")[:2], (new or "b/")[:2]
    letters = (pair[0][0], pair[1][0])
    one_sided = old is None or new is None
    if all(part.endswith("/") for part in pair) and (
        letters in _PREFIXES or (one_sided and (letters[0] == "a" or letters[1] == "b"))
    ):
        return old and old[2:], new and new[2:]
    return old, new


def open_patch(file: Path) -> IO[bytes]:
    """Open `file` for reading, without blocking on a named pipe. Raises `OSError`."""
    opened = open(  # noqa: SIM115 - the caller closes it
        file, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)
    )
    os.set_blocking(opened.fileno(), True)
    return opened


def within_time(source: IO[bytes]) -> IO[bytes]:
    """`source`, whose reads raise `OutOfTime` once the time for reading is up."""
    return io.BufferedReader(_Timed(source), _READ_BYTES)


class _Timed(io.RawIOBase):
    def __init__(self, source: IO[bytes]) -> None:
        self._source = cast("io.BufferedReader", source)
        self._poll: select.poll | None = None
        try:
            descriptor = source.fileno()
        except (OSError, ValueError):  # a buffer in memory, which never blocks
            return
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object, /) -> int:
        view = memoryview(cast("bytearray", buffer))
        # `read1` leaves nothing in the source's own, smaller buffer, which `poll` would not see.
        self._wait()
        found = self._source.read1(len(view))
        view[: len(found)] = found
        return len(found)

    def _wait(self) -> None:
        while True:
            left_s = reading_time_left_s()
            if left_s <= 0:
                raise OutOfTime
            if self._poll is None or self._poll.poll(min(left_s, _POLL_S) * 1000):
                return
