"""What the texts say: the sentence that answers, the value in it, and sentences side by side. Pure.

A sentence answers if it, its heading and its neighbours have all that the question names. What no
file names is `not_found`; what only a neighbour has is a doubt.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final

from leadhand_teams.research.grammar import FALLING, NUMBERS, RISING
from leadhand_teams.research.output import CitedWords, ResearchFinding
from leadhand_teams.research.words import Word, alike, is_doing, name_stems, naming, words_of
from leadhand_teams.shared import values
from leadhand_teams.shared.reading import Text

MAX_SENTENCES: Final = 50_000
_NEIGHBOUR: Final = 0.5
"""The weight of a word that only the heading or a neighbour has."""
_ENOUGH: Final = 0.55
"""The weight of a question's words that a sentence must have."""
_BREAK: Final = re.compile(
    r"\n[ \t]*\n+|(?<=[.!?])[ \t]*\n|(?<=[.!?])\s+(?=[\"“(]?[A-ZÄÖÜÉ\d])|"
    r"\n(?=\s*(?:[-*•#|]|\d+[.)]\s))|\n(?=[^\n:]{1,40}: )"
)
_NUMBERED: Final = re.compile(r"\d+(?:\.\d+)*[.)]?\s+\w[\w ]{0,40}\.?")
"""A numbered heading: `3. Deposit.`"""
_SHORT_FORM: Final = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|Nr|Art|Sec|approx|e\.g|i\.e|etc|vs|Inc|Ltd|Co|[A-Z]|\d{1,2}))\.$"
)
_CAUSE: Final = re.compile(
    r"\b(?:because|since|due to|owing to|thanks to|as a result|so that|in order to|reason|"
    r"caused? by|after|driven by|led to)\b",
    re.IGNORECASE,
)
_NO_CAUSE: Final = "The sentence does not say that it is the reason."
_NAME: Final = re.compile(
    r"(?:[A-ZÄÖÜ][\w'’.-]*|& )(?: (?:[A-ZÄÖÜ][\w'’.-]*|&|de|van|von|der|of))*"
)  # fmt: skip
_LINK: Final = re.compile(
    r"^(?:of|for|in|the|a|an|’s|'s|at)?(?:\s+(?:of|for|in|the|a|an|at))*$", re.IGNORECASE
)
_SMALL_WORDS: Final = "the and for are was were did does how what which who why when"
_SMALL: Final = frozenset(_SMALL_WORDS.split())
_NUMBER: Final = re.compile(rf"\b(?:one|{'|'.join(NUMBERS)}|eleven|twelve)\b", re.IGNORECASE)


@dataclass(frozen=True)
class TextSentence:
    """A sentence and where it is."""

    source: Text
    start: int
    end: int
    heading: str
    before: str = ""
    after: str = ""

    @property
    def text(self) -> str:
        """On one line."""
        return " ".join(self.source.text[self.start : self.end].split()).lstrip("#-*•| ")

    @property
    def ref(self) -> str:
        return self.source.ref(self.start)

    @cached_property
    def stems(self) -> tuple[str, ...]:
        return tuple(word.stem for word in words_of(self.text))

    @cached_property
    def around(self) -> frozenset[str]:
        """The stems of its heading, its neighbours and its file's name."""
        near = words_of(f"{self.heading} {self.before} {self.after} {self.source.title}")
        return frozenset(
            [*(w.stem for w in near), *name_stems(PurePosixPath(self.source.name).stem)]
        )


@dataclass(slots=True)
class _Match:
    sentence: TextSentence
    score: float
    weight: float
    """Of the words that it, its heading or a neighbour has."""
    near: list[Word]
    """Named words that only a neighbour has."""
    lacking: list[Word]
    """Named words that are not there at all."""


