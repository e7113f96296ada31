"""What the texts say: the sentence that answers, the value in it, and sentences side by side. Pure.

There is one way to find: of each text the sentence that has most of the question's words, itself or
around it, and the kind of words that is asked for. A fact is the best of them, a comparison all of
them. What no file names is `not_found`; what only a neighbour has is a doubt.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice, pairwise
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from leadhand.tools.files import content_words
from leadhand_teams.research.grammar import asks
from leadhand_teams.research.output import CitedWords, ResearchFinding
from leadhand_teams.research.sentences import TextSentence, sentences
from leadhand_teams.research.words import (
    Word,
    alike,
    any_of,
    name_stems,
    naming,
    stems_of,
    words_of,
)
from leadhand_teams.shared import values
from leadhand_teams.shared.reading import Text

MAX_SENTENCES: Final = 50_000
_ENOUGH: Final = 0.55
"""The part of a question's words, by rarity, that a sentence and its surroundings must have."""
_CAUSE: Final = (
    r"because|since (?!\w+ \d|\d)|due to|owing to|thanks to|as a result|so that|in order to|reason|"
    "caused? by|after|driven by|led to"
)
_NAME: Final = re.compile(
    r"(?:[A-ZÄÖÜ][\w'’.-]*|& )(?: (?:[A-ZÄÖÜ][\w'’.-]*|&|de|van|von|der|of))*"
)
_LINK: Final = re.compile(r"(?:\s*\b(?:of|for|in|the|a|an|at)\b|\s*[’']s)*\s*")
_DURATION: Final = re.compile(
    rf"\b(?:\d[\d.,]*|one|{any_of('numbers')}|eleven|twelve|\w+teen|\w+ty)"
    r" (?:second|minute|hour|day|week|month|quarter|year)s?\b",
    re.IGNORECASE,
)


def _dates(text: str) -> list[str]:
    return [one.text for one in values.dates(text) or values.periods(text)]


def _money(text: str) -> list[str]:
    return [one.text.strip() for one in values.amounts(text) if one.unit not in (None, "%")]


def _durations(text: str) -> list[str]:
    return _DURATION.findall(text)


def _amounts(text: str) -> list[str]:
    return [one.text.strip() for one in values.amounts(text)] or _durations(text)


def _names(text: str) -> list[str]:
    found = [(one.start(), one[0].rstrip(" .,&")) for one in _NAME.finditer(text)]
    # A first word alone, and initials, are seldom names.
    found = [one for one in found if not (one[1].isupper() and len(one[1]) < 4)]
    found = [one for one in found if one[1].lower() not in values.MONTHS]
    return [name for start, name in found if start > 0 or " " in name]


def _nothing(_: str) -> list[str]:
    return []


class Wanted(NamedTuple):
    """A kind of words that questions ask for."""

    words: str
    """Of the question, a pattern."""
    parts: Callable[[str], list[str]]
    """Those of a sentence."""
    is_needed: bool = False
    """Whether a sentence without such is no answer."""


WANTED: Final = (
    Wanted(r"when|(?:which|what) (?:day|date|year)", _dates),
    Wanted(r"who", _names, is_needed=True),
    Wanted(r"whom|whose", _names),
    Wanted(r"how long", _durations),
    Wanted(r"price|costs?|fee|rent|how much (?:is|are|was|were) paid", _money, is_needed=True),
    Wanted(r"how (?:many|much|high|large|often)|rate", _amounts),
    Wanted(r"", _nothing),
)


class _Query:
    """A question to texts: its words, those that name something, and what it wants."""

    def __init__(self, text: str, words: Sequence[Word], named: Sequence[Word], why: bool) -> None:
        kept = content_words(" ".join(word.text for word in words))
        telling = [w for w in words if w.text.lower() in kept and w.stem not in stems_of("empty")]
        self.text, self.named, self.why = text, named, why
        self.words = list({word.stem: word for word in (*named, *telling)}.values())
        self.asked = {word.stem for word in words}
        found = (one for one in WANTED if asks(text, one.words) and not why)
        self.wanted = next(found, WANTED[-1])

    def fits(self, sentence: str) -> float:
        """How well a sentence has what is asked for: 0 to 1, a reason of the same turn 1.7."""
        if not self.why:
            return 1.0 if self._parts(sentence) else 0.0
        turns = ("rising", "falling")
        same_turn = any(asks(self.text, turn) and asks(sentence, turn) for turn in turns)
        return asks(sentence, _CAUSE) + 0.7 * same_turn

    def value(self, sentence: str) -> str | None:
        """The part of a sentence that is asked for: that next to the words of the question."""
        near = [
            place
            for word in words_of(sentence)
            if any(alike(word.stem, one.stem) for one in self.named)
            for place in (word.start, word.end)
        ]

        def distance(part: str) -> int:
            start = sentence.find(part)
            return min(min(abs(start - at), abs(start + len(part) - at)) for at in near or [0])

        parts = self._parts(sentence)
        return min(parts, key=distance, default=None) if near or len(parts) < 2 else None

    def _parts(self, sentence: str) -> list[str]:
        """What it asks for and does not name itself."""
        found = self.wanted.parts(sentence)
        return [one for one in found if {word.stem for word in words_of(one)} - self.asked]


