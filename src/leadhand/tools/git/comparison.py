"""Compares two trees by one streamed `git diff-tree`; keeps hunk headers only, so any size fits."""

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from leadhand.errors import InputError
from leadhand.tools.git import process
from leadhand.tools.git.history import HUNK, hunk_numbers
from leadhand.tools.git.trees import sizes
from leadhand.tools.text import HunkNumbers, path_text, size_text

SYMLINK, SUBMODULE, NO_FILE = "120000", "160000", "000000"
_INDEX = re.compile(rb"index ([0-9a-f]+)\.\.([0-9a-f]+)")
_MAX_HUGE = 1000
_TIMEOUT_S = 300.0
_OUT_OF_MEMORY = re.compile(r"attempting to allocate|out of memory", re.IGNORECASE)
_OPTIONS = (
    "-r", "-z", "--raw", "-p", "-U0", "--full-index", "--no-ext-diff", "--no-textconv",
    "--no-color", "--ignore-cr-at-eol", "--src-prefix=a/", "--dst-prefix=b/",
)  # fmt: skip


@dataclass(slots=True)
class Difference:
    """One file that differs, with its hunks. Modes and ids are git's: all zeros for no file."""

    path: str
    old_path: str | None
    old_mode: str
    new_mode: str
    old_id: str
    new_id: str
    hunks: list[HunkNumbers] = field(default_factory=list[HunkNumbers])
    binary: bool = False
    """Git does not compare it: it is binary, or larger than `BIG_FILE_BYTES`."""
    too_many_hunks: bool = False

    @property
    def ids(self) -> list[str]:
        """The ids of the sides that exist, the old one first."""
        sides = ((self.old_mode, self.old_id), (self.new_mode, self.new_id))
        return [oid for mode, oid in sides if mode != NO_FILE]


@dataclass(frozen=True, slots=True)
class DiffLimits:
    files: int = 20_000
    hunks: int = 500_000
    """In all files together; files with later hunks are marked `too_many_hunks`."""
    hunks_a_file: int = 20_000


def compare(
    git_dir: Path, base: str, head: str, *, limits: DiffLimits, huge_bytes: int = 32 << 20
) -> tuple[list[Difference], int]:
    """The files that differ between two trees or commits, in git's order, and how many more do.

    Renames are followed, and carriage returns at line ends ignored. If git needs more than twice
    `huge_bytes` at once, files larger than that come first, as binary.
    """
    ends = (process.checked_id(base), process.checked_id(head))
    extra = {"GIT_ALLOC_LIMIT": str(2 * huge_bytes)}
    huge: list[tuple[bytes, Difference]] = []

    def read(renames: str) -> tuple[list[Difference], int]:
        rest = [f":(exclude,literal,top){os.fsdecode(name)}" for name, _ in huge]
        args = ("diff-tree", renames, *_OPTIONS, *ends, "--", *(rest and [":(top)", *rest]))
        with process.stream_git(git_dir, *args, timeout_s=_TIMEOUT_S, extra=extra) as found:
            differences, more, unread = _raw(found, limits.files)
            _place_hunks(differences, process.split_stream(found, b"\n", unread), limits)
        return differences, more

    with contextlib.suppress(_TooLarge):
        return _or_too_large(read, "-M")
    huge = _huge(git_dir, ends, huge_bytes)
    try:
        differences, more = _or_too_large(read, "-M")
    except _TooLarge:
        differences, more = read("--no-renames")
    return [difference for _, difference in huge] + differences, more


class _TooLarge(Exception):
    """Git needs more memory at once than its limit."""


def _or_too_large(
    read: Callable[[str], tuple[list[Difference], int]], renames: str
) -> tuple[list[Difference], int]:
    try:
        return read(renames)
    except process.GitFailed as error:
        if _OUT_OF_MEMORY.search(error.stderr):
            raise _TooLarge from error
        raise


