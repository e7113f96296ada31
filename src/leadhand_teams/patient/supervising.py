"""The supervisor's part: plans by the request, and puts the answer together from the results."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import Final

from leadhand import InputError, Plan, Task, Team
from leadhand.extension.roles import PlanRequest, Synthesis, TaskResult
from leadhand_teams.patient.clinical import VOCABULARY
from leadhand_teams.patient.comparing import contradictions, entries, is_active, place
from leadhand_teams.patient.output import PatientSummary
from leadhand_teams.patient.records import PatientRecord, record_of
from leadhand_teams.patient.report import report
from leadhand_teams.patient.trends import coded_flags
from leadhand_teams.shared.answers import added, inputs, merged, parts_of, synthesis
from leadhand_teams.shared.statements import check
from leadhand_teams.shared.values import dates

ADVICE: Final = re.compile(rf"(?i)\b(?:{VOCABULARY.advice})\b")
_MAX_PROBLEMS: Final = 12


def plan(request: PlanRequest, team: Team) -> Plan:
    """The parts and problems that the request names; else all.

    Raises `InputError` if there are no records, or records of two persons.
    """
    paths = inputs(request)
    record, asked = record_of(paths) if paths else PatientRecord(), request.text
    _refuse(record)
    day = next((found.value for found in dates(asked)), dt.date.today()).isoformat()
    problems = {one.display: one.ref for one in entries(record, "problem")[0] if is_active(one)}
    chosen = [ref for name, ref in problems.items() if name.casefold() in asked.casefold()]
    parts = VOCABULARY.parts
    named = [one for one, words in parts.items() if re.search(rf"(?i)\b(?:{words})\b", asked)]
    if not named and not chosen:
        named, chosen = list(parts), list(problems.values())[-_MAX_PROBLEMS:]
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
        unread = f" ({'; '.join(record.unread[:3])})" if record.unread else ""
        raise InputError(
            f"the patient team found no records{unread}: hand in FHIR R4 as JSON, or laboratory "
            "values as CSV with the columns code, value, unit and date"
        )
    born = {one.birth_date for one in record.subjects}
    families = {(one.family or "").casefold() for one in record.subjects}
    if len(born) > 1 and len(families) > 1:
        places = ", ".join(map(place, record.subjects))
        raise InputError(f"records of different persons, hand in one at a time: {places}")


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The typed answer and its report, from whatever results there are."""
    paths = next((task.artifacts for task in plan.tasks if task.artifacts), ())
    record = record_of(paths) if paths else PatientRecord()
    found_by = parts_of(PatientSummary, results)
    found = merged(PatientSummary, (part for _, part in found_by))
    for subject in sorted(record.subjects, key=lambda one: bool(one.deceased)):
        known = {name: value for name, value in subject if value is not None}
        found.subject = found.subject.model_copy(update=known)
    found.contradictions = contradictions(record)
    coded = coded_flags(found.problems)
    names = {one.name for one in coded}
    names |= {"prediabetes"} if "diabetes" in names else set[str]()
    found.flags = [*coded, *(one for one in found.flags if one.name not in names)]
    numbers = [point.value for lab in found.labs for point in lab.series]
    checked = check(
        added(results), record.texts, computed=numbers,
        allows=lambda one: "it advises" if ADVICE.search(one.text) else None,
    )  # fmt: skip
    found.statements, found.removed_statements = list(checked.kept), len(checked.removed)
    found.notes = list(dict.fromkeys([*record.unread, *record.notes, *found.notes]))
    return synthesis(
        report(plan.goal, found).markdown(title=False), found,
        by=[plan.tasks[0].id],
        conflicts=[(one.text, " and ".join(one.refs)) for one in found.contradictions],
        sources=[(task.id, file) for task, part in found_by for file in part.files],
        gaps=[("files", why) for why in record.unread],
    )  # fmt: skip
