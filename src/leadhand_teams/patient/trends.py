"""Series of measurements in one unit, and what coded problems and values say."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import takewhile
from statistics import linear_regression
from typing import Final

from leadhand_teams.patient.clinical import (
    VOCABULARY,
    FlagThreshold,
    in_unit,
    known_problem,
    readable,
)
from leadhand_teams.patient.comparing import agree, day_of, is_active, moment
from leadhand_teams.patient.output import (
    ClinicalFlag,
    ClinicalItem,
    ClinicalLine,
    LabPoint,
    LabSeries,
    PatientSummary,
)
from leadhand_teams.patient.records import PatientRecord

_ADULT: Final = dt.timedelta(days=18 * 365.25)


def followed(record: PatientRecord) -> PatientSummary:
    """All series of measurements, the latest words, and what values say."""
    labs, notes = labs_of(record.measured)
    numbers = {one.display: moment(one.latest_date) for one in labs}
    words: dict[str, ClinicalLine] = {}
    for one in sorted(record.worded, key=lambda value: moment(value.date)):
        if moment(one.date) >= numbers.get(one.display, moment(None)):
            said = f"{one.said} {readable(one.unit)}".strip()
            text = f"{one.display}: {said}, {one.date or 'no date'}"
            kind = "out_of_range" if one.sign and one.side else None
            words[one.display] = ClinicalLine(text=text, refs=[one.ref], kind=kind)
    born = next((one.birth_date for one in record.subjects if one.birth_date), None)
    found = PatientSummary(labs=labs, notes=notes, flags=value_flags(labs, born))
    found.findings = list(words.values())
    found.files = list(dict.fromkeys(one.file for one in record.measured))
    return found


def labs_of(measured: Iterable[LabPoint]) -> tuple[list[LabSeries], list[str]]:
    """A series for each code, in the unit of its latest value; and what could not be converted."""
    grouped = defaultdict[str, list[LabPoint]](list)
    for one in sorted(measured, key=lambda value: moment(value.date)):
        grouped[one.code].append(one)
    notes: list[str] = []
    return [_series(group, notes) for _, group in sorted(grouped.items())], notes


def _series(group: Sequence[LabPoint], notes: list[str]) -> LabSeries:
    newest, points = group[-1], list[LabPoint]()
    for one in sorted(group, key=lambda one: (moment(one.date), one.unit != newest.unit)):
        point = in_unit(one, newest.unit)
        if point is None:
            given = f"{one.value:g} {one.unit or 'without a unit'}"
            notes.append(f"{one.ref}: {given} can't be converted to {newest.unit or 'no unit'}")
        elif not any(agree(point, two) for two in points):
            points.append(point)
    last, slope = points[-1], None
    for one in points:
        one.left_out = one.file != last.file and any(agree(one, two) is False for two in points)
        if one.left_out:
            why = "left out of change, slope and plot, as another source contradicts it"
            notes.append(f"{one.ref}: {one.display} of {day_of(one.date) or 'no date'} is {why}")
    kept = [one for one in points if not one.left_out]
    before = kept[-2] if len(kept) > 1 else None
    days = [moment(one.date).timestamp() / 86_400 for one in kept if one.date]
    if len(days) >= max(3, len(kept)) and max(days) - min(days) >= 30:
        slope = 365.25 * linear_regression(days, [one.value for one in kept]).slope
    return LabSeries(
        code=newest.code, display=newest.display, unit=newest.unit, series=points,
        latest=last.value, latest_date=last.date, slope_per_year=slope,
        change=last.value - before.value if before else None,
        out_of_range=None if last.low is None and last.high is None else last.side is not None,
        newly_out_of_range=bool(last.side and before and before.side is None),
    )  # fmt: skip


def coded_flags(problems: Sequence[ClinicalItem]) -> list[ClinicalFlag]:
    """What active problems are coded as."""
    found: dict[str, ClinicalFlag] = {}
    for one in problems:
        name = known_problem(one.codes, one.display) if is_active(one) and not one.end else ""
        why = f"coded: {one.display}{f' ({one.code})' if one.code else ''}"
        flag = ClinicalFlag(name=name, since=one.onset, why=why, basis="coded", refs=one.refs)
        found.setdefault(name, flag)
    return [flag for name, flag in found.items() if name]


def value_flags(labs: Sequence[LabSeries], born: str | None) -> list[ClinicalFlag]:
    """What measured values are at or beyond the usual thresholds for."""
    flags: list[ClinicalFlag] = []
    for name, known in VOCABULARY.problems.items():
        found, why = list[LabPoint](), list[str]()
        for rule in known.values:
            own = [one for lab in labs if lab.code == rule.code for one in lab.series]
            # A value without a unit is taken to be in that of the rule.
            given = (one.model_copy(update={"unit": one.unit or rule.unit}) for one in own)
            converted = (in_unit(one, rule.unit) for one in given)
            points = [
                one
                for one in converted
                if one and (not rule.adults or moment(one.date) - moment(born) > _ADULT)
            ]
            if hits := _hits(rule, points):
                found += hits
                why.append(_why(rule, hits, len(points)))
        if found:
            since = min((one.date for one in found), key=moment)
            refs = list(dict.fromkeys(one.ref for one in found))
            text = "; ".join(why)
            flags.append(ClinicalFlag(name=name, since=since, why=text, basis="values", refs=refs))
    return flags


def _hits(rule: FlagThreshold, points: Sequence[LabPoint]) -> list[LabPoint]:
    """The values that make the flag; none if they don't do so for long enough."""
    hits = [one for one in points if rule.least <= one.value < rule.below]
    latest = list(takewhile(hits.__contains__, reversed(points)))[::-1]
    if isinstance(rule.when, str):
        return hits if rule.when == "any" else latest[-1:]
    is_long = latest and (moment(latest[-1].date) - moment(latest[0].date)).days >= rule.when
    return latest if is_long else []


def _why(rule: FlagThreshold, hits: Sequence[LabPoint], count: int) -> str:
    limit = f"at or above {rule.least:g}" if rule.least > 0 else f"below {rule.below:g}"
    how = {"last": "; from the last value only", "any": f" at {len(hits)} of {count} readings"}
    ends = dict.fromkeys(
        f"{one.value:.3g} {readable(rule.unit)} on {day_of(one.date) or 'an unknown day'}"
        for one in (hits[0], hits[-1])
    )
    for_long = f" for {rule.when} days or more"
    return f"{rule.name} {limit}{how.get(str(rule.when), for_long)}: {' and '.join(ends)}"
