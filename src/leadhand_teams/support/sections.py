"""Sections of documents, and which of them answer a question, or that none does. Pure.

Sums over the words that carry the question: BM25 in the whole section and in its best passage, the
rarity of pairs of neighbouring words, and how much of the title was asked for. Divided by the
rarity of the words, so that one threshold fits every question. The factors were set by hand on the
questions of two manuals: `benchmarks/README.md`.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from leadhand.tools.files import Document, split_into_passages
from leadhand_teams.shared.search import Index
from leadhand_teams.support.words import carrying, content, corrected, pattern, stems

ANSWERS_FROM: Final = 3.3
"""A section with at least this score answers the question."""
MOST: Final = 5
_MOST_SENTENCES: Final = 6
_PASSAGE: Final = 40
"""Words in a passage; passages overlap by half."""
PAIRS, TITLE, PROBLEM, TICKET = 2.0, 1.33, 1.0, 1.33


class DocSection(NamedTuple):
    ref: str
    """`file#section`, `file:line`, `file!page`, or the id of a row."""
    title: str
    path: tuple[str, ...]
    """The titles above it, the highest first."""
    text: str
    """As the document has it."""

    @property
    def code(self) -> tuple[str, ...]:
        """Its code examples, without their fences."""
        fenced = [match["code"] for match in pattern("fence").finditer(self.text)]
        found = fenced or [match[0] for match in pattern("indented").finditer(self.text)]
        return tuple(one.rstrip("\n") for one in found)

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """What its addresses are called, and the addresses, each once."""
        found = {
            address: match[1] or address
            for match in pattern("link").finditer(self.text)
            if (address := (match[2] or match[3]).rstrip(".,;:!?"))
        }
        return tuple((label, address) for address, label in found.items())


def sections_of(document: Document, name: str) -> list[DocSection]:
    """The sections of a document; one without headings is cut into pieces at paragraphs."""
    text = document.text
    fences = [match.span() for match in pattern("fence").finditer(text)]
    heads = [
        one
        for one in pattern("heading").finditer(text)
        if not any(start <= one.start() < end for start, end in fences)
    ]
    if not heads or document.page_starts:
        return [*_pieces(document, name)]
    found: list[DocSection] = []
    if (before := text[: heads[0].start()].strip()) != "":
        found.append(DocSection(f"{name}:1", before.partition("\n")[0][:80], (), before))
    above: list[tuple[int, str]] = []
    slugs: dict[str, int] = {}
    for one, end in zip(heads, [*(two.start() for two in heads[1:]), len(text)], strict=True):
        title = (one[2] or one["under"]).strip()
        level = len(one[1]) if one[1] else 1 if one["line"].startswith("=") else 2
        above = [pair for pair in above if pair[0] < level]
        slug = _slug(title)
        slugs[slug] = count = slugs.get(slug, -1) + 1
        ref = f"{name}#{slug}" + (f"-{count}" if count else "")
        body = text[one.end() : end].strip("\n")
        found.append(DocSection(ref, title, tuple(title for _, title in above), body))
        above.append((level, title))
    return found


def _pieces(document: Document, name: str) -> Iterator[DocSection]:
    """A text without headings, in pieces that end with a paragraph where they can."""
    for one in split_into_passages(document):
        place = f"{name}!{one.page}" if one.page else f"{name}:{one.line}"
        yield DocSection(place, one.text.partition("\n")[0][:80], (), one.text)


def _slug(title: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", title.casefold()).strip().replace(" ", "-") or "section"


class PastTicket(NamedTuple):
    text: str
    sections: tuple[str, ...]
    """References of the sections that answered it."""


class RankedSection(NamedTuple):
    section: DocSection
    score: float


class SectionIndex:
    """The sections of some documents, ready to be searched. Making it takes most of the time."""

    def __init__(self, sections: Sequence[DocSection], tickets: Sequence[PastTicket] = ()) -> None:
        self.sections = tuple(sections)
        self.tickets = tickets
        texts = [stems(section.text) for section in sections]
        titles = [stems(section.title) for section in sections]
        self._known = {word for each in (*texts, *titles) for word in each}
        self._titles = [frozenset(carrying(title)) for title in titles]
        both = [*zip(titles, texts, strict=True)]
        self._whole = Index((" ".join(title), " ".join(text)) for title, text in both)
        passages = [(at, one) for at, text in enumerate(texts) for one in _passages(text)]
        self._section_of = [at for at, _ in passages]
        self._parts = Index(("", " ".join(one)) for _, one in passages)
        self._pairs = Index(("", _joined([*title, "|", *text])) for title, text in both)

    @cached_property
    def asked_before(self) -> list[tuple[frozenset[str], tuple[int, ...]]]:
        """The words of each past ticket, and the sections that answered it."""
        at = {section.ref: place for place, section in enumerate(self.sections)}
        return [
            (frozenset(self.words(one.text)), places)
            for one in self.tickets
            if (places := tuple(at[ref] for ref in one.sections if ref in at))
        ]

    def words(self, text: str) -> list[str]:
        """The words that carry a question, each once, with slips corrected."""
        return [*dict.fromkeys(corrected(content(text), self._known))]

    def ranked(self, question: str, most: int = MOST) -> list[RankedSection]:
        """The sections that fit the question, or one of its sentences, best; the best first."""
        sentences = pattern("between_sentences").split(question)[:_MOST_SENTENCES]
        asked = [one for one in sentences if len(self.words(one)) > 1]
        best: dict[int, float] = {}
        for one in dict.fromkeys((question, *asked)):
            for at, score in self._scores(one).items():
                best[at] = max(best.get(at, score), score)
        ranked = sorted(best.items(), key=lambda one: (-one[1], one[0]))[:most]
        return [RankedSection(self.sections[at], round(score, 2)) for at, score in ranked]

    def _scores(self, question: str) -> dict[int, float]:
        """The score of each section that shares words with a question."""
        words = self.words(question)
        asked, total = frozenset(words), self._weight(words) or 1.0
        parts: defaultdict[int, float] = defaultdict(float)
        for hit in self._parts.search(" ".join(words), len(self._parts)):
            at = self._section_of[hit.item]
            parts[at] = max(parts[at], hit.score)
        pairs = _joined(corrected(content(question), self._known))
        every = sum(map(self._pairs.rarity, {*pairs.split()}))
        hits = self._pairs.search(pairs, len(self.sections))
        together = {one.item: one.share * every for one in hits}
        problem = pattern("problem").search(question) is not None
        scores: dict[int, float] = {}
        for hit in self._whole.search(" ".join(words), len(self.sections)):
            title = self._titles[hit.item]
            score = hit.score + parts[hit.item] + PAIRS * together.get(hit.item, 0.0)
            about = self._weight(title & asked) / (self._weight(title) or 1.0)
            scores[hit.item] = score / total + TITLE * about
            if pattern("problem_title").search(self.sections[hit.item].title):
                scores[hit.item] += PROBLEM if problem else -PROBLEM / 2
        for words, places in self.asked_before:
            both = self._weight(words & asked, 2)
            for at in places if both else ():
                alike = both / (self._weight(words, 2) * self._weight(asked, 2)) ** 0.5
                scores[at] = scores.get(at, 0.0) + TICKET * alike**3
        return scores

    def _weight(self, words: Iterable[str], power: int = 1) -> float:
        return sum(self._whole.rarity(word) ** power for word in words)


def _joined(words: Sequence[str]) -> str:
    """Each pair of neighbouring words that carry something, as one."""
    return " ".join("".join(pair) for pair in {*pairwise(carrying(words))})


def _passages(text: Sequence[str]) -> list[Sequence[str]]:
    step = _PASSAGE // 2
    return [text[at : at + _PASSAGE] for at in range(0, max(1, len(text) - step), step)]
