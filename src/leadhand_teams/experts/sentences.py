"""Splits what was read into sentences, list items and table rows, each with its place. Pure."""

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import chain, islice, permutations
from typing import Final, NamedTuple

from leadhand_teams.experts.fields import EXPERTS, Expert, weights
from leadhand_teams.experts.output import Citation
from leadhand_teams.experts.words import pattern, stems_of, units, words
from leadhand_teams.shared import values
from leadhand_teams.shared.reading import Reading, Text, read_once
from leadhand_teams.shared.tables import DataTable

MAX_SENTENCES: Final = 30_000
"""Sentences in all; the answer says if there are more."""
MAX_CHARS: Final = 900
_FIELD_SENTENCES: Final = 60
"""Sentences from the top that decide what field a document is of if its kind is not known."""
_TOP_LINES: Final = 4
"""Lines from the top that name what a document is about."""
_NUMBER: Final = r"(?:§+ ?)?(?:[A-Z]?\d{1,3}(?:\.\d{1,3}){0,4}[.)]?|\([a-z]{1,4}\)|[ivx]{1,4}\))"
_HEADING: Final = re.compile(
    rf"#{{1,6}} +(?P<marked>\S.*)|(?P<plain>(?:(?:article|section|clause|chapter|part|note) )?"
    rf"(?:{_NUMBER} +)?[^\W\d_][^.!?;:|]{{1,70}})[:?]?",
    re.IGNORECASE,
)
_MAX_TITLE: Final = 100
_MOST_TOP: Final = 300
_ITEM: Final = re.compile(rf"[ \t]*(?:[-*•–] |{_NUMBER} )")
_ROW: Final = re.compile(r"[^\d(]{3,60}(?:\s+\(?[-–]?\d[\d.,]*\)?%?){1,6}|.*\S(?:\s{2,}|\t)\S.*")
_NUMBERS: Final = re.compile(r"\(?-?\d[\d.,]*\)?(?=\s|$)")
_ENDS: Final = ("", *".;:!?")
"""How a line ends, also an empty one, before the next one that begins with a bare number."""
_YEARS: Final = re.compile(r"\D{0,12}(?:(?:19|20)\d\d\D{0,12}){1,6}")


@dataclass(frozen=True, eq=False)
class QuotableLine(Citation):
    """What a document has on a line, as far as answers are found by it."""

    file: str = ""
    clause: int = 0
    """Sentences of one paragraph, clause or step have the same."""
    is_item: bool = False
    """Whether it is an item of a list or a numbered step."""
    title: str = ""
    """Of a row of figures: what it is about."""


