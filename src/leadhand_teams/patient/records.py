"""Reads FHIR R4 bundles, tables of laboratories and the user's own tables into one record.

Bundles are read leniently, field by field: real files have dates without a time zone or empty
texts, which a strict reader refuses.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, cast

from leadhand_teams.patient.clinical import DIASTOLIC, SYSTOLIC, VOCABULARY, analyte
from leadhand_teams.patient.output import (
    ClinicalItem,
    ClinicalLine,
    ItemKind,
    LabPoint,
    PatientSubject,
)
from leadhand_teams.shared import values
from leadhand_teams.shared.reading import Reading, Text, read_once
from leadhand_teams.shared.tables import DataTable
from leadhand_teams.shared.values import DecimalMark

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
_MEASURED: Final = "effectiveDateTime effectivePeriod.start effectiveInstant issued"
VOID: Final = ("entered-in-error", "cancelled", "refuted")
"""Statuses of what is not so."""
_NUMBER: Final = r"\d[\d.,]*"
_RANGE: Final = re.compile(
    rf"\s*(?:(?P<low>{_NUMBER})\s*(?:-|–|to|bis|à)\s*(?P<high>{_NUMBER})"
    rf"|(?:[<≤]=?|bis|up to)\s*(?P<most>{_NUMBER})|(?:[>≥]=?|ab)\s*(?P<least>{_NUMBER})).*"
)
_VALUE: Final = re.compile(
    rf"(?P<sign>[<>≤≥]=?)?\s*(?P<number>[-+]?{_NUMBER})\s*(?P<unit>[^\W\d_]\S*/\S+|%)?"
    r"[\s*↑↓+-]*(?:\(?(?:HH?|LL?)\)?)?"
)
_PRESSURE: Final = re.compile(r"(\d{2,3})\s*/\s*(\d{2,3})(?:\s*mm ?Hg)?")


class MeasuredValue(LabPoint):
    """A number that was measured, as its source gives it."""

    code: str
    display: str
    unit: str | None
    file: str


@dataclass(slots=True)
class PatientRecord:
    """What all files state."""

    subjects: list[tuple[str, str, PatientSubject]] = field(default_factory=list)
    """Each with `file#id` and the family name."""
    items: list[ClinicalItem] = field(default_factory=list)
    measured: list[MeasuredValue] = field(default_factory=list)
    worded: list[tuple[str, str | None, ClinicalLine]] = field(default_factory=list)
    """What was observed and is no number, each with its name and date."""
    rules: list[DataTable] = field(default_factory=list)
    """The user's own tables."""
    resources: list[dict[str, object]] = field(default_factory=list)
    texts: list[Text] = field(default_factory=list)
    """A line for each entry, with its id, and the notes that were handed in."""
    unread: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What is there and not summarised."""


@read_once
def record_of(reading: Reading) -> PatientRecord:
    """What the files at some paths state."""
    record = PatientRecord(unread=[f"{one.name}: {one.why}" for one in reading.unread])
    documents = [name for name in reading.lines if name.lower().endswith("json")]
    for name in documents:
        if resources := list(_resources("\n".join(reading.lines[name]))):
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


def _lines(record: PatientRecord) -> Iterator[Text]:
    for one in record.items:
        line = f"{one.kind}: {one.display}; {one.status}; {one.onset or ''}"
        yield Text(one.file, line, id=one.ref)
    for one in record.measured:
        line = f"{one.display}: {one.value:g} {one.unit or ''}; {one.date or ''}"
        yield Text(one.file, line, id=one.ref)


def at(value: object, path: str) -> object:
    """What stands at `path` in JSON, `a.0.b`; None if nothing does."""
    for step in path.split("."):
        if isinstance(value, list):
            entries = cast("list[object]", value)
            value = entries[int(step)] if step.isdigit() and int(step) < len(entries) else None
        else:
            is_object = isinstance(value, dict)
            value = cast("dict[str, object]", value).get(step) if is_object else None
    return value


def text_at(value: object, paths: str) -> str | None:
    """The first text at one of the paths, which spaces separate; None if there is none."""
    found = (at(value, path) for path in paths.split())
    return next((one for one in found if isinstance(one, str) and one.strip()), None)


def each(value: object, path: str) -> list[object]:
    """The entries of the list at `path`; of anything else none."""
    found = at(value, path)
    return cast("list[object]", found) if isinstance(found, list) else []


def _resources(text: str) -> Iterator[dict[str, object]]:
    """The resources of a document, or of each line of a bulk export."""
    try:
        document: object = json.loads(text)
    except (ValueError, RecursionError):
        lines = text.splitlines()
        for line in lines if len(lines) > 1 else ():
            yield from _resources(line)
        return
    for one in [at(entry, "resource") for entry in each(document, "entry")] or [document]:
        if text_at(one, "resourceType"):
            yield cast("dict[str, object]", one)


def _add_resources(record: PatientRecord, file: str, resources: list[dict[str, object]]) -> None:
    every = [one for owner in resources for one in (owner, *each(owner, "contained"))]
    named = {text_at(one, "id"): at(one, "code") for one in every}
    left_out = Counter[str]()
    for n, one in enumerate(resources, start=1):
        name = str(one["resourceType"])
        ref = text_at(one, "id") or f"{file}#{name}.{n}"
        if name == "Patient":
            dead = one.get("deceasedDateTime") or one.get("deceasedBoolean")
            subject = PatientSubject(
                sex=text_at(one, "gender"), birth_date=text_at(one, "birthDate"),
                deceased=dead if isinstance(dead, str | bool) else None,
            )  # fmt: skip
            family = text_at(one, "name.0.family") or ""
            record.subjects.append((f"{file}#{ref}", family, subject))
        elif name == "Observation":
            _add_observation(record, file, ref, one)
        elif name in KINDS:
            _add_item(record, file, ref, one, named)
            record.resources.append(one)
        elif name in VOCABULARY.left_out.split():
            left_out[name] += 1
    if left_out:
        counts = ", ".join(f"{count:,} {name}" for name, count in left_out.most_common())
        record.notes.append(f"{file}: not summarised: {counts}")


def _add_item(
    record: PatientRecord, file: str, ref: str, one: dict[str, object],
    named: Mapping[str | None, object],
) -> None:  # fmt: skip
    kind = KINDS[str(one["resourceType"])]
    concept = one.get("medicationCodeableConcept") or one.get("vaccineCode") or one.get("code")
    if kind == "encounter":
        concept = at(one, "type.0") or {"coding": [one.get("class")]}
    if reference := text_at(one, "medicationReference.reference"):
        concept = named.get(_id(reference)) or {"text": at(one, "medicationReference.display")}
    code, system, display = coded(concept)
    if not display:
        record.unread.append(f"{file}: {ref} has neither a code nor a text")
        return
    verified = text_at(one, "verificationStatus.coding.0.code")
    status = text_at(one, "clinicalStatus.coding.0.code status")
    reasons = [_id(text_at(why, "reference") or "") for why in each(one, "reasonReference")]
    item = ClinicalItem(
        kind=kind, code=code, system=system, display=display,
        status=verified if verified in VOID else status,
        onset=text_at(one, _DATES), end=text_at(one, _ENDS), ref=ref, refs=[ref], file=file,
        codes=_codes(concept),
        reasons=[*reasons, *(code for why in each(one, "reasonCode") for code in _codes(why))],
    )  # fmt: skip
    record.items.append(item)


def _codes(concept: object) -> list[str]:
    return [code for one in each(concept, "coding") if (code := text_at(one, "code"))]


def coded(concept: object) -> tuple[str | None, str | None, str]:
    """Code, system and words of a concept of FHIR."""
    best = next((one for one in each(concept, "coding") if text_at(one, "code")), None)
    display = text_at(best, "display") or text_at(concept, "text") or text_at(best, "code") or ""
    return text_at(best, "code"), text_at(best, "system"), display


def _id(reference: str) -> str:
    return re.split(r"[/#:]", reference)[-1]


def _add_observation(record: PatientRecord, file: str, ref: str, one: dict[str, object]) -> None:
    if text_at(one, "status") in VOID:
        return
    for part in (one, *each(one, "component")):
        code, _, display = coded(at(part, "code"))
        low, high = _range(text_at(part, "referenceRange.0.text") or "", None)
        about = {
            "code": code or display, "display": display, "date": text_at(one, _MEASURED),
            "unit": text_at(part, "valueQuantity.code valueQuantity.unit"),
            "low": _float(at(part, "referenceRange.0.low.value"), low),
            "high": _float(at(part, "referenceRange.0.high.value"), high),
            "ref": ref, "file": file, "value": _float(at(part, "valueQuantity.value")),
        }  # fmt: skip
        said = coded(at(part, "valueCodeableConcept"))[2] or text_at(part, "valueString") or ""
        _add_value(record, about, said, text_at(part, "valueQuantity.comparator") or "")


def _float(value: object, other: float | None = None) -> float | None:
    return float(value) if isinstance(value, int | float) else other


def _add_value(
    record: PatientRecord, about: Mapping[str, object], said: str, sign: str = ""
) -> None:
    """A number, or what is none: words, and a number with `<`, which may be out of its range."""
    if about["value"] is not None and not sign:
        record.measured.append(MeasuredValue.model_validate(about))
    elif about["value"] is not None or said:
        found = MeasuredValue.model_validate({**about, "value": about["value"] or 0.0})
        above = sign[:1] in (">", "≥") and found.high is not None and found.value >= found.high
        below = sign[:1] in ("<", "≤") and found.low is not None and found.value <= found.low
        words = f"{said or f'{sign}{found.value:g}'} {found.unit or ''}".strip()
        text = f"{found.display}: {words}, {found.date or 'no date'}"
        line = ClinicalLine(text=text, refs=[found.ref], kind="out_of_range")
        line.kind = line.kind if above or below else None
        record.worded.append((found.display, found.date, line))


def _range(text: str, mark: DecimalMark | None) -> tuple[float | None, float | None]:
    found = _RANGE.fullmatch(text)
    ends = (found["low"] or found["least"], found["high"] or found["most"]) if found else ("", "")
    low, high = (values.number(one or "", mark) for one in ends)
    return low, high


def _add_table(record: PatientRecord, table: DataTable) -> None:
    """Values in a column, or in a column for each day, or for each thing that is measured."""
    columns = {name: table.column(*names) for name, names in VOCABULARY.columns.items()}
    heads = {one: _heading(one.name) for one in table.columns}
    is_named = columns["code"] is not None or columns["name"] is not None
    wide = [one for one in table.columns if is_named and "date" in heads[one]]
    wide = wide or [one for one in (columns["value"],) if one is not None and is_named]
    wide = wide or [one for one in table.columns if columns["date"] and "name" in heads[one]]
    if not wide and any(all(map(table.column, needed)) for needed in VOCABULARY.rules):
        record.rules.append(table)
    elif not wide:
        why = "neither values of a laboratory (code or name, value, date) nor a table of rules"
        record.unread.append(f"{table.name}: {why}")
    texts = [text for one in (*wide, columns["range"]) if one is not None for text in one.texts]
    numbers = (number for text in texts for number in re.findall(_NUMBER, text))
    marks: list[DecimalMark | None] = [values.decimal_mark(number) for number in numbers]
    mark = max((".", ","), key=marks.count) if any(marks) else None
    for row in range(len(table) if wide else 0):
        cell = {name: one.texts[row].strip() if one else "" for name, one in columns.items()}
        if (dated := columns["date"]) and (day := dated.dates[row]) and cell["date"][4:5] != "-":
            cell["date"] = day.isoformat()
        for one in wide:
            cell |= {"value": one.texts[row].strip(), **heads[one]}
            _add_cell(record, table, row, cell, mark)


def _heading(column: str) -> dict[str, str]:
    """The day that a column such as `12.01.2026` is of; what `Systolic (mmHg)` has; else empty."""
    name, _, unit = column.rstrip(")] ").replace("[", "(").partition("(")
    if day := values.date(column):
        return {"date": day.value.isoformat()}
    is_known = analyte(name.strip()) or _is_pressure(name.strip())
    return {"name": name.strip(), "unit": unit} if is_known else {}


def _is_pressure(name: str) -> bool:
    return re.fullmatch(f"(?i:{VOCABULARY.pressure})", name) is not None


def _add_cell(
    record: PatientRecord, table: DataTable, row: int, cell: Mapping[str, str],
    mark: DecimalMark | None,
) -> None:  # fmt: skip
    """A value as a table has it: a number, `< 5`, `6.3 H`, `120/80` or words."""
    name, both = cell["name"] or cell["code"], _PRESSURE.fullmatch(cell["value"])
    if both and _is_pressure(name):
        for code, one in zip((SYSTOLIC, DIASTOLIC), both.groups(), strict=True):
            part = {"code": code, "value": one, "unit": "mm[Hg]", "range": ""}
            _add_cell(record, table, row, {**cell, **part}, mark)
        return
    found = _VALUE.fullmatch(cell["value"])
    low, high = _range(cell["range"], mark)
    about = {
        "code": cell["code"] or analyte(name) or name, "display": name,
        "date": cell["date"] or None,
        "value": values.number(found["number"], mark) if found else None,
        "unit": cell["unit"] or (found["unit"] if found else None) or None,
        "low": values.number(cell["low"], mark) if cell["low"] else low,
        "high": values.number(cell["high"], mark) if cell["high"] else high,
        "ref": table.ref(row), "file": table.file,
    }  # fmt: skip
    if name:
        _add_value(record, about, cell["value"], (found["sign"] or "") if found else "")