@dataclass(slots=True)
class _Match:
    sentence: TextSentence
    score: float
    weight: float
    """The part of the words that it or its surroundings have."""
    near: list[str]
    """Named words that only its surroundings have."""
    lacking: list[Word]
    """Named words that are not there at all."""

    @property
    def rank(self) -> tuple[float, float]:
        return (self.score - len([word for word in self.lacking if word.is_name]), self.weight)


class TextLibrary:
    """The sentences of all texts."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self.texts = [one for one in texts if one.text.strip()]
        self.sentences = [*islice(chain.from_iterable(map(sentences, texts)), MAX_SENTENCES)]
        self._known = frozenset(stem for s in self.sentences for stem in (*s.stems, *s.around))
        self._rarity = cache(self._rarity_of)

    def knows(self, stem: str) -> bool:
        """Whether a word, or one of its family, is in a text or a file's name."""
        return stem in self._known or any(alike(stem, other) for other in self._known)

    def fact(
        self,
        question: str,
        *,
        about: Sequence[str] = (),
        why: bool = False,
        columns: frozenset[str] = frozenset(),
    ) -> ResearchFinding:
        """The sentence that answers.

        `about` are names that it must have, `columns` stems of columns, which it may lack.
        """
        singled = [word for name in about for word in words_of(name)]
        after = question.lower().rfind("why") if about else 0
        words = [*words_of(question[max(after, 0) :]), *singled]
        named = [w for w in naming(words) if w.stem not in columns or self.knows(w.stem)]
        query = _Query(question, words, singled or named, why)
        missing = [w.text for w in query.named if not w.is_doing and not self.knows(w.stem)]
        matches = self._best_of_each(query, self.texts) if query.named and not missing else []
        if not matches:
            return ResearchFinding(not_found=tuple(dict.fromkeys(missing)))
        best = matches[0]
        lacking = list(dict.fromkeys(w.text for w in best.lacking if not w.is_doing))
        has = [
            w for w in query.words if any(alike(w.stem, stem) for stem in best.sentence.all_stems)
        ]
        is_topic_alone = len(has) < min(2, len(query.words)) and not query.why
        if (
            best.weight < _ENOUGH
            or lacking
            or is_topic_alone
            or not _holds_together(question, best.sentence)
        ):
            return ResearchFinding(not_found=(" with ".join(lacking),) if lacking else ())
        text, value = best.sentence.text, query.value(best.sentence.text)
        is_named = any(alike(w.stem, stem) for w in query.named for stem in best.sentence.stems)
        is_reason = query.fits(text) > 0
        if (value is None and query.wanted.is_needed) or (why and not is_named and not is_reason):
            return ResearchFinding()
        doubts: list[str] = []
        if why and not asks(text, _CAUSE):
            doubts.append("The sentence does not say that it is the reason.")
        if best.near:
            shown = ", ".join(f"“{word}”" for word in best.near)
            doubts.append(f"The sentence itself does not name {shown}; its surroundings do.")
        differing = tuple(
            f"{best.sentence.ref} has “{value}”, {one.sentence.ref} has “{other}”"
            for one in matches[1:4]
            if one.weight >= best.weight and not one.lacking
            if (other := query.value(one.sentence.text)) and value and other != value
        )
        shown = f"{value}: “{text}”" if value and value != text else f"“{text}”"
        found = _quoting(shown, value or text, [best.sentence], (*doubts, *differing))
        return found.model_copy(update={"conflicts": differing})

    def compare(self, question: str) -> ResearchFinding:
        """What two or more texts say about the same, side by side."""
        words = words_of(question)
        titles = {one.name: _titles(one) for one in self.texts}
        every = frozenset[str]().union(*titles.values())
        asked = {word.stem for word in words} | {word.text for word in words}
        topic = [w for w in naming(words) if w.stem not in every and w.text not in every]
        known = [w for w in topic if self.knows(w.stem)]
        chosen = [one for one in self.texts if titles[one.name] & asked]
        matches = [
            one
            for one in self._best_of_each(
                _Query(question, known, known, why=False), chosen if chosen[1:] else self.texts
            )
            if one.weight >= 0.5
            and any(alike(word.stem, stem) for word in known for stem in one.sentence.stems)
        ][:4]
        shown = sorted((one.sentence for one in matches), key=self.sentences.index)
        if not topic and len(chosen) == 2:
            shown = self._differing(chosen, every)
        if len(shown) < 2 or (topic and not known):
            return ResearchFinding()
        lines = "; ".join(f"{one.source.name}: “{one.text}”" for one in shown)
        missing = [word.text for word in topic if word not in known]
        doubts = [f"The files do not have the word “{word}”." for word in missing]
        return _quoting(lines, lines, shown, doubts)

    def _differing(self, texts: Sequence[Text], titles: frozenset[str]) -> list[TextSentence]:
        """The first sentences that only one of two texts has; no titles."""
        parts = [[one for one in self.sentences if one.source is text] for text in texts]
        both = {one.text for one in parts[0]} & {one.text for one in parts[1]}
        found = ([one for one in part if one.text not in both] for part in parts)
        return [one for part in found for one in part if not titles.issuperset(one.stems)][:8]

    def _best_of_each(self, query: _Query, texts: Sequence[Text]) -> list[_Match]:
        """The best sentence of each text, the best first."""
        best: dict[int, _Match] = {}
        for sentence in self.sentences:
            match, place = self._match(sentence, query), id(sentence.source)
            if place not in best or match.rank > best[place].rank:
                best[place] = match
        found = [best[id(one)] for one in texts if id(one) in best]
        return sorted(found, key=lambda match: match.rank, reverse=True)

    def _match(self, one: TextSentence, query: _Query) -> _Match:
        whole = got = score = 0.0
        near: list[str] = []
        lacking: list[Word] = []
        for word in query.words:
            is_named = word in query.named
            weight = self._rarity(word.stem) * (1.0 if is_named else 0.5)
            whole += weight
            if any(alike(word.stem, stem) for stem in one.stems):
                got += weight
                score += weight
            elif any(alike(word.stem, stem) for stem in one.around):
                got += weight * (0.8 if is_named else 0.5)
                score += weight * 0.5
                near += [word.text] if is_named else []
            elif is_named:
                lacking.append(word)
        score += query.fits(one.text) * (whole or 1.0) * 0.25 - 0.002 * len(one.stems)
        return _Match(one, score, got / (whole or 1.0), near, lacking)

    def _rarity_of(self, stem: str) -> float:
        count = sum(stem in one.stems for one in self.sentences)
        return math.log(1 + (len(self.sentences) + 1) / (count + 0.5))


