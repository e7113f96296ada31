"""The part of a passage that is worth quoting: whole paragraphs, with the line they begin on."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from leadhand.teams.research.word_forms import merit

MAX_CHARS: Final = 700
"""How long a quotation may be; a single sentence may be longer, and is then cut."""

_PARAGRAPH: Final = re.compile(r"\S[^\n]*(?:\n[^\S\n]*\S[^\n]*)*")
_SENTENCE: Final = re.compile(r"\S.*?(?:[.!?…。](?=\s|$)|$)", re.DOTALL)
_LISTED: Final = re.compile(r"\s*(?:[-*+|]|\d+[.)]) ?\S")
_ITEM: Final = re.compile(r"\S[^\n]*(?:\n(?!\s*(?:[-*+|]|\d+[.)]) ?\S)[^\n]*)*")
_HEADING: Final = re.compile(r"#{1,6} +([^\n]*)(?:\n|$)")
_HEADINGS: Final = re.compile(r"^#{1,6} +([^\n]*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A part of a text, verbatim."""

    text: str
    offset: int
    """Of its first character in the text that it is from."""
    heading: str
    """The nearest one above it there; empty where there is none."""


def excerpt(text: str, said: Mapping[str, float]) -> Excerpt:
    """The part of `text` that says most of the words with these weights, and what goes with it."""
    pieces = _pieces(text)
    merits = [merit(said, text[start:end]) for start, end in pieces]
    first = last = max(range(len(pieces)), key=merits.__getitem__)
    while True:
        # What follows explains what was said, so it comes before what led up to it.
        wider = [(first, last + 1), (first - 1, last)]
        fitting = [
            (low, high)
            for low, high in wider
            if low >= 0
            and high < len(pieces)
            and pieces[high][1] - pieces[low][0] <= MAX_CHARS
            and (merits[high if high > last else low] or not said)
        ]
        if not fitting:
            break
        first, last = fitting[0]
    start, end = pieces[first][0], pieces[last][1]
    shown = text[start:end]
    if len(shown) > MAX_CHARS:
        shown = f"{shown[:MAX_CHARS].rsplit(None, 1)[0]} …"
    above = [found[1].strip("# ") for found in _HEADINGS.finditer(text, 0, start)]
    return Excerpt(shown, start, above[-1] if above else "")


def paragraphs(text: str) -> list[Excerpt]:
    """The paragraphs of `text`, the items of lists and rows of tables, with their headings."""
    found: list[Excerpt] = []
    for start, end in _pieces(text):
        above = [one[1].strip("# ") for one in _HEADINGS.finditer(text, 0, start)]
        found.append(Excerpt(text[start:end][:MAX_CHARS], start, above[-1] if above else ""))
    return found


def _pieces(text: str) -> list[tuple[int, int]]:
    """Where the paragraphs of `text` are; of a list its items, of a table its rows, of what is
    long the sentences. Headings are none."""
    pieces: list[tuple[int, int]] = []
    for found in _PARAGRAPH.finditer(text):
        start, end = found.span()
        while heading := _HEADING.match(text, start, end):
            start = heading.end()
        if start >= end:
            continue
        if end - start > MAX_CHARS or _LISTED.match(text, start, end):
            pieces += _parts(text, start, end)
        else:
            pieces.append((start, end))
    return pieces or [(0, len(text))]


def _parts(text: str, start: int, end: int) -> list[tuple[int, int]]:
    pattern = _ITEM if _LISTED.match(text, start, end) else _SENTENCE
    return [one.span() for one in pattern.finditer(text, start, end)]
