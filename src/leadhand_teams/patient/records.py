"""Reads FHIR R4 bundles, tables of laboratories and the user's own tables into one record.

Bundles are read leniently, field by field: real files have dates without a time zone or empty
texts, which a strict reader refuses.
"""

import functools
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from leadhand_teams.patient.clinical import VOCABULARY, analyte
from leadhand_teams.patient.output import ClinicalItem, ItemKind, PatientSubject
from leadhand_teams.shared import values
from leadhand_teams.shared.reading import Text, read, stamps
from leadhand_teams.shared.tables import DataTable

KINDS: Final[dict[str, ItemKind]] = {
    "Condition": "problem", "MedicationRequest": "medication", "MedicationStatement": "medication",
    "AllergyIntolerance": "allergy", "Procedure": "procedure", "Encounter": "encounter",
    "Immunization": "immunization",
}  # fmt: skip
_DATES: Final = (
    "onsetDateTime onsetPeriod.start performedDateTime performedPeriod.start occurrenceDateTime "
    "authoredOn effectiveDateTime effectivePeriod.start period.start recordedDate dateAsserted"
)
_ENDS: Final = "abatementDateTime abatementPeriod.end effectivePeriod.end"
_Concepts = dict[str | None, object]
_VOID: Final = ("entered-in-error", "cancelled", "refuted")


@dataclass(frozen=True, slots=True)
class MeasuredValue:
    """A number that was measured, as its source gives it."""

    code: str
    display: str
    value: float
    unit: str | None
    date: str | None
    low: float | None
    high: float | None
    ref: str
    file: str


@dataclass(slots=True)
class PatientRecord:
    """What all files state."""

    subjects: list[tuple[str, str, PatientSubject]] = field(default_factory=list)
    """Each with `file#id` and the family name."""
    items: list[ClinicalItem] = field(default_factory=list)
    measured: list[MeasuredValue] = field(default_factory=list)
    worded: list[tuple[str, str, str | None, str]] = field(default_factory=list)
    """Observations in words: what, value, date, ref."""
    rules: list[DataTable] = field(default_factory=list)
    """The user's own tables."""
    resources: list[dict[str, object]] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    """A line for each entry, with its id, and the notes that were handed in."""
    unread: list[str] = field(default_factory=list)


def record_of(paths: Sequence[str]) -> PatientRecord:
    """What the files state; they are read once until they change."""
    return _record(tuple(paths), stamps(paths))


@functools.lru_cache(maxsize=4)
def _record(paths: tuple[str, ...], states: tuple[tuple[str, int, int], ...]) -> PatientRecord:
    reading = read(paths)
    record = PatientRecord(unread=[f"{one.name}: {one.why}" for one in reading.unread])
    documents = [name for name in reading.lines if name.lower().endswith("json")]
    for name in documents:
        if resources := _resources("\n".join(reading.lines[name])):
            _add_resources(record, name, resources)
        else:
            record.unread.append(f"{name}: it has no FHIR resources")
    for table in reading.tables:
        if table.file.lower().endswith((".csv", ".tsv", ".xlsx")):
            _add_table(record, table)
    notes = [one for one in reading.texts if one.name not in documents]
    record.texts += [*notes, *_lines(record)]
    record.unread += [f"{one.name}: free text, which only a model reads" for one in notes]
    return record


def _lines(record: PatientRecord) -> Iterable[Text]:
    for one in record.items:
        line = f"{one.kind}: {one.display}; {one.status}; {one.onset or ''}"
        yield Text(one.file, line, id=one.ref)
    for one in record.measured:
        line = f"{one.display}: {one.value:g} {one.unit or ''}; {one.date or ''}"
        yield Text(one.file, line, id=one.ref)


def at(value: object, *path: str | int) -> object:
    """What stands at `path` in JSON; None if nothing does."""
    for step in path:
        if isinstance(step, str) and isinstance(value, dict):
            value = cast("dict[str, object]", value).get(step)
        else:
            entries = each(value)
            value = entries[step] if isinstance(step, int) and step < len(entries) else None
    return value


def text_at(value: object, *path: str | int) -> str | None:
    """The text at `path`; None if there is none."""
    found = at(value, *path)
    return found if isinstance(found, str) and found.strip() else None


def each(value: object) -> list[object]:
    """The entries of a list; of anything else none."""
    return cast("list[object]", value) if isinstance(value, list) else []


def _resources(text: str) -> list[dict[str, object]]:
    try:
        one: object = json.loads(text)
    except (ValueError, RecursionError):
        return []
    entries = [at(entry, "resource") for entry in each(at(one, "entry"))] or [one]
    return [cast("dict[str, object]", one) for one in entries if text_at(one, "resourceType")]


def _add_resources(record: PatientRecord, file: str, resources: list[dict[str, object]]) -> None:
    every = [one for owner in resources for one in (owner, *each(owner.get("contained")))]
    named = {text_at(one, "id"): at(one, "code") for one in every}
    for n, one in enumerate(resources, start=1):
        ref = text_at(one, "id") or f"{file}#{one['resourceType']}.{n}"
        if one["resourceType"] == "Patient":
            dead = one.get("deceasedDateTime") or one.get("deceasedBoolean")
            subject = PatientSubject(
                sex=text_at(one, "gender"), birth_date=text_at(one, "birthDate"),
                deceased=dead if isinstance(dead, str | bool) else None,
            )  # fmt: skip
            family = text_at(one, "name", 0, "family") or ""
            record.subjects.append((f"{file}#{ref}", family, subject))
        elif one["resourceType"] == "Observation":
            _add_observation(record, file, ref, one)
        elif one["resourceType"] in KINDS:
            _add_item(record, file, ref, one, named)
            record.resources.append(one)


