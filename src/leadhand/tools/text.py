"""Bytes from a repository as text whose line numbers are git's.

Pure functions: no files, no processes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

HunkNumbers = tuple[int, int, int, int]
"""A hunk: old start, old count, new start, new count, as in a `-U0` diff."""

_BINARY_PROBE_BYTES = 8000


@dataclass(frozen=True, slots=True)
class ChangedText:
    """One file of a change, before and after."""

    path: str
    old_path: str | None
    """The path before, where it differs."""
    status: Literal["added", "modified", "deleted", "renamed"]
    base: str | None
    """The old text, as far as it is known; none for an added file."""
    head: str | None
    """The new text, as far as it is known; none for a deleted file."""
    hunks: tuple[HunkNumbers, ...]
    complete: bool
    """Whether the texts are whole; if not, the lines that a patch does not show are blank."""


def plain_text(data: bytes) -> str:
    """The text of a file: UTF-8, no byte order mark, `\\n` line ends, as many lines as git counts.

    What is not UTF-8 becomes U+FFFD. A carriage return alone would start a new line for Python's
    parser and not for git, so it becomes a space; a NUL, which no parser takes, becomes U+FFFD.
    """
    text = data.decode("utf-8", errors="replace").removeprefix("\ufeff")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", " ")
    return text.replace("\0", "\ufffd") if "\0" in text else text


def is_binary(data: bytes) -> bool:
    """Whether git would call `data` binary: it has a NUL in its first 8,000 bytes."""
    return b"\0" in data[:_BINARY_PROBE_BYTES]


def path_text(name: bytes) -> str:
    """A path as git stores it, as text: bytes that are not UTF-8 are shown as `\\xNN`."""
    return name.decode("utf-8", errors="backslashreplace")


def is_safe_path(path: str) -> bool:
    """Whether `path` is one that git would check out: relative, within its tree, not in `.git`."""
    parts = path.split("/")
    return "\0" not in path and not any(
        part in ("", ".", "..") or part.lower() in (".git", "git~1") for part in parts
    )


def size_text(count: int) -> str:
    """A number of bytes as people read it: `64 MiB`, `2 KiB`."""
    return f"{count / (1 << 20):g} MiB" if count >= 1 << 20 else f"{count / (1 << 10):g} KiB"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """`1 row`, `1,200 rows`, `3 queries`; `plural` is for nouns with another ending."""
    plural = plural or (f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s")
    return f"{count:,} {noun if count == 1 else plural}"


def joined_names(items: tuple[str, ...] | list[str], most: int = 5) -> str:
    """`a, b and c`; of more than `most` how many there are besides."""
    if len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most:,} more"
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def grouped_by_reason(reasons: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Of names, each with its reason: each reason once, with its names before it in one text."""
    names: dict[str, list[str]] = {}
    for name, why in dict.fromkeys(reasons):
        names.setdefault(why, []).append(name)
    return [(joined_names(files), why) for why, files in names.items()]
