"""The synthesis: sources against each other, coded problems against values, models' statements."""

import re
from collections.abc import Sequence
from typing import Final, cast

from pydantic import JsonValue

from leadhand import Plan
from leadhand.contracts.answer import Conflict, Gap, Source
from leadhand.extension.roles import Synthesis, TaskResult
from leadhand_teams.patient.output import PatientSubject, PatientSummary
from leadhand_teams.patient.records import PatientRecord, record_of
from leadhand_teams.patient.report import report
from leadhand_teams.patient.sources import contradictions
from leadhand_teams.patient.trends import coded_flags
from leadhand_teams.shared.statements import Added, Statement, check

_ADVICE: Final = re.compile(
    r"\b(?:should|must|needs? to|recommend\w*|advis\w+|consider|prescribe|increase|reduce|"
    r"discontinue|switch to|start (?:on|with)|sollte\w*|empf[eo]hl\w*)\b",
    re.IGNORECASE,
)


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The typed answer and its report, from whatever results there are."""
    found, sources, added = PatientSummary(), dict[tuple[str, str], None](), list[Statement]()
    paths = next((task.artifacts for task in plan.tasks if task.artifacts), ())
    record = record_of(paths) if paths else PatientRecord()
    for one in results:
        output = one.result.output if one.result is not None else None
        part = PatientSummary.model_validate(output if isinstance(output, dict) else {})
        for name, value in part:
            if isinstance(value, list):
                getattr(found, name).extend(cast("list[object]", value))
        found.summaries |= part.summaries
        items = (*part.problems, *part.medications, *part.allergies, *part.procedures)
        used = [*items, *part.timeline, *(record.measured if part.labs else ())]
        sources |= {(one.task.id, item.file): None for item in used}
        if isinstance(output, dict) and output.get("added"):
            added += Added.model_validate(output["added"]).statements
    for _, _, subject in sorted(record.subjects, key=lambda one: bool(one[2].deceased)):
        known = {name: value for name, value in subject if value is not None}
        found.subject = PatientSubject.model_validate(found.subject.model_dump() | known)
    found.contradictions = contradictions(record)
    coded = coded_flags(found.problems)
    names = {one.name for one in coded}
    names |= {"prediabetes"} if "diabetes" in names else set[str]()
    found.flags = [*coded, *(one for one in found.flags if one.name not in names)]
    numbers = [point.value for lab in found.labs for point in lab.series]
    checked = check(added, record.texts, computed=numbers, allows=_advice)
    found.statements, found.removed_statements = list(checked.kept), len(checked.removed)
    found.notes = list(dict.fromkeys([*record.unread, *record.notes, *found.notes]))
    tasks = (plan.tasks[0].id,)
    conflicts = [
        Conflict(task_ids=tasks, kind="contradiction", about=one.text, why=" and ".join(one.refs))
        for one in found.contradictions
    ]
    return Synthesis(
        answer=report(plan.goal, found).markdown(title=False),
        output=cast("JsonValue", found.model_dump(mode="json")), conflicts=tuple(conflicts),
        sources=tuple(Source(task_id=task, ref=file) for task, file in sources),
        gaps=tuple(Gap(task_id="files", why=why) for why in record.unread),
    )  # fmt: skip


def _advice(statement: Statement) -> str | None:
    return "it advises" if _ADVICE.search(statement.text) else None
