"""Where comments are in a line of source, for languages known by their file's ending.

Works line by line on text, so that it holds for patches and for languages without a parser. It
must not guess at endings it does not know: those have no comments.
"""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

MAX_LINE = 1_000
"""Longer lines are data or generated code; they are not split."""

_HASH = r"(?<!\S)\#.*"
_SLASHES = r"(?<![:\\])//.*|/\*.*"
_DASHES = r"(?<!\S)--.*"
_SEMICOLON = r"(?<!\S);.*"
_MARKUP = r"<!--.*"
# A string that does not end takes the rest of the line: no comment is found there, in no time.
_QUOTED = r'"(?:\\.|[^"\\])*+"?|\'(?:\\.|[^\'\\])*+\'?'

_ENDINGS: dict[str, str] = {
    _HASH: "py pyi pyx sh bash zsh fish rb pl pm r jl yml yaml toml cfg conf mk cmake tf hcl nix "
    "ex exs cr dockerfile makefile properties env",
    _SLASHES: "js jsx mjs cjs ts tsx java kt kts c h cc cpp cxx hpp hh cs go rs swift scala dart "
    "m mm proto groovy gradle css scss less zig v jsonc json5",
    f"{_SLASHES}|{_HASH}": "php",
    _DASHES: "sql lua hs elm adb ads",
    f"{_SEMICOLON}|{_HASH}": "ini",
    _MARKUP: "html htm xml svg vue xhtml",
}


@dataclass(frozen=True, slots=True)
class Syntax:
    """How comments are written in one language."""

    pieces: re.Pattern[str]
    """Matches strings and comments; the group `comment` is set for the latter."""
    starred: bool
    """Whether a line that starts with `*` continues a block comment."""


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment in one line, without its marks."""

    line: int
    """Line number, from 1."""
    text: str


def syntax_of(path: str) -> Syntax | None:
    """The comment syntax of the file at `path`, or none where its ending is not known."""
    name = path.rsplit("/", 1)[-1].lower()
    return _by_ending().get(name.rsplit(".", 1)[-1])


@functools.cache
def _by_ending() -> dict[str, Syntax]:
    table: dict[str, Syntax] = {}
    for marks, endings in _ENDINGS.items():
        quoted = "" if marks == _MARKUP else f"{_QUOTED}|"
        syntax = Syntax(re.compile(f"{quoted}(?P<comment>{marks})"), _SLASHES in marks)
        table.update(dict.fromkeys(endings.split(), syntax))
    return table


def split(line: str, syntax: Syntax) -> tuple[str, str]:
    """The code of `line` and its comment, either of which may be empty."""
    if len(line) > MAX_LINE:
        return line, ""
    if syntax.starred and _continues(line):
        return "", bare(line)
    for piece in syntax.pieces.finditer(line):
        if piece["comment"] is not None:
            return line[: piece.start()].rstrip(), bare(piece["comment"])
    return line.rstrip(), ""


def _continues(line: str) -> bool:
    text = line.lstrip()
    return text.startswith("*") and (len(text) == 1 or text[1] in " /\t")


def bare(comment: str) -> str:
    """A comment's words without its marks."""
    return comment.strip().strip("#/*;!<>-").strip()


def above(
    lines: Sequence[str],
    line: int,
    syntax: Syntax,
    *,
    most: int = 12,
) -> list[Comment]:
    """The comment-only lines that stand directly above `line` (from 1), in reading order."""
    found: list[Comment] = []
    for number in range(line - 1, max(0, line - 1 - most), -1):
        text = lines[number - 1]
        if not text.strip():
            break
        code, comment = split(text, syntax)
        if code.strip() or not (comment or _is_mark(text)):
            break
        found.append(Comment(number, comment))
    return found[::-1]


def _is_mark(text: str) -> bool:
    return not text.strip().strip("#/*-;")


def indent(line: str) -> int:
    """How many columns of white space `line` starts with; a tab counts as one."""
    return len(line) - len(line.lstrip())


def opener(lines: Sequence[str], line: int, *, most: int = 12) -> int | None:
    """The line (from 1) that opens the bracket or list in which `line` stands, if near above."""
    depth = indent(lines[line - 1])
    for number in range(line - 1, max(0, line - 1 - most), -1):
        text = lines[number - 1]
        if not text.strip():
            return None
        if indent(text) < depth:
            return number if text.rstrip().endswith(("(", "[", "{", ":=")) else None
    return None
