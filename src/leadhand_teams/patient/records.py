"""Reads FHIR R4 bundles, tables of laboratories and the user's own tables into one record.

Bundles are read leniently, field by field: real files have dates without a time zone or empty
texts, which a strict reader refuses. Where FHIR has a field is in `vocabulary.yaml`.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, cast

import jmespath
from pydantic import ValidationError

from leadhand_teams.patient.clinical import PRESSURE, PRESSURES, VOCABULARY, analyte, readable
from leadhand_teams.patient.output import ClinicalItem, LabPoint, PatientSubject
from leadhand_teams.shared import values
from leadhand_teams.shared.reading import Reading, Text, read_once
from leadhand_teams.shared.tables import DataTable
from leadhand_teams.shared.values import DecimalMark

Json = dict[str, object]
VOID: Final = ("entered-in-error", "cancelled", "refuted")
"""Statuses of what is not so."""
_FHIR: Final = {name: jmespath.compile(path) for name, path in VOCABULARY.fhir.items()}
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


@dataclass(slots=True)
class PatientRecord:
    """What all files state."""

    subjects: list[PatientSubject] = field(default_factory=list)
    items: list[ClinicalItem] = field(default_factory=list)
    measured: list[LabPoint] = field(default_factory=list)
    worded: list[LabPoint] = field(default_factory=list)
    """What was observed in words, or is known only to be above or below a number."""
    rules: list[DataTable] = field(default_factory=list)
    """The user's own tables."""
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
    record.texts += notes
    for item in record.items:
        line = f"{item.kind}: {item.display}; {item.status}; {item.onset or ''}"
        record.texts.append(Text(item.file, line, id=item.ref))
    for one in record.measured:
        units = dict.fromkeys((one.unit or "", readable(one.unit)))  # either may be quoted
        line = "; ".join(f"{one.display}: {one.value:g} {unit}" for unit in units)
        record.texts.append(Text(one.file, f"{line}; {one.date or ''}", id=one.ref))
    record.unread += [f"{one.name}: free text, which only a model reads" for one in notes]
    return record


def _found(name: str, value: object) -> Json:
    """What the path `name` of the vocabulary finds in JSON; wrong types are as if nothing was."""
    return cast("Json", _FHIR[name].search(value))


def _resources(text: str) -> Iterator[Json]:
    """The resources of a document, or of each line of a bulk export."""
    try:
        yield from cast("list[Json]", _found("resources", json.loads(text)))
    except (ValueError, RecursionError):
        lines = text.splitlines()
        for line in lines if len(lines) > 1 else ():
            yield from _resources(line)


def _add_resources(record: PatientRecord, file: str, resources: list[Json]) -> None:
    pairs = (cast("list[tuple[str, object]]", _found("concepts", one)) for one in resources)
    concepts = {str(name): code for found in pairs for name, code in found}
    left_out = Counter[str]()
    for n, one in enumerate(resources, start=1):
        name = str(one["resourceType"])
        about: Json = {"file": file, "ref": str(one.get("id") or f"{file}#{name}.{n}")}
        try:
            if name == "Patient":
                subject = PatientSubject.model_validate(_found("subject", one) | about)
                record.subjects.append(subject)
            elif name == "Observation":
                for found in _observed(one):
                    _add_value(record, found | about)
            elif name in VOCABULARY.kinds:
                record.items.append(_item(one, concepts, about))
            elif name in VOCABULARY.left_out.split():
                left_out[name] += 1
        except ValidationError as error:
            where = ".".join(map(str, error.errors()[0]["loc"]))
            record.unread.append(f"{file}: {about['ref']} is left out: it has no valid {where}")
    if left_out:
        counts = ", ".join(f"{count:,} {name}" for name, count in left_out.most_common())
        record.notes.append(f"{file}: not summarised: {counts}")


def _item(one: Json, concepts: Mapping[str, object], about: Json) -> ClinicalItem:
    found = _found("item", one)
    concept = _found("concept", concepts.get(_id(found["elsewhere"])) or found["concept"])
    found |= {name: value for name, value in concept.items() if value is not None}
    found["reasons"] = [_id(one) for one in cast("list[object]", found["reasons"])]
    found["status"] = found["verified"] if found["verified"] in VOID else found["status"]
    kind = VOCABULARY.kinds[str(one["resourceType"])]
    more = {"kind": kind, "refs": [about["ref"]], "resource": one}
    return ClinicalItem.model_validate(found | about | more)