class DocumentKind(NamedTuple):
    """What a document is."""

    field: Expert | None
    check: str | None = None
    """What a professional must check in answers from it."""
    words: str = ""
    """What documents of the kind have in name, title and first lines."""


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
    def tops(self) -> Mapping[str, frozenset[str]]:
        """For each file what its name and first lines, but no sentences, have: what it is about."""
        found = {one.file: re.sub("[_.]", " ", one.file) for one in self.sentences}
        for text in self.reading.texts:
            lines = text.text.split("\n", _TOP_LINES)[:_TOP_LINES]
            first = " ".join([text.title, *(line for line in lines if line[-1:] != ".")])
            if text.name in found and len(found[text.name]) <= len(text.name):
                found[text.name] += f" {first[:_MOST_TOP]}"
        return {file: units(said) for file, said in found.items()}

    @cached_property
    def kinds(self) -> Mapping[str, DocumentKind]:
        """The kind of each file, by what it is about; else the field of most words at its top."""
        found: dict[str, DocumentKind] = {}
        for file, top in self.tops.items():
            score, best = max(
                (sum(one <= top for one in kind), -number)
                for number, kind in enumerate(_kind_words())
            )
            if score:
                found[file] = DocumentKind(**[*words()["kinds"].values()][-best])
                continue
            of = [f"{one.heading} {one.quote}" for one in self.sentences if one.file == file]
            heavy = weights(" ".join(of[:_FIELD_SENTENCES]))
            field = max(EXPERTS, key=heavy.__getitem__)
            found[file] = DocumentKind(field if heavy[field] else None)
        return found

    @cached_property
    def replaced(self) -> Mapping[str, tuple[str, str]]:
        """The files that another one replaces as a whole: which one, and why."""
        titles = {  # The first line alone may be the name of a company.
            one.name: (units(pattern("dating").sub(" ", title)), self.kinds.get(one.name))
            for one in self.reading.texts
            if (title := _title(one)) and not pattern("of_a_time").search(title)
        }
        dates = {
            one.name: _date(f"{one.name} {one.text[:_MOST_TOP]}") for one in self.reading.texts
        }
        found: dict[str, tuple[str, str]] = {}
        for one, other in permutations(titles, 2):
            old, new = dates.get(one), dates.get(other)
            if old and new and old < new and titles[one] == titles[other]:
                found[one] = other, f"It is of {old}, the other one of {new}."
        for claim in self.sentences:
            if match := pattern("replaces").match(claim.quote):
                what, by = units(match["what"]), self.tops[claim.file]
                for file, top in self.tops.items():
                    is_named = what & top - by and what & top & by - stems_of("noise")
                    is_edition = titles.get(file) == titles.get(claim.file, "")
                    is_newer = found.get(claim.file, ("",))[0] != file
                    if file != claim.file and is_newer and (is_named or is_edition):
                        found[file] = claim.file, f"It says: “{claim.quote}” ({claim.ref})"
        return found

    @cached_property
    def stems(self) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
        """For each sentence what it has itself, and what its headings have."""
        # Below the title of the document, which is in `tops`.
        heads = {o.heading: units(" ".join(o.heading.split(" > ")[1:])) for o in self.sentences}
        return tuple((units(one.quote), heads[one.heading]) for one in self.sentences)

    @cached_property
    def places(self) -> Mapping[str, frozenset[int]]:
        """For each stem the sentences that have it, or whose headings or documents' tops do."""
        found: defaultdict[str, set[int]] = defaultdict(set)
        for number, (body, heads) in enumerate(self.stems):
            for stem in body | heads | self.tops[self.sentences[number].file]:
                found[stem].add(number)
        return {stem: frozenset(numbers) for stem, numbers in found.items()}

    def coded(self, codes: Iterable[str]) -> frozenset[int]:
        """The sentences with one of the codes that is not what a document as a whole is about."""
        known = frozenset[str]().union(*self.tops.values())
        return frozenset[int]().union(*(self.places.get(one, ()) for one in {*codes} - known))

    @cached_property
    def clauses(self) -> Mapping[tuple[str, int], list[int]]:
        """The sentences of each clause, in their order."""
        found: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
        for number, one in enumerate(self.sentences):
            found[one.file, one.clause].append(number)
        return found


@cache
def _kind_words() -> Sequence[Sequence[frozenset[str]]]:
    """The stems of each word or phrase of each kind of document."""
    kinds = words()["kinds"].values()
    return [[units(one.replace("_", " ")) for one in kind["words"].split()] for kind in kinds]


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


def _date(head: str) -> dt.date | None:
    """The last date of a head, of months and years the first day."""
    found = [one.value for one in values.dates(head)] or [o.start for o in values.periods(head)]
    years = (dt.date(int(year), 1, 1) for year in pattern("year").findall(head))
    return max(found or years, default=None)


def _title(text: Text) -> str:
    """The title of a document: its first line, if that is short."""
    first = next((line.strip("# \t") for line in text.text.splitlines() if line.strip()), "")
    return text.title or (first if len(first) <= _MAX_TITLE else "")


