"""What the texts say: the sentence that answers, the value in it, and sentences side by side. Pure.

There is one way to find: of each text the sentence that has most of the question's words, itself or
around it, and the kind of words that is asked for. A fact is the best of them, a comparison all of
them. What only a neighbour has is a doubt.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice, pairwise
from pathlib import PurePosixPath
from typing import Final

from leadhand_teams.research.grammar import asks, compiled
from leadhand_teams.research.output import CitedWords, FigureTable, ResearchFinding
from leadhand_teams.research.queries import TextQuery
from leadhand_teams.research.sentences import TextSentence, sentences
from leadhand_teams.research.words import (
    Word,
    alike,
    naming,
    stems_in,
    stems_of,
    translated,
    words_of,
)
from leadhand_teams.shared.reading import Text

MAX_SENTENCES: Final = 50_000
_ENOUGH: Final = 0.55
"""The part of a question's words, by rarity, that a sentence and its surroundings must have."""
_MOST: Final = 12
"""Differences that are shown."""
_LINK: Final = re.compile(r"(?:\s*\b(?:of|for|in|the|a|an|at)\b|\s*[’']s)*\s*")


@dataclass(slots=True)
class _Match:
    sentence: TextSentence
    score: float
    weight: float
    """The part of the words that it or its surroundings have."""
    has: list[Word]
    """Words that it has."""
    near: list[Word]
    """Words that only its surroundings have."""
    lacking: list[Word]
    """Named words that are not there at all."""

    def is_enough(self, query: TextQuery) -> bool:
        """Whether it has so much of the question that it may answer."""
        share = _ENOUGH / 2 if query.why and query.fits(self.sentence.text) else _ENOUGH
        has_words = len(self.has) + len(self.near) >= query.enough and (self.has or query.why)
        return self.weight >= share and bool(has_words)

    def doubts(self, query: TextQuery) -> list[str]:
        """What a reader should know of it."""
        doubts = [f"“{word}” is read as “{other}”." for word, other in query.read_as.items()]
        if query.why and not asks(self.sentence.text, "cause"):
            doubts.append("The sentence does not say that it is the reason.")
        near = dict.fromkeys(f"“{word.text}”" for word in self.near if not query.is_answered(word))
        if near:
            shown = ", ".join(near)
            doubts.append(f"The sentence itself does not name {shown}; its surroundings do.")
        heard = (*self.has, *self.near)
        absent = [w for w in query.every if w not in heard and not query.is_answered(w)]
        if absent := dict.fromkeys(f"“{word.text}”" for word in absent):
            doubts.append(f"The sentence does not say {', '.join(absent)}.")
        return doubts

    @property
    def rank(self) -> tuple[float, float]:
        return (self.score - len([word for word in self.lacking if word.is_name]), self.weight)


