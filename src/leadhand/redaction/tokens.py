"""The tokens that well-known services issue: one table, tokens.toml, for redaction, which must miss
none, and the security lens, which reports only what is certain."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import NamedTuple, cast


class TokenFormat(NamedTuple):
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
        marks = "|".join(map(re.escape, self.marks))
        # A colour code ends in a letter, which does not belong to the word that it colours.
        start = r"(?:(?<![A-Za-z0-9])|(?<=[0-9;\[]m))"
        return rf"{start}{self.before}(?:{marks}){self.rest}(?![A-Za-z0-9_-])"


_TABLE = (files("leadhand.redaction") / "tokens.toml").read_text(encoding="utf-8")
_READ = cast("Mapping[str, Sequence[Sequence[str]]]", tomllib.loads(_TABLE))
FORMATS = tuple(TokenFormat(*row) for row in _READ["tokens"])
MARKS = tuple(dict.fromkeys(mark for form in FORMATS for mark in form.marks))