def _add_item(
    record: PatientRecord, file: str, ref: str, one: dict[str, object], named: _Concepts
) -> None:
    kind = KINDS[str(one["resourceType"])]
    concept = one.get("medicationCodeableConcept") or one.get("vaccineCode") or one.get("code")
    if kind == "encounter":
        concept = at(one, "type", 0) or {"coding": [one.get("class")]}
    if reference := text_at(one, "medicationReference", "reference"):
        concept = named.get(_id(reference)) or {"text": at(one, "medicationReference", "display")}
    code, system, display = coded(concept)
    if not display:
        record.unread.append(f"{file}: {ref} has neither a code nor a text")
        return
    verified = text_at(one, "verificationStatus", "coding", 0, "code")
    status = text_at(one, "clinicalStatus", "coding", 0, "code") or text_at(one, "status")
    reasons = [_id(text_at(why, "reference") or "") for why in each(one.get("reasonReference"))]
    item = ClinicalItem(
        kind=kind, code=code, system=system, display=display,
        status=verified if verified in _VOID else status,
        onset=_first(one, _DATES), end=_first(one, _ENDS), ref=ref, refs=[ref], file=file,
        codes=_codes(concept),
        reasons=[*reasons, *(code for why in each(one.get("reasonCode")) for code in _codes(why))],
    )  # fmt: skip
    record.items.append(item)


def _first(one: object, paths: str) -> str | None:
    found = (text_at(one, *path.split(".")) for path in paths.split())
    return next(filter(None, found), None)


def _codes(concept: object) -> list[str]:
    codings = each(at(concept, "coding"))
    return [code for coding in codings if (code := text_at(coding, "code"))]


def coded(concept: object) -> tuple[str | None, str | None, str]:
    """Code, system and words of a concept of FHIR."""
    best = next((one for one in each(at(concept, "coding")) if text_at(one, "code")), None)
    display = text_at(best, "display") or text_at(concept, "text") or text_at(best, "code") or ""
    return text_at(best, "code"), text_at(best, "system"), display


def _id(reference: str) -> str:
    return re.split(r"[/#:]", reference)[-1]


def _add_observation(record: PatientRecord, file: str, ref: str, one: dict[str, object]) -> None:
    if text_at(one, "status") in _VOID:
        return
    date = _first(one, "effectiveDateTime effectivePeriod.start effectiveInstant issued")
    for part in (one, *each(one.get("component"))):
        code, _, display = coded(at(part, "code"))
        value = _float(at(part, "valueQuantity", "value"))
        unit = text_at(part, "valueQuantity", "code") or text_at(part, "valueQuantity", "unit")
        comparator = text_at(part, "valueQuantity", "comparator")
        if value is not None and not comparator:
            low, high = (at(part, "referenceRange", 0, end, "value") for end in ("low", "high"))
            found = (code or display, display, value, unit, date, _float(low), _float(high))
            record.measured.append(MeasuredValue(*found, ref, file))
        elif worded := (
            f"{comparator}{value:g} {unit or ''}" if value is not None
            else coded(at(part, "valueCodeableConcept"))[2] or text_at(part, "valueString")
        ):  # fmt: skip
            record.worded.append((display, worded, date, ref))


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _add_table(record: PatientRecord, table: DataTable) -> None:
    columns = {name: table.column(*names) for name, names in VOCABULARY.columns.items()}
    if columns["value"] is None or not (columns["code"] or columns["name"]):
        if table.column("medication", "every", "interval"):
            record.rules.append(table)
        else:
            why = "neither values of a laboratory (code or name, value) nor a table of rules"
            record.unread.append(f"{table.name}: {why}")
        return
    for row in range(len(table)):
        cell = {name: one.texts[row].strip() if one else "" for name, one in columns.items()}
        number = {name: one.numbers[row] if one else None for name, one in columns.items()}
        key = cell["code"] or analyte(cell["name"]) or cell["name"]
        day, name = columns["date"] and columns["date"].dates[row], cell["name"] or key
        date = cell["date"] if re.match(r"\d{4}-", cell["date"]) or not day else day.isoformat()
        value = number["value"]
        value = values.number(cell["value"]) if value is None else value
        if key and value is not None and cell["value"][0] not in "<>≤≥":
            low, high = number["low"], number["high"]
            if ends := re.fullmatch(r"([\d.,]+)\s*(?:-|–|to|bis)\s*([\d.,]+)", cell["range"]):
                low, high = (values.number(end) for end in ends.groups())
            unit = cell["unit"] or None
            found = (key, name, value, unit, date or None, low, high)
            record.measured.append(MeasuredValue(*found, table.ref(row), table.file))
        elif key and cell["value"]:
            record.worded.append((name, cell["value"], date, table.ref(row)))
