"""Whether a sentence is for the case of a question: its age, its time, its side. Pure."""

import math
import re
from collections import defaultdict
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from leadhand_teams.experts.words import digits, opposites, pattern, units, weight, words
from leadhand_teams.shared.everyday import alike, is_everyday
from leadhand_teams.shared.search import terms

_OLDEST: Final = 120
"""A number up to this, with a limit but without a unit or noun, is an age in years."""
_JUST: Final = 1.001
"""Just above a limit that does not belong to the range."""


class Range(NamedTuple):
    """From which to which value a text speaks, in the first unit of its kind of `measures`."""

    low: float
    high: float
    """The same as `low` of a single value."""


def fit_of_case(question: str, text: str) -> float:
    """Below 1 if a text is for another case than the question, above 1 if it is for the same."""
    asks, says = units(question), units(text)
    same: list[bool] = []
    for row in opposites():
        mine, theirs = ([bool(side & has) for side in row] for has in (asks, says))
        if any(mine) and any(theirs):
            same.append(any(one and other for one, other in zip(mine, theirs, strict=True)))
    for case, things in _times(question).items():
        kin = {kin for thing in things for kin in alike(thing)}
        same += [case == other for other, others in _times(text).items() if kin & others]
    fit = math.prod(weight("same_case" if one else "other_case") for one in same)
    limits = ranges(text)
    for kind, asked in ranges(question).items():
        values = [one.low if math.isinf(one.high) else one.high for one in asked]
        wide = [one for one in limits.get(kind, []) if one.low < one.high]
        if wide:
            is_in = any(one.low <= value <= one.high for one in wide for value in values)
            fit *= weight("in_range" if is_in else "other_case")
    return fit


@lru_cache(20_000)
def _times(text: str) -> dict[str, set[str]]:
    """What a text names after each time word: "after my probation" is after: probation."""
    found: dict[str, set[str]] = {}
    for match in pattern("time").finditer(text):
        things = {one for one in terms(match["things"]) if not is_everyday(one)}
        found.setdefault(match["time"].lower().replace("once", "after"), set()).update(things)
    return found


@lru_cache(20_000)
def ranges(text: str) -> dict[str, list[Range]]:
    """The ages, weights, times and amounts of a text, by their kind, and their limits."""
    found: defaultdict[str, list[Range]] = defaultdict(list)
    for match in pattern("measured").finditer(digits(text)):
        one = _range(match)
        kind, factor = _kind(match)
        is_age = match["alone"] is not None and (match["aged"] is not None or one.low < one.high)
        if kind or (is_age and float(match["number"].replace(",", "")) <= _OLDEST):
            kind, factor = (kind, factor) if kind else ("time", 365.0)
            found[kind].append(Range(one.low * factor, one.high * factor))
    return {kind: _joined(of) for kind, of in found.items()}


def _range(match: re.Match[str]) -> Range:
    value = float(match["number"].replace(",", ""))
    if match["to"]:
        return Range(value, float(match["to"]))
    if match["least"] or match["or_more"]:
        return Range(value, math.inf)
    if match["above"]:
        return Range(value * _JUST, math.inf)
    if match["most"] or match["or_less"]:
        return Range(0, value)
    return Range(0, value / _JUST) if match["below"] else Range(value, value)


def _kind(match: re.Match[str]) -> tuple[str, float]:
    """What is measured, and how many of its first units one is."""
    said = "money" if match["currency"] else (match["unit"] or "").lower().rstrip("s")
    return next(
        ((kind, float(of[said])) for kind, of in words()["measures"].items() if said in of),
        ("", 1.0),
    )


def _joined(found: list[Range]) -> list[Range]:
    """ "More than 2 years, up to 5 years" is one range."""
    for one, other in pairwise(found):
        if math.isinf(one.high) and other.low == 0 and one.low < other.high:
            return [Range(one.low, other.high)]
    return found