class TextLibrary:
    """The sentences of all texts."""

    def __init__(self, texts: Sequence[Text]) -> None:
        self.texts = [one for one in texts if one.text.strip()]
        self.sentences = [s for one in self.texts for s in _sentences(one)][:MAX_SENTENCES]
        self._known = frozenset(stem for s in self.sentences for stem in (*s.stems, *s.around))
        self._counts: dict[str, int] = {}

    def knows(self, stem: str) -> bool:
        """Whether a word, or one of its family, is in a text or a file's name."""
        return stem in self._known or any(alike(stem, other) for other in self._known)

    def fact(
        self,
        question: str,
        *,
        about: Sequence[str] = (),
        why: bool = False,
        known: frozenset[str] = frozenset(),
    ) -> ResearchFinding:
        """The sentence that answers.

        `about` are names that it must have, `known` stems of tables, which it may lack.
        """
        singled = [word for name in about for word in words_of(name)]
        after = question.lower().rfind("why") if about else 0
        words = [*words_of(question[max(after, 0) :]), *singled]
        named = singled if about else naming(words)
        named = [w for w in named if w.stem not in known or self.knows(w.stem)]
        missing = [word for word in named if not is_doing(word) and not self.knows(word.stem)]
        if missing or not named:
            return ResearchFinding(not_found=tuple(dict.fromkeys(w.text for w in missing)))
        if not self.sentences:
            return ResearchFinding()
        why = why or re.search(r"\bwhy\b", question, re.IGNORECASE) is not None
        best = max((self._match(s, words, named, question, why) for s in self.sentences), key=_rank)
        names_lacking = [w for w in best.lacking if not is_doing(w)]
        if best.weight < _ENOUGH or names_lacking or not self._holds_together(question, best):
            lacking = [word.text for word in names_lacking]
            together = (" with ".join(dict.fromkeys(lacking)),) if names_lacking else ()
            return ResearchFinding(not_found=together)
        text = best.sentence.text
        value = None if why else _value(question, best.sentence, words)
        if value is None and re.match(r"\s*who\b", question, re.IGNORECASE):
            return ResearchFinding()
        doubts = [_NO_CAUSE] if why and not _CAUSE.search(text) else []
        if best.near:
            shown = ", ".join(f"“{word.text}”" for word in best.near)
            doubts.append(f"The sentence itself does not name {shown}; its surroundings do.")
        shown = f"{value}: “{text}”" if value and value != text else f"“{text}”"
        return _quoting(shown, value or text, [best.sentence], doubts)

    def passages(self, question: str, *, known: frozenset[str] = frozenset()) -> ResearchFinding:
        """The sentences that say most on the words of a question."""
        words = words_of(question)
        named = [w for w in naming(words) if w.stem not in known or self.knows(w.stem)]
        missing = [word.text for word in named if not self.knows(word.stem)]
        matches = [self._match(s, named, named, question, False) for s in self.sentences]
        best = sorted((m for m in matches if m.weight >= 0.4), key=_rank, reverse=True)[:3]
        if not named or not best:
            return ResearchFinding(not_found=tuple(missing))
        shown = " ".join(f"“{one.sentence.text}”" for one in best)
        doubts = [f"The texts do not have the word “{word}”." for word in missing]
        return _quoting(shown, shown, [one.sentence for one in best], doubts)

    def compare(self, question: str) -> ResearchFinding:
        """What two or more texts say about the same, side by side."""
        words = words_of(question)
        titles = {one.name: _titles(one) for one in self.texts}
        every = {stem for stems in titles.values() for stem in stems}
        asked = {word.stem for word in words} | set(re.findall(r"\d{4}", question))
        every_topic = [w for w in naming(words) if w.stem not in every and w.text not in every]
        topic = [w for w in every_topic if self.knows(w.stem)]
        chosen = [one for one in self.texts if titles[one.name] & asked]
        chosen = chosen if len(chosen) > 1 else self.texts
        if not topic or len(self.texts) < 2:
            return ResearchFinding()
        found: list[tuple[float, TextSentence]] = []
        for one in chosen:
            own = [s for s in self.sentences if s.source is one]
            if own:
                matches = (self._match(s, topic, topic, question, False) for s in own)
                best = max(matches, key=_rank)
                if best.weight >= 0.5 and any(
                    alike(w.stem, s) for w in topic for s in best.sentence.stems
                ):
                    found.append((best.score, best.sentence))
        if len(found) < 2:
            return ResearchFinding()
        kept = {id(s) for _, s in sorted(found, key=lambda pair: -pair[0])[:4]}
        shown = [s for _, s in found if id(s) in kept]
        lines = "; ".join(f"{s.source.name}: “{s.text}”" for s in shown)
        missing = [word.text for word in every_topic if word not in topic]
        doubts = [f"The files do not have the word “{word}”." for word in missing]
        return _quoting(_difference(shown) + lines, lines, shown, doubts)

    def _match(
        self,
        one: TextSentence,
        words: Sequence[Word],
        named: Sequence[Word],
        question: str,
        why: bool,
    ) -> _Match:
        whole = got = score = 0.0
        near: list[Word] = []
        lacking: list[Word] = []
        for word in {w.stem: w for w in (*named, *_telling(words))}.values():
            weight = self._rarity(word.stem)
            is_named = word in named
            weight *= 1.0 if is_named else 0.5
            whole += weight
            if any(alike(word.stem, stem) for stem in one.stems):
                got += weight
                score += weight
            elif any(alike(word.stem, stem) for stem in one.around):
                got += weight * (0.8 if is_named else 0.5)
                score += weight * _NEIGHBOUR
                near += [word] if is_named else []
            elif is_named:
                lacking.append(word)
        score += _fits(question, one, why) * (whole or 1.0) * 0.25
        score -= 0.002 * len(one.stems)
        return _Match(one, score, got / whole if whole else 0.0, near, lacking)

    def _rarity(self, stem: str) -> float:
        if stem not in self._counts:
            self._counts[stem] = sum(stem in s.stems for s in self.sentences)
        count = self._counts[stem]
        return math.log(1 + (len(self.sentences) + 1) / (count + 0.5))

    def _holds_together(self, question: str, best: _Match) -> bool:
        """Whether a phrase such as “head of Finance” stands together in the sentence."""
        words = words_of(question)
        named = naming(words)
        stems = best.sentence.stems
        for one, other in pairwise(named):
            between = question[one.end : other.start].strip()
            if not _LINK.match(between) or not re.search(r"\bwho\b", question, re.IGNORECASE):
                continue
            first = [n for n, s in enumerate(stems) if alike(one.stem, s)]
            second = [n for n, s in enumerate(stems) if alike(other.stem, s)]
            if not first or not second or min(abs(a - b) for a in first for b in second) > 4:
                return False
        return True


