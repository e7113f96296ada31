"""Entries against each other and against the user's own tables: by code, never by judgement."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import product
from typing import Final

from leadhand_teams.patient.output import ClinicalItem, ClinicalLine
from leadhand_teams.patient.records import PatientRecord
from leadhand_teams.patient.sources import is_active, merged, moment
from leadhand_teams.shared import values

_COLUMNS: Final = {
    name: [name]
    for name in ("allergy", "medication", "why", "class", "code", "name", "problem", "every")
}
_DAYS: Final = {"year": 365.25, "month": 30.44, "week": 7.0}


def checked(record: PatientRecord, today: dt.date) -> list[ClinicalLine]:
    """Allergies against medications, therapy that is there twice, and overdue follow-ups."""
    drugs = [one for one in merged(record, "medication")[0] if is_active(one)]
    allergies = [one for one in merged(record, "allergy")[0] if is_active(one)]
    found: list[ClinicalLine] = []
    twice = defaultdict[str, dict[str, ClinicalItem]](dict)
    refs = defaultdict[str, list[str]](list)
    for drug in drugs:
        twice[drug.display][drug.ref] = drug
    for row in _rows(record):
        for drug in (one for one in drugs if row["class"] and is_it(one, row["medication"])):
            twice[row["class"]].setdefault(drug.display, drug)
            refs[row["class"]].append(row["ref"])
        found += [
            _allergy(*pair, row["why"] or "a pair of your table", row["ref"])
            for pair in product(allergies, drugs)
            if is_it(pair[0], row["allergy"]) and is_it(pair[1], row["medication"])
        ]
        found += filter(None, [_overdue(row, record, today)])
    found += [
        _allergy(*pair, "the same code")
        for pair in product(allergies, drugs)
        if set(pair[0].codes) & set(pair[1].codes)
    ]
    for name, group in twice.items():
        if len(group) > 1:
            shown = " and ".join(f"{one.display} ({one.onset or '?'})" for one in group.values())
            ids = [ref for one in group.values() for ref in one.refs] + refs[name]
            text = f"{name}: more than one is active, {shown}"
            found.append(ClinicalLine(kind="duplicate_therapy", text=text, refs=ids))
    return found


def is_it(item: ClinicalItem, wanted: str) -> bool:
    """Whether `wanted` is a code or the whole name of `item`."""
    return bool(wanted) and (wanted in item.codes or wanted.casefold() == item.display.casefold())


def _rows(record: PatientRecord) -> Iterable[dict[str, str]]:
    """The rows of the user's tables; a bare number of `every months` is one of months."""
    for table in record.rules:
        every = table.column("every")
        for row in table.records(_COLUMNS):
            yield row | {"every": f"{row['every']} {every.name}" if every and row["every"] else ""}


def _allergy(allergy: ClinicalItem, drug: ClinicalItem, why: str, *rule: str) -> ClinicalLine:
    text = f"{drug.display} is active, and {allergy.display} is recorded: {why}"
    return ClinicalLine(kind="allergy", text=text, refs=[*allergy.refs, *drug.refs, *rule])


def _overdue(row: Mapping[str, str], record: PatientRecord, today: dt.date) -> ClinicalLine | None:
    active = [one for one in record.items if one.kind == "problem" and is_active(one)]
    reasons = [one.ref for one in active if is_it(one, row["problem"])]
    number = next(values.amounts(row["every"]), None) if row["code"] else None
    dead = any(subject.deceased for _, _, subject in record.subjects)
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
