"""What the texts say: the sentence that answers, the value in it, and sentences side by side. Pure.

There is one way to find: of each text the sentence that has most of the question's words, itself or
around it, and the kind of words that is asked for. A fact is the best of them, a comparison all of
them. What only a neighbour has is a doubt.
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
from leadhand_teams.research.grammar import asks, compiled
from leadhand_teams.research.output import CitedWords, FigureTable, ResearchFinding
from leadhand_teams.research.sentences import TextSentence, sentences
from leadhand_teams.research.words import (
    Word,
    alike,
    listed,
    naming,
    stems_in,
    stems_of,
    translated,
    words_of,
)
from leadhand_teams.shared import values
from leadhand_teams.shared.reading import Text

MAX_SENTENCES: Final = 50_000
_ENOUGH: Final = 0.55
"""The part of a question's words, by rarity, that a sentence and its surroundings must have."""
_NAME: Final = re.compile(
    r"(?:[A-ZÄÖÜ][\w'’.-]*|& )(?: (?:[A-ZÄÖÜ][\w'’.-]*|&|de|van|von|der|of))*"
)
_TIMES: Final = frozenset((*values.MONTHS, *listed("weekdays")))
_LINK: Final = re.compile(r"(?:\s*\b(?:of|for|in|the|a|an|at)\b|\s*[’']s)*\s*")


def _dates(text: str) -> list[str]:
    return [one.text for one in values.dates(text) or values.periods(text)]


def _money(text: str) -> list[str]:
    return [one.text.strip() for one in values.amounts(text) if one.unit not in (None, "%")]


def _durations(text: str) -> list[str]:
    return [one[0] for one in compiled("<duration>").finditer(text)]


def _amounts(text: str) -> list[str]:
    return [one.text.strip() for one in values.amounts(text)] or _durations(text)


