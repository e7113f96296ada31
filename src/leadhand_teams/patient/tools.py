"""What the workers do by code, and the tools that their models may call."""

import datetime as dt
import importlib
from typing import Final, cast

from leadhand import Handoff
from leadhand_teams.patient.clinical import VOCABULARY, known_problem
from leadhand_teams.patient.output import ClinicalItem, ClinicalLine, ItemKind, PatientSummary
from leadhand_teams.patient.records import KINDS, PatientRecord, record_of
from leadhand_teams.patient.safety import checked
from leadhand_teams.patient.sources import merged, moment
from leadhand_teams.patient.trends import labs_of, value_flags
from leadhand_teams.patient.units import convert

_PARTS: Final[dict[str, tuple[ItemKind, ...]]] = {
    "problems": ("problem",), "medications": ("medication",), "allergies": ("allergy",),
    "procedures": ("procedure",), "timeline": ("encounter", "immunization"),
}  # fmt: skip


def read_part(handoff: Handoff) -> object:
    """The entries of the part that the payload names."""
    record, part = record_of(handoff.artifacts), _payload(handoff)["part"]
    items, duplicates = merged(record, *_PARTS[part])
    found = PatientSummary(duplicates=duplicates, notes=_invalid(record, _PARTS[part]))
    return _dumped(found.model_copy(update={part: items}))


def follow(handoff: Handoff) -> object:
    """All series of measurements, and what their values say."""
    record = record_of(handoff.artifacts)
    labs, notes = labs_of(record.measured)
    born = next((one.birth_date for _, _, one in record.subjects if one.birth_date), None)
    numbers = {one.display: moment(one.latest_date) for one in labs}
    worded = sorted(record.worded, key=lambda one: moment(one[1]))
    latest = {
        what: line
        for what, date, line in worded if moment(date) >= numbers.get(what, moment(None))
    }  # fmt: skip
    found = PatientSummary(labs=labs, notes=notes, findings=list(latest.values()))
    return _dumped(found.model_copy(update={"flags": value_flags(labs, born)}))


def check(handoff: Handoff) -> object:
    """Allergies, therapy that is there twice, and overdue follow-ups."""
    today, record = _payload(handoff)["today"], record_of(handoff.artifacts)
    notes = [] if record.rules else ["Safety: no tables of yours, only equal codes were compared"]
    lines = checked(record, dt.date.fromisoformat(today))
    return _dumped(PatientSummary(safety=lines, notes=notes))


def summarise(handoff: Handoff) -> object:
    """What the records have about the problem that the payload names."""
    record, ref = record_of(handoff.artifacts), _payload(handoff)["ref"]
    problem = next(one for one in merged(record, "problem")[0] if one.ref == ref)
    lines = [ClinicalLine(text=_state(problem), refs=problem.refs)]
    grouped: dict[tuple[str, str | None], list[ClinicalItem]] = {}
    for one in merged(record, "medication", "procedure", "encounter")[0]:
        if {*problem.refs, *problem.codes} & set(one.reasons):
            grouped.setdefault((one.display, one.status), []).append(one)
    for (name, _), group in grouped.items():
        times = f", {len(group)} times, the last one" if len(group) > 1 else ""
        text = f"{group[-1].kind}: {name}{times} {_state(group[-1])}"
        lines.append(ClinicalLine(text=text, refs=[group[-1].ref]))
    known = VOCABULARY.problems.get(known_problem(problem.codes, problem.display))
    codes = known.labs if known else ()
    for lab in labs_of(one for one in record.measured if one.code in codes)[0]:
        change = f", {lab.change:+.3g} since the one before" if lab.change is not None else ""
        value = f"{lab.latest:.4g} {lab.unit or ''} on {(lab.latest_date or '?')[:10]}"
        text = f"{lab.display}: {value}{change}"
        lines.append(ClinicalLine(text=text, refs=[lab.series[-1].ref]))
    return _dumped(PatientSummary(summaries={problem.display: lines}))


def _state(item: ClinicalItem) -> str:
    return f"{item.status or 'status unknown'}, {(item.onset or 'no date')[:10]}"


def _invalid(record: PatientRecord, kinds: tuple[ItemKind, ...]) -> list[str]:
    """The entries of these kinds that are not valid FHIR R4; they are read all the same."""
    found: list[str] = []
    for one in record.resources:
        name = str(one["resourceType"])
        if KINDS[name] in kinds:
            model = importlib.import_module("fhir.resources.R4B").get_fhir_model_class(name)
            try:
                model.model_validate(one)
            except ValueError as error:
                why = str(error).partition("\n")[2].partition("\n")[0]
                found.append(f"{one.get('id', name)}: not valid FHIR R4 ({why}), but read")
    return found


def _payload(handoff: Handoff) -> dict[str, str]:
    return cast("dict[str, str]", handoff.payload)


def _dumped(found: PatientSummary) -> object:
    return found.model_dump(mode="json", exclude_defaults=True)


def convert_value(value: float, unit: str, to: str, loinc: str = "") -> str:
    """Convert a value from one unit of UCUM to another; `loinc` allows mass to amount."""
    found = convert(value, unit, to, loinc)
    return f"{value:g} {unit} can't be converted to {to}." if found is None else f"{found:.6g} {to}"
