"""Plans by the request: topics of each file, their structure, a lesson plan a unit, a review."""

from typing import Final, cast

from pydantic import JsonValue

from leadhand import Plan, Task, Team
from leadhand.contracts.task import PlanRequest
from leadhand.errors import InputError
from leadhand.tools.text import joined_names
from leadhand_teams.curriculum.sources import files_of
from leadhand_teams.curriculum.structure import CourseTime, structured
from leadhand_teams.curriculum.vocabulary import VOCABULARY, has
from leadhand_teams.shared.values import dates

MAX_TASKS: Final = 12
"""Of topics and of materials; more files or units share them."""


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
    found = {part for part, words in VOCABULARY.parts.items() if has(request, words)}
    is_whole = not found or has(request, VOCABULARY.whole)
    return found | {"materials", "review"} if is_whole else found


def time_of(request: str) -> CourseTime:
    """Weeks, hours a week and the first day, as far as the request names them."""
    weeks, hours = has(request, VOCABULARY.weeks), has(request, VOCABULARY.hours_a_week)
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
