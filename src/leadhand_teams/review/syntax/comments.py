"""Splits lines of source into code and comment, for the languages of `languages.py`.

Works on single lines of text, so that it also works for patches and languages without a parser.
Files of unknown languages have comments that begin with `#`; prose has none.
"""

import functools
import re
from dataclasses import dataclass

_MAX_LINE = 1_000
"""Longer lines are data or generated code and are not split."""
_HASH = r"(?<!\S)\#.*"
_SLASHES = r"(?<![:\\])//.*|/\*.*"
_DASHES = r"(?<!\S)--.*"
_MARKUP = r"<!--.*"
# An unterminated string takes the rest of the line, without backtracking.
_QUOTED = r'"(?:\\.|[^"\\])*+"?|\'(?:\\.|[^\'\\])*+\'?'

_LANGUAGES: dict[str, str] = {
    _HASH: "text python shell ruby perl r julia yaml toml make cmake terraform elixir dockerfile "
    "graphql powershell",
    _SLASHES: "javascript typescript java kotlin c cpp csharp go rust swift scala dart objective-c "
    "protobuf groovy css zig json fsharp",
    f"{_SLASHES}|{_HASH}": "php",
    _DASHES: "sql lua haskell",
    rf"(?<!\S);.*|{_HASH}": "ini clojure",
    _MARKUP: "html xml vue svelte",
}


@dataclass(frozen=True, slots=True)
class CommentSyntax:
    """How one language writes comments."""

    pieces: re.Pattern[str]
    """Matches strings and comments; the group `comment` is set for the latter."""
    starred: bool
    """Whether a line that starts with `*` continues a block comment."""


def syntax_of(language: str) -> CommentSyntax | None:
    """The comment syntax of a language, or `None` if it is not known."""
    return _by_language().get(language)


@functools.cache
def _by_language() -> dict[str, CommentSyntax]:
    table: dict[str, CommentSyntax] = {}
    for marks, languages in _LANGUAGES.items():
        quoted = "" if marks == _MARKUP else f"{_QUOTED}|"
        syntax = CommentSyntax(re.compile(f"{quoted}(?P<comment>{marks})"), _SLASHES in marks)
        table.update(dict.fromkeys(languages.split(), syntax))
    return table


def split(line: str, syntax: CommentSyntax) -> tuple[str, str]:
    """The code of `line` and its comment; either may be empty."""
    if len(line) > _MAX_LINE:
        return line, ""
    if syntax.starred and re.match(r"\s*\*(?:[ /\t]|$)", line):
        return "", _without_signs(line)
    for piece in syntax.pieces.finditer(line):
        if piece["comment"] is not None:
            return line[: piece.start()].rstrip(), _without_signs(piece["comment"])
    return line.rstrip(), ""


def _without_signs(comment: str) -> str:
    return comment.strip().strip("#/*;!<>-").strip()
