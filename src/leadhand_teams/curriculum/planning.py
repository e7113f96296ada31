"""Plans by the request: topics of each file, their structure, a lesson plan a unit, a review."""

import re
from typing import Final, cast

from pydantic import JsonValue

from leadhand import Plan, Task, Team
from leadhand.contracts.task import PlanRequest
from leadhand.errors import InputError
from leadhand.tools.text import joined_names
from leadhand_teams.curriculum.sources import files_of
from leadhand_teams.curriculum.structure import CourseTime, structured
from leadhand_teams.shared.values import dates

MAX_TASKS: Final = 12
"""Of topics and of materials; more files or units share them."""
_WORDS: Final = {
    "materials": r"lessons?|lesson plans?|exercises?|materials?|objectives?|worksheets?|teach\w*|"
    r"unterricht\w*|aufgaben|übungen|exercices|cours|ejercicios|clases?",
    "review": r"review\w*|check\w*|gaps?|overload\w*|problems?|wrong|missing|prüf\w*|lücken|"
    r"vérifi\w*|revis\w*",
    "structure": r"order\w*|sequence|prerequisites?|graph|path|sort|reihenfolge|ordn\w*|ordre|"
    r"orden\w*",
}
"""Words that ask for each part; any other request asks for all."""
_WHOLE: Final = r"course|curriculum|syllabus|kurs|lehrplan|programme|curso|plan"
_WEEKS: Final = r"(\d+)[\s-]*(?:weeks?|wochen?|semaines?|semanas?)\b"
_A_WEEK: Final = (
    r"(\d+(?:[.,]\d+)?)\s*(?:h|hours?|stunden|heures|horas)\s*"
    r"(?:a|per|/|each|every|pro|je|die|par|por|in der)\s*(?:week|woche|semaine|semana)\b"
)


def plan(request: PlanRequest, team: Team) -> Plan:
    """The parts that the request asks for. Raises `InputError` if no file has topics."""
    paths = tuple(path for batch in request.batches.get("inputs", ()) for path in batch.artifacts)
    files = files_of(paths) if paths else None
    if files is None or not files.topics:
        raise InputError(
            "the curriculum team found no topics: hand in notes, a syllabus, a textbook's "
            "contents, a list, or a table or JSON Lines with `title` and `prerequisites`"
        )
    parts = asked(request.text)
    time = time_of(request.text)
    tasks: list[Task] = []
    names = list(files.topics)
    for number, group in enumerate(_groups(len(names)), start=1):
        own = [names[n] for n in group]
        intent = f"Find the topics in {joined_names(own, 3)}, and what they require."
        tasks.append(_task(f"topics-{number}", "topics", intent, {"files": [*own]}, paths))
    topics = tuple(task.id for task in tasks)
    said = cast("dict[str, JsonValue]", time.model_dump(mode="json"))
    intent = "Order the topics by what they require, and divide them into units."
    tasks.append(_task("structure", "structure", intent, said, (), topics))
    if "materials" in parts:
        count = len(structured(files.every, time).units)
        for group in _groups(count):
            numbers = [n + 1 for n in group]
            which = f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f"{numbers[0]}"
            intent = f"Plan unit {which}: objectives, and exercises with solutions."
            needs = (*topics, "structure")
            tasks.append(
                _task(f"unit-{numbers[0]}", "materials", intent, {"units": [*numbers]}, (), needs)
            )
    if "review" in parts:
        intent = "Find gaps, overload, and what is taught before what it requires."
        tasks.append(_task("review", "reviewer", intent, said, (), tuple(one.id for one in tasks)))
    return Plan(goal=request.text, tasks=tasks)


def _task(
    id: str, worker: str, intent: str, payload: dict[str, JsonValue],
    paths: tuple[str, ...] = (), needs: tuple[str, ...] = (),
) -> Task:  # fmt: skip
    task = Task(id=id, worker=worker, intent=intent, payload=payload, artifacts=paths)
    return task.model_copy(update={"depends_on": needs, "tolerates_missing": True})


def asked(request: str) -> set[str]:
    """The parts that a request asks for."""
    found = {part for part, words in _WORDS.items() if _has(request, words)}
    return found if found and not _has(request, _WHOLE) else found | {"materials", "review"}


def _has(text: str, words: str) -> bool:
    return re.search(rf"(?<!\w)(?:{words})(?!\w)", text, re.IGNORECASE) is not None


def time_of(request: str) -> CourseTime:
    """Weeks, hours a week and the first day, as far as the request names them."""
    weeks, hours = (re.search(words, request, re.IGNORECASE) for words in (_WEEKS, _A_WEEK))
    count = int(weeks[1]) if weeks else None
    a_week = float(hours[1].replace(",", ".")) if hours else None
    days = dates(request)
    return CourseTime(
        weeks=count or None, a_week=a_week or None, starts=days[0].value if days else None
    )


def _groups(count: int) -> list[range]:
    """The numbers below `count` in at most `MAX_TASKS` parts."""
    size = -(-count // MAX_TASKS) or 1
    return [range(n, min(n + size, count)) for n in range(0, count, size)]