def _names(text: str) -> list[str]:
    found = [(one.start(), one[0].rstrip(" .,&")) for one in _NAME.finditer(text)]
    # A first word alone, initials, days and months are seldom names.
    return [
        name
        for start, name in found
        if (start > 0 or " " in name)
        if not (name.isupper() and len(name) < 4) and name.lower() not in _TIMES
    ]


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
    Wanted(r"how (?:long|soon)", _durations),
    Wanted(r"how many", _amounts, is_needed=True),
    Wanted(r"price|fee|rent|<paying>", _money, is_needed=True),
    Wanted(r"how (?:much|high|large|often|bright)|rate", _amounts),
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
        many = compiled("how many").search(text)
        after = (word for word in words if many and word.start > many.end())
        self.counted = next(after, None)
        stems = [word.stem for word in words if word.text.lower() in kept]
        self.pairs = set(pairwise(stems))
        found = (one for one in WANTED if asks(text, one.words) and not why)
        self.wanted = next(found, WANTED[-1])

    def fits(self, sentence: str) -> float:
        """How well a sentence has what is asked for: 0 to 1, a reason of the same turn 1.7."""
        if not self.why:
            return 1.0 if self._parts(sentence) else 0.0
        turns = ("rising", "falling")
        same_turn = any(asks(self.text, turn) and asks(sentence, turn) for turn in turns)
        return asks(sentence, "cause") + 0.7 * same_turn

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
        found = [one for one in found if set(stems_in(one)) - self.asked]
        if self.counted is None:
            return found
        after = [
            (one, (*stems_in(one), *stems_in(sentence.partition(one)[2])[:4])) for one in found
        ]
        noun = self.counted.stem  # "28 years" are no count of images
        return [one for one, stems in after if any(alike(noun, other) for other in stems)]


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
        why: bool = False,
        columns: frozenset[str] = frozenset(),
    ) -> ResearchFinding:
        """The sentence that answers.

        `about` are names that it must have, `columns` stems of columns, which it may lack.
        """
        singled = [word for name in about for word in words_of(name)]
        reason = compiled("<why>").search(question) if about else None
        words = [*words_of(question[reason.end() if reason else 0 :]), *singled]
        words, read_as = translated(words, self.vocabulary)
        named = [w for w in naming(words) if w.stem not in columns or self.knows(w.stem)]
        missing = [w for w in singled or named if not self.knows(w.stem) and not w.is_doing]
        query = _Query(question, words, [w for w in singled or named if w not in missing], why)
        if not (query.named and self.sentences) or any(word.is_name for word in missing):
            return ResearchFinding(not_found=tuple(dict.fromkeys(w.text for w in missing)))
        best, *others = self._best_of_each(query, self.texts)
        lacking = list(dict.fromkeys(w.text for w in best.lacking if not w.is_doing))
        enough = min(2, len(query.words) + len(missing)) if not why else 0
        if missing and not any(not w.is_name and w in query.named for w in best.has):
            return ResearchFinding(not_found=tuple(w.text for w in missing))
        is_known = (
            best.weight >= _ENOUGH
            and (best.has or why)
            and len(best.has) + len(best.near) >= enough
        )
        if lacking or not is_known or not _holds_together(query, words, best.sentence):
            return ResearchFinding(not_found=(" with ".join(lacking),) if lacking else ())
        text, value = best.sentence.text, query.value(best.sentence.text)
        is_named = any(word in query.named for word in best.has)
        is_topic = value is None and not why and len(best.has) + len(best.near) < 2
        is_other = why and not is_named and not query.fits(text)
        if is_other or (value is None and query.wanted.is_needed):
            return ResearchFinding()
        doubts = [f"“{word}” is read as “{other}”." for word, other in read_as.items()]
        if why and not asks(text, "cause"):
            doubts.append("The sentence does not say that it is the reason.")
        if near := dict.fromkeys(f"“{word.text}”" for word in best.near if word in query.named):
            doubts.append(
                f"The sentence itself does not name {', '.join(near)}; its surroundings do."
            )
        differing = tuple(
            f"{best.sentence.ref} has “{value}”, {one.sentence.ref} has “{other}”"
            for one in others[:3]
            if one.weight >= best.weight and not one.lacking
            if (other := query.value(one.sentence.text)) and value and other != value
        )
        shown = f"{value}: “{text}”" if value and value != text else f"“{text}”"
        found = _quoting(shown, value or text, [best.sentence], (*doubts, *differing))
        if is_topic:  # beside another answer
            return found.model_copy(update={"kind": "nothing"})
        return found.model_copy(update={"conflicts": differing, **_left_out(missing)})

    def compare(self, question: str) -> ResearchFinding:
        """What two or more texts say about the same, side by side."""
        words, read_as = translated(words_of(question), self.vocabulary)
        titles = {one.name: _titles(one) for one in self.texts}
        every = frozenset[str]().union(*titles.values())
        asked = {text for word in naming(words) for text in (word.stem, word.text)}
        topic = [w for w in naming(words) if w.stem not in every and w.text not in every]
        known = [w for w in topic if self.knows(w.stem)]
        chosen = [one for one in self.texts if titles[one.name] & asked]
        if not topic and len(chosen) == 2:
            rows = self._differing(chosen, every)
        else:
            heard = [w for w in words if w in known or (self.knows(w.stem) and w.stem in every)]
            query = _Query(question, heard, known, why=False)
            found = self._best_of_each(query, chosen if chosen[1:] else self.texts)
            fitting = [one for one in found if one.weight >= 0.5 and one.has][:4]
            rows = [sorted((one.sentence for one in fitting), key=self.sentences.index)]
        shown = list(chain.from_iterable(rows))
        if len(shown) < 2 or (topic and not known):
            return ResearchFinding()
        lines = "; ".join(f"{one.source.name}: “{one.text}”" for one in shown)
        doubts = [f"“{word}” is read as “{other}”." for word, other in read_as.items()]
        missing = [word.text for word in topic if word not in known]
        doubts += [f"The texts do not have the word “{word}”." for word in missing]
        made = _quoting(lines, lines, shown, doubts)
        names = list(dict.fromkeys(one.source.name for one in shown))
        cells = [{one.source.name: one.text for one in row} for row in rows]
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
        return [*rows, *([one] for one in right)][:8]

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


def _holds_together(query: _Query, words: Sequence[Word], one: TextSentence) -> bool:
    """Whether a phrase such as “head of Finance” stands together in the sentence."""
    for first, second in pairwise(naming(words) if asks(query.text, "who") else []):
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


def _likeness(one: TextSentence, other: TextSentence) -> float:
    """The part of their words that both have."""
    both = set(one.stems) & set(other.stems)
    return len(both) / max(1, len({*one.stems, *other.stems}))


def _left_out(missing: Sequence[Word]) -> dict[str, str | tuple[str, ...]]:
    names = tuple(dict.fromkeys(word.text for word in missing))
    return {"kind": "part", "not_found": names} if names else {"kind": "answer"}


def _quoting(
    sentence: str, value: str, found: Sequence[TextSentence], doubts: Sequence[str]
) -> ResearchFinding:
    cited = tuple(CitedWords(ref=one.ref, quote=one.text) for one in found)
    return ResearchFinding(sentence=sentence, value=value, citations=cited, doubts=tuple(doubts))


def _titles(source: Text) -> frozenset[str]:
    """The stems of its name and first line, which tell it from the others."""
    first = next((line for line in source.text.split("\n") if line.strip()), "")[:80]
    return frozenset(stems_in(f"{PurePosixPath(source.name).stem} {first}"))
