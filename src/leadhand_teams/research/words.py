"""The words of a question: their stems, which of them mean the same, and which name nothing. Pure.

The lists are in `words.yaml`. English; words of other languages are compared as written.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, cast

import yaml

from leadhand.tools.files import content_words
from leadhand_teams.shared.search import stem as _snowball

_WORD: Final = re.compile(r"\d+(?:[.,]\d+)+|[^\W_]+(?:['’][^\W_]+)?")
_CAMEL: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LISTS: Final = cast(
    "dict[str, str | list[str]]",
    yaml.safe_load(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8")),
)


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

    @property
    def is_doing(self) -> bool:
        """Whether it looks like a form of a verb, which seldom names a thing."""
        low = self.text.lower()
        if self.is_name:
            return False
        return re.search(r"(ed|ing|ly)$", low) is not None or not (
            low.endswith("s") or _lemma(low) == low
        )


def listed(name: str) -> list[str]:
    """The words of a list of `words.yaml`."""
    found = _LISTS[name]
    return found.split() if isinstance(found, str) else found


def any_of(name: str) -> str:
    """The words of a list, as a pattern."""
    return "|".join(listed(name))


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
    found = _bare(word)
    return _same().get(found, found)


def _bare(word: str) -> str:
    return _snowball(_lemma(word.lower()))


@lru_cache(100_000)
def _lemma(word: str) -> str:
    from simplemma import lemmatize

    return lemmatize(word, lang="en") if word.isascii() and word.isalpha() else word


@cache
def _same() -> dict[str, str]:
    groups = [[_bare(word) for word in line.split()] for line in listed("same")]
    return {word: group[0] for group in groups for word in group}


@cache
def _verbs() -> frozenset[str]:
    """Not by `stem`: `salary` is no verb, though it means the same as `earn`."""
    return frozenset(map(_bare, listed("verbs")))


@cache
def stems_of(name: str) -> frozenset[str]:
    """The stems of a list of `words.yaml`."""
    return frozenset(map(stem, listed(name)))


def alike(one: str, other: str) -> bool:
    """Whether two stems are of one family: `suppli` and `supplier`, `house` and `household`."""
    if one == other:
        return True
    shorter = min(len(one), len(other))
    same = next((n for n in range(shorter) if one[n] != other[n]), shorter)
    return same >= 5 and same >= 0.75 * max(len(one), len(other))


def naming(words: Sequence[Word]) -> list[Word]:
    """The words that name something: no small words, no words for computing or doing."""
    carrying = set(content_words(" ".join(word.text for word in words)))
    found: list[Word] = []
    before = ""
    for word in words:
        is_name = word.is_name and before != ""
        is_verb = _bare(word.text) in _verbs() and not word.is_name
        is_verb = is_verb and before not in listed("articles")
        is_empty = word.stem in stems_of("empty") and not is_name
        is_small = word.text.lower() not in carrying or is_empty
        if word.text[0].isdigit() or not (is_verb or is_small):
            found.append(word)
        before = word.text.lower()
    return found
