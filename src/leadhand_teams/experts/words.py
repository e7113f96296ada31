"""What questions and documents are recognised by: the patterns and words of `words.yaml`. Pure."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final, cast

import yaml

from leadhand_teams.shared.everyday import alike, phrases
from leadhand_teams.shared.search import stem, terms

_LEAST_COMMON: Final = 3
"""Words that two sentences on the same must have in common."""


@cache
def words() -> Mapping[str, Any]:
    """All of the file."""
    text = (files("leadhand_teams.experts") / "words.yaml").read_text(encoding="utf-8")
    return cast("Mapping[str, Any]", yaml.safe_load(text))


@cache
def patterns(*keys: str) -> dict[str, re.Pattern[str]]:
    """The patterns of a group by their names, in the order of the file."""
    found = words()
    for key in keys:
        found = found[key]
    joined = {name: "".join(text.splitlines()) for name, text in found.items()}
    return {name: re.compile(text, re.IGNORECASE) for name, text in joined.items()}


def pattern(name: str) -> re.Pattern[str]:
    """One of `patterns`."""
    return patterns("patterns")[name]


def weight(name: str) -> float:
    """One of `weights`."""
    return float(words()["weights"][name])


def digits(text: str) -> str:
    """A text with small numbers in digits."""
    numbers = words()["numbers"]
    text = re.sub(r"\bhalf an? ", "0.5 ", text, flags=re.IGNORECASE)
    return re.sub(r"[A-Za-z]+(?:-five)?", lambda w: str(numbers.get(w[0].lower(), w[0])), text)


@cache
def stems_of(name: str) -> frozenset[str]:
    """The stems of the words of `noise` or `generic`."""
    return frozenset(map(stem, words()[name].split()))


@lru_cache(100_000)
def units(text: str) -> frozenset[str]:
    """The stems of a text, its phrases of everyday English, labels such as `class_b`, and codes."""
    labels = ("_".join(terms(label[0])) for label in pattern("label").finditer(text))
    return frozenset((*terms(text), *phrases(text), *labels, *codes(text)))


def codes(text: str) -> dict[str, str]:
    """The units of fault codes and the like, and how they are written: `f203` for `F-203`."""
    return {"".join(terms(code[0])): code[0] for code in pattern("code").finditer(text)}


def shared_part(one: str, other: str) -> float:
    """The part of the words of the shorter text that the other one has."""
    stems = [frozenset(terms(text)) - stems_of("noise") for text in (one, other)]
    few, many = sorted(stems, key=len)
    common = len(few & many)
    return common / len(few) if common >= _LEAST_COMMON else 0.0


def has_words(text: str, title: str) -> bool:
    """Whether a text has all words of a title, by meaning."""
    has = units(text)
    return all(alike(word) & has for word in terms(title))


@cache
def opposites() -> tuple[tuple[frozenset[str], ...], ...]:
    """Rows of words of which a sentence must not have another one than the question."""
    rows = (row.split("|") for row in words()["opposites"])
    sides = [
        [frozenset("_".join(terms(w.replace("_", " "))) for w in side.split()) for side in row]
        for row in rows
    ]
    return tuple(map(tuple, sides))
