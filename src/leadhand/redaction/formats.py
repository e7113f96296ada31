"""What secrets look like: formats.toml, for redaction, which must miss none, and the security lens,
which reports only what is certain."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple, NotRequired, TypedDict, cast


class TokenFormat(NamedTuple):
    """A token that a well-known service issues."""

    kind: str
    """What a token is called in a message, with its article."""
    begins: str
    rest: str
    """The pattern of what follows in a whole token that gives access."""
    source: str
    similar: str = "[A-Za-z0-9_-]{12}"
    """The pattern of what follows at least in a cut or unusual one; empty if only a whole token can
    be told from other text."""
    before: str = ""
    """The pattern of what precedes `begins`."""

    @property
    def marks(self) -> tuple[str, ...]:
        """Each such token contains one of these: a cheap test that most text fails."""
        return tuple(self.begins.split())

    @property
    def documented(self) -> str:
        """The pattern of a whole token."""
        # A colour code ends in a letter, which does not belong to the word that it colours.
        start = r"(?:(?<![A-Za-z0-9])|(?<=[0-9;\[]m))"
        return rf"{start}{self.before}{self._any_mark}{self.rest}(?![A-Za-z0-9_-])"

    @property
    def cut(self) -> str:
        """The pattern of the beginning of a token, if its `value` looks random."""
        more = r"(?:[A-Za-z0-9_-]|\.(?=[A-Za-z0-9_-]))*+"
        return f"{self._any_mark}(?P<value>{self.similar}{more})"

    @property
    def _any_mark(self) -> str:
        longest_first = sorted(self.marks, key=len, reverse=True)
        return f"(?:{'|'.join(map(re.escape, longest_first))})"


class Shape(TypedDict):
    """What another secret looks like, in lower case but for `unless`."""

    begins: Sequence[str]
    rest: str
    """The pattern of what follows. Its group `value` is the secret; without it everything is."""
    before: NotRequired[str]
    """The pattern of the few characters that precede it, all of them."""
    beside: NotRequired[str]
    """The pattern of what else is in the line."""
    unless: NotRequired[str]
    """The pattern of values that are no secrets."""
    random: NotRequired[bool]
    """Whether the value must look random."""
    min_chars: NotRequired[int]


class _Table(TypedDict):
    tokens: Sequence[Sequence[str]]
    shapes: Sequence[Shape]
    parts: Mapping[str, str]
    variables: Mapping[str, str]


_TABLE = cast(
    "_Table",
    tomllib.loads((files("leadhand.redaction") / "formats.toml").read_text(encoding="utf-8")),
)
FORMATS = tuple(TokenFormat(*row) for row in _TABLE["tokens"])
MARKS = tuple(dict.fromkeys(mark for form in FORMATS for mark in form.marks))
SHAPES, PARTS = _TABLE["shapes"], _TABLE["parts"]
VARIABLES = _TABLE["variables"]
"""Patterns of the names of environment variables, and of values that are no secrets."""
