"""Splits a patch of any size into a limited piece for each file, and checks its line counts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO

from leadhand.errors import InputError
from leadhand.tools.git.history import hunk_numbers

MAX_LINE_NUMBER = 1_000_000
COMBINED = (b"diff --cc ", b"diff --combined ")
_HUNK = re.compile(rb"@@ -(\d{1,18})(?:,(\d{1,18}))? \+(\d{1,18})(?:,(\d{1,18}))? @@")


@dataclass(slots=True)
class PatchPiece:
    """A file's header, and its hunks with their `@@` lines."""

    line: int
    header: list[bytes] = field(default_factory=list[bytes])
    body: list[bytes] = field(default_factory=list[bytes])
    size: int = 0
    ends: tuple[int, int] = (0, 0)
    """The old and the new line after the last hunk."""


class PatchSplitter:
    """The counts of a hunk say where it ends, so a removed `-- x` is not mistaken for a header."""

    def __init__(self, source: IO[bytes], max_piece_bytes: int) -> None:
        self._source = source
        self._max_piece_bytes = max_piece_bytes
        self._number = 0
        self._piece: PatchPiece | None = None
        self._old_left = 0
        self._new_left = 0

    def pieces(self) -> Iterator[PatchPiece]:
        before = b""
        for line in self._lines():
            if self._old_left or self._new_left:
                self._take_body(line)
                continue
            opens = line.startswith(b"diff --git ") or line.startswith(COMBINED)
            plain = before.startswith(b"--- ") and line.startswith(b"+++ ")
            if opens or (plain and not self._in_header()):
                if self._piece is not None:
                    yield self._piece
                self._piece = PatchPiece(self._number, [before] if plain else [])
            self._take_outside(line)
            before = line
        if self._old_left or self._new_left:
            raise self._damaged("it ends in the middle of a hunk")
        if self._piece is not None:
            yield self._piece

    def _in_header(self) -> bool:
        piece = self._piece
        return piece is not None and not piece.body and piece.header[0].startswith(b"diff --")

    def _take_outside(self, line: bytes) -> None:
        piece = self._piece
        if line.startswith(b"@@ "):
            if piece is None:
                raise self._damaged("a hunk without a file before it")
            self._open_hunk(piece, line)
        elif piece is not None and line.startswith(b"\\") and piece.body:
            self._keep(piece, line)
        elif piece is not None and not piece.body and len(piece.header) < 100:
            piece.header.append(line)

    def _open_hunk(self, piece: PatchPiece, line: bytes) -> None:
        match = _HUNK.match(line)
        if match is None:
            raise self._damaged("not a hunk header")
        old_start, old_count, new_start, new_count = hunk_numbers(match)
        # The start of an empty side is the line before the hunk.
        old_start, new_start = old_start + (not old_count), new_start + (not new_count)
        old_end, new_end = old_start + old_count, new_start + new_count
        if max(old_end, new_end) > MAX_LINE_NUMBER:
            raise self._damaged(f"line numbers over {MAX_LINE_NUMBER:,}")
        if old_start < piece.ends[0] or new_start < piece.ends[1]:
            raise self._damaged("a hunk that overlaps the one before it, or comes before it")
        piece.ends = (old_end, new_end)
        self._old_left, self._new_left = old_count, new_count
        self._keep(piece, line)

    def _take_body(self, line: bytes) -> None:
        kind = line[:1]
        if kind in (b" ", b"\n", b"\r", b""):
            self._old_left -= 1
            self._new_left -= 1
        elif kind == b"-":
            self._old_left -= 1
        elif kind == b"+":
            self._new_left -= 1
        elif kind != b"\\":
            raise self._damaged("a hunk is shorter than its header says")
        if self._old_left < 0 or self._new_left < 0:
            raise self._damaged("a hunk is longer than its header says")
        if self._piece is not None:
            self._keep(self._piece, line)

    def _keep(self, piece: PatchPiece, line: bytes) -> None:
        piece.size += len(line)
        if piece.size <= self._max_piece_bytes:
            piece.body.append(line)

    def _damaged(self, what: str) -> InputError:
        return InputError(f"the patch is damaged at line {self._number:,}: {what}; make it again")

    def _lines(self) -> Iterator[bytes]:
        """The lines of the source; a line longer than a piece is cut."""
        limit = self._max_piece_bytes + 2
        while line := self._source.readline(limit):
            self._number += 1
            yield line
            while len(line) == limit and not line.endswith(b"\n"):
                line = self._source.readline(limit)
