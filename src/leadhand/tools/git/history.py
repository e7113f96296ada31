"""Reads the history before a change, within limits. Merges are skipped, renames not followed."""

import contextlib
import datetime as dt
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from leadhand.tools.git.process import checked_id, split_stream, stream_git
from leadhand.tools.text import is_safe_path, path_text, plain_text
from leadhand.untrusted.cutting import cut

MAX_NAMES = 10_000
"""Paths kept of one commit."""
_HEADER = re.compile(rb"\x01([0-9a-f]{40}(?:[0-9a-f]{24})?)\Z")
_BLAMED = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?) \d+ (\d+)")
_LINE_CHARS = 1_000
HUNK = re.compile(rb"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_FORMAT = "--format=%x01%H%x00%cI%x00%s"
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--no-merges")


@dataclass(frozen=True, slots=True)
class Commit:
    id: str
    date: str
    """The time of the commit, RFC 3339 with its own offset."""
    subject: str
    """The first line of its message; untrusted text."""
    files: tuple[str, ...] = ()
    """The paths it changed, of those asked for; at most `MAX_NAMES`."""


@dataclass(frozen=True, slots=True)
class BlamedLine:
    number: int
    text: str
    commit: Commit
    """Without `files`; its date is the day in UTC."""


@dataclass(frozen=True, slots=True)
class PatchHunk:
    """One block of lines that a commit removed and added; line numbers count from 1."""

    old_start: int
    removed: tuple[str, ...]
    new_start: int
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FilePatch:
    """The changes of one commit to one file."""

    commit: Commit
    """Without `files`."""
    path: str
    hunks: tuple[PatchHunk, ...]


def log(
    git_dir: Path,
    commit: str,
    *,
    max_count: int,
    paths: Sequence[str] = (),
    timeout_s: float = 30.0,
) -> list[Commit]:
    """The last `max_count` commits up to and including `commit`, newest first.

    With `paths` (literal), only commits that change one of them, and only those of their files.
    """
    with _log(git_dir, (commit,), paths, max_count, timeout_s, "-z", "--name-only") as found:
        return list(_commits(found))


def log_patches(
    git_dir: Path,
    *commits: str,
    max_count: int,
    paths: Sequence[str] = (),
    timeout_s: float = 60.0,
    max_bytes: int = 1 << 28,
    walk: bool = True,
) -> Iterator[FilePatch]:
    """The changes to `paths` in the last `max_count` commits up to and including `commits`.

    Newest first, streamed by file, without context, up to `max_bytes`. Without `walk`, only in
    `commits`.
    """
    options = ("-p", "-U0") if walk else ("-p", "-U0", "--no-walk")
    with _log(git_dir, commits, paths, max_count, timeout_s, *options) as found:
        yield from _patches(found, max_bytes)


def unquoted(path: bytes) -> bytes:
    """A path from a patch header, without git's C-style quotes."""
    if not (path.startswith(b'"') and path.endswith(b'"') and len(path) > 1):
        return path
    return re.sub(
        rb'\\([0-3][0-7]{2}|[abtnvfr"\\])',
        lambda match: bytes([_escaped(match[1].decode("ascii"))]),
        path[1:-1],
    )


def _escaped(code: str) -> int:
    return _ESCAPES[code] if code in _ESCAPES else int(code, 8)


def _log(
    git_dir: Path,
    commits: Sequence[str],
    paths: Sequence[str],
    max_count: int,
    timeout_s: float,
    *options: str,
) -> contextlib.AbstractContextManager[IO[bytes]]:
    # Paths are passed on standard input, because thousands do not fit on a command line.
    named = [path for path in dict.fromkeys(paths) if is_safe_path(path) and "\n" not in path]
    if paths and not named:
        max_count = 0
    lines = [*map(checked_id, commits), *(("--", *named) if named else ())]
    return stream_git(
        git_dir, "log", *_PLAIN, _FORMAT, f"--max-count={max_count}", *options, "--stdin",
        stdin="\n".join(lines).encode("utf-8", errors="replace") + b"\n",
        timeout_s=timeout_s,
        extra={"GIT_LITERAL_PATHSPECS": "1"},
    )  # fmt: skip


def _commits(found: IO[bytes]) -> Iterator[Commit]:
    """Parse `log -z --name-only`: three header fields, then paths, all NUL-terminated."""
    fields = split_stream(found, b"\0")
    header: list[bytes] = []
    files: list[str] = []
    for token in fields:
        if match := _HEADER.match(token):
            if header:
                yield _commit(header, files)
            header, files = [match[1], next(fields, b""), next(fields, b"")], []
        elif (
            header
            and (path := token.removeprefix(b"\n") if not files else token)
            and len(files) < MAX_NAMES
        ):
            files.append(path_text(path))
    if header:
        yield _commit(header, files)


def _commit(header: Sequence[bytes], files: Sequence[str] = ()) -> Commit:
    oid, date, subject = header
    return Commit(
        oid.decode("ascii"), date.decode("ascii", "replace"), plain_text(subject), tuple(files)
    )


def _patches(found: IO[bytes], max_bytes: int) -> Iterator[FilePatch]:
    commit: Commit | None = None
    path = b""
    blocks: list[_Block] = []
    for line in itertools.chain(found, [b"\x01"]):
        max_bytes -= len(line)
        kind = line[:1]
        if kind == b"+" and blocks and len(blocks[-1].added) < blocks[-1].new_count:
            blocks[-1].added.append(line[1:])
        elif kind == b"-" and blocks and len(blocks[-1].removed) < blocks[-1].old_count:
            blocks[-1].removed.append(line[1:])
        elif kind == b"@" and (match := HUNK.match(line)):
            blocks.append(_Block(*hunk_numbers(match)))
        elif kind == b"\x01" or line.startswith(b"diff --git "):
            if commit and path and blocks:
                yield FilePatch(commit, path_text(path), tuple(block.hunk() for block in blocks))
            path, blocks = b"", []
            if max_bytes < 0 or line == b"\x01":
                return
            if kind == b"\x01":
                commit = _commit(line[1:].rstrip(b"\n").split(b"\0", 2))
        elif line.startswith((b"--- ", b"+++ ")):
            name = unquoted(line[4:].rstrip(b"\n").removesuffix(b"\t"))
            path = name[2:] if name != b"/dev/null" else path


def hunk_numbers(match: re.Match[bytes]) -> tuple[int, int, int, int]:
    """The four numbers of a hunk header; an omitted count is 1."""
    old_start, old_count, new_start, new_count = match.groups(default=b"1")
    return int(old_start), int(old_count), int(new_start), int(new_count)


@dataclass(slots=True)
class _Block:
    old_start: int
    old_count: int
    new_start: int
    new_count: int
    removed: list[bytes] = field(default_factory=list[bytes])
    added: list[bytes] = field(default_factory=list[bytes])

    def hunk(self) -> PatchHunk:
        return PatchHunk(self.old_start, _texts(self.removed), self.new_start, _texts(self.added))


def _texts(lines: list[bytes]) -> tuple[str, ...]:
    return tuple(plain_text(line.removesuffix(b"\n").removesuffix(b"\r")) for line in lines)


def blame(
    git_dir: Path, commit: str, path: str, *, first_line: int, last_line: int
) -> list[BlamedLine]:
    """Lines `first_line` to `last_line`, from 1. Raises `GitFailed` if there are none."""
    if not is_safe_path(path) or not 1 <= first_line <= last_line:
        return []
    with stream_git(
        git_dir, "blame", "--porcelain", "-L", f"{first_line},{last_line}",
        checked_id(commit), "--", path,
        timeout_s=20.0,
        extra={"GIT_LITERAL_PATHSPECS": "1"},
    ) as printed:  # fmt: skip
        return list(_blamed_lines(printed))


def _blamed_lines(printed: IO[bytes]) -> Iterator[BlamedLine]:
    """Parse `--porcelain`: per line a header, a tab and the text; per commit, once, its facts."""
    dates: dict[str, str] = {}
    subjects: dict[str, str] = {}
    oid, number = "", 0
    for line in printed:
        if line.startswith(b"\t"):
            commit = Commit(oid, dates.get(oid, ""), subjects.get(oid, ""))
            yield BlamedLine(number, cut(plain_text(line[1:].rstrip(b"\r\n")), _LINE_CHARS), commit)
        elif match := _BLAMED.match(line):
            oid, number = match[1].decode("ascii"), int(match[2])
        elif line.startswith(b"committer-time "):
            dates[oid] = _day(line[15:])
        elif line.startswith(b"summary "):
            subjects[oid] = cut(plain_text(line[8:].rstrip(b"\n")), _LINE_CHARS)


def _day(seconds: bytes) -> str:
    try:
        moment = dt.datetime.fromtimestamp(int(seconds), dt.UTC)
    except (ValueError, OverflowError, OSError):
        return ""
    return moment.date().isoformat()
