"""Splits what was read into sentences, list items and table rows, each with its place. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice
from typing import Final

from leadhand_teams.experts.fields import EXPERTS, Expert, weights
from leadhand_teams.experts.output import Citation
from leadhand_teams.experts.words import pattern
from leadhand_teams.shared.reading import Reading, Text
from leadhand_teams.shared.tables import DataTable

MAX_SENTENCES: Final = 30_000
"""Sentences in all; the answer says if there are more."""
MAX_CHARS: Final = 900
_FIELD_SENTENCES: Final = 60
"""Sentences from the top that decide what field a document is of."""
_NUMBER: Final = r"(?:§+ ?)?(?:[A-Z]?\d{1,3}(?:\.\d{1,3}){0,4}[.)]?|\([a-z]{1,4}\)|[ivx]{1,4}\))"
_HEADING: Final = re.compile(
    rf"#{{1,6}} +(?P<marked>\S.*)|(?P<plain>(?:(?:article|section|clause|chapter|part|note) )?"
    rf"(?:{_NUMBER} +)?[^\W\d_][^.!?;:|]{{1,70}}):?",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(rf"[ \t]*(?:[-*•–] |{_NUMBER} )")
_ROW: Final = re.compile(r"[^\d(]{3,60}(?:\s+\(?[-–]?\d[\d.,]*\)?%?){1,6}|.*\S(?:\s{2,}|\t)\S.*")
_NUMBERS: Final = re.compile(r"\(?-?\d[\d.,]*\)?(?=\s|$)")
_YEARS: Final = re.compile(r"\D{0,12}(?:(?:19|20)\d\d\D{0,12}){1,6}")


@dataclass(frozen=True, eq=False)
class QuotableLine(Citation):
    """What a document has on a line, as far as answers are found by it."""

    file: str = ""
    is_item: bool = False
    """Whether it is an item of a list or a numbered step."""
    title: str = ""
    """Of a row of figures: what it is about."""


@dataclass(frozen=True)
class KnownLines:
    """The sentences of the documents."""

    reading: Reading
    sentences: tuple[QuotableLine, ...]
    to_reader: tuple[QuotableLine, ...]
    """Instructions to the reader: neither followed nor used as an answer."""
    is_cut: bool
    """Whether there are more sentences."""

    @cached_property
    def fields(self) -> dict[str, Expert | None]:
        """The field of each file: that of most words at its top."""
        found: dict[str, Expert | None] = {}
        for file in dict.fromkeys(one.file for one in self.sentences):
            of = [f"{one.heading} {one.quote}" for one in self.sentences if one.file == file]
            heavy = weights(" ".join(of[:_FIELD_SENTENCES]))
            best = max(EXPERTS, key=heavy.__getitem__)
            found[file] = best if heavy[best] else None
        return found


def library(reading: Reading) -> KnownLines:
    """All sentences and rows of what was read."""
    names = {text.name for text in reading.texts}
    # The lines of a table within a text are sentences already.
    rows = (row for one in reading.tables if one.file not in names for row in _of_table(one))
    every = chain((sentence for text in reading.texts for sentence in _of_text(text)), rows)
    kept = [*islice(every, MAX_SENTENCES)]
    hostile = [one for one in kept if pattern("to_reader").search(one.quote)]
    calm = [one for one in kept if one not in hostile] if hostile else kept
    return KnownLines(reading, tuple(calm), tuple(hostile), next(every, None) is not None)


def _of_text(text: Text) -> Iterator[QuotableLine]:
    above = [text.title] if text.title else []
    years: list[str] = []
    for begin, end in _blocks(text):
        block = text.text[begin:end]
        line = " ".join(block.split())
        if _YEARS.fullmatch(line):
            years = re.findall(r"(?:19|20)\d\d", line)
            continue
        if years and _ROW.fullmatch(line) and len(_NUMBERS.findall(line)) == len(years):
            heads = " > ".join([*above, " ".join(years)])
            title = line[: next(_NUMBERS.finditer(line)).start()].strip()
            yield QuotableLine(text.ref(begin), line, heads, text.name, title=title)
            continue
        if heading := _heading(line):
            level = len(line) - len(line.lstrip("#")) or 2
            above = [*above[: level - 1], heading][-3:]
            continue
        is_item = _ITEM.match(block) is not None
        for first, last in _sentences(block):
            words = " ".join(block[first:last].split())
            if any(mark.isalnum() for mark in words):
                where = text.ref(begin + first)
                heads = " > ".join(dict.fromkeys(above))
                yield QuotableLine(where, words[:MAX_CHARS], heads, text.name, is_item)


def _blocks(text: Text) -> Iterator[tuple[int, int]]:
    """Paragraphs, list items, headings and lines of figures, as spans."""
    begin: int | None = None
    at = 0
    for line in text.text.splitlines(keepends=True):
        bare = line.strip()
        alone = bare.startswith(("#", "|")) or bool(_ROW.fullmatch(bare) or _YEARS.fullmatch(bare))
        starts = alone or not bare or _ITEM.match(line) or at in text.page_starts
        if begin is not None and (starts or _is_title(text.text[begin:at].strip())):
            yield begin, at
            begin = None
        if alone:
            yield at, at + len(line)
        elif begin is None and any(map(str.isalnum, bare)):
            begin = at
        at += len(line)
    if begin is not None:
        yield begin, at


def _is_title(line: str) -> bool:
    """Whether a line is a heading though a paragraph follows it directly."""
    words = re.findall(r"[^\W\d_]{4,}", line)
    titled = line.isupper() or (bool(words) and all(word[0].isupper() for word in words))
    return titled and len(line) < 60 and "\n" not in line and _heading(line) is not None


def _heading(line: str) -> str | None:
    match = _HEADING.fullmatch(line)
    heading = (match["marked"] or match["plain"]).strip() if match else ""
    is_heading = match and (match["marked"] or re.match(r"[^\W_a-zß-ÿ]|§", heading))
    return heading if is_heading and len(heading.split()) <= 10 else None


def _sentences(block: str) -> Iterator[tuple[int, int]]:
    start = 0
    for end in pattern("sentence_end").finditer(block):
        # Case counts here: `no. 5` is no end, nor is a single capital.
        if block[end.end() : end.end() + 1].islower() or pattern("no_sentence_end").search(
            block[start : end.start()]
        ):
            continue
        yield start, end.start()
        start = end.end()
    yield start, len(block)


def _of_table(table: DataTable) -> Iterator[QuotableLine]:
    texts = [one for one in table.columns if one.kind == "text"]
    for row in range(len(table)):
        written = [(one.name, one.texts[row]) for one in table.columns if one.texts[row]]
        words = "; ".join(f"{name}: {cell}" for name, cell in written)[:MAX_CHARS]
        ref, heading = table.ref(row), table.sheet or ""
        title = next((one.texts[row] for one in texts if one.texts[row]), "")
        yield QuotableLine(ref, words, heading, table.file, title=title)
