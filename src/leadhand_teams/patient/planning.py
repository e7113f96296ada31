"""Plans by the request: a task for each part of the records, and for each active problem."""

import datetime as dt
import re
from typing import Final

from leadhand import InputError, Plan, Task, Team
from leadhand.contracts.task import PlanRequest
from leadhand_teams.patient.clinical import VOCABULARY
from leadhand_teams.patient.comparing import is_active, merged, place
from leadhand_teams.patient.records import PatientRecord, record_of
from leadhand_teams.shared.answers import inputs
from leadhand_teams.shared.values import dates

_MAX_PROBLEMS: Final = 12


def plan(request: PlanRequest, team: Team) -> Plan:
    """The parts and problems that the request names; else all.

    Raises `InputError` if there are no records, or records of two persons.
    """
    paths = inputs(request)
    record, asked = record_of(paths) if paths else PatientRecord(), request.text
    _refuse(record)
    day = next((found.value for found in dates(asked)), dt.date.today()).isoformat()
    problems = {one.display: one.ref for one in merged(record, "problem")[0] if is_active(one)}
    chosen = [ref for name, ref in problems.items() if name.casefold() in asked.casefold()]
    named = [
        part
        for part, words in VOCABULARY.parts.items()
        if re.search(rf"(?i)\b(?:{words})\b", asked)
    ]
    if not named and not chosen:
        named, chosen = list(VOCABULARY.parts), list(problems.values())[-_MAX_PROBLEMS:]
    tasks = [
        Task(
            id=part, worker=part if part in ("trends", "safety") else "records",
            intent=f"Find in the records, with the id of each: {part}", artifacts=paths,
            payload={"part": part, "today": day},
        )
        for part in named
    ]  # fmt: skip
    tasks += [
        Task(
            id=f"problem-{n}", worker="summary", artifacts=paths, payload={"ref": ref},
            intent=f"Summarise what the records have about the problem {ref}",
        )
        for n, ref in enumerate(chosen, start=1)
    ]  # fmt: skip
    return Plan(goal=asked, tasks=tasks)


def _refuse(record: PatientRecord) -> None:
    if not (record.items or record.measured or record.worded or record.subjects):
        raise InputError(
            "the patient team found no records: hand in FHIR R4 as JSON, or laboratory values as "
            f"CSV (code, value, unit, date). {'; '.join(record.unread[:3])}"
        )
    born = {one.birth_date for one in record.subjects}
    families = {(one.family or "").casefold() for one in record.subjects}
    if len(born) > 1 and len(families) > 1:
        places = ", ".join(map(place, record.subjects))
        raise InputError(f"records of different persons, hand in one at a time: {places}")
