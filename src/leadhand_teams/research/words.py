"""The words of a question: their stems, which of them mean the same, and which name nothing. Pure.

English; words of other languages are compared as written.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from leadhand.tools.files import content_words
from leadhand_teams.shared.search import stem as _snowball

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SAME: Final = """
department dept division
salary wage earn
rise rose risen
shrink shrank shrunk
fall fell fallen
sink sank sunk
revenue turnover sale
customer client
employee staff worker people person headcount colleague
city town
quantity qty unit piece
deadline due within
begin start commence
finish end expire
buy purchase order
supply supplier vendor
identifier id no nr
average avg mean
percentage percent pct share
amount value
kilometre km kilometer
litre liter
born birth birthday
phone telephone
mail email
vacation holiday leave
lose loss
job role position title
boss superior
"""
"""Words that mean the same in the names of columns and in notes, a line each."""
_ROWS: Final = "people person employee staff member item entry row record case there one thing"
"""Words for the rows of any table."""
_VERBS: Final = """
be have do work sell pay earn use drive treat open own take make get spend live employ happen buy
produce give go come run need want book cost win lose grow fall rise hold keep see tell show
list find mean sum count compare receive deliver supply serve handle register report achieve reach
record belong cause include contain exist remain stay become consume generate travel
develop evolve start end begin finish
"""
_EMPTY: Final = """
file table data document note text figure please total overall altogether sum all whole together
number amount many much share percentage percent part fraction proportion average mean median
typical high low large small big great long short good bad few little old new young expensive cheap
maximum minimum max min top bottom rank ranking order list grow growth increase decrease decline
fall drop rise shrink change difference differ compare comparison more less than each per every fast
slow strong weak quick year month quarter week day date time when where who whose which what why how
between respect relative absolute value first second third fourth last half reason because across
during since three four five six seven eight nine ten two next previous current currently company
versus vs against term different same similar say state mention according exactly approximately
worth about roughly us
"""
"""Words that say what to do with the figures, not which."""

_BEFORE_NOUNS: Final = frozenset(
    ["the", "a", "an", "per", "which", "any", "no", "our", "its", "their", "total", "average"]
)
"""After these, `cost` or `report` is a noun."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question."""

    text: str
    stem: str
    start: int
    end: int

    @property
    def is_name(self) -> bool:
        """Whether it begins with a capital, or has a digit."""
        return self.text[0].isupper() or any(char.isdigit() for char in self.text)


def words_of(text: str) -> list[Word]:
    """The words of `text`, in order."""
    found: list[Word] = []
    for match in _WORD.finditer(text):
        word = re.sub(r"['’]s?$", "", match[0])
        found.append(Word(word, stem(word), match.start(), match.start() + len(word)))
    return found


def name_stems(name: str) -> tuple[str, ...]:
    """The stems of the words of a column's or file's name."""
    spaced = _CAMEL.sub(" ", name).replace("_", " ")
    return tuple(stem(word) for word in _WORD.findall(spaced))


@lru_cache(100_000)
def stem(word: str) -> str:
    """The same for `grow`, `grew` and `growth`, and for `dept` and `departments`."""
    bare = _snowball(_lemma(word.lower()))
    return _same().get(bare, bare)


@lru_cache(100_000)
def _lemma(word: str) -> str:
    from simplemma import lemmatize

    return lemmatize(word, lang="en") if word.isascii() and word.isalpha() else word


@lru_cache(1)
def _same() -> dict[str, str]:
    groups = [line.split() for line in _SAME.strip().splitlines()]
    plain = [[_snowball(_lemma(word)) for word in group] for group in groups]
    return {word: group[0] for group in plain for word in group}


@lru_cache(8)
def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.split())


def is_row_word(stemmed: str) -> bool:
    """Whether a stem is a word for the rows of any table."""
    return stemmed in _stems(_ROWS)


def alike(one: str, other: str) -> bool:
    """Whether two stems are of one family: `suppli` and `supplier`, `house` and `household`."""
    if one == other:
        return True
    shorter = min(len(one), len(other))
    same = next((n for n in range(shorter) if one[n] != other[n]), shorter)
    return same >= 5 and same >= 0.75 * max(len(one), len(other))


def naming(words: Sequence[Word]) -> list[Word]:
    """The words that name something: no small words, no words for computing or doing."""
    small = {word.text.lower() for word in words} - set(
        content_words(" ".join(word.text for word in words))
    )
    found: list[Word] = []
    before = ""
    for word in words:
        is_verb = word.stem in _stems(_VERBS) and not word.is_name and before not in _BEFORE_NOUNS
        is_small = word.text.lower() in small or word.stem in _stems(_EMPTY)
        if not (is_verb or is_small or _is_count(word.text)):
            found.append(word)
        before = word.text.lower()
    return found


def is_doing(word: Word) -> bool:
    """Whether a word looks like a verb or participle, which seldom names a thing."""
    return re.search(r"(ed|ing|ly)$", word.text) is not None and not word.is_name


def _is_count(text: str) -> bool:
    return text.isdigit() and len(text) < 4
