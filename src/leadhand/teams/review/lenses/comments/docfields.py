"""The parameters that a docstring documents, in the five common styles.

Sphinx fields, epytext, Google sections, NumPy sections and Markdown bullets. Works on text alone,
and skips what fits no style, so that prose is never taken for a parameter.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from leadhand.teams.review.syntax import indent

_NAMES = r"\*{0,2}\w+(?:\s?,\s?\*{0,2}\w+){0,8}"
_FIELD = re.compile(
    rf"\s*(?::(?:param|parameter|arg|argument|key|keyword|kwarg)\s+(?:[^:\s][^:]{{0,80}}\s)?"
    rf"|@(?:param|keyword|kwarg)\s+)(?P<names>{_NAMES})\s?:"
)
_ANY_FIELD = re.compile(r"\s*(?::\w[^:]{0,80}:|@\w+)")
_SECTION = re.compile(
    r"\s*(?P<title>args|arguments|parameters|params|keyword args|keyword arguments|"
    r"other parameters|other args)\s?(?P<colon>:?)\s*$",
    re.IGNORECASE,
)
_RULE = re.compile(r"\s*-{3,}\s*$")
_GOOGLE_ENTRY = re.compile(rf"(?P<names>{_NAMES})\s?(?:\(.*\)\s?)?:(?:\s|$)")
_NUMPY_ENTRY = re.compile(rf"(?P<names>{_NAMES})(?:\s?:(?:\s.*)?)?$")
_BULLETS = re.compile(r"\s*\*\*(?:parameters|arguments)\b.{0,40}\*\*", re.IGNORECASE)
_BULLET = re.compile(r"\s*[*-]\s+\*\*(?P<names>\w+)\*\*\s?[-:–]")


@dataclass(frozen=True, slots=True)
class ParameterEntry:
    """What a docstring says about one parameter."""

    line: int
    """The line of the file where the entry starts, from 1."""
    text: str
    """The whole entry on one line."""


def documented_parameters(lines: Sequence[str], first: int) -> dict[str, ParameterEntry]:
    """Parameter name (without stars) -> entry, for a docstring that starts on line `first`."""
    found: dict[str, ParameterEntry] = {}
    for names, start, end in (*_fields(lines), *_sections(lines), *_bullets(lines)):
        text = " ".join(" ".join(lines[start:end]).split())
        for name in names.replace("*", "").split(","):
            found.setdefault(name.strip(), ParameterEntry(first + start, text))
    return found


def _fields(lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    starts = [index for index, line in enumerate(lines) if _ANY_FIELD.match(line)]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        field = _FIELD.match(lines[start])
        if field:
            yield field["names"], start, end


def _sections(lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    for index, line in enumerate(lines):
        title = _SECTION.match(line)
        if not title:
            continue
        if index + 1 < len(lines) and _RULE.match(lines[index + 1]):
            yield from _numpy(lines, index + 2, depth=indent(line))
        elif title["colon"]:
            yield from _google(lines, index + 1, depth=indent(line))


def _google(lines: Sequence[str], start: int, *, depth: int) -> Iterator[tuple[str, int, int]]:
    end = _first(lines, start, lambda index: indent(lines[index]) <= depth)
    inner = min((indent(line) for line in lines[start:end] if line.strip()), default=0)
    yield from _entries(lines, start, end, inner, _GOOGLE_ENTRY)


def _numpy(lines: Sequence[str], start: int, *, depth: int) -> Iterator[tuple[str, int, int]]:
    end = _first(
        lines,
        start,
        lambda index: (
            indent(lines[index]) < depth
            or (index + 1 < len(lines) and bool(_RULE.match(lines[index + 1])))
        ),
    )
    yield from _entries(lines, start, end, depth, _NUMPY_ENTRY)


def _entries(
    lines: Sequence[str], start: int, end: int, depth: int, pattern: re.Pattern[str]
) -> Iterator[tuple[str, int, int]]:
    heads = [
        index
        for index in range(start, end)
        if lines[index].strip() and indent(lines[index]) == depth
    ]
    for head, after in zip(heads, [*heads[1:], end], strict=False):
        entry = pattern.match(lines[head].strip())
        if entry:
            yield entry["names"], head, after


def _bullets(lines: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    for index, line in enumerate(lines):
        if not _BULLETS.match(line):
            continue
        heads = [at for at in range(index + 1, len(lines)) if _BULLET.match(lines[at])]
        for head, after in zip(heads, [*heads[1:], len(lines)], strict=False):
            entry = _BULLET.match(lines[head])
            if entry:
                yield entry["names"], head, after
        return


def _first(lines: Sequence[str], start: int, stops: Callable[[int], bool]) -> int:
    for index in range(start, len(lines)):
        if lines[index].strip() and stops(index):
            return index
    return len(lines)