class TextLibrary:
    """The sentences of all texts."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self.texts = [one for one in texts if one.text.strip()]
        self.sentences = [*islice(chain.from_iterable(map(sentences, texts)), MAX_SENTENCES)]
        words = chain.from_iterable(words_of(f"{s.text} {s.near}") for s in self.sentences)
        self.vocabulary = {word.stem: word.text for word in words}
        self._family = cache(self._family_of)
        self._rarity = cache(self._rarity_of)

    def knows(self, stem: str) -> bool:
        """Whether a word, or one of its family, is in a text or a file's name."""
        return bool(self._family(stem))

    def fact(
        self,
        question: str,
        *,
        about: Sequence[str] = (),
        after: str = "",
        why: bool = False,
        columns: frozenset[str] = frozenset(),
    ) -> ResearchFinding:
        """The sentence that answers.

        `about` are names that it must have, `columns` stems of columns, which it may lack. `after`
        is a question before, which says what this one is about.
        """
        query = self._query(question, about=about, after=after, why=why, columns=columns)
        missing = tuple(dict.fromkeys(word.text for word in query.missing))
        if not (query.named and self.sentences) or any(word.is_name for word in query.missing):
            return ResearchFinding(not_found=missing)
        best, *others = self._best_of_each(query, self.texts)
        if missing and not any(not w.is_name and w in query.named for w in best.has):
            return ResearchFinding(not_found=missing)
        lacking = [w.text for w in best.lacking if w.is_name or not (why or w.is_doing)]
        if lacking or not best.is_enough(query) or not _holds_together(query, best.sentence):
            lacking = [" with ".join(dict.fromkeys(lacking))] if lacking else []
            return ResearchFinding(not_found=tuple(lacking))
        text, value = best.sentence.text, query.value(best.sentence.text)
        apart = any(word in query.named for word in (*best.near, *best.lacking))
        is_other = why and not query.fits(text) and not about and apart
        ends = [question[a.end : b.start] for a, b in pairwise(best.has)]
        is_bare = (
            query.is_unheard and all(w.is_name for w in best.has) and not any(map(str.strip, ends))
        )
        if is_other or (query.wanted.is_needed and (value is None or is_bare)):
            return ResearchFinding()
        differing = tuple(
            f"{best.sentence.ref} has “{value}”, {one.sentence.ref} has “{other}”"
            for one in others[:3]
            if one.weight >= best.weight and not one.lacking
            if (other := query.value(one.sentence.text)) and value and other != value
        )
        shown = f"{value}: “{text}”" if value and value != text else f"“{text}”"
        doubts = (*best.doubts(query), *differing)
        found = _quoting(shown, value or text, [best.sentence], doubts)
        if value is None and not why and len(best.has) + len(best.near) < 2:
            return found.model_copy(update={"kind": "nothing"})  # beside another answer
        is_sure = not best.near or (value is not None and query.wanted.is_needed)
        kind = "part" if missing else "answer" if is_sure else "guess"
        changes = {"kind": kind, "not_found": missing}
        return found.model_copy(update={**changes, "conflicts": differing})

    def _query(
        self,
        question: str,
        *,
        about: Sequence[str],
        after: str,
        why: bool,
        columns: frozenset[str],
    ) -> TextQuery:
        singled = [word for name in about for word in words_of(name)]
        reason = compiled("<why>").search(question) if about else None
        words = [*words_of(question[reason.end() if reason else 0 :]), *singled]
        words, read_as = translated([*words, *naming(words_of(after))], self.vocabulary)
        every = TextQuery(question, words, naming(words), why)
        words = [w for w in words if not w.is_doing or self.knows(w.stem)]
        named = [w for w in naming(words) if w.stem not in columns or self.knows(w.stem)]
        unknown = [w for w in singled or named if not self.knows(w.stem) and not w.is_doing]
        missing = [w for w in unknown if w.is_name or not why]
        query = TextQuery(question, words, [w for w in singled or named if w not in missing], why)
        query.missing, query.read_as = missing, read_as
        query.every = every.words
        query.is_unheard = any(not self.knows(w.stem) for w in every.words)
        query.enough = 0 if why else min(2, len(every.words))
        return query

    def compare(self, question: str) -> ResearchFinding:
        """What two or more texts say about the same, side by side."""
        words, read_as = translated(words_of(question), self.vocabulary)
        titles = {one.name: _titles(one) for one in self.texts}
        every = frozenset[str]().union(*titles.values())
        asked = {text for word in naming(words) for text in (word.stem, word.text)}
        topic = [w for w in naming(words) if w.stem not in every and w.text not in every]
        known = [w for w in topic if self.knows(w.stem)]
        chosen = [one for one in self.texts if titles[one.name] & asked]
        if not known and len(chosen) == 2:
            rows = self._differing(chosen, every)
        else:
            rows: list[list[TextSentence]] = []
            for part in _topics(question, known):
                heard = [w for w in words if w in part or (self.knows(w.stem) and w.stem in every)]
                query = TextQuery(question, heard, part, why=False)
                found = self._best_of_each(query, chosen if chosen[1:] else self.texts)
                fitting = [one for one in found if one.weight >= 0.5 and one.has][:4]
                row = sorted((one.sentence for one in fitting), key=self.sentences.index)
                rows += [row] if row not in rows else []
        shown = list(chain.from_iterable(rows[:_MOST]))
        unheard = [word for word in topic if word not in known]
        is_topic = not topic or any(word.stem not in stems_of("times") for word in known)
        if len(shown) < 2 or not is_topic or any(word.is_name for word in unheard):
            return ResearchFinding()
        lines = "; ".join(f"{one.source.name}: “{one.text}”" for one in shown)
        doubts = [f"“{word}” is read as “{other}”." for word, other in read_as.items()]
        doubts += [f"The texts do not have the word “{word.text}”." for word in unheard]
        if rows[_MOST:]:
            doubts.append(f"{len(rows) - _MOST} more that differ are not shown.")
        said = frozenset[str]().union(*(one.stems for one in shown))
        apart = [w.text for w in known if self._family(w.stem).isdisjoint(said)]
        doubts += [f"The sentences do not say “{word}”." for word in apart]
        made = _quoting(lines, lines, shown, doubts)
        names = list(dict.fromkeys(one.source.name for one in shown))
        cells = [{one.source.name: one.text for one in row} for row in rows[:_MOST]]
        table = tuple(tuple(cell.get(name, "") for name in names) for cell in cells)
        figures = FigureTable(columns=tuple(names), rows=table)
        return made.model_copy(update={"kind": "answer", "figures": figures})

    def _differing(self, texts: Sequence[Text], titles: frozenset[str]) -> list[list[TextSentence]]:
        """The first sentences that only one of two texts has, each beside the likest one."""
        parts = [[one for one in self.sentences if one.source is text] for text in texts]
        both = {one.text for one in parts[0]} & {one.text for one in parts[1]}
        left, right = (
            [one for one in part if one.text not in both and not titles.issuperset(one.stems)]
            for part in parts
        )
        rows: list[list[TextSentence]] = []
        for one in left:
            likest = max(right, key=lambda other: _likeness(one, other), default=None)
            is_pair = likest is not None and _likeness(one, likest) >= 0.3
            rows.append([one, likest] if likest and is_pair else [one])
            right = [other for other in right if not is_pair or other is not likest]
        return [*rows, *([one] for one in right)]

    def _best_of_each(self, query: TextQuery, texts: Sequence[Text]) -> list[_Match]:
        """The best sentence of each text, the best first."""
        best: dict[int, _Match] = {}
        for sentence in self.sentences:
            match, place = self._match(sentence, query), id(sentence.source)
            if place not in best or match.rank > best[place].rank:
                best[place] = match
        found = [best[id(one)] for one in texts if id(one) in best]
        return sorted(found, key=lambda match: match.rank, reverse=True)

    def _match(self, one: TextSentence, query: TextQuery) -> _Match:
        whole = got = score = 0.0
        made = _Match(one, 0.0, 0.0, [], [], [])
        for word in query.words:
            is_named, family = word in query.named, self._family(word.stem)
            weight = self._rarity(word.stem) * (1.0 if is_named else 0.5)
            whole += weight
            if not family.isdisjoint(one.stems):
                got, score = got + weight, score + weight
                made.has.append(word)
            elif not family.isdisjoint(one.around):
                got, score = got + weight * (0.8 if is_named else 0.5), score + weight * 0.5
                made.near.append(word)
            elif is_named:
                made.lacking.append(word)
        made.weight = got / (whole or 1.0)
        score += 0.5 * len(query.pairs.intersection(pairwise(one.stems)))
        made.score = score + query.fits(one.text) * (whole or 1.0) * 0.25 - 0.002 * len(one.stems)
        return made

    def _family_of(self, stem: str) -> frozenset[str]:
        return frozenset(other for other in self.vocabulary if alike(stem, other))

    def _rarity_of(self, stem: str) -> float:
        count = sum(stem in one.stems for one in self.sentences)
        return math.log(1 + (len(self.sentences) + 1) / (count + 0.5))