def _id(reference: object) -> str:
    return re.split(r"[/#:]", str(reference or ""))[-1]


def _observed(one: Json) -> Iterator[Json]:
    """The values of an observation and of its components."""
    observation = _found("observation", one)
    parts = cast("list[object]", observation["parts"])
    for found in (_found("part", part) for part in parts if observation["status"] not in VOID):
        ends = zip(("low", "high"), _range(str(found["range"]), None), strict=True)
        stated = {name: end for name, end in ends if found[name] is None}
        yield found | stated | {"date": observation["date"]}


def _add_value(record: PatientRecord, about: Json) -> None:
    """A number, or what is none: words, and a number with `<`."""
    if about["value"] is None and not about["said"]:
        return
    found = LabPoint.model_validate({**about, "value": about["value"] or 0})
    if about["value"] is not None and not found.sign:
        record.measured.append(found)
    else:
        found.said = found.said or f"{found.sign}{found.value:g}"
        record.worded.append(found)


def _range(text: str, mark: DecimalMark | None) -> tuple[float | None, float | None]:
    found = _RANGE.fullmatch(text)
    ends = (found["low"] or found["least"], found["high"] or found["most"]) if found else ("", "")
    low, high = (values.number(one or "", mark) for one in ends)
    return low, high


def _add_table(record: PatientRecord, table: DataTable) -> None:
    """Values in a column, or in a column for each day, or for each thing that is measured."""
    columns = {name: table.column(*names) for name, names in VOCABULARY.columns.items()}
    heads = {one: _heading(one.name) for one in table.columns}
    if columns["code"] or columns["name"]:
        days = [one for one in table.columns if "date" in heads[one]]
        wide = days or [*filter(None, [columns["value"]])]
    else:
        wide = [one for one in table.columns if columns["date"] and "name" in heads[one]]
    if not wide and any(all(map(table.column, needed)) for needed in VOCABULARY.rules):
        record.rules.append(table)
    elif not wide:
        why = "neither values of a laboratory (code or name, value, date) nor a table of rules"
        record.unread.append(f"{table.name}: {why}")
    rows = table.records(VOCABULARY.columns) if wide else []
    mark = _mark([row["range"] for row in rows] + [text for one in wide for text in one.texts])
    for n, row in enumerate(rows):
        day = columns["date"].dates[n] if columns["date"] else None
        if day and row["date"][4:5] != "-":
            row["date"] = day.isoformat()
        for one in wide:
            cell = {**row, "value": one.texts[n].strip(), **heads[one], "file": table.file}
            _add_cell(record, cell, mark)


def _mark(texts: Iterable[str]) -> DecimalMark | None:
    numbers = (number for text in texts for number in re.findall(_NUMBER, text))
    marks = Counter[DecimalMark](mark for one in numbers if (mark := values.decimal_mark(one)))
    return max(marks, key=lambda mark: marks[mark], default=None)


def _heading(column: str) -> dict[str, str]:
    """The day that a column such as `12.01.2026` is of; what `Systolic (mmHg)` has; else empty."""
    name, _, unit = column.rstrip(")] ").replace("[", "(").partition("(")
    if day := values.date(column):
        return {"date": day.value.isoformat()}
    return {"name": name.strip(), "unit": unit} if analyte(name.strip()) else {}


def _add_cell(record: PatientRecord, cell: Mapping[str, str], mark: DecimalMark | None) -> None:
    """A value as a table has it: a number, `< 5`, `6.3 H`, `120/80` or words."""
    name, both = cell["name"] or cell["code"], _PRESSURE.fullmatch(cell["value"])
    if both and PRESSURE in (cell["code"], analyte(name)):
        for code, one in zip(PRESSURES, both.groups(), strict=True):
            part = {"code": code, "value": one, "unit": "mm[Hg]", "range": ""}
            _add_cell(record, {**cell, **part}, mark)
    elif name:
        found = _VALUE.fullmatch(cell["value"])
        low, high = _range(cell["range"], mark)
        about: Json = {
            "code": cell["code"] or analyte(name) or name, "display": name,
            "date": cell["date"] or None, "said": cell["value"],
            "value": values.number(found["number"], mark) if found else None,
            "sign": (found["sign"] or "") if found else "",
            "unit": cell["unit"] or (found["unit"] if found else None) or None,
            "low": values.number(cell["low"], mark) if cell["low"] else low,
            "high": values.number(cell["high"], mark) if cell["high"] else high,
        }  # fmt: skip
        _add_value(record, {**cell, **about})
