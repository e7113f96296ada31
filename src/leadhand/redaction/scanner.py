"""Finds secrets by their shape, as formats.toml describes it."""

import functools
import itertools
import re
from collections.abc import Iterator

from leadhand.redaction.encodings import EncodedWords, Span
from leadhand.redaction.formats import FORMATS, MARKS, PARTS, SHAPES, Shape

_NEAR = 16
"""Characters before a secret, and at its end, that have to do with it."""
_LINE = 200
"""Characters of a line on each side of a secret."""
_PIECE = re.compile(r"[A-Za-z0-9]+")
_MARKS_OF_WORDS = re.compile(
    "|".join(
        mark if form.similar else rf"(?:\b|(?<=m)){mark}"
        for form in FORMATS
        for mark in form.marks
        if mark.replace("_", "").replace("-", "").isalnum()
    )
)
_OTHER_MARKS = tuple(mark for mark in MARKS if not _MARKS_OF_WORDS.match(mark))


@functools.cache  # compiled at the first use, because few texts have any
def _compiled(pattern: str) -> re.Pattern[str]:
    for name, part in PARTS.items():
        pattern = pattern.replace(f"%{name}%", part)
    return re.compile(pattern, re.VERBOSE | re.DOTALL)


def spans(text: str, words: EncodedWords) -> Iterator[Span]:
    """The secrets in `text`; `words` are its encoded words."""
    if _MARKS_OF_WORDS.search(words.long) or any(mark in text for mark in _OTHER_MARKS):
        yield from _tokens(text)
    lower = text.lower()
    if len(lower) != len(text):  # a Turkish letter becomes two
        lower = "".join(c.lower() if c.isascii() else c for c in text)
    for shape in SHAPES:
        for begins in shape["begins"]:
            yield from _shaped(shape, begins, text, lower)


def _tokens(text: str) -> Iterator[Span]:
    for form in FORMATS:
        if any(mark in text for mark in form.marks):
            yield from (match.span() for match in _compiled(form.documented).finditer(text))
            cut = _compiled(form.cut).finditer(text) if form.similar else ()
            yield from (match.span() for match in cut if looks_random(match["value"]))


def _shaped(shape: Shape, begins: str, text: str, lower: str) -> Iterator[Span]:
    start = lower.find(begins)
    while start != -1:
        after = start + len(begins)
        if match := _compiled(shape["rest"]).match(lower, after):
            groups = match.groupdict()
            span = match.span("value") if "value" in groups else (start, match.end())
            named = text[slice(*span)]
            if not groups.get("code") and _is_secret(shape, named, (start, match.end()), lower):
                yield span
            # Of names within a value only the last may have another value.
            after = max(after, match.end() - _NEAR)
        start = lower.find(begins, after)


def _is_secret(shape: Shape, value: str, place: Span, lower: str) -> bool:
    start, end = place
    line = (
        lower[max(0, start - _LINE) : start].rpartition("\n")[2],
        lower[end : end + _LINE].partition("\n")[0],
    )
    before = lower[max(0, start - _NEAR) : start]
    return (
        len(value) >= shape.get("min_chars", 0)
        and ("random" not in shape or looks_random(value))
        and ("unless" not in shape or not _compiled(shape["unless"]).fullmatch(value))
        and ("before" not in shape or bool(_compiled(shape["before"]).fullmatch(before)))
        and ("beside" not in shape or any(map(_compiled(shape["beside"]).search, line)))
    )


def looks_random(value: str) -> bool:
    """Whether letters and digits alternate more than in names, numbers, dates and paths."""
    if sum(map(str.isdigit, value)) < 2 or not any(map(str.isalpha, value)):
        return False
    return sum(_changes_of_kind(piece) for piece in _PIECE.findall(value)) >= 3


def _changes_of_kind(piece: str) -> int:
    kinds = ["0" if c.isdigit() else "A" if c.isupper() else "a" for c in piece]
    return sum(left != right for left, right in itertools.pairwise(kinds))
