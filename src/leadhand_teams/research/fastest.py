"""Answers which group grows or falls fastest, with the figures that were compared.

A group that began at zero or below has no growth in percent: it is named but not ranked.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from leadhand.tools.text import joined_names
from leadhand_teams.research.figures import (
    PERIODS_PER_YEAR,
    change,
    number,
    periods_word,
)
from leadhand_teams.research.growth import Growth
from leadhand_teams.research.periods import period_label
from leadhand_teams.research.quoting import cited, inline
from leadhand_teams.research.word_forms import lemma, stem, stems

GROWING: Final = "grow growth rise increase gain expand improve climb"
FALLING: Final = "fall decline decrease shrink drop lose slump sink"
_MOST: Final = "fastest quickest most strongest highest best biggest largest greatest top steepest"
_LEAST: Final = "slowest least weakest lowest worst smallest"
_WHICH: Final = "which what who where"
_NO_NOUNS: Final = "be become can could did do had have might one was were will would"
"""What follows "which" if no noun does."""
_MONEY: Final = "revenue sales turnover income mrr arr amount value"
"""Columns that are preferred if a request names none."""
_MAX_SHOWN: Final = 5
_TIE: Final = 0.05
"""Percentages that round to the same shown value are a tie."""


@dataclass(frozen=True, slots=True)
class GrowthRequest:
    """A request for the group that grew or fell most or least."""

    falling: bool
    least: bool

    @property
    def lowest(self) -> bool:
        """Whether the lowest rate answers it."""
        return self.falling != self.least


@dataclass(frozen=True, slots=True)
class GrowthAnswer:
    """The answer to a `GrowthRequest`, by one measure."""

    measure: str
    rate: float
    """In percent, of all `groups`."""
    text: str
    """Markdown."""
    groups: tuple[str, ...]
    """The group that grew fastest, or several with the same rate; plain text."""
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _GroupGrowth:
    group: str
    before: float
    now: float

    @property
    def rate(self) -> float | None:
        """In percent; `None` if it began at zero or below."""
        rate = (self.now / self.before - 1) * 100 if self.before > 0 else math.inf
        return rate if math.isfinite(rate) else None


def growth_request(request: str) -> GrowthRequest | None:
    """What `request` asks about growth; `None` if it does not ask for a group by its growth."""
    small = set(request.lower().replace("?", " ").replace(",", " ").split())
    there = stems(request)
    growing, falling = there & stems(GROWING), there & stems(FALLING)
    if not (growing or falling) or not small & {*_MOST.split(), *_LEAST.split(), *_WHICH.split()}:
        return None
    return GrowthRequest(falling=not growing, least=bool(small & set(_LEAST.split())))


def grouping_word(request: str) -> str | None:
    """What `request` calls the groups whose growth it asks about, such as region, or `None`.

    "Which region grows fastest" and "which of the regions" both name the region.
    """
    found = re.search(r"\bwhich\s+(?:of\s+)?(?:the\s+)?([a-z]{3,30})\b", request, re.I)
    if growth_request(request) is None or found is None:
        return None
    group = lemma(found[1].lower())
    is_noun = stem(group) not in stems(GROWING, FALLING, _NO_NOUNS)
    return group if is_noun else None


def fastest(
    growths: Sequence[Growth], request: GrowthRequest, *, file: str, measures: Sequence[str]
) -> GrowthAnswer | None:
    """The answer by the first of `measures` that gives one, or `None`.

    `growths` has the measures of one table, in all and by group.
    """
    order = sorted(measures, key=lambda one: not stems(one) & stems(_MONEY))
    found = [made for one in order if (made := _by(growths, one, request, file)) is not None]
    if not found:
        return None
    first, *rest = found
    differing = [
        f"by {inline(one.measure)} it is {inline(joined_names(one.groups))} ({change(one.rate)})"
        for one in rest
        if set(one.groups) != set(first.groups)
    ]
    also = f" Other columns say otherwise: {'; '.join(differing)}." if differing else ""
    return replace(first, text=first.text + also)


def _by(
    growths: Sequence[Growth], measure: str, request: GrowthRequest, file: str
) -> GrowthAnswer | None:
    followed = [one for one in growths if one.measure == measure and one.group is not None]
    if len(followed) < 2:
        return None
    rates, span = _group_growths(followed)
    rated = [(one.rate, one) for one in rates if one.rate is not None]
    if len(rated) < 2:
        return None
    rated.sort(key=lambda pair: pair[0] if request.lowest else -pair[0])
    rate, best = rated[0]
    winners = [one for other, one in rated if abs(other - rate) < _TIE]
    rest = [(other, one) for other, one in rated if one not in winners]
    names = tuple(one.group for one in winners)
    column = followed[0].group[0] if followed[0].group else ""
    lines = [f"**{_claim(names, rate, request)}**"]
    how = "" if followed[0].aggregate == "sum" else "average "
    figures = "; ".join(
        f"{inline(one.group)} from {number(one.before)} to {number(one.now)}, {change(one.rate)}"
        for one in winners[:_MAX_SHOWN]
    )
    lines.append(f"{how}{inline(measure)} {span}: {figures} {cited(file)}.")
    if rest:
        shown_rest = [f"{inline(one.group)} {change(other)}" for other, one in rest[:_MAX_SHOWN]]
        more = f" and {len(rest) - _MAX_SHOWN:,} more" if len(rest) > _MAX_SHOWN else ""
        lines.append(f"The others by {inline(column)}: {', '.join(shown_rest)}{more}.")
    lines += _absolute(rates, best, request)
    unrated = [one for one in rates if one.rate is None]
    if unrated:
        told = [
            f"{inline(one.group)} ({number(one.before)} to {number(one.now)})" for one in unrated
        ]
        lines.append(f"Not ranked, because it began at zero or below: {joined_names(told)}.")
    there = {one.group for one in rates}
    absent = [one.group[1] for one in followed if one.group and one.group[1] not in there]
    if absent:
        lines.append(f"Not ranked, because figures are missing: {inline(joined_names(absent))}.")
    others = tuple(one.group for _, one in rest) + tuple(one.group for one in unrated)
    return GrowthAnswer(measure, rate, _sentence(lines), names, (*others, *absent))


def _claim(names: tuple[str, ...], rate: float, request: GrowthRequest) -> str:
    who, verb = inline(joined_names(names)), "" if len(names) > 1 else "s"
    does = f"{who} {'fall' if rate < 0 else 'grow'}{verb}"
    alike = f", {'both' if len(names) == 2 else 'all'} alike" if len(names) > 1 else ""
    # The group that grew fastest may still have fallen.
    if (rate < 0) != request.falling and rate:
        nothing = "falls" if request.falling else "grows"
        return f"{does}." if request.least else f"Nothing {nothing}: {does} least{alike}."
    if not rate:
        return f"{who} stay{verb} the same{alike}."
    return f"{does} {'slowest' if request.least else 'fastest'}{alike}."


def _absolute(
    rates: Sequence[_GroupGrowth], best: _GroupGrowth, request: GrowthRequest
) -> list[str]:
    """The group that gained or lost most in absolute figures, if it is not the best in percent."""
    if request.least:
        return []
    sign = -1 if request.falling else 1
    most = max(rates, key=lambda one: sign * (one.now - one.before))
    gained = most.now - most.before
    if most.group == best.group or sign * gained <= sign * (best.now - best.before):
        return []
    shown_gain = f"{'+' if gained > 0 else ''}{number(gained)}"
    return [f"In absolute terms it is {inline(most.group)} ({shown_gain})."]


def _sentence(lines: Sequence[str]) -> str:
    return " ".join(line[0].upper() + line[1:] if line[0].islower() else line for line in lines)


def _group_growths(followed: Sequence[Growth]) -> tuple[list[_GroupGrowth], str]:
    """The growth of each group over the same time for all, and a description of that time."""
    by_group = [
        (one.group[1], {p.period: p.value for p in one.periods}) for one in followed if one.group
    ]
    every = sorted({period for _, values in by_group for period in values})
    years = [(one.group[1], one.years) for one in followed if one.group]
    whole = [_GroupGrowth(group, *both) for group, both in years if both is not None]
    if len(whole) == len(by_group) and all(len(values) == len(every) for _, values in by_group):
        each, unit = PERIODS_PER_YEAR[followed[0].grain], periods_word(followed[0].grain)
        span = f"in the {each} {unit} up to {period_label(every[-1])}, against the {each} before"
        return whole, span
    ends = [(g, v) for g, v in by_group if every[0] in v and every[-1] in v]
    first, last_one = every[0], every[-1]
    if len(ends) < 2:
        common = [period for period in every if all(period in v for _, v in by_group)]
        if len(common) < 2:
            return [], ""
        ends, first, last_one = by_group, common[0], common[-1]
    span = f"from {period_label(first)} to {period_label(last_one)}"
    return [_GroupGrowth(g, v[first], v[last_one]) for g, v in ends], span
