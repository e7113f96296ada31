"""Sections of documents, and which of them answer a question, or that none does. Pure.

Sums over the words that carry the question: BM25 in the whole section and in its best passage, the
rarity of pairs of neighbouring words, and how much of the title was asked for. Divided by the
rarity of the words, so that one threshold fits every question. The factors were set by hand on the
questions of two manuals: `benchmarks/README.md`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from leadhand.tools.files import Document, split_into_passages
from leadhand_teams.shared.everyday import is_everyday
from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.search import Index
from leadhand_teams.support.output import DocSection
from leadhand_teams.support.words import DATA, carrying, content, corrected, foreign, pattern, stems

ANSWERS_FROM: Final = 3.3
"""A section with at least this score answers the question."""
NEAR, MAYBE = 1.2, 2.0
"""A section with this score may bridge the time until a wish is fulfilled, or may answer."""
MOST: Final = 5
_MOST_SENTENCES: Final = 6
_PASSAGE: Final = 40
"""Words in a passage; passages overlap by half."""
PAIRS, TITLE, PROBLEM, TICKET, NAME = 2.0, 1.33, 1.0, 1.33, 1.0


class MarkdownBlock(NamedTuple):
    """A block of Markdown that is within no other."""

    text: str
    """As written, with the empty lines behind it."""
    node: SyntaxTreeNode


def blocks(markdown: str) -> list[MarkdownBlock]:
    """The blocks of a text, from its first line that is not empty to its end."""
    lines = markdown.split("\n")
    nodes = SyntaxTreeNode(MarkdownIt("commonmark").parse(markdown)).children
    starts = [one.map[0] for one in nodes if one.map]
    return [
        MarkdownBlock("\n".join(lines[start:end]) + "\n", node)
        for node, (start, end) in zip(nodes, pairwise([*starts, len(lines)]), strict=True)
    ]


def sections_of(document: Text) -> list[DocSection]:
    """The sections of a document; one without headings is cut into pieces at paragraphs."""
    name = document.name
    parts = [] if document.page_starts else blocks(document.text)
    levels = [int(one.node.tag[1]) if one.node.type == "heading" else 0 for one in parts]
    if not any(levels):
        pieces = split_into_passages(Document(name, document.text, document.page_starts))
        return [_untitled(document.ref(one.offset), one.text) for one in pieces]
    found: list[DocSection] = []
    above: list[tuple[int, str]] = []
    slugs = Counter[str]()
    starts = [at for at, level in enumerate(levels) if level or not at]
    for start, end in pairwise([*starts, len(parts)]):
        level, first = levels[start], start + bool(levels[start])
        body = "".join(one.text for one in parts[first:end]).strip("\n")
        if not level:
            found.append(_untitled(f"{name}:1", body))
            continue
        # The anchor that GitHub gives a heading.
        title = parts[start].node.children[0].content
        slug = re.sub(r"[^\w\- ]", "", title.casefold()).strip().replace(" ", "-")
        ref = f"{name}#{slug}" + (f"-{slugs[slug]}" if slugs[slug] else "")
        slugs[slug] += 1
        above = [one for one in above if one[0] < level]
        if body:
            path = tuple(name for _, name in above)
            found.append(DocSection(ref=ref, title=title, path=path, text=body))
        above.append((level, title))
    return found


def _untitled(ref: str, text: str) -> DocSection:
    return DocSection(ref=ref, title=text.partition("\n")[0][:80], text=text)


class PastTicket(NamedTuple):
    text: str
    sections: tuple[str, ...]
    """References of the sections that answered it."""


class SectionIndex:
    """The sections of some documents, ready to be searched. Making it takes most of the time."""

    def __init__(self, sections: Sequence[DocSection], tickets: Sequence[PastTicket] = ()) -> None:
        self.sections = tuple(sections)
        self.tickets = tickets
        texts = [stems(section.text) for section in sections]
        titles = [stems(section.title) for section in sections]
        above = [stems(" ".join(section.path[-1:])) for section in sections]
        self.known = {word for each in (*texts, *titles, *above) for word in each}
        self._titles = [frozenset(carrying(title)) for title in titles]
        self._subjects = [frozenset(stems("".join(one.path[:1]))) for one in sections]
        both = [*zip(titles, texts, strict=True)]
        self._whole = Index(
            (" ".join(title), " ".join(text + more))
            for (title, text), more in zip(both, above, strict=True)
        )
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
        """The words that carry a question, each once, with slips corrected.

        If others are left, without everyday words that no section has: they need not be found.
        """
        found = [*dict.fromkeys(corrected(carrying(stems(text)), self.known))]
        strange = foreign(text)
        kept = [one for one in found if one in self.known or not (strange or is_everyday(one))]
        return found if all(map(is_everyday, kept)) else kept

    def ranked(self, question: str, most: int = MOST, *, log: str = "") -> list[DocSection]:
        """The sections that fit the question, or one of its sentences, best; the best first.

        A section about an error code that the question or a `log` names answers it.
        """
        sentences = pattern("between_sentences").split(question)[:_MOST_SENTENCES]
        best: dict[int, float] = {}
        said = [one for one in DATA["means"] if pattern(one).search(question)]
        same = [one for name in said for one in DATA["means"][name] if self.known >= {*stems(one)}]
        for one in {question, *same, *(one for one in sentences if len(self.words(one)) > 1)}:
            for at, score in self._scores(one).items():
                best[at] = max(best.get(at, score), score)
        for wanted in ({*stems(one)} for one in same):
            for at in (at for at, title in enumerate(self._titles) if wanted <= title):
                best[at] = max(best.get(at, 0.0), ANSWERS_FROM)
        for at in self.about(f"{question}\n{log}"):
            best[at] = max(best.get(at, 0.0), 0.0) + ANSWERS_FROM
        ranked = sorted(best.items(), key=lambda one: (-one[1], one[0]))[:most]
        return [
            self.sections[at].model_copy(update={"score": round(score, 2)}) for at, score in ranked
        ]

    def about(self, text: str) -> list[int]:
        """The few sections whose titles name an error code of a text, else whose texts do."""
        codes = {*pattern("error_code").findall(text)}
        for texts in ((one.title for one in self.sections), (one.text for one in self.sections)):
            named = [codes.intersection(pattern("error_code").findall(text)) for text in texts]
            if 0 < sum(map(bool, named)) < MOST:
                return [at for at, one in enumerate(named) if one]
        return []

    def _scores(self, question: str) -> dict[int, float]:
        """The score of each section that shares words with a question."""
        words = self.words(question)
        asked, total = frozenset(words), self._weight(words) or 1.0
        parts: defaultdict[int, float] = defaultdict(float)
        for hit in self._parts.search(" ".join(words), len(self._parts)):
            at = self._section_of[hit.item]
            parts[at] = max(parts[at], hit.score)
        pairs = _joined(corrected(content(question), self.known))
        every = sum(map(self._pairs.rarity, {*pairs.split()}))
        hits = self._pairs.search(pairs, len(self.sections))
        together = {one.item: one.share * every for one in hits}
        problem = pattern("problem").search(question) is not None
        names = self._whole.search(" ".join(pattern("proper").findall(question)), MOST + 1)
        named = {one.item for one in names if len(names) <= MOST}
        scores: dict[int, float] = {}
        for hit in self._whole.search(" ".join(words), len(self.sections)):
            title = self._titles[hit.item]
            # What the whole document is about tells none of its sections from the others.
            own = (title - self._subjects[hit.item] or title) & asked
            score = hit.score + parts[hit.item] + PAIRS * together.get(hit.item, 0.0)
            about = self._weight(own) / (self._weight(title) or 1.0)
            scores[hit.item] = score / total + TITLE * about
            if hit.item in named:  # A name makes a section near, and no answer.
                near = min(scores[hit.item] + NAME, ANSWERS_FROM - 0.01)
                scores[hit.item] = max(scores[hit.item], near)
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
