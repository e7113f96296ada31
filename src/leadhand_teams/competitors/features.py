"""Which competitor has what: yes, no, partly or unknown, from what its sources state. Pure."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

from rapidfuzz import fuzz

from leadhand_teams.competitors.output import CompetitorFact, Facts, Feature, Has
from leadhand_teams.competitors.prices import PATTERNS, VOCABULARY
from leadhand_teams.shared.search import stem

_SAME = [re.compile(rf"(?<!\w)(?:{words})(?!\w)") for words in VOCABULARY["same"]]
_ALIKE = 90
"""The least similarity of two names of one feature, of 100."""


def has(value: str) -> Has:
    """What a table's cell says of a feature."""
    if PATTERNS["no"].match(value) or PATTERNS["not yet"].search(value):
        return "no"
    if PATTERNS["partly"].search(value):
        return "partly"
    is_stated = PATTERNS["yes"].match(value) or not PATTERNS["silent"].match(value)
    return "yes" if is_stated else "unknown"


def is_verdict(value: str) -> bool:
    """Whether a cell says yes, no or partly, rather than naming or counting something."""
    is_short = len(value) < 40 and has(value) == "partly"
    return bool(PATTERNS["yes"].match(value)) or has(value) == "no" or is_short


def matrix(facts: Facts, competitors: Sequence[str]) -> list[Feature]:
    """A cell for each feature and competitor; features that most of them state come first."""
    groups: dict[str, list[CompetitorFact]] = {}
    for fact in facts:
        name = next((one for one in groups if same_feature(fact.attribute, one)), fact.attribute)
        groups.setdefault(name, []).append(fact)
    shown = [group for group in groups.values() if any(is_verdict(one.value) for one in group)]
    shown.sort(key=lambda group: -len({one.competitor for one in group}))
    return [
        _cell(min((one.attribute for one in group), key=len), competitor, group)
        for group in shown
        for competitor in competitors
    ]


def _cell(name: str, competitor: str, stated: Facts) -> Feature:
    found = [(one, has(one.value)) for one in stated if one.competitor == competitor]
    found = [(one, verdict) for one, verdict in found if verdict != "unknown"]
    if not found:
        return Feature(attribute=name, competitor=competitor, has="unknown")
    having = [one for one, verdict in found if verdict != "no"] or [one for one, _ in found]
    items = ", ".join(dict.fromkeys(one.item for one in having if one.item))
    verdict, value = has(having[0].value), PATTERNS["bare"].sub("", having[0].value).strip(" ()")
    if len({one for _, one in found}) > 1:  # some plans have it and some don't
        verdict = "partly"
        value, items = ("", f"only {items}") if items else (value, "")
    cell = Feature(attribute=name, competitor=competitor, has=verdict, ref=having[0].ref)
    value = "" if same_feature(value, name) else value
    if verdict != "no":
        cell.value = f"{value} ({items})" if value and items else value or items
    return cell


def only_one_has(cells: Sequence[Feature]) -> list[Feature]:
    """The features that one competitor has and every other one is stated not to have."""
    found: list[Feature] = []
    for _, group in groupby(cells, key=lambda cell: cell.attribute):
        first, *others = sorted(group, key=lambda cell: cell.has != "yes")
        if first.has == "yes" and others and all(cell.has == "no" for cell in others):
            found.append(first)
    return found


@lru_cache(100_000)
def same_feature(one: str, two: str) -> bool:
    """Whether two names are of one feature: `SSO (SAML)` and `Single sign-on`."""
    first, second = one.lower().strip(), two.lower().strip()
    if first == second or any(words.search(first) and words.search(second) for words in _SAME):
        return True
    stems, others = _stems(first), _stems(second)
    if not stems or re.findall(r"\d+", first) != re.findall(r"\d+", second):
        return False
    return fuzz.ratio(stems, others) >= _ALIKE


def _stems(text: str) -> str:
    words = (word for word in re.findall(r"[^\W_]+", text) if word not in VOCABULARY["filler"])
    return " ".join(sorted(stem(word) for word in words))
