"""How a measure went over time: first and last, growth, and year against year; pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from leadhand.teams.research.figures import change, number
from leadhand.teams.research.focus import Focus
from leadhand.teams.research.part import Part
from leadhand.teams.research.quoting import cited, inline, table
from leadhand.teams.research.word_forms import stems
from leadhand.tools.sql.growth import Growth, PeriodTotal
from leadhand.tools.sql.periods import shown
from leadhand.tools.sql.profile import TableProfile

_A_YEAR: Final = {"month": 12, "quarter": 4, "half": 2}
"""How many periods make a year."""
_NONE: Final = ["–", "–"]
_ONCE: Final = "since joined born birth birthday founded hired registered signup established"
"""What a time is called that a thing has once, so that what it is worth now did not happen then."""


@dataclass(frozen=True, slots=True)
class _Years:
    """A measure in the last twelve months, or four quarters, and in as many before."""

    before: float
    last: float


def trends(profile: TableProfile, focus: Focus, *, ranked: bool = False) -> list[Part]:
    """For each measure of `focus` how it went, in all and in each group that is asked for.

    `ranked`: which group grew fastest is said elsewhere.
    """
    if is_register(profile):
        return []
    parts: list[Part] = []
    for measure in focus.measures:
        of_measure = [one for one in profile.growths if one.measure == measure]
        whole = [whole_years(one, profile) for one in of_measure if _asked_for(one, focus)]
        followed = [one for one in whole if len(one.periods) > 1]
        if followed and followed[0].group is None:
            first, *rest = followed
            rest.sort(key=lambda one: -one.periods[-1].value)
            parts.append(_part(profile, focus, (first, *rest), ranked=ranked))
    return parts


def is_register(profile: TableProfile) -> bool:
    """Whether there is a row for each thing, with a time, rather than a row for each time."""
    if not profile.growths or not profile.rankings:
        return False
    label, *times = profile.rankings[0].labelled_by
    if any(stems(time) & stems(_ONCE) for time in times):
        return True
    distinct = next((one.distinct for one in profile.columns if one.name == label), 0)
    rows = profile.table.rows
    return bool(times) and distinct == rows and len(profile.growths[0].periods) * 2 > rows


def _asked_for(one: Growth, focus: Focus) -> bool:
    if one.group is None:
        return True
    column, value = one.group
    is_shown = focus.group is not None and focus.group.name == column
    return is_shown and (not focus.values or value in focus.values)


def whole_years(one: Growth, profile: TableProfile) -> Growth:
    """Without a first or last year that the rows cover in part only: it would look like a fall."""
    dated = [c for c in profile.columns if c.type.startswith(("DATE", "TIMESTAMP"))]
    if one.grain != "year" or not dated or not dated[0].minimum or not dated[0].maximum:
        return one
    first = 1 if dated[0].minimum[5:7] != "01" else 0
    last = len(one.periods) - (1 if dated[0].maximum[5:7] != "12" else 0)
    kept = one.periods[first:last]
    if len(kept) == len(one.periods) or len(kept) < 2:
        return replace(one, periods=kept)
    low, high = kept[0], kept[-1]
    years = int(high.period) - int(low.period)
    positive = low.value > 0 and high.value > 0
    rate = ((high.value / low.value) ** (1 / years) - 1) * 100 if positive else None
    return replace(one, periods=kept, compound_percent=rate)


def _part(profile: TableProfile, focus: Focus, followed: Sequence[Growth], *, ranked: bool) -> Part:
    whole = followed[0]
    measure, grain = inline(whole.measure), whole.grain
    function = "sum" if whole.aggregate == "sum" else "avg"
    column = next((one.group[0] for one in followed if one.group), "")
    ref = f"{profile.table.file}: {function}({whole.measure}) by {grain}"
    ref += f" and {column}" if column else ""
    ends = (shown(whole.periods[0].period), shown(whole.periods[-1].period))
    header = [inline(column), *ends, "change", f"per {grain}"]
    has_years = _years(whole) is not None
    if has_years:
        header += [f"last {_A_YEAR[grain]} {_plural(grain)}", f"on the {_A_YEAR[grain]} before"]
    rows = [_row(one, ends, has_years=has_years) for one in followed]
    what = "total" if whole.aggregate == "sum" else "average"
    title = f"**{measure} over time**, {what} by {grain}, growth compounded {cited(ref)}"
    # Whoever asks for one group wants to hear of that one.
    told = followed[1:] if focus.values and len(followed) > 1 else followed[:1]
    turns = "\n".join(filter(None, map(_turns, told)))
    return Part(
        body="\n\n".join(filter(None, (title, table(header, rows), turns))),
        ref=ref,
        lead="; ".join([*map(_lead, told), *([] if ranked else _pace(followed[1:]))]),
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
        years = _years(one)
        row += (
            [number(years.last), change(_percent(years.before, years.last))]
            if years
            else ["–", "–"]
        )
    return row


def _value(point: PeriodTotal, period: str) -> str:
    """A group's own first or last period may be another one than the whole table's."""
    text, own = number(point.value), shown(point.period)
    return text if own == period else f"{text} ({own})"


def _years(one: Growth) -> _Years | None:
    length = _A_YEAR.get(one.grain)
    periods = one.periods[-2 * length :] if length else ()
    if not length or len(periods) < 2 * length or not _has_two_years(periods):
        return None
    each = 1 if one.aggregate == "sum" else length
    before, last = periods[:length], periods[length:]
    return _Years(sum(p.value for p in before) / each, sum(p.value for p in last) / each)


def _has_two_years(periods: Sequence[PeriodTotal]) -> bool:
    """Whether no period is missing: the second year begins a year after the first."""
    first, second = periods[0].period, periods[len(periods) // 2].period
    return int(second[:4]) - int(first[:4]) == 1 and first[4:] == second[4:]


def _turns(one: Growth) -> str:
    """The steepest rise and fall from one period to the next, where there are several."""
    steps = [
        (step.change_percent, shown(step.period)) for step in one.periods if step.change_percent
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
    first, last, years = one.periods[0], one.periods[-1], _years(one)
    if years:
        rate = change(_percent(years.before, years.last))
        unit = f"{_A_YEAR[one.grain]} {_plural(one.grain)}"
        return (
            f"{what} {number(years.last)} in the {unit} up to {shown(last.period)}, {rate} on the "
            f"{unit} before ({number(years.before)})"
        )
    rate = change(_percent(first.value, last.value))
    start = f"{number(first.value)} in {shown(first.period)}"
    return f"{what} from {start} to {number(last.value)} in {shown(last.period)}, {rate}"


def _pace(groups: Sequence[Growth]) -> list[str]:
    """Which group grew fastest and which slowest: year on year where all can, else in all."""
    years = [_years(one) for one in groups]
    pairs = [(one.before, one.last) for one in years if one]
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


def _plural(grain: str) -> str:
    return "halves" if grain == "half" else f"{grain}s"
