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
    r"[\s#*]*(?P<named>(?:SECTION|Section|ARTICLE|Article|CLAUSE|Clause|§)\s*)?"
    r"(?:(?P<number>\d{1,3}(?:\.\d{1,3})*)(?P<mark>[.)]*)|(?P<roman>[IVXL]{1,6})(?=[.):\s])[.)]?"
    r"|\(?(?P<letter>[a-zA-Z]|[ivx]{1,5})[.)])"
    r"(?=[\s:.]|$)"
)
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?|\d+|[$%€£]")
_LIST_START = re.compile(rf"(?:{_ENUMERATOR}|[•·▪–—*-])\s")
_CUT = (
    re.compile(r";\s+(?:and\s+|or\s+)?|:\s+(?=\(?[a-z0-9]{1,3}[.)])"),
    re.compile(r"[,)]\s+(?=\([a-z0-9]{1,3}\)|provided|except|unless|and |or )"),
    re.compile(r",\s+"),
    re.compile(r"\s+"),
)


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
    is_heading: bool = False
    """Whether it is a heading and nothing else."""

    @cached_property
    def plain(self) -> str:
        """Lower case, on one line."""
        return re.sub(r"\s+", " ", self.text.lower())

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
    """All passages in order; they do not overlap and leave out white space only."""
    found: list[ContractPassage] = []
    section: str | None = None
    letter = heading = ""
    for start, end in _pieces(text):
        piece = text[start:end]
        opening = _OPENING.match(piece)
        if opening is not None:
            if number := _section_number(opening):
                if number.split(".")[0] != (section or "").split(".")[0]:
                    heading = ""
                section, letter = number, ""
            elif opening["letter"]:
                letter = f"({opening['letter']})"
        if title := _heading(piece, opening):
            heading = title
        place = f"{section}{letter}" if section else None
        only = bool(title) and len(piece.strip(" .:#*-–—\n")) <= len(title) + 12
        found.append(ContractPassage(piece, start, end, place, heading, only))
    return tuple(found)


def _section_number(opening: re.Match[str]) -> str:
    if opening["named"]:
        return opening["number"] or opening["roman"] or ""
    if opening["number"]:
        dotted = "." in opening["number"] or opening["mark"]
        return opening["number"] if dotted else ""
    return ""


def _heading(piece: str, opening: re.Match[str] | None) -> str:
    """The heading that a passage is or begins with, if any."""
    if len(piece) > 400 and opening is None:
        return ""
    words = piece[opening.end() :] if opening else piece
    words = words.strip(" .:#*\t\n-–—")
    if not words:
        return ""
    first = re.split(r"[.:]\s|\s{3,}|\.-|\s[-–—]\s", words, maxsplit=1)[0].strip()
    if len(first) > 80:
        return ""
    if (
        first == words
        and opening
        and opening["number"]
        and len(first.split()) <= 8
        and piece[-1].isalnum()
    ):
        return first
    tokens = [word for word in re.findall(r"[A-Za-z’'/-]+", first) if len(word) > 3]
    if not tokens or sum(word[0].isupper() for word in tokens) < len(tokens):
        return ""
    return first if opening is not None or first == words else ""


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    begin = 0
    for match in _BREAK.finditer(text):
        if match.start() < begin or not _breaks(text, begin, match):
            continue
        yield from _cut(text, begin, match.end())
        begin = match.end()
    yield from _cut(text, begin, len(text))


def _breaks(text: str, begin: int, match: re.Match[str]) -> bool:
    before, after = text[begin : match.start()], text[match.end() : match.end() + 60]
    if match["stop"]:
        if match["stop"] in ";:":
            is_wide = len(match["gap"]) > 1
            return "\n" in match["gap"] or (is_wide and bool(_LIST_START.match(after)))
        if match["stop"] != ".":
            return True
        word = re.search(r"[\w.]*$", before)
        last = word.group().lower() if word else ""
        if wording("abbreviation").match(last):
            return False
        return not re.fullmatch(rf"[\s#*]*{_ENUMERATOR}", f"{before}.")
    if match["line"] is not None:
        if not before.strip() or not after:
            return True
        if before.rstrip()[-1] in ".;:!?" or _LIST_START.match(after):
            return not re.fullmatch(rf"[\s#*]*{_ENUMERATOR}", before.rstrip())
        blank = match["line"].count("\n") > 1
        line = before.rsplit("\n", 1)[-1].strip()
        if blank:
            return not after[0].islower()
        return len(line) < 60 and (line.isupper() or line.istitle()) and not after[0].islower()
    return bool(before.strip()) and not re.fullmatch(rf"[\s#*]*{_ENUMERATOR}", before)


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A piece without white space around it, cut where it is longer than a quote may be."""
    while True:
        while start < end and text[start].isspace():
            start += 1
        while end > start and text[end - 1].isspace():
            end -= 1
        if end - start <= MAX_QUOTE:
            if end > start:
                yield start, end
            return
        at = start + MAX_QUOTE
        for pattern in _CUT:
            ends = [
                found.end()
                for found in pattern.finditer(text, start + 1, start + MAX_QUOTE)
                if found.end() - start > MAX_QUOTE // 4
            ]
            if ends:
                at = ends[-1]
                break
        yield from _cut(text, start, at)
        start = at
