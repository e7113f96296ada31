"""The synthesis: sources against each other, coded problems against values, models' statements."""

import re
from collections.abc import Sequence
from typing import Final

from leadhand import Plan
from leadhand.extension.roles import Synthesis, TaskResult
from leadhand_teams.patient.comparing import contradictions
from leadhand_teams.patient.output import PatientSubject, PatientSummary
from leadhand_teams.patient.records import PatientRecord, record_of
from leadhand_teams.patient.report import report
from leadhand_teams.patient.trends import coded_flags
from leadhand_teams.shared.answers import added, merged, parts, synthesis
from leadhand_teams.shared.statements import Statement, check

_ADVICE: Final = re.compile(
    r"\b(?:should|must|needs? to|recommend\w*|advis\w+|consider|prescribe|increase|reduce|"
    r"discontinue|switch to|start (?:on|with)|sollte\w*|empf[eo]hl\w*)\b",
    re.IGNORECASE,
)


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The typed answer and its report, from whatever results there are."""
    paths = next((task.artifacts for task in plan.tasks if task.artifacts), ())
    record = record_of(paths) if paths else PatientRecord()
    found_by = parts(PatientSummary, results)
    found = merged(PatientSummary, (part for _, part in found_by))
    for subject in sorted(record.subjects, key=lambda one: bool(one.deceased)):
        known = {name: value for name, value in subject if value is not None}
        found.subject = PatientSubject.model_validate(found.subject.model_dump() | known)
    found.contradictions = contradictions(record)
    coded = coded_flags(found.problems)
    names = {one.name for one in coded}
    names |= {"prediabetes"} if "diabetes" in names else set[str]()
    found.flags = [*coded, *(one for one in found.flags if one.name not in names)]
    numbers = [point.value for lab in found.labs for point in lab.series]
    checked = check(added(results), record.texts, computed=numbers, allows=_advice)
    found.statements, found.removed_statements = list(checked.kept), len(checked.removed)
    found.notes = list(dict.fromkeys([*record.unread, *record.notes, *found.notes]))
    return synthesis(
        report(plan.goal, found).markdown(title=False), found,
        by=[plan.tasks[0].id],
        conflicts=[(one.text, " and ".join(one.refs)) for one in found.contradictions],
        sources=[
            (task.id, item.file)
            for task, part in found_by
            for item in (*part.items, *(record.measured if part.labs else ()))
        ],
        gaps=[("files", why) for why in record.unread],
    )  # fmt: skip


def _advice(statement: Statement) -> str | None:
    return "it advises" if _ADVICE.search(statement.text) else None
