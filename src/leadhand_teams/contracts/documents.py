"""Reads contracts, each file once in a process, and cuts them into passages that can be quoted.

Offsets count Unicode characters of the text as it is: nothing is normalised here.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Literal

from leadhand_teams.contracts.output import ContractQuote
from leadhand_teams.contracts.wording import wording
from leadhand_teams.shared.reading import Reading, Text, read, stamps

MAX_QUOTE = 600
"""The most characters that one quote may have."""
MIN_CHARACTERS = 300
"""A contract with fewer has probably no text layer."""


class ContractPassage(ContractQuote):
    """A sentence of a contract, or a part of a long one: at most `MAX_QUOTE` characters."""

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
    found = wording("word").findall(text.lower())
    return ["#" if word.isdigit() else re.split("['’]", word)[0] for word in found]


def passages(text: Text) -> tuple[ContractPassage, ...]:
    """All passages in order; they do not overlap, and leave out headings and white space."""
    found: list[ContractPassage] = []
    section: str | None = None
    letter = heading = ""
    for start, end in _pieces(text.text):
        piece, page = text.text[start:end], text.page(start)
        if opening := wording("opening").match(piece):
            if number := opening["named"] or opening["number"]:
                if number.split(".")[0] != (section or "").split(".")[0]:
                    heading = ""
                section, letter = number, ""
            elif opening["letter"]:
                letter = f"({opening['letter']})"
        title = _heading(piece, opening)
        heading = title or heading
        ref = f"{text.name}#{section}{letter}" if section else text.ref(start)
        place = f"page {page}" if page else f"line {text.line(start)}"
        is_heading = title and len(piece.strip(" .:#*-–—\n")) <= len(title) + 12
        if not is_heading and any(map(str.isalpha, piece)):
            found.append(
                ContractPassage(
                    text=piece, start=start, end=end, ref=ref, place=place, heading=heading
                )
            )
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
    for match in wording("break").finditer(text):
        if match.start() < begin or not _breaks(text, begin, match):
            continue
        yield from _cut(text, begin, match.end())
        begin = match.end()
    yield from _cut(text, begin, len(text))


def _breaks(text: str, begin: int, match: re.Match[str]) -> bool:
    """Whether a passage that starts at `begin` ends with a match of `break`."""
    before, after = text[begin : match.start()], text[match.end() : match.end() + 60]
    stop, gap = match["stop"] or "", match["gap"] or ""
    is_blank = (match["line"] or "").count("\n") > 1
    if wording("number").fullmatch(before.rstrip() + stop) and not (
        is_blank and before.rstrip()[-1] != "."
    ):
        return False
    if stop and stop in ";:":
        return "\n" in gap or (len(gap) > 1 and wording("item").match(after) is not None)
    if stop:
        last = before.rsplit(maxsplit=1)[-1:]
        return stop != "." or not (last and wording("abbreviation").match(last[0].lower()))
    if not before.strip() or not after:
        return match["line"] is not None
    if match["line"] is None or before.rstrip()[-1] in ".;:!?" or wording("item").match(after):
        return True
    line = before.rsplit("\n", 1)[-1].strip()
    is_title = len(line) < 60 and (line.isupper() or line.istitle())
    return (is_title or is_blank) and not after[0].islower()


def _cut(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A piece without white space around it, cut where it is longer than a quote may be."""
    while found := wording("trimmed").search(text, start, end):
        start, last = found.span()
        if last - start <= MAX_QUOTE:
            yield start, last
            return
        most = start + MAX_QUOTE
        ends = (
            [one.end() for one in wording(cut).finditer(text, start + MAX_QUOTE // 4, most)]
            for cut in ("cut_at_item", "cut_at_condition", "cut_at_comma", "cut_at_space")
        )
        at = next((found[-1] for found in ends if found), most)
        yield from _cut(text, start, at)
        start = at


@dataclass(frozen=True, eq=False)
class Contract:
    """A contract as it was read."""

    text: Text
    passages: tuple[ContractPassage, ...]
    kind: Literal["nda", "services", "other"]
    problems: tuple[str, ...]
    """What a reader must know before relying on the rest."""


def contract(path: str, name: str = "") -> Contract | str:
    """The contract in a file, called `name` in the report; or why it can't be reviewed."""
    found = _reading(path, stamps([path]))
    text = found.texts[0].text if found.texts else ""
    if not text.strip():
        return next((one.why for one in found.unread), "it has no text")
    sample = text[:20_000]
    if len(wording("english").findall(sample)) * 8 < len(words(sample)):
        return "it is not in English"
    return _contract(replace(found.texts[0], name=name or found.texts[0].name))


@lru_cache(maxsize=256)
def _reading(path: str, states: object) -> Reading:
    del states  # it only tells whether the file is still the same
    return read([path])


@lru_cache(maxsize=256)
def _contract(text: Text) -> Contract:
    beginning = text.text[:3000]
    kind = "services" if wording("services").search(beginning) else "other"
    if wording("nda").search(beginning[:300]) or len(wording("nda").findall(beginning)) > 1:
        kind = "nda"
    return Contract(text, passages(text), kind, tuple(_problems(text)))


def _problems(text: Text) -> Iterator[str]:
    length = len(text.text.strip())
    if length < MIN_CHARACTERS:
        yield f"{text.name} has only {length} characters of text: it may be a scan"
    if order := wording("instruction").search(text.text):
        yield f"{text.ref(order.start())} addresses an AI: it was not followed"
