"""Cuts the text of a contract into passages that can be quoted, each with its section and heading.

Offsets count Unicode characters of the text as it is: nothing is normalised here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from leadhand_teams.contracts.wording import wording

MAX_QUOTE = 600
"""The most characters that one quote may have."""

_ENUMERATOR = (
    r"(?:(?:SECTION|Section|ARTICLE|Article|CLAUSE|Clause|§)\s*)?"
    r"(?:\d{1,3}(?:\.\d{1,3})*[.)]?|[IVXL]{1,6}[.)]|\(?[a-zA-Z][.)]|\((?:[ivx]{1,5}|\d{1,2})\))"
)
_BREAK = re.compile(
    r"(?P<stop>[.!?;:])[\"”’')\]]*(?P<gap>\s+)(?=[\"“‘'(\[<]*[A-Z0-9$]|\(?[a-z][.)]\s|\([ivx]+\))"
    r"|(?P<line>[ \t]*\n\s*)"
    rf"|(?P<wide>[ \t]{{2,}})(?={_ENUMERATOR}\s+[A-Z\"“])"
)
_OPENING = re.compile(
    r"[\s#*]*(?:(?:SECTION|Section|ARTICLE|Article|CLAUSE|Clause|§)\s*"
    r"(?P<named>\d{1,3}(?:\.\d{1,3})*|[IVXL]{1,6}(?=[.):\s]))[.)]*"
    r"|(?P<number>\d{1,3}(?:\.\d{1,3})+|\d{1,3}(?=[.)]))[.)]*|(?:\d{1,3}|[IVXL]{1,6}[.):\s])"
    r"|\(?(?P<letter>[a-zA-Z]|[ivx]{1,5})[.)])(?=[\s:.]|$)"
)
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?|\d+|[$%€£]")
_NUMBER = re.compile(rf"[\s#*]*{_ENUMERATOR}")
_LIST_START = re.compile(rf"(?:{_ENUMERATOR}|[•·▪–—*-])\s")
_CUT = (
    re.compile(r";\s+(?:and\s+|or\s+)?|:\s+(?=\(?[a-z0-9]{1,3}[.)])"),
    re.compile(r"[,)]\s+(?=\([a-z0-9]{1,3}\)|provided|except|unless|and |or )"),
    re.compile(r",\s+"),
    re.compile(r"\s+"),
)
_TRIMMED = re.compile(r"\S(?:.*\S)?", re.DOTALL)


@dataclass(frozen=True)
class ContractPassage:
    """A sentence of a contract, or a part of a long one: at most `MAX_QUOTE` characters."""

    text: str
    start: int
    end: int
    section: str | None
    """Its number, for example `7.2(a)`; `None` before the first numbered section."""
    heading: str
    """The words of the heading above it; empty if there is none."""

    @cached_property
    def line(self) -> str:
        """On one line."""
        return " ".join(self.text.split())

    @cached_property
    def plain(self) -> str:
        """On one line, in lower case."""
        return self.line.lower()

    @cached_property
    def grams(self) -> frozenset[str]:
        """Its words and pairs of words, and the words of its heading behind `h:`."""
        own = words(self.text)
        pairs = map(" ".join, pairwise(own))
        return frozenset((*own, *pairs, *(f"h:{word}" for word in words(self.heading))))


def words(text: str) -> list[str]:
    """Lower-case words in order; every number is `#`, a genitive loses its ending."""
    found = _WORD.findall(text.lower())
    return ["#" if word.isdigit() else re.split("['’]", word)[0] for word in found]


def passages(text: str) -> tuple[ContractPassage, ...]:
    """All passages in order; they do not overlap, and leave out headings and white space."""
    found: list[ContractPassage] = []
    section: str | None = None
    letter = heading = ""
    for start, end in _pieces(text):
        piece = text[start:end]
        if opening := _OPENING.match(piece):
            if number := opening["named"] or opening["number"]:
                if number.split(".")[0] != (section or "").split(".")[0]:
                    heading = ""
                section, letter = number, ""
            elif opening["letter"]:
                letter = f"({opening['letter']})"
        title = _heading(piece, opening)
        heading = title or heading
        place = f"{section}{letter}" if section else None
        is_heading = title and len(piece.strip(" .:#*-–—\n")) <= len(title) + 12
        if not is_heading and any(map(str.isalpha, piece)):
            found.append(ContractPassage(piece, start, end, place, heading))
    return tuple(found)


def _heading(piece: str, opening: re.Match[str] | None) -> str:
    """The heading that a passage is or begins with, if any."""
    words = piece[opening.end() if opening else 0 :].strip(" .:#*\t\n-–—")
    first = re.split(r"[.:]\s|\s{3,}|\.-|\s[-–—]\s", words, maxsplit=1)[0].strip()
    is_whole = first == words
    if len(first) > 80 or not (opening or is_whole):
        return ""
    is_numbered = opening is not None and any(map(str.isdigit, opening[0]))
    if is_whole and is_numbered and len(first.split()) <= 8 and piece[-1].isalnum():
        return first
    tokens = [word for word in re.findall(r"[A-Za-z’'/-]+", first) if len(word) > 3]
    return first if tokens and all(word[0].isupper() for word in tokens) else ""


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    begin = 0
    for match in _BREAK.finditer(text):
        if match.start() < begin or not _breaks(text, begin, match):
            continue
        yield from _cut(text, begin, match.end())
        begin = match.end()
    yield from _cut(text, begin, len(text))


def _breaks(text: str, begin: int, match: re.Match[str]) -> bool:
    """Whether a passage that starts at `begin` ends with a match of `_BREAK`."""
    before, after = text[begin : match.start()], text[match.end() : match.end() + 60]
    stop, gap = match["stop"] or "", match["gap"] or ""
    is_blank = (match["line"] or "").count("\n") > 1
    if _NUMBER.fullmatch(before.rstrip() + stop) and not (is_blank and before.rstrip()[-1] != "."):
        return False
    if stop and stop in ";:":
        return "\n" in gap or (len(gap) > 1 and _LIST_START.match(after) is not None)
    if stop:
        last = before.rsplit(maxsplit=1)[-1:]
        return stop != "." or not (last and wording("abbreviation").match(last[0].lower()))
    if not before.strip() or not after:
        return match["line"] is not None
    if match["line"] is None or before.rstrip()[-1] in ".;:!?" or _LIST_START.match(after):
        return True
    line = before.rsplit("\n", 1)[-1].strip()
    is_title = len(line) < 60 and (line.isupper() or line.istitle())
    return (is_title or is_blank) and not after[0].islower()


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A piece without white space around it, cut where it is longer than a quote may be."""
    while found := _TRIMMED.search(text, start, end):
        start, last = found.span()
        if last - start <= MAX_QUOTE:
            yield start, last
            return
        most = start + MAX_QUOTE
        ends = (
            [one.end() for one in pattern.finditer(text, start + MAX_QUOTE // 4, most)]
            for pattern in _CUT
        )
        at = next((found[-1] for found in ends if found), most)
        yield from _cut(text, start, at)
        start = at
