"""Finds the commits that last changed the lines of a file."""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from leadhand.tools.git.history import Commit
from leadhand.tools.git.process import checked_id, stream_git
from leadhand.tools.text import is_safe_path, plain_text
from leadhand.untrusted.cutting import cut

_HEADER = re.compile(rb"([0-9a-f]{40}(?:[0-9a-f]{24})?) \d+ (\d+)")
_LINE_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class BlamedLine:
    """One line of a file and the commit that last changed it."""

    number: int
    text: str
    commit: Commit
    """Without `files`; its date is the day in UTC."""


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
        return list(_lines(printed))


def _lines(printed: IO[bytes]) -> Iterator[BlamedLine]:
    """Parse `--porcelain`: per line a header, a tab and the text; per commit, once, its facts."""
    dates: dict[str, str] = {}
    subjects: dict[str, str] = {}
    oid, number = "", 0
    for line in printed:
        if line.startswith(b"\t"):
            commit = Commit(oid, dates.get(oid, ""), subjects.get(oid, ""))
            yield BlamedLine(number, cut(plain_text(line[1:].rstrip(b"\r\n")), _LINE_CHARS), commit)
        elif match := _HEADER.match(line):
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
