"""Series of measurements in one unit, and what coded problems and values say."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from leadhand_teams.patient.clinical import A1C, BMI, DIASTOLIC, EGFR, SYSTOLIC, known_problem
from leadhand_teams.patient.output import ClinicalFlag, ClinicalItem, LabPoint, LabSeries
from leadhand_teams.patient.records import MeasuredValue
from leadhand_teams.patient.sources import is_active, moment
from leadhand_teams.patient.units import convert, ucum


def labs_of(measured: Iterable[MeasuredValue]) -> tuple[list[LabSeries], list[str]]:
    """A series for each code, in the unit of its latest value; and what could not be converted."""
    grouped = defaultdict[str, list[MeasuredValue]](list)
    for one in sorted(measured, key=lambda value: moment(value.date)):
        grouped[one.code].append(one)
    notes: list[str] = []
    return [_series(group, notes) for _, group in sorted(grouped.items())], notes


def _series(group: Sequence[MeasuredValue], notes: list[str]) -> LabSeries:
    newest, points = group[-1], dict[tuple[str, str], LabPoint]()
    several = len({one.file for one in group}) > 1
    for one in group:
        value, low, high = (
            None if number is None else convert(number, one.unit, newest.unit, one.code)
            for number in (one.value, one.low, one.high)
        )
        given = f"{one.value:g} {one.unit or 'without a unit'}"
        if value is None:
            notes.append(f"{one.ref}: {given} can't be converted to {newest.unit or 'no unit'}")
            continue
        point = LabPoint(date=one.date, value=value, ref=one.ref, low=low, high=high)
        point.as_given = given if ucum(one.unit) != ucum(newest.unit) else None
        same = ((one.date or "")[:10], f"{value:.3g}") if several else (one.ref, str(len(points)))
        points.setdefault(same, point)
    series = list(points.values())
    last, before = series[-1], series[-2] if len(series) > 1 else None
    return LabSeries(
        code=newest.code, display=newest.display, unit=newest.unit, series=series,
        latest=last.value, latest_date=last.date,
        change=last.value - before.value if before else None, slope_per_year=_slope(series),
        out_of_range=None if last.low is None and last.high is None else last.side is not None,
        newly_out_of_range=bool(last.side and before and before.side is None),
    )  # fmt: skip


def _slope(series: Sequence[LabPoint]) -> float | None:
    days = [moment(one.date).timestamp() / 86_400 for one in series if one.date]
    if len(days) < max(3, len(series)) or max(days) - min(days) < 30:
        return None
    middle, level = sum(days) / len(days), sum(one.value for one in series) / len(series)
    both = sum((day - middle) * (one.value - level) for day, one in zip(days, series, strict=True))
    return 365.25 * both / sum((day - middle) ** 2 for day in days)


def coded_flags(problems: Sequence[ClinicalItem]) -> list[ClinicalFlag]:
    """What active problems are coded as."""
    found: dict[str, ClinicalFlag] = {}
    for one in problems:
        name = known_problem(one.codes, one.display) if is_active(one) and not one.end else ""
        if name and name not in found:
            why = f"coded: {one.display}{f' ({one.code})' if one.code else ''}"
            found[name] = _flag(name, one.onset, why, one.refs, coded=True)
    return list(found.values())


def _flag(
    name: str, since: str | None, why: str, refs: Iterable[str], *, coded: bool = False
) -> ClinicalFlag:
    basis, refs = "coded" if coded else "values", list(dict.fromkeys(refs))
    return ClinicalFlag(name=name, since=since, why=why, basis=basis, refs=refs)


def value_flags(labs: Sequence[LabSeries], born: str | None) -> list[ClinicalFlag]:
    """What measured values are at or beyond the usual thresholds for."""
    by_code = {one.code: one for one in labs}
    found = [*_pressure(by_code), *_kidney(by_code)]
    for code, unit, name, limit, below in (
        (A1C, "%", "diabetes", 6.5, 100), (A1C, "%", "prediabetes", 5.7, 6.5),
        (BMI, "kg/m2", "obesity", 30, 200),
    ):  # fmt: skip
        for one in _in(by_code, code, unit)[-1:]:
            days = (moment(one.date) - moment(born)).days if born and one.date else 18 * 366
            if limit <= one.value < below and (code != BMI or days > 18 * 365.25):
                what = f"{'HbA1c' if code == A1C else 'BMI'} {_shown(one, unit)}"
                why = f"{what}, at or above {limit:g}; from the last value only"
                found.append(_flag(name, one.date, why, [one.ref]))
    return found


def _pressure(labs: Mapping[str, LabSeries]) -> list[ClinicalFlag]:
    both = [_in(labs, SYSTOLIC, "mm[Hg]"), _in(labs, DIASTOLIC, "mm[Hg]")]
    high = [
        (word, one)
        for word, limit, points in zip(("systolic", "diastolic"), (140, 90), both, strict=True)
        for one in points
        if one.value >= limit
    ]
    if not high:
        return []
    high.sort(key=lambda one: moment(one[1].date))
    shown = ", ".join(f"{word} {_shown(one)}" for word, one in high[-3:])
    days = f"{len({one.date for _, one in high})} of {max(map(len, both))} readings"
    why = f"at or above 140/90 mmHg at {days}: {shown}"
    return [_flag("hypertension", high[0][1].date, why, (one.ref for _, one in high))]


def _kidney(labs: Mapping[str, LabSeries]) -> list[ClinicalFlag]:
    low: list[LabPoint] = []
    for one in _in(labs, EGFR, "mL/min/{1.73_m2}"):
        low = [*low, one] if one.value < 60 else []
    if not low or (moment(low[-1].date) - moment(low[0].date)).days < 90:
        return []
    why = f"eGFR below 60 for three months or more: {_shown(low[0])} and {_shown(low[-1])}"
    return [_flag("ckd", low[0].date, why, (one.ref for one in low))]


def _in(labs: Mapping[str, LabSeries], code: str, unit: str) -> list[LabPoint]:
    """The points of a code in `unit`; values without a unit are taken to be in it."""
    points = labs[code].series if code in labs else []
    values = [convert(one.value, labs[code].unit or unit, unit, code) for one in points]
    both = zip(points, values, strict=True)
    return [one.model_copy(update={"value": value}) for one, value in both if value is not None]


def _shown(point: LabPoint, unit: str = "") -> str:
    return (
        f"{point.value:.3g}{f' {unit}' if unit else ''} on {(point.date or 'an unknown day')[:10]}"
    )