def _of_text(text: Text) -> Iterator[QuotableLine]:
    above = [_title(text) or text.name]
    years, columns = list[str](), ""
    blocks = [*_blocks(text)]
    lines = [" ".join(text.text[begin:end].split()) for begin, end in blocks]
    for clause, ((begin, end), line) in enumerate(zip(blocks, lines, strict=True)):
        if _YEARS.fullmatch(line):
            years = re.findall(r"(?:19|20)\d\d", line)
            continue
        if years and _ROW.fullmatch(line) and len(_NUMBERS.findall(line)) == len(years):
            heads = " > ".join(dict.fromkeys([*above, " ".join(years)]))
            title = line[: next(_NUMBERS.finditer(line)).start()].strip()
            yield QuotableLine(text.ref(begin), line, heads, text.name, clause, title=title)
            continue
        if not _is_row(line):
            columns = ""
        elif not columns and _is_header(line, "".join(lines[clause + 1 : clause + 2])):
            columns = line.strip("| ")
            continue
        elif not any(map(str.isalnum, line)):
            continue
        beside = [*lines[max(0, clause - 1) : clause], *lines[clause + 1 : clause + 2]]
        if (heading := _heading(line)) and not _counts_on(line, beside):
            # A plain heading is below the title.
            level = len(line) - len(line.lstrip("#")) or 2
            above = [*above[: level - 1], heading][-4:]
            continue
        block = text.text[begin:end]
        is_item = _ITEM.match(block) is not None
        for first, last in _sentences(block):
            said = " ".join(block[first:last].split())
            if any(mark.isalnum() for mark in said):
                where = text.ref(begin + first)
                heads = " > ".join(dict.fromkeys([*above, *filter(None, [columns])]))
                yield QuotableLine(where, said[:MAX_CHARS], heads, text.name, clause, is_item)


def _is_row(line: str) -> bool:
    return line.startswith("|") or " | " in line


def _is_header(line: str, below: str) -> bool:
    """Whether the first row of a table names its columns: a rule is below, or a row as wide."""
    is_ruled = "-" in below and not any(map(str.isalnum, below))
    return is_ruled or 1 < line.count(" | ") == below.count(" | ")


def _counts_on(line: str, beside: list[str]) -> bool:
    """Whether the line before or after has the number before or after: then they are steps."""
    number = re.match(r"(\d+)[.)] ", line)
    others = [re.match(r"(\d+)[.)] ", other) for other in beside]
    return number is not None and any(
        other is not None and abs(int(other[1]) - int(number[1])) == 1 for other in others
    )


def _blocks(text: Text) -> Iterator[tuple[int, int]]:
    """Paragraphs, list items, headings and lines of figures, as spans."""
    begin: int | None = None
    at = 0
    lines = text.text.splitlines(keepends=True)
    width = sorted(map(len, lines))[len(lines) * 9 // 10] if lines else 0
    before = ""
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        bare = line.strip()
        alone = bare.startswith(("#", "|")) or bool(_ROW.fullmatch(bare) or _YEARS.fullmatch(bare))
        alone = alone or _is_title(bare, before, after.strip(), width)
        item = _ITEM.match(line)
        # "up to four in / 24 hours" is no item: a bare number begins one after an end only.
        is_item = item and (not item[0].strip().isdigit() or before[-1:] in _ENDS)
        starts = alone or not bare or is_item or at in text.page_starts
        if begin is not None and starts:
            yield begin, at
            begin = None
        if alone:
            yield at, at + len(line)
        elif begin is None and any(map(str.isalnum, bare)):
            begin = at
        at += len(line)
        before = bare
    if begin is not None:
        yield begin, at


def _is_title(line: str, before: str, after: str, width: int) -> bool:
    """Whether a line is a heading though a paragraph follows it directly."""
    is_new = not before or before[-1] in ".;:!?" or _heading(before) is not None
    goes_on = after[:1].islower() or not after
    if not is_new or goes_on or len(line) >= _MAX_TITLE or _heading(line) is None:
        return False
    words = re.findall(r"[^\W\d_]{4,}", line)
    titled = line.isupper() or (bool(words) and all(word[0].isupper() for word in words))
    # Else it is one if the next word would have had room on the line.
    has_room = len(line) + len(after.split()[0]) + 1 < 0.8 * width
    return (titled and len(line) < 60) or has_room


def _heading(line: str) -> str | None:
    match = _HEADING.fullmatch(line)
    heading = (match["marked"] or match["plain"]).strip() if match else ""
    is_heading = match and (match["marked"] or re.match(r"[^\W_a-zß-ÿ]|§", heading))
    return heading if is_heading and len(heading.split()) <= 12 else None


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
        said = "; ".join(f"{name}: {cell}" for name, cell in written)[:MAX_CHARS]
        ref, heading = table.ref(row), table.sheet or ""
        title = next((one.texts[row] for one in texts if one.texts[row]), "")
        yield QuotableLine(ref, said, heading, table.file, row, title=title)


known_documents = read_once(library)
"""The sentences of the files and folders at some paths, read once. Raises `InputError`."""
