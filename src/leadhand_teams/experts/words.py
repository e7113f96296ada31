"""What questions and documents are recognised by: the patterns and words of `words.yaml`. Pure."""

import re
from functools import cache
from importlib.resources import files
from typing import Any, cast

import yaml

from leadhand_teams.shared.search import stem, terms


@cache
def _words() -> dict[str, Any]:
    text = (files("leadhand_teams.experts") / "words.yaml").read_text(encoding="utf-8")
    return cast("dict[str, Any]", yaml.safe_load(text))


@cache
def patterns(*keys: str) -> dict[str, re.Pattern[str]]:
    """The patterns of a group by their names, in the order of the file."""
    found = _words()
    for key in keys:
        found = found[key]
    return {name: re.compile(text, re.IGNORECASE) for name, text in found.items()}


def pattern(name: str) -> re.Pattern[str]:
    """One of `patterns`."""
    return patterns("patterns")[name]


def check(expert: str) -> str:
    """What a professional of the field must always check."""
    return str(_words()["checks"][expert])


def digits(text: str) -> str:
    """A text with small numbers in digits."""
    numbers = _words()["numbers"]
    return re.sub(r"[A-Za-z]+(?:-five)?", lambda w: str(numbers.get(w[0].lower(), w[0])), text)


@cache
def stems_of(name: str) -> frozenset[str]:
    """The stems of the words of `noise` or `generic`."""
    return frozenset(map(stem, _words()[name].split()))


@cache
def _synonyms() -> dict[str, str]:
    lines = map(str.split, _words()["synonyms"])
    return {stem(word): stem(line[0]) for line in lines for word in line}


def same(text: str) -> str:
    """The stems of a text; of words that mean the same always one."""
    return " ".join(_synonyms().get(term, term) for term in terms(text))
