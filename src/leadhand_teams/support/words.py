"""Words of requests and documents: stems, spelling, and what `signals.yaml` recognises. Pure."""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

import yaml
from rapidfuzz.distance import OSA

from leadhand_teams.shared.everyday import alike
from leadhand_teams.shared.search import stem

DATA: Final[Mapping[str, Any]] = yaml.safe_load(
    (files("leadhand_teams.support") / "signals.yaml").read_text("utf-8")
)
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
    words = _WORD.findall(text.casefold().replace("’", "'"))
    return [stem(re.sub("sis$", "se", word.removesuffix("'s"))) for word in words]


_STOPS: Final = frozenset(map(stem, DATA["stops"].split()))
_SAME: Final = {stem(word): stem(other) for word, other in DATA["same"].items()}
NEGATIONS: Final = frozenset(map(stem, DATA["negations"].split()))


def carrying(found: Sequence[str]) -> list[str]:
    """The stems that say what a text is about, and not how it is asked; may be empty."""
    return [one for one in found if one not in _STOPS]


def content(text: str) -> list[str]:
    """The same of a text; all its stems if there are no such words."""
    found = stems(text)
    return carrying(found) or found


def corrected(found: Sequence[str], known: Collection[str]) -> list[str]:
    """Stems with slips of the hand corrected to known ones: one letter, from eight letters on two.

    Numbers and names with digits stay as they are: 404 is not 403.
    """
    return [one if one in known else _nearest(one, known) for one in found]


def _nearest(word: str, known: Collection[str]) -> str:
    """The known stem that is so close to be meant, or means the same; else the word."""
    if (same := _SAME.get(word, "")) in known:
        return same
    most = 0 if len(word) < 5 or not word.isalpha() else 1 if len(word) < 8 else 2
    near = [one for one in known if one[:1] == word[:1] and abs(len(one) - len(word)) <= most]
    close = [(OSA.distance(word, one, score_cutoff=most), one) for one in near]
    distance, nearest = min(close, default=(most + 1, word))
    same = next((one for one in sorted(alike(word)) if one in known), word)
    return nearest if distance <= most else same
