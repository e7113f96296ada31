"""Entries and sources against each other, and against the user's own tables: by code alone."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final

from leadhand_teams.patient.clinical import VOCABULARY, convert, readable
from leadhand_teams.patient.output import (
    ClinicalItem,
    ClinicalLine,
    ItemKind,
    LabPoint,
    PatientSubject,
)
from leadhand_teams.patient.records import PatientRecord
from leadhand_teams.shared import values

_DAYS: Final = {"year": 365.25, "month": 30.44, "week": 7.0}


def moment(text: str | None) -> dt.datetime:
    """When a date of FHIR or of a table begins; the first of all moments if it is unknown."""
    written = (text or "").strip()
    try:
        found = dt.datetime.fromisoformat(written + "0001-01-01"[len(written) :])
    except ValueError:
        found = dt.datetime.min
    return found if found.tzinfo else found.replace(tzinfo=dt.UTC)


def day_of(date: str | None) -> str:
    """The day of a date; empty if it is unknown."""
    return (date or "")[:10]


def agree(one: LabPoint, other: LabPoint) -> bool | None:
    """Whether two sources differ by no more than rounding; None if not of the same time."""
    if one.file == other.file or day_of(one.date) != day_of(other.date):
        return None
    value = convert(one.value, one.unit, other.unit, one.code)
    if value is None or abs(value - other.value) <= 0.02 * max(abs(value), abs(other.value)):
        return True
    timed = min(len(one.date or ""), len(other.date or "")) > 10
    return None if timed and moment(one.date) != moment(other.date) else False


def is_active(item: ClinicalItem) -> bool:
    """Whether it is going on, as far as its source says."""
    return item.status in ("active", "recurrence", "relapse", "on-hold", "intended", None)


def entries(record: PatientRecord, *kinds: ItemKind) -> tuple[list[ClinicalItem], list[str]]:
    """The entries of these kinds, each once, by time; and those that are in two sources."""
    found: dict[tuple[str | None, ...], ClinicalItem] = {}
    duplicates: list[str] = []
    for item in (one for one in record.items if one.kind in kinds):
        day = day_of(item.onset)
        key = (item.kind, item.code or item.display.casefold(), day, item.status)
        earlier = found.get(key)
        if earlier is None or earlier.file == item.file:
            found[key if earlier is None else (*key, item.ref)] = item
        else:
            found[key] = earlier.model_copy(update={"refs": [*earlier.refs, item.ref]})
            places = f"{place(earlier)}, {place(item)}"
            duplicates.append(f"{item.display} ({day or 'no date'}): {places}")
    return sorted(found.values(), key=lambda one: moment(one.onset)), duplicates


def place(one: ClinicalItem | LabPoint | PatientSubject) -> str:
    """Where it is, as `file#id` or `file:line`."""
    return one.ref if one.ref.startswith(one.file) else f"{one.file}#{one.ref}"


def contradictions(record: PatientRecord) -> list[ClinicalLine]:
    """What sources state differently, and an entry that contradicts itself."""
    stated = [*_subjects(record), *_items(record), *_values(record)]
    lines = [(f"{about}: {' or '.join(said.values())}", list(said)) for about, said in stated]
    return [ClinicalLine(text=text, refs=refs) for text, refs in lines]


def _subjects(record: PatientRecord) -> Iterator[tuple[str, dict[str, str]]]:
    words = {"True": "dead, without a date", "False": "not dead"}
    for name, about in (("sex", "sex"), ("birth_date", "birth date"), ("deceased", "death")):
        said = {str(getattr(one, name)): place(one) for one in reversed(record.subjects)}
        said.pop("None", None)
        if len(said) > 1:
            yield f"the patient's {about}", {at: words.get(it, it) for it, at in said.items()}


def _items(record: PatientRecord) -> Iterator[tuple[str, dict[str, str]]]:
    """Active and ended, and an allergy beside none known; of each file its latest entry counts."""
    latest = defaultdict[tuple[str, str], dict[str, ClinicalItem]](dict)
    none = [one for one in record.items if VOCABULARY.no_known_allergy & set(one.codes)]
    for one in sorted(record.items, key=lambda item: moment(item.onset)):
        if one.kind == "problem" and one.status == "active" and one.end:
            yield one.display, {place(one): f"active, and ended {day_of(one.end)}"}
        if one.kind == "allergy" and none and one not in none and is_active(one):
            yield "allergies", {place(none[0]): none[0].display, place(one): one.display}
        if one.kind in ("problem", "medication", "allergy"):
            latest[one.kind, one.code or one.display.casefold()][one.file] = one
    for (kind, _), by_file in latest.items():
        active = [one for one in by_file.values() if is_active(one)]
        for one in (one for one in by_file.values() if active and not is_active(one)):
            if not one.onset or moment(one.onset) >= moment(active[0].onset):
                both = (one, active[0])
                said = {place(it): f"{it.status} ({day_of(it.onset) or '?'})" for it in both}
                yield f"{kind} {one.display}", said


def _values(record: PatientRecord) -> Iterator[tuple[str, dict[str, str]]]:
    """Values of the same code and time that differ by more than rounding."""
    first: dict[tuple[str, str], LabPoint] = {}
    for one in (one for one in record.measured if one.date):
        earlier = first.setdefault((one.code, day_of(one.date)), one)
        if agree(one, earlier) is False:
            both = (earlier, one)
            said = {place(it): f"{it.value:g} {readable(it.unit)}".strip() for it in both}
            yield f"{earlier.display} of {day_of(one.date)}", said


def checked(record: PatientRecord, today: dt.date) -> list[ClinicalLine]:
    """Allergies against medications, therapy that is there twice, and overdue follow-ups."""
    drugs = [one for one in entries(record, "medication")[0] if is_active(one)]
    allergies = [one for one in entries(record, "allergy")[0] if is_active(one)]
    found: list[ClinicalLine] = []
    twice, refs = defaultdict[str, dict[str, ClinicalItem]](dict), defaultdict[str, list[str]](list)
    for drug in drugs:
        twice[drug.display][drug.ref] = drug
    rules = [(row, one) for one in record.rules for row in one.records(VOCABULARY.rule_columns)]
    for row, table in rules:
        for drug in (one for one in drugs if row["class"] and is_it(one, row["medication"])):
            twice[row["class"]].setdefault(drug.display, drug)
            refs[row["class"]].append(row["ref"])
        for allergy, drug in product(allergies, drugs):
            if is_it(allergy, row["allergy"]) and is_it(drug, row["medication"]):
                found.append(_allergy(allergy, drug, row["why"] or "a pair of your table"))
                found[-1].refs.append(row["ref"])
        every = table.column("every")  # a bare number of `every months` is one of months
        row["every"] += f" {every.name}" if every and row["every"] else ""
        found += filter(None, [_overdue(row, record, today)])
    for allergy, drug in product(allergies, drugs):
        if set(allergy.codes) & set(drug.codes):
            found.append(_allergy(allergy, drug, "the same code"))
    for name, group in twice.items():
        if len(group) > 1:
            shown = " and ".join(f"{one.display} ({one.onset or '?'})" for one in group.values())
            ids = [ref for one in group.values() for ref in one.refs] + refs[name]
            text = f"{name}: more than one is active, {shown}"
            found.append(ClinicalLine(kind="duplicate_therapy", text=text, refs=ids))
    return sorted(found, key=lambda one: one.kind or "")  # allergies, twice there, overdue


def is_it(item: ClinicalItem, wanted: str) -> bool:
    """Whether `wanted` is a code or the whole name of `item`."""
    return bool(wanted) and (wanted in item.codes or wanted.casefold() == item.display.casefold())


def _allergy(allergy: ClinicalItem, drug: ClinicalItem, why: str) -> ClinicalLine:
    text = f"{drug.display} is active, and {allergy.display} is recorded: {why}"
    return ClinicalLine(kind="allergy", text=text, refs=[*allergy.refs, *drug.refs])


def _overdue(row: Mapping[str, str], record: PatientRecord, today: dt.date) -> ClinicalLine | None:
    active = [one for one in record.items if one.kind == "problem" and is_active(one)]
    reasons = [one.ref for one in active if is_it(one, row["problem"])]
    number = next(values.amounts(row["every"]), None) if row["code"] else None
    dead = any(subject.deceased for subject in record.subjects)
    if number is None or dead or (row["problem"] and not reasons):
        return None
    days = number.value * next((n for unit, n in _DAYS.items() if unit in row["every"].lower()), 1)
    done = [(one.date, one.ref) for one in record.measured if one.code == row["code"]]
    done += [(one.onset, one.ref) for one in record.items if is_it(one, row["code"])]
    last, ref = max(done, key=lambda one: moment(one[0]), default=(None, row["ref"]))
    due = moment(last).date() + dt.timedelta(days=days) if last else None
    if due and due >= today:
        return None
    state = f"last done {(last or '')[:10]}, was due {due}" if due else "never recorded"
    text = f"{row['name'] or row['code']}: {state} (on {today})"
    return ClinicalLine(kind="overdue", text=text, refs=[*reasons, *{ref, row["ref"]}])
