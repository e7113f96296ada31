"""How measures change over time: first and last value, growth, and year on year. Pure functions."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from leadhand_teams.research.figures import (
    PERIODS_PER_YEAR,
    change,
    number,
    periods_word,
)
from leadhand_teams.research.findings import ReportPart
from leadhand_teams.research.focus import Focus
from leadhand_teams.research.growth import Growth, PeriodTotal
from leadhand_teams.research.periods import period_label
from leadhand_teams.research.quoting import cited, inline, table
from leadhand_teams.research.table_profile import TableProfile
from leadhand_teams.research.word_forms import stems

_ONCE: Final = "since joined born birth birthday founded hired registered signup established"
"""Names of times that a thing has once, so that its other values don't belong to that time."""


def trends(profile: TableProfile, focus: Focus, *, ranked: bool = False) -> list[ReportPart]:
    """The trend of each measure of `focus`, in all and in each group of it.

    With `ranked` the fastest group is named elsewhere.
    """
    if is_register(profile):
        return []
    parts: list[ReportPart] = []
    for measure in focus.measures:
        of_measure = [one for one in profile.growths if one.measure == measure]
        whole = [whole_years(one, profile) for one in of_measure if _is_in(one, focus)]
        followed = [one for one in whole if len(one.periods) > 1]
        if followed and followed[0].group is None:
            first, *rest = followed
            rest.sort(key=lambda one: -one.periods[-1].value)
            parts.append(_part(profile, focus, (first, *rest), ranked=ranked))
    return parts


def is_register(profile: TableProfile) -> bool:
    """Whether a row is a thing with a date, such as an employee, rather than a period."""
    if not profile.growths or not profile.rankings:
        return False
    label, *times = profile.rankings[0].labelled_by
    if any(stems(time) & stems(_ONCE) for time in times):
        return True
    distinct = next((one.distinct for one in profile.columns if one.name == label), 0)
    rows = profile.table.rows
    return bool(times) and distinct == rows and len(profile.growths[0].periods) * 2 > rows


def _is_in(one: Growth, focus: Focus) -> bool:
    if one.group is None:
        return True
    column, value = one.group
    is_shown = focus.group is not None and focus.group.name == column
    return is_shown and (not focus.values or value in focus.values)


def whole_years(one: Growth, profile: TableProfile) -> Growth:
    """`one` without a first or last year that is incomplete, since it would look like a fall."""
    dated = [c for c in profile.columns if c.type.startswith(("DATE", "TIMESTAMP"))]
    if one.grain != "year" or not dated or not dated[0].minimum or not dated[0].maximum:
        return one
    first = 1 if dated[0].minimum[5:7] != "01" else 0
    last = len(one.periods) - (1 if dated[0].maximum[5:7] != "12" else 0)
    return replace(one, periods=one.periods[first:last])


def _part(
    profile: TableProfile, focus: Focus, followed: Sequence[Growth], *, ranked: bool
) -> ReportPart:
    whole = followed[0]
    measure, grain = inline(whole.measure), whole.grain
    function = "sum" if whole.aggregate == "sum" else "avg"
    column = next((one.group[0] for one in followed if one.group), "")
    ref = f"{profile.table.file}: {function}({whole.measure}) by {grain}"
    ref += f" and {column}" if column else ""
    ends = (period_label(whole.periods[0].period), period_label(whole.periods[-1].period))
    header = [inline(column), *ends, "change", f"per {grain}"]
    has_years = whole.years is not None
    if has_years:
        count = PERIODS_PER_YEAR[grain]
        header += [f"last {count} {periods_word(grain)}", f"on the {count} before"]
    rows = [_row(one, ends, has_years=has_years) for one in followed]
    what = "total" if whole.aggregate == "sum" else "average"
    title = f"**{measure} over time**, {what} by {grain}, growth compounded {cited(ref)}"
    # A request that names groups is about those, not about the whole.
    described = followed[1:] if focus.values and len(followed) > 1 else followed[:1]
    steepest = "\n".join(filter(None, map(_steepest, described)))
    return ReportPart(
        body="\n\n".join(filter(None, (title, table(header, rows), steepest))),
        ref=ref,
        lead="; ".join([*map(_lead, described), *([] if ranked else _extremes(followed[1:]))]),
    )


def _row(one: Growth, ends: tuple[str, str], *, has_years: bool) -> list[str]:
    first, last = one.periods[0], one.periods[-1]
    row = [
        inline(one.group[1]) if one.group else "all",
        _value(first, ends[0]),
        _value(last, ends[1]),
        change(_percent(first.value, last.value)),
        change(one.compound_percent),
    ]
    if has_years:
        years = one.years
        row += [number(years[1]), change(_percent(*years))] if years else ["–", "–"]
    return row


def _value(point: PeriodTotal, period: str) -> str:
    """The value, with its period if that is not the whole table's first or last one."""
    text, own = number(point.value), period_label(point.period)
    return text if own == period else f"{text} ({own})"


def _steepest(one: Growth) -> str:
    """The steepest rise and fall from one period to the next, if there are enough periods."""
    steps = [
        (step.change_percent, period_label(step.period))
        for step in one.periods
        if step.change_percent
    ]
    if len(steps) < 3:
        return ""
    (most, best), (least, worst) = max(steps), min(steps)
    turns = [f"steepest rise {best} ({change(most)})"] if most > 0 else []
    turns += [f"steepest fall {worst} ({change(least)})"] if least < 0 else []
    who = inline(one.group[1]) if one.group else "All"
    return f"{who}: {', '.join(turns)}, against the {one.grain} before."


def _lead(one: Growth) -> str:
    of = f" of {inline(one.group[1])}" if one.group else ""
    kind = "" if one.aggregate == "sum" else "average "
    what = f"{kind}{inline(one.measure)}{of}:"
    first, last = one.periods[0], one.periods[-1]
    if years := one.years:
        rate = change(_percent(*years))
        unit = f"{PERIODS_PER_YEAR[one.grain]} {periods_word(one.grain)}"
        return (
            f"{what} {number(years[1])} in the {unit} up to {period_label(last.period)}, {rate} "
            f"on the {unit} before ({number(years[0])})"
        )
    rate = change(_percent(first.value, last.value))
    start = f"{number(first.value)} in {period_label(first.period)}"
    return f"{what} from {start} to {number(last.value)} in {period_label(last.period)}, {rate}"


def _extremes(groups: Sequence[Growth]) -> list[str]:
    """The fastest and the slowest group: year on year if all have two years, else in all."""
    pairs = [one.years for one in groups if one.years]
    if len(pairs) < len(groups):
        pairs = [(one.periods[0].value, one.periods[-1].value) for one in groups]
    rates = [
        (rate, inline(one.group[1]))
        for one, pair in zip(groups, pairs, strict=True)
        if one.group and (rate := _percent(*pair)) is not None
    ]
    if len(rates) < 2:
        return []
    (most, fastest), (least, slowest) = max(rates), min(rates)
    return [f"fastest {fastest} ({change(most)}), slowest {slowest} ({change(least)})"]


def _percent(before: float, now: float) -> float | None:
    return (now - before) / abs(before) * 100 if before else None
