"""Converts bytes of a repository to text with git's line numbers, and formats short texts; pure."""

import codecs
import io
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

HunkNumbers = tuple[int, int, int, int]
"""A hunk: old start, old count, new start, new count, as in a `-U0` diff."""

_IN_A_WORD = re.compile(r"(?<![A-Za-z])(?!(?i:[rbuf]{1,2}$))[A-Za-z]+$")
_BINARY_PROBE_BYTES = 8000


class UnreadFile(NamedTuple):
    """A file that is not read, or not completely; `why` is a short reason."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class ChangedText:
    """One file of a change, before and after."""

    path: str
    old_path: str | None
    """The path before, if it differs."""
    status: Literal["added", "modified", "deleted", "renamed"]
    base: str | None
    """The old text; None for an added file."""
    head: str | None
    """The new text; None for a deleted file."""
    hunks: tuple[HunkNumbers, ...]
    complete: bool
    """Whether the texts are complete; if not, lines that the patch does not show are blank."""
    undecodable: tuple[int, str] | None = None
    """Line and reason if Python can't decode the new text, and could decode the old one."""
    encoding: str | None = None
    """An encoding other than UTF-8, ASCII and Latin-1, if the new text declares it and the change
    declares it newly or it may hide code."""


def plain_text(data: bytes) -> str:
    """The text of a file, without byte order mark, with git's line numbers.

    Bytes that are not UTF-8, and NUL, which parsers refuse, become U+FFFD. A single carriage
    return, which ends a line for Python's parser and not for git, becomes a space.
    """
    return _git_lines(data.decode("utf-8", errors="replace").removeprefix("\ufeff"))


def _git_lines(text: str) -> str:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", " ")
    return text.replace("\0", "\ufffd") if "\0" in text else text


def is_binary(data: bytes) -> bool:
    """Whether `data` is binary as git defines it: with a NUL in the first 8,000 bytes."""
    return b"\0" in data[:_BINARY_PROBE_BYTES]


_PLAIN_ENCODINGS = ("utf-8", "utf-8-sig", "ascii", "iso8859-1")
_NOT_DECODED = ("punycode", "idna")
"""Python needs the square of the time for these."""


class SourceText(NamedTuple):
    """The text of a file as Python reads its source."""

    text: str
    encoding: str | None = None
    """The declared encoding, unless it is UTF-8, ASCII or Latin-1."""
    hides: bool = False
    """Whether that encoding makes other code of it than what its bytes show as ASCII."""
    undecodable: tuple[int, str] | None = None
    """The line, from 1, and the reason why Python can't decode it; it is then read as UTF-8."""


def python_source(data: bytes) -> SourceText:
    """The source `data` in the encoding that it declares, with `plain_text`'s line ends."""
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        return SourceText(plain_text(data), undecodable=(line, "it contains a null byte"))
    odd: str | None = None
    try:
        name, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        odd = None if codecs.lookup(name).name in _PLAIN_ENCODINGS else name
        if odd is not None and codecs.lookup(name).name in _NOT_DECODED:
            why = f"leadhand does not decode {name}"
            return SourceText(plain_text(data), odd, hides=True, undecodable=(1, why))
        text = data.decode(name)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        why = f"it contains a byte that is not {error.encoding.upper()}"
        return SourceText(plain_text(data), odd, odd is not None, (line, why))
    except (SyntaxError, LookupError, ValueError) as error:  # ValueError: of odd codecs
        return SourceText(plain_text(data), odd, odd is not None, (1, str(error)))
    hides = odd is not None and [*filter(str.isascii, text)] != [chr(b) for b in data if b < 128]
    return SourceText(_git_lines(text.removeprefix("\ufeff")), odd, hides)


def path_text(name: bytes) -> str:
    """A path of git's as text; bytes that are not UTF-8 become `\\xNN`."""
    return name.decode("utf-8", errors="backslashreplace")


def is_safe_path(path: str) -> bool:
    """Whether git would check out `path`: it is relative, within its tree and not in `.git`."""
    parts = path.split("/")
    return "\0" not in path and not any(
        part in ("", ".", "..") or part.lower() in (".git", "git~1") for part in parts
    )


def size_text(count: int) -> str:
    """A number of bytes, for example `64 MiB` or `2 KiB`."""
    return f"{count / (1 << 20):g} MiB" if count >= 1 << 20 else f"{count / (1 << 10):g} KiB"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """`1 row`, `1,200 rows`, `3 queries`; `plural` is for nouns with another ending."""
    plural = plural or (f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s")
    return f"{count:,} {noun if count == 1 else plural}"


def cut_code(line: str, most: int) -> str:
    """`line`, or about its first `most` characters and `…`; a string is elided as a whole."""
    if len(line) <= most:
        return line
    end = ""
    opened = position = 0
    while position < most:
        char = line[position]
        if end:
            position += char == "\\"
            end = "" if char == end else end
        elif char in "\"'`" and not (char == "'" and _IN_A_WORD.search(line[:position][-12:])):
            end, opened = char, position
        position += 1
    return f"{line[:opened]}{end}…{end} …" if end else f"{line[:most].rstrip()} …"


def joined_names(items: tuple[str, ...] | list[str], most: int = 5) -> str:
    """`a, b and c`; only the first `most`, followed by the number of the others."""
    if len(items) > most:
        return f"{', '.join(items[:most])} and {len(items) - most:,} more"
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def grouped_by_reason(reasons: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """(names in one text, reason) for each reason in `reasons`, which are (name, reason)."""
    names: dict[str, list[str]] = {}
    for name, why in dict.fromkeys(reasons):
        names.setdefault(why, []).append(name)
    return [(joined_names(files), why) for why, files in names.items()]
