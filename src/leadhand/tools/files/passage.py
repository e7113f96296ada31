"""Splits documents into passages that are short enough to quote; pure functions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from leadhand.tools.files.documents import Document, citation
from leadhand.untrusted.cutting import around

MIN_CHARS: Final = 800
"""A passage of at least this length ends at the end of its paragraph."""
MAX_CHARS: Final = 1_200

_HEADING: Final = re.compile(r"#{1,6} +(?=\S)(.{1,200})")


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document, split at headings and between paragraphs where possible."""

    name: str
    text: str
    heading: str
    """The nearest heading above it or in it; empty if there is none."""
    line: int
    """Of its first character, from 1."""
    page: int | None
    """From 1; None for a format without pages."""
    offset: int
    """Of its first character in the document's text."""
    score: float = 0.0
    """Its relevance to the query: higher is better, 0 without a query."""

    @property
    def place(self) -> str:
        return citation(self.name, line=self.line, page=self.page)


def split_into_passages(document: Document) -> Iterator[Passage]:
    """The passages in order; together they are the text without blank lines."""
    heading = ""
    for span in _spans(document):
        if found := _HEADING.match(document.text, span.start):
            heading = found[1].strip("# ")
        text = document.text[span.start : span.end]
        bare = text.lstrip()
        if not bare:
            continue
        start = span.start + len(text) - len(bare)
        yield Passage(
            name=document.name,
            text=bare.rstrip(),
            heading=heading,
            line=span.line + text.count("\n", 0, len(text) - len(bare)),
            page=document.page(start),
            offset=start,
        )


@dataclass(frozen=True, slots=True)
class _Span:
    start: int
    end: int
    line: int


def _spans(document: Document) -> Iterator[_Span]:
    """The span of each passage: at most `MAX_CHARS` long, and on one page."""
    text, pages = document.text, set(document.page_starts)
    start = at = 0
    start_line = line = 1
    body = False  # Whether there is other text than headings between `start` and `at`.
    while at < len(text):
        newline = text.find("\n", at)
        end = len(text) if newline < 0 else newline + 1
        blank = text[at:end].isspace()
        heading = not blank and _HEADING.match(text, at) is not None
        full = at - start >= MIN_CHARS and blank
        if at > start and (
            full or at in pages or (heading and body) or end - start > MAX_CHARS + 1
        ):
            yield _Span(start, at, start_line)
            start, start_line, body = at, line, False
        while end - start > MAX_CHARS + 1:
            stop = _stop(text, start)
            yield _Span(start, stop, start_line)
            start, start_line = stop, line
        body = body or not (blank or heading)
        at, line = end, line + 1
    if start < len(text):
        yield _Span(start, len(text), start_line)


def _stop(text: str, start: int) -> int:
    """Where to split a line that is too long: after a sentence, else a word, else anywhere."""
    last = start + MAX_CHARS
    for mark in (". ", "。", "; ", ", ", " "):
        stop = text.rfind(mark, start + MAX_CHARS // 2, last)
        if stop > 0:
            return stop + len(mark)
    return max(around(text, last)[0], start + MAX_CHARS // 2)
