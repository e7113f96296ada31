"""Words of requests and documents: stems, spelling, and what `signals.yaml` recognises. Pure."""

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

import yaml
from rapidfuzz.distance import OSA

from leadhand_teams.shared.everyday import alike, is_everyday
from leadhand_teams.shared.search import stem

DATA: Final[Mapping[str, Any]] = yaml.safe_load(
    (files("leadhand_teams.support") / "signals.yaml").read_text("utf-8")
)
_KIN: Final = 0.2
"""What another word of the same meaning counts."""
_WORD: Final = re.compile(r"[^\W_]+(?:[.'’+#][^\W_]+)*\+*")


@lru_cache(200)
def compiled(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE | re.MULTILINE)


def pattern(name: str) -> re.Pattern[str]:
    """The expression of this name."""
    return compiled(DATA[name])


def foreign(text: str) -> bool:
    """Whether a text is in another language than English, by its small words and letters."""
    english = {*DATA["stops"].split()}.intersection(re.findall(r"[a-z']+", text.casefold()))
    return len(pattern("foreign").findall(text)) > max(1, len(english))


def stems(text: str) -> list[str]:
    """The stems of all words of a text, in order; "diagnosis" has that of "diagnose"."""
    words = (word.removesuffix("'s") for word in _WORD.findall(text.casefold().replace("’", "'")))
    return [stem(re.sub("sis$", "se", word).replace(".", "")) for word in words]


_STOPS: Final = frozenset(map(stem, DATA["stops"].split()))
_SAME: Final = {stem(word): stem(other) for word, other in DATA["same"].items()}
NEGATIONS: Final = frozenset(map(stem, DATA["negations"].split()))


def carrying(found: Iterable[str]) -> list[str]:
    """The stems that say what a text is about, and not how it is asked; may be empty."""
    return [one for one in found if one not in _STOPS]


def content(text: str) -> list[str]:
    """The same of a text; all its stems if there are no such words."""
    found = stems(text)
    return carrying(found) or found


def meanings(word: str, known: Collection[str]) -> dict[str, float]:
    """The known stems that a stem may stand for, and what each counts; the likeliest first.

    A word that is not known may be a slip of the hand, or mean the same as one that is.
    """
    kin = sorted(one for one in alike(word) if one in known)
    meant = [word, _SAME.get(word, ""), _slip(word, known), *kin]
    first = next((one for one in meant if one in known), None)
    return (
        {}
        if first is None
        else {first: 1.0} | dict.fromkeys([one for one in kin if one != first], _KIN)
    )


def _slip(word: str, known: Collection[str]) -> str:
    """The known stem that was meant: one letter is wrong, from eight letters on two.

    Everyday words, and numbers and names with digits stay as they are: 404 is not 403.
    """
    most = 0 if len(word) < 5 or not word.isalpha() or is_everyday(word) else 1 + (len(word) > 7)
    near = [one for one in known if one[:1] == word[:1] and abs(len(one) - len(word)) <= most]
    close = [(OSA.distance(word, one, score_cutoff=most), one) for one in near]
    distance, nearest = min(close, default=(most + 1, word))
    return nearest if distance <= most else word
