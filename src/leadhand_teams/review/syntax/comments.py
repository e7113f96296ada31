"""Splits a line of source into code and comment, without a parser: also in patches.

The signs of all languages count in each, because a sign that means something else is rarely
followed by what the lenses look for. Prose has no comments.
"""

import re

from leadhand_teams.review.syntax.word_tables import pattern_of

_MAX_LINE = 1_000
"""Longer lines are data or generated code and are not split."""
_PROSE = frozenset(("markdown", "restructuredtext"))
_MARKUP = frozenset(("html", "xml", "vue", "svelte"))
_IN_MARKUP, _IN_CODE = pattern_of("comments.in_markup"), pattern_of("comments.in_code")
_STARRED = re.compile(r"\s*\*(?:[ /\t]|$)")
"""The line of a block comment that began above."""


def split(line: str, language: str) -> tuple[str, str]:
    """The code of `line` and its comment; either may be empty."""
    if len(line) > _MAX_LINE or language in _PROSE:
        return line, ""
    if _STARRED.match(line):
        return "", _without_signs(line)
    for piece in (_IN_MARKUP if language in _MARKUP else _IN_CODE).finditer(line):
        if piece["comment"] is not None:
            return line[: piece.start()].rstrip(), _without_signs(piece["comment"])
    return line.rstrip(), ""


def _without_signs(comment: str) -> str:
    return comment.strip().strip("#/*;!<>-").strip()