def _huge(git_dir: Path, ends: tuple[str, str], limit: int) -> list[tuple[bytes, Difference]]:
    """The differing files larger than `limit`, by git's name."""
    listing = process.run_git(git_dir, "diff-tree", "-r", "-z", "--raw", "--no-renames", *ends)
    fields = listing.split(b"\0")
    found: list[tuple[bytes, Difference]] = []
    for facts, name in zip(fields[::2], fields[1::2], strict=False):
        old_mode, new_mode, old_id, new_id, _ = facts[1:].decode("ascii").split(" ")
        item = Difference(path_text(name), None, old_mode, new_mode, old_id, new_id, binary=True)
        if SUBMODULE not in (old_mode, new_mode):
            found.append((name, item))
    size = sizes(git_dir, {oid for _, item in found for oid in item.ids})
    large = [(name, item) for name, item in found if max(size[oid] for oid in item.ids) > limit]
    if len(large) > _MAX_HUGE:
        raise InputError(
            f"the range changes {len(large):,} files larger than {size_text(limit)}: "
            "review a smaller one"
        )
    return large


def _raw(found: IO[bytes], limit: int) -> tuple[list[Difference], int, bytes]:
    """The records of `--raw -z`, how many exceed `limit`, and the bytes read after them."""
    differences: list[Difference] = []
    more = 0
    fields = _Fields(found)
    while (facts := fields.next()).startswith(b":"):
        old_mode, new_mode, old_id, new_id, status = facts[1:].decode("ascii").split(" ")
        path = path_text(fields.next())
        old_path = path
        if status[0] in "RC":
            path = path_text(fields.next())
        if len(differences) >= limit:
            more += 1
        elif status[0] == "T":
            # A file that became a link, or the like, has two patches: deleted, then added.
            none = "0" * len(old_id)
            differences.append(Difference(path, None, old_mode, NO_FILE, old_id, none))
            differences.append(Difference(path, None, NO_FILE, new_mode, none, new_id))
        else:
            moved = old_path if old_path != path else None
            differences.append(Difference(path, moved, old_mode, new_mode, old_id, new_id))
    return differences, more, fields.rest()


def _place_hunks(differences: list[Difference], lines: Iterator[bytes], limits: DiffLimits) -> None:
    """Add each hunk of the patch to its file. A file without a patch differs in line ends only."""
    place = -1
    current: Difference | None = None
    room = limits.hunks
    for line in lines:
        kind = line[:1]
        if kind in (b"+", b"-", b"\\"):
            continue
        if kind == b"@" and current and (match := HUNK.match(line)):
            if room <= 0 or len(current.hunks) >= limits.hunks_a_file:
                current.too_many_hunks = True
            else:
                current.hunks.append(hunk_numbers(match))
                room -= 1
        elif kind == b"d" and line.startswith(b"diff --git "):
            current = None
        elif kind == b"i" and (match := _INDEX.match(line)):
            ids = (match[1].decode("ascii"), match[2].decode("ascii"))
            later = range(place + 1, len(differences))
            place = next(
                (n for n in later if (differences[n].old_id, differences[n].new_id) == ids), -1
            )
            if place < 0:
                return
            current = differences[place]
        elif kind == b"B" and current and line.startswith(b"Binary files "):
            current.binary = True


class _Fields:
    """NUL-terminated fields of a stream, and the bytes after them."""

    def __init__(self, found: IO[bytes]) -> None:
        self._found = found
        self._ready: list[bytes] = []
        self._part = b""

    def next(self) -> bytes:
        """The next field; empty at the end."""
        while not self._ready:
            chunk = self._found.read(process.STREAM_BYTES)
            if not chunk:
                return b""
            *whole, self._part = (self._part + chunk).split(b"\0")
            self._ready = whole[::-1]
        return self._ready.pop()

    def rest(self) -> bytes:
        return b"\0".join([*self._ready[::-1], self._part])