def _quoting(
    sentence: str, value: str, found: Sequence[TextSentence], doubts: Sequence[str]
) -> ResearchFinding:
    return ResearchFinding(
        sentence=sentence,
        value=value,
        citations=tuple(CitedWords(ref=one.ref, quote=one.text) for one in found),
        doubts=tuple(doubts),
    )


def _rank(one: _Match) -> tuple[float, float]:
    return (-len([w for w in one.lacking if w.is_name]) + one.score, one.weight)


def _telling(words: Sequence[Word]) -> list[Word]:
    """Verbs and adjectives of the question that a sentence may repeat."""
    return [w for w in words if w.text.lower() not in _SMALL and len(w.text) > 2]


def _sentences(source: Text) -> Iterable[TextSentence]:
    spans: list[tuple[int, int]] = []
    start = 0
    for found in [*_BREAK.finditer(source.text), None]:
        end = found.start() if found else len(source.text)
        if (
            found
            and _SHORT_FORM.search(source.text[max(start, end - 12) : end])
            and "\n\n" not in found[0]
        ):
            continue
        lead = len(source.text[start:end]) - len(source.text[start:end].lstrip())
        # Rows of tables are for `schema`.
        if source.text[start:end].strip(" \n#-*•|:") and source.text.count(" | ", start, end) < 2:
            spans.append((start + lead, end))
        start = found.end() if found else end
    heading = ""
    texts = [source.text[a:b] for a, b in spans]
    for n, (a, b) in enumerate(spans):
        if texts[n].startswith("#") or _NUMBERED.fullmatch(texts[n]):
            heading = texts[n].lstrip("# ")
            continue
        before = texts[n - 1] if n and not texts[n - 1].startswith("#") else ""
        after = texts[n + 1] if n + 1 < len(spans) and not texts[n + 1].startswith("#") else ""
        yield TextSentence(source, a, b, heading, before, after)


