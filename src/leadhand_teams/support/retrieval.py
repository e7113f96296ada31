"""Finds the sections of documents that answer a question, or says that none does. Pure.

Four sums over the words that carry the question, weighted by how rare each is in these documents
(BM25, Robertson et al. 1994): in the whole section, in its best passage, as pairs of neighbouring
words, and in the title. Divided by the sum of the weights, so that one threshold fits every
question. The factors were set by hand on the questions of two manuals: `benchmarks/README.md`.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final

from leadhand_teams.support.sections import DocSection
from leadhand_teams.support.signals import pattern
from leadhand_teams.support.words import carrying, content, corrected, stems

ANSWERS_FROM: Final = 2.8
"""A section with at least this score answers the question."""
MOST: Final = 5
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_MOST_SENTENCES: Final = 6
_PASSAGE: Final = 40
"""Words in a passage; passages overlap by half."""
PAIRS, TITLE, PROBLEM, TICKET = 1.0, 1.0, 0.5, 1.0


@dataclass(frozen=True, slots=True)
class PastTicket:
    text: str
    sections: tuple[str, ...]
    """References of the sections that answered it."""


@dataclass(frozen=True, slots=True)
class RankedSection:
    section: DocSection
    score: float


class _Bm25:
    """The weights of words in texts of stems."""

    def __init__(self, texts: Sequence[Sequence[str]], *, k1: float = 0.9, b: float = 0.4) -> None:
        self._k1, self._b, self._count = k1, b, len(texts)
        self._lengths = [len(text) for text in texts]
        self._mean = sum(self._lengths) / max(1, len(texts)) or 1.0
        self.places: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for at, text in enumerate(texts):
            for word, times in Counter(text).items():
                self.places[word].append((at, times))

    def weight(self, word: str) -> float:
        """How rare a word is; one that no text has counts as if one had."""
        has = max(1, len(self.places.get(word, ())))
        return math.log(1 + (self._count - has + 0.5) / (has + 0.5))

    def scores(self, words: Iterable[str]) -> defaultdict[int, float]:
        """The score of each text that has one of the words."""
        found: defaultdict[int, float] = defaultdict(float)
        for word in words:
            weight = self.weight(word)
            for at, times in self.places.get(word, ()):
                norm = self._k1 * (1 - self._b + self._b * self._lengths[at] / self._mean)
                found[at] += weight * times * (self._k1 + 1) / (times + norm)
        return found


class SectionIndex:
    """The sections of some documents, ready to be searched. Making it takes most of the time."""

    def __init__(self, sections: Sequence[DocSection], tickets: Sequence[PastTicket] = ()) -> None:
        self.sections = tuple(sections)
        self.tickets = tickets
        texts = [stems(section.text) for section in sections]
        titles = [stems(section.title) for section in sections]
        self._titles = [frozenset(carrying(title)) for title in titles]
        self._whole = _Bm25([title * 2 + text for title, text in zip(titles, texts, strict=True)])
        passages = [(at, one) for at, text in enumerate(texts) for one in _passages(text)]
        self._section_of = [at for at, _ in passages]
        self._parts = _Bm25([one for _, one in passages], b=0.3)
        self._pairs: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
        for at, (title, text) in enumerate(zip(titles, texts, strict=True)):
            for pair in {*pairwise(carrying([*title, "|", *text]))}:
                self._pairs[pair].append(at)
        self._problems = [
            pattern("problem_title").search(one.title) is not None for one in sections
        ]

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
        return [*dict.fromkeys(corrected(content(text), self._whole.places))]

    def ranked(self, question: str, most: int = MOST) -> list[RankedSection]:
        """The sections that fit the question, or one of its sentences, best; the best first."""
        asked = [
            one for one in _SENTENCES.split(question)[:_MOST_SENTENCES] if len(self.words(one)) > 1
        ]
        best: dict[int, float] = {}
        for one in dict.fromkeys((question, *asked)):
            for at, score in self._scores(one).items():
                best[at] = max(best.get(at, score), score)
        ranked = sorted(best.items(), key=lambda one: (-one[1], one[0]))[:most]
        return [RankedSection(self.sections[at], round(score, 2)) for at, score in ranked]

    def _scores(self, question: str) -> dict[int, float]:
        """The score of each section that shares words with a question."""
        words = self.words(question)
        total = sum(map(self._whole.weight, words)) or 1.0
        best: defaultdict[int, float] = defaultdict(float)
        for place, score in self._parts.scores(words).items():
            at = self._section_of[place]
            best[at] = max(best[at], score)
        scores = self._whole.scores(words)
        for at, score in best.items():
            scores[at] += score
        for pair in {*pairwise(corrected(content(question), self._whole.places))}:
            has = self._pairs.get(pair, ())
            weight = math.log(1 + (len(self.sections) - len(has) + 0.5) / (len(has) + 0.5))
            for at in has:
                scores[at] += PAIRS * weight
        asked = frozenset(words)
        problem = pattern("problem").search(question) is not None
        for at in scores:
            scores[at] = scores[at] / total + TITLE * self._share(self._titles[at], asked)
            if self._problems[at]:
                scores[at] += PROBLEM if problem else -PROBLEM / 2
        for at, alike in self._alike(asked).items():
            scores[at] += TICKET * alike**3
        return scores

    def _share(self, part: frozenset[str], asked: frozenset[str]) -> float:
        """How much of the weight of a title's words was asked for."""
        weight = self._whole.weight
        return sum(map(weight, part & asked)) / (sum(map(weight, part)) or 1.0)

    def _alike(self, asked: frozenset[str]) -> dict[int, float]:
        """How alike the question is to the past tickets that each section answered, 0 to 1."""
        found: defaultdict[int, float] = defaultdict(float)
        own = self._square(asked)
        for words, places in self.asked_before:
            if both := self._square(words & asked):
                alike = both / math.sqrt(self._square(words) * own)
                for at in places:
                    found[at] = max(found[at], alike)
        return found

    def _square(self, words: Iterable[str]) -> float:
        return sum(self._whole.weight(word) ** 2 for word in words)


def _passages(text: Sequence[str]) -> list[Sequence[str]]:
    step = _PASSAGE // 2
    return [text[at : at + _PASSAGE] for at in range(0, max(1, len(text) - step), step)]
