"""Series of measurements in one unit, and what coded problems and values say."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import linear_regression
from typing import Final

from leadhand_teams.patient.clinical import VOCABULARY, FlagThreshold, known_problem
from leadhand_teams.patient.output import (
    ClinicalFlag,
    ClinicalItem,
    ClinicalLine,
    LabPoint,
    LabSeries,
    MeasuredValue,
)
from leadhand_teams.patient.sources import day_of, differ, is_active, moment
from leadhand_teams.patient.units import convert, ucum

_ADULT: Final = dt.timedelta(days=18 * 365.25)


def labs_of(measured: Iterable[MeasuredValue]) -> tuple[list[LabSeries], list[str]]:
    """A series for each code, in the unit of its latest value; and what could not be converted."""
    grouped = defaultdict[str, list[MeasuredValue]](list)
    for one in sorted(measured, key=lambda value: moment(value.date)):
        grouped[one.code].append(one)
    notes: list[str] = []
    return [_series(group, notes) for _, group in sorted(grouped.items())], notes


def _series(group: Sequence[MeasuredValue], notes: list[str]) -> LabSeries:
    newest, points = group[-1], list[MeasuredValue]()
    for one in sorted(group, key=lambda one: (moment(one.date), one.unit != newest.unit)):
        value, low, high = (
            None if number is None else convert(number, one.unit, newest.unit, one.code)
            for number in (one.value, one.low, one.high)
        )
        given = f"{one.value:g} {one.unit or 'without a unit'}"
        if value is None:
            notes.append(f"{one.ref}: {given} can't be converted to {newest.unit or 'no unit'}")
            continue
        given = given if ucum(one.unit) != ucum(newest.unit) else None
        point = one.model_copy(update={"value": value, "low": low, "high": high, "as_given": given})
        if not any(_elsewhere(point, two) and not differ(value, two.value) for two in points):
            points.append(point)
    last = points[-1]
    before = next((one for one in points[-2::-1] if not _elsewhere(one, last)), None)
    return LabSeries(
        code=newest.code, display=newest.display, unit=newest.unit,
        series=[*points],
        latest=last.value, latest_date=last.date,
        change=last.value - before.value if before else None, slope_per_year=_slope(points),
        out_of_range=None if last.low is None and last.high is None else last.side is not None,
        newly_out_of_range=bool(last.side and before and before.side is None),
    )  # fmt: skip


def latest_words(worded: Iterable[MeasuredValue], labs: Iterable[LabSeries]) -> list[ClinicalLine]:
    """The latest of each observation in words, unless a number is later."""
    numbers, found = (
        {one.display: moment(one.latest_date) for one in labs},
        dict[str, ClinicalLine](),
    )
    for one in sorted(worded, key=lambda value: moment(value.date)):
        if moment(one.date) >= numbers.get(one.display, moment(None)):
            said = f"{one.said} {one.unit or ''}".strip()
            text = f"{one.display}: {said}, {one.date or 'no date'}"
            kind = "out_of_range" if one.is_beyond else None
            found[one.display] = ClinicalLine(text=text, refs=[one.ref], kind=kind)
    return list(found.values())


def _elsewhere(one: MeasuredValue, other: MeasuredValue) -> bool:
    """Whether another source has it of the same day."""
    return one.file != other.file and day_of(one.date) == day_of(other.date)


def _slope(series: Sequence[LabPoint]) -> float | None:
    days = [moment(one.date).timestamp() / 86_400 for one in series if one.date]
    if len(days) < max(3, len(series)) or max(days) - min(days) < 30:
        return None
    return 365.25 * linear_regression(days, [one.value for one in series]).slope


def coded_flags(problems: Sequence[ClinicalItem]) -> list[ClinicalFlag]:
    """What active problems are coded as."""
    found: dict[str, ClinicalFlag] = {}
    for one in problems:
        name = known_problem(one.codes, one.display) if is_active(one) and not one.end else ""
        if name and name not in found:
            why = f"coded: {one.display}{f' ({one.code})' if one.code else ''}"
            flag = ClinicalFlag(name=name, since=one.onset, why=why, basis="coded", refs=one.refs)
            found[name] = flag
    return list(found.values())


def value_flags(labs: Sequence[LabSeries], born: str | None) -> list[ClinicalFlag]:
    """What measured values are at or beyond the usual thresholds for."""
    found: dict[str, ClinicalFlag] = {}
    for rule in VOCABULARY.thresholds:
        points = [
            point
            for lab in labs if lab.code == rule.code
            for point in _in(rule, lab)
            if not rule.adults or moment(point.date) - moment(born) > _ADULT
        ]  # fmt: skip
        hits = [one for one in points if rule.least <= one.value < rule.below]
        if isinstance(rule.when, int):
            within = next((n for n, one in enumerate(points[::-1]) if one not in hits), len(points))
            hits = points[len(points) - within :]
            long = hits and (moment(hits[-1].date) - moment(hits[0].date)).days >= rule.when
            hits = hits if long else []
        elif rule.when == "last":
            hits = [one for one in points[-1:] if one in hits]
        if hits:
            _add_flag(found, rule, hits, len(points))
    return list(found.values())


def _add_flag(
    found: dict[str, ClinicalFlag], rule: FlagThreshold, hits: Sequence[LabPoint], count: int
) -> None:
    limit = f"at or above {rule.least:g}" if rule.least > 0 else f"below {rule.below:g}"
    how = {"last": "; from the last value only", "any": f" at {len(hits)} of {count} readings"}
    shown = [
        f"{one.value:.3g} {rule.unit} on {day_of(one.date) or 'an unknown day'}" for one in hits
    ]
    ends = dict.fromkeys((shown[0], shown[-1]))
    why = f"{rule.name} {limit}{how.get(str(rule.when), f' for {rule.when} days or more')}: "
    flag = ClinicalFlag(
        name=rule.flag, since=hits[0].date, why=why + " and ".join(ends), basis="values",
        refs=list(dict.fromkeys(one.ref for one in hits)),
    )  # fmt: skip
    if earlier := found.get(rule.flag):
        flag.since = min(earlier.since, flag.since, key=moment)
        flag.why = f"{earlier.why}; {flag.why}"
        flag.refs = list(dict.fromkeys([*earlier.refs, *flag.refs]))
    found[rule.flag] = flag


def _in(rule: FlagThreshold, lab: LabSeries) -> list[LabPoint]:
    """The points in the unit of the rule; values without a unit are taken to be in it."""
    values = [convert(one.value, lab.unit or rule.unit, rule.unit, lab.code) for one in lab.series]
    both = zip(lab.series, values, strict=True)
    return [one.model_copy(update={"value": value}) for one, value in both if value is not None]
