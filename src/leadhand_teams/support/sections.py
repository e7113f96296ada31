"""Sections of documents, and which of them answer a question, or that none does. Pure.

Sums over the words that carry the question: BM25 in the whole section and in its best passage, the
rarity of pairs of neighbouring words, and how much of the title was asked for. Divided by the
rarity of the words, so that one threshold fits every question. The factors were set by hand on the
questions of two manuals: `benchmarks/README.md`.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from leadhand.tools.files import Document, split_into_passages
from leadhand_teams.shared.everyday import is_everyday, is_passing
from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.search import Index, stem
from leadhand_teams.support.output import DocSection
from leadhand_teams.support.words import (
    DATA,
    carrying,
    content,
    foreign,
    meanings,
    pattern,
    stems,
)

ANSWERS_FROM: Final = 3.3
"""A section with at least this score answers the question."""
NEAR, MAYBE = 1.2, 1.8
"""A section with this score may bridge the time until a wish is fulfilled, or may answer."""
MOST: Final = 5
_MANY: Final = 8
_ENOUGH: Final = 20.0
"""So much rarity of words is enough: a long request need not be found as a whole."""
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
        self._pairs_of = [_pairs([*title, "|", *text]) for title, text in both]
        self._pairs = Index(("", " ".join(one)) for one in self._pairs_of)
        self._labels = [
            {one for one in section.title.split() if one[0].isdigit()}
            | {
                cell.strip()
                for head in pattern("columns").findall(section.text)
                for cell in head.split("|")
            }
            for section in sections
        ]
        self._rows = [
            [frozenset(carrying(stems(one))) for one in pattern("row").findall(section.text)]
            for section in sections
        ]
        self._glossaries = {
            at for at, one in enumerate(sections) if pattern("glossary").search(one.title)
        }
        self._terms = [
            ({*carrying(stems(meaning))}, stems(term))
            for at in self._glossaries
            for term, meaning in pattern("defined").findall(sections[at].text)
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
        """The words that carry a question, each once, as the documents have them."""
        return [next(iter(one)) for one in self._asked(text)]

    def _asked(self, text: str) -> list[Mapping[str, float]]:
        """The words that carry a question, each once, with what documents may call it.

        If others are left, without everyday words that no section has, which need not be found;
        of many also without times, feelings and numbers.
        """
        found = carrying(stems(text))
        strange = foreign(text)
        meant = {one: meanings(one, self.known) for one in found}
        kept = {
            one: also or {one: 1.0}
            for one, also in meant.items()
            if also or not (strange or is_everyday(one) or one.isdigit())
        }
        if len(kept) > _MANY:
            passing = [one for one in kept if is_passing(one) or (one.isdigit() and len(one) < 3)]
            kept = {one: also for one, also in kept.items() if one not in passing}
        if all(map(is_everyday, kept)):
            return [also or {one: 1.0} for one, also in meant.items()]
        for sentence in map(stems, pattern("between_sentences").split(text)):
            for means, term in self._terms:
                if len(said := means.intersection(sentence)) > 1:
                    kept = {one: also for one, also in kept.items() if one not in said}
                    kept |= {one: {one: 1.0} for one in term}
        return [*kept.values()]

    def ranked(self, question: str, most: int = MOST, *, log: str = "") -> list[DocSection]:
        """The sections that fit the question best; the best first.

        A section about an error code that the question or a `log` names answers it.
        """
        best = self._scores(question)
        parts = pattern("between_sentences").split(question)
        telling = parts if len(parts) == 2 else filter(pattern("question").search, parts)
        alone = [one for one in telling if len(self.words(one)) > 1]
        for part in alone:  # Often only one of two sentences says what it is about.
            for at, score in self._scores(part).items():
                best[at] = max(best.get(at, score), score)
        said = [one for one in DATA["means"] if pattern(one).search(question)]
        same = [one for name in said for one in DATA["means"][name] if self.known >= {*stems(one)}]
        for one in same:
            for at, score in self._scores(one).items():
                is_title = {*stems(one)} <= self._titles[at]
                score = 2 * ANSWERS_FROM if is_title else min(score, ANSWERS_FROM)
                best[at] = max(best.get(at, score), score)
        for at in (*self.about(question, log), *self._with_row(question)):
            best[at] = max(best.get(at, 0.0), 0.0) + ANSWERS_FROM
        if not pattern("asks_meaning").search(question):
            best = {at: one for at, one in best.items() if at not in self._glossaries}
        ranked = sorted(best.items(), key=lambda one: (-one[1], one[0]))[:most]
        return [
            self.sections[at].model_copy(update={"score": round(score, 2)}) for at, score in ranked
        ]

    def _with_row(self, question: str) -> list[int]:
        """The few sections with a table of which a question has the whole label of a row."""
        sentences = pattern("between_sentences").split(question)
        asked = [{*self.words(one)} for one in sentences if pattern("question").search(one)]
        named = [
            at
            for at, rows in enumerate(self._rows)
            if any(sum(map(str.isalpha, row)) > 1 and row <= one for row in rows for one in asked)
        ]
        return named if len(named) < MOST else []

    def about(self, text: str, log: str = "") -> list[int]:
        """The few sections whose titles name an error code of a text or log, else whose texts do,
        or quote words of the log."""
        codes, said = codes_in(f"{text}\n{log}"), log.casefold()
        for texts in ((one.title for one in self.sections), (one.text for one in self.sections)):
            named = [
                not codes.isdisjoint(codes_in(text))
                or any(one.casefold() in said for one in pattern("literal").findall(text))
                for text in texts
            ]
            if 0 < sum(named) < MOST:
                return [at for at, one in enumerate(named) if one]
        return []

    def _scores(self, question: str) -> dict[int, float]:
        """The score of each section that shares words with a question."""
        asked = self._asked(question)
        words = frozenset(next(iter(one)) for one in asked)
        total = self._weight(words) or 1.0
        most = min(total, _ENOUGH)
        parts: defaultdict[int, float] = defaultdict(float)
        for passage, score in self._parts.scores(asked).items():
            at = self._section_of[passage]
            parts[at] = max(parts[at], score)
        said = [next(iter(meanings(one, self.known)), one) for one in content(question)]
        pairs = _pairs(said)
        problem = pattern("problem").search(question) is not None
        names = {*pattern("proper").findall(question)}
        named = self._whole.scores({one: 1.0} for one in stems(" ".join(names)))
        scores: dict[int, float] = {}
        for at, score in self._whole.scores(asked).items():
            title = self._titles[at]
            # What the whole document is about tells none of its sections from the others.
            own = title - self._subjects[at] or title
            about = sum(
                self._whole.rarity(one) * max(word.get(one, 0.0) for word in asked) for one in own
            )
            both = sum(self._pairs.rarity(stem(one)) for one in pairs & self._pairs_of[at])
            scores[at] = (score + parts[at] + PAIRS * both) / most
            scores[at] += TITLE * about / (self._weight(title) or 1.0) * most / total
            if at in named and len(named) <= MOST:  # A name makes a section near, and no answer.
                near = min(scores[at] + NAME, ANSWERS_FROM - 0.01)
                scores[at] = max(scores[at], near)
            if names & self._labels[at] and scores[at] >= NAME:
                scores[at] = max(scores[at], ANSWERS_FROM)
            if pattern("problem_title").search(self.sections[at].title):
                scores[at] += (PROBLEM if problem else -PROBLEM / 2) * most / total
        for words_before, places in self.asked_before:
            both = self._weight(words_before & words, 2)
            for at in places if both else ():
                alike = both / (self._weight(words_before, 2) * self._weight(words, 2)) ** 0.5
                scores[at] = scores.get(at, 0.0) + TICKET * alike**3
        return scores

    def _weight(self, words: Iterable[str], power: int = 1) -> float:
        return sum(self._whole.rarity(word) ** power for word in words)


def codes_in(text: str) -> set[str]:
    """The codes of errors and the HTTP statuses of a text."""
    return {code or status for code, status in pattern("error_code").findall(text)}


def _pairs(words: Sequence[str]) -> set[str]:
    """Each pair of neighbouring words that carry something, as one."""
    return {"".join(pair) for pair in pairwise(carrying(words))}


def _passages(text: Sequence[str]) -> list[Sequence[str]]:
    step = _PASSAGE // 2
    return [text[at : at + _PASSAGE] for at in range(0, max(1, len(text) - step), step)]