def _holds_together(query: TextQuery, one: TextSentence) -> bool:
    """Whether a phrase such as “head of Finance” stands together in the sentence."""
    for first, second in pairwise(naming(words_of(query.text)) if asks(query.text, "who") else []):
        if _LINK.fullmatch(query.text[first.end : second.start]):
            places = [
                [n for n, stem in enumerate(one.stems) if alike(word.stem, stem)]
                for word in (first, second)
            ]
            is_near = any(abs(a - b) <= 4 for a in places[0] for b in places[1])
            titled = stems_in(one.heading)
            lacking = [w for w, at in zip((first, second), places, strict=True) if not at]
            if not is_near and not (lacking and all(word.stem in titled for word in lacking)):
                return False
    return True


def _topics(question: str, words: Sequence[Word]) -> list[list[Word]]:
    """The words of each thing that is compared: those on each side of an `and`."""
    found: list[list[Word]] = [[]]
    for before, word in pairwise([None, *words]):
        if before and word and re.search(r"\band\b", question[before.end : word.start]):
            found.append([])
        found[-1] += [word] if word else []
    return found


def _likeness(one: TextSentence, other: TextSentence) -> float:
    """The part of their words that both have."""
    both = set(one.stems) & set(other.stems)
    return len(both) / max(1, len({*one.stems, *other.stems}))


def _quoting(
    sentence: str, value: str, found: Sequence[TextSentence], doubts: Sequence[str]
) -> ResearchFinding:
    cited = tuple(CitedWords(ref=one.ref, quote=one.text) for one in found)
    return ResearchFinding(sentence=sentence, value=value, citations=cited, doubts=tuple(doubts))


def _titles(source: Text) -> frozenset[str]:
    """The stems of its name and first line, which tell it from the others."""
    first = next((line for line in source.text.split("\n") if line.strip()), "")[:80]
    return frozenset(stems_in(f"{PurePosixPath(source.name).stem} {first}"))
