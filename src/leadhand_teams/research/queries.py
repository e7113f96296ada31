"""What a question asks of texts: its words, and the kind of words that it wants. Pure."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from leadhand.tools.files import content_words
from leadhand_teams.research.grammar import asks, compiled
from leadhand_teams.research.words import Word, alike, listed, stems_in, stems_of, words_of
from leadhand_teams.shared import values

_NAME: Final = re.compile(
    r"(?:[A-ZÄÖÜ][\w'’.-]*|& )(?: (?:[A-ZÄÖÜ][\w'’.-]*|&|de|van|von|der|of))*"
)
_TIMES: Final = frozenset((*values.MONTHS, *listed("weekdays")))


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
    Wanted(r"how (?:long|soon|quickly|fast)", _durations, is_needed=True),
    Wanted(r"how many", _amounts, is_needed=True),
    Wanted(r"price|fee|rent|<paying>", _money, is_needed=True),
    Wanted(r"how (?:much|high|large|often|bright)|rate", _amounts),
    Wanted(r"", _nothing),
)


class TextQuery:
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
        self.missing: list[Word] = []
        """Words that no text has."""
        self.read_as: dict[str, str] = {}
        self.every: list[Word] = self.words
        """Those of the question that carry a meaning, also those that no text has."""
        self.is_unheard = False
        """Whether a verb of the question is in no text."""
        self.enough = 0
        """Words that a sentence and its surroundings must have."""

    def is_answered(self, word: Word) -> bool:
        """Whether a word says only what kind of answer is wanted, or nothing: `costs`, `do`."""
        is_faint = word.is_light and word.stem not in stems_of("telling")
        is_change = asks(word.text, "growth", "difference")  # of no direction: `develop`
        is_faint = is_faint or (is_change and not asks(word.text, "rising", "falling"))
        return is_faint or bool(self.wanted.words and asks(word.text, self.wanted.words))

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
        for one, other in pairwise(parts):
            if f"from {one} to {other}" in sentence:  # what it was, and what it is now
                return one if asks(self.text, "old|was|were|before|former|previous") else other
        return min(parts, key=distance, default=None) if near or len(parts) < 2 else None

    def _parts(self, sentence: str) -> list[str]:
        """What it asks for and does not name itself."""
        found = self.wanted.parts(sentence)
        found = [one for one in found if set(stems_in(one)) - self.asked]
        if self.counted is None:
            return found
        after = [
            (one, (*stems_in(one), *stems_in(sentence.partition(one)[2])[:2])) for one in found
        ]
        noun = self.counted.stem  # "28 years" are no count of images
        return [one for one, stems in after if any(alike(noun, other) for other in stems)]
