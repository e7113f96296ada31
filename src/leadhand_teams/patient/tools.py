"""What the workers do by code, and the tools that their models may call."""

import datetime as dt
import importlib
from collections import defaultdict
from collections.abc import Sequence
from typing import cast

from leadhand import Handoff, Result
from leadhand_teams.patient.clinical import VOCABULARY, convert, known_problem, readable
from leadhand_teams.patient.comparing import checked, day_of, entries
from leadhand_teams.patient.output import ClinicalItem, ClinicalLine, ItemKind, PatientSummary
from leadhand_teams.patient.records import PatientRecord, record_of
from leadhand_teams.patient.trends import followed, labs_of
from leadhand_teams.shared.answers import drafted


def read_part(handoff: Handoff) -> Result:
    """The entries of the part that the payload names."""
    record, part = record_of(handoff.artifacts), _payload(handoff)["part"]
    kinds = VOCABULARY.holds[part]
    items, duplicates = entries(record, *kinds)
    found = PatientSummary(duplicates=duplicates, notes=_invalid(record, kinds))
    found.files = list(dict.fromkeys(one.file for one in items))
    return drafted(found.model_copy(update={part: items}))


def follow(handoff: Handoff) -> Result:
    """All series of measurements, and what their values say."""
    return drafted(followed(record_of(handoff.artifacts)))


def check(handoff: Handoff) -> Result:
    """Allergies, therapy that is there twice, and overdue follow-ups."""
    today, record = _payload(handoff)["today"], record_of(handoff.artifacts)
    notes = [] if record.rules else ["Safety: no tables of yours, only equal codes were compared"]
    lines = checked(record, dt.date.fromisoformat(today))
    return drafted(PatientSummary(safety=lines, notes=notes))


def summarise(handoff: Handoff) -> Result:
    """What the records have about the problem that the payload names."""
    record, ref = record_of(handoff.artifacts), _payload(handoff)["ref"]
    problem = next(one for one in entries(record, "problem")[0] if one.ref == ref)
    lines = [ClinicalLine(text=_state(problem), refs=problem.refs)]
    grouped = defaultdict[tuple[str, str | None], list[ClinicalItem]](list)
    for one in entries(record, "medication", "procedure", "encounter")[0]:
        if {*problem.refs, *problem.codes} & set(one.reasons):
            grouped[one.display, one.status].append(one)
    for (name, _), group in grouped.items():
        times = f", {len(group)} times, the last one" if len(group) > 1 else ""
        text = f"{group[-1].kind}: {name}{times} {_state(group[-1])}"
        lines.append(ClinicalLine(text=text, refs=[group[-1].ref]))
    known = VOCABULARY.problems.get(known_problem(problem.codes, problem.display))
    codes = known.labs if known else ()
    for lab in labs_of(one for one in record.measured if one.code in codes)[0]:
        change = f", {lab.change:+.3g} since the one before" if lab.change is not None else ""
        value = f"{lab.latest:.4g} {readable(lab.unit)} on {day_of(lab.latest_date) or '?'}"
        text = f"{lab.display}: {value}{change}"
        lines.append(ClinicalLine(text=text, refs=[lab.series[-1].ref]))
    return drafted(PatientSummary(summaries={problem.display: lines}))


def _state(item: ClinicalItem) -> str:
    return f"{item.status or 'status unknown'}, {day_of(item.onset) or 'no date'}"


def _invalid(record: PatientRecord, kinds: Sequence[ItemKind]) -> list[str]:
    """The entries of these kinds that are not valid FHIR R4; they are read all the same."""
    found: list[str] = []
    for one in (one for one in record.items if one.kind in kinds):
        models = importlib.import_module("fhir.resources.R4B")
        try:
            models.get_fhir_model_class(one.resource["resourceType"]).model_validate(one.resource)
        except ValueError as error:
            why = str(error).partition("\n")[2].partition("\n")[0]
            found.append(f"{one.ref}: not valid FHIR R4 ({why}), but read")
    return found


def _payload(handoff: Handoff) -> dict[str, str]:
    return cast("dict[str, str]", handoff.payload)


def convert_value(value: float, unit: str, to: str, loinc: str = "") -> str:
    """Convert a value from one unit of UCUM to another; `loinc` allows mass to amount."""
    found = convert(value, unit, to, loinc)
    return f"{value:g} {unit} can't be converted to {to}." if found is None else f"{found:.6g} {to}"