def _holds_together(question: str, one: TextSentence) -> bool:
    """Whether a phrase such as “head of Finance” stands together in the sentence."""
    for first, second in pairwise(naming(words_of(question)) if asks(question, "who") else []):
        if _LINK.fullmatch(question[first.end : second.start]):
            places = [
                [n for n, stem in enumerate(one.stems) if alike(word.stem, stem)]
                for word in (first, second)
            ]
            is_near = any(abs(a - b) <= 4 for a in places[0] for b in places[1])
            titled = name_stems(one.heading)
            lacking = [w for w, at in zip((first, second), places, strict=True) if not at]
            if not is_near and not (lacking and all(word.stem in titled for word in lacking)):
                return False
    return True


def _quoting(
    sentence: str, value: str, found: Sequence[TextSentence], doubts: Sequence[str]
) -> ResearchFinding:
    cited = tuple(CitedWords(ref=one.ref, quote=one.text) for one in found)
    return ResearchFinding(sentence=sentence, value=value, citations=cited, doubts=tuple(doubts))


def _titles(source: Text) -> frozenset[str]:
    """The stems of its name and first line, which tell it from the others."""
    first = next((line for line in source.text.split("\n") if line.strip()), "")[:80]
    stem = PurePosixPath(source.name).stem
    return frozenset([*name_stems(stem), *(word.stem for word in words_of(first))])