def _titles(source: Text) -> set[str]:
    first = next((line for line in source.text.split("\n") if line.strip()), "")[:80]
    stem = PurePosixPath(source.name).stem
    years = re.findall(r"(?:19|20)\d\d", f"{stem} {first}")
    return {*name_stems(stem), *(w.stem for w in words_of(first)), *years}


def _fits(question: str, one: TextSentence, why: bool) -> float:
    """How well a sentence has what the question's first word asks for: 0 or 1."""
    low, text = question.lower(), one.text
    if why:
        turns = [re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in (RISING, FALLING)]
        same_turn = any(turn.search(low) and turn.search(text) for turn in turns)
        return 1.0 if _CAUSE.search(text) else 0.7 if same_turn else 0.0
    if re.search(r"\bwhen\b|which (?:day|date|year)|what (?:day|date|year)", low):
        return 1.0 if values.dates(text) or values.periods(text) else 0.0
    if re.search(r"how (?:many|much|long|high|large|often)|\b(?:price|cost|rate|fee|rent)\b", low):
        return 1.0 if _NUMBER.search(text) or any(values.amounts(text)) else 0.0
    if re.search(r"\bwhom?\b|\bwhose\b", low):
        asked = {w.stem for w in words_of(question)}
        named = [{w.stem for w in words_of(name)} for _, _, name in _names(text)]
        return 1.0 if any(stems - asked for stems in named) else 0.0
    return 0.0


def _value(question: str, one: TextSentence, words: Sequence[Word]) -> str | None:
    """The part of the sentence that the question asks for."""
    low, text = question.lower(), one.text
    named = naming(words)
    near = [w for w in words_of(text) if any(alike(w.stem, q.stem) for q in named)]
    places = [place for w in near for place in (w.start, w.end)]
    found: list[tuple[int, int, str]] = []
    if re.search(r"\bwhen\b|\bwhat date\b|\bwhich date\b", low):
        found = [(d.start, d.end, d.text) for d in values.dates(text)]
        found = found or [
            (text.find(p.text), text.find(p.text) + 1, p.text) for p in values.periods(text)
        ]
    elif re.search(
        r"how (?:many|much)|what (?:is|was) the .{0,40}\b(?:price|cost|rate|fee|rent)\b", low
    ):
        found = [(a.start, a.end, a.text.strip()) for a in values.amounts(text)]
    elif re.search(r"\bwho\b", low):
        asked = {w.stem for w in words}
        found = [
            (a, b, name) for a, b, name in _names(text)
            if {w.stem for w in words_of(name)} - asked
        ]  # fmt: skip
    if not found or not places:
        return None
    return min(found, key=lambda f: min(min(abs(f[0] - p), abs(f[1] - p)) for p in places))[2]


def _names(text: str) -> list[tuple[int, int, str]]:
    found = [(m.start(), m.end(), m[0].rstrip(" .,&")) for m in _NAME.finditer(text)]
    found = [f for f in found if not (f[2].isupper() and len(f[2]) < 4)]
    return [f for f in found if f[0] > 0 or " " in f[2]]


def _difference(shown: Sequence[TextSentence]) -> str:
    """The difference of the figures of two sentences, if each has one of the same unit."""
    if len(shown) != 2:
        return ""
    first, last = (list(values.amounts(s.text)) for s in shown)
    if len(first) != 1 or len(last) != 1 or first[0].unit != last[0].unit:
        return ""
    return f"{first[0].text.strip()} against {last[0].text.strip()}. "
