"""Plans by the request: topics of each file, their structure, a lesson plan a unit, a review."""

from collections.abc import Sequence
from typing import Final, TypeVar, cast

from pydantic import JsonValue

from leadhand import Plan, Task, Team
from leadhand.contracts.task import PlanRequest
from leadhand.errors import InputError
from leadhand.tools.text import joined_names
from leadhand_teams.curriculum.sources import files_of
from leadhand_teams.curriculum.structure import CourseTime, structured
from leadhand_teams.curriculum.topics import VOCABULARY, has
from leadhand_teams.shared.answers import inputs
from leadhand_teams.shared.values import dates

T = TypeVar("T")
MAX_TASKS: Final = 12
"""Of topics and of materials; more files or units share them."""


def plan(request: PlanRequest, team: Team) -> Plan:
    """The parts that the request asks for. Raises `InputError` if no file has topics."""
    paths = inputs(request)
    files = files_of(paths) if paths else None
    if files is None or not files.topics:
        raise InputError(
            "the curriculum team found no topics: hand in notes, a syllabus, a textbook's "
            "contents, a list, or a table or JSON Lines with `title` and `prerequisites`"
        )
    parts, time = asked(request.text), time_of(request.text)
    said = cast("dict[str, JsonValue]", time.model_dump(mode="json"))
    tasks = [
        Task(
            id=f"topics-{n}", worker="topics", payload={"files": [*own]}, artifacts=paths,
            intent=f"Find the topics in {joined_names([*own], 3)}, and what they require.",
        )
        for n, own in enumerate(_shared_out([*files.topics]), start=1)
    ]  # fmt: skip
    intent = "Order the topics by what they require, and divide them into units."
    tasks.append(_after(tasks, "structure", "structure", intent, said))
    if "materials" in parts:
        numbers = range(1, len(structured(files.every, time).units) + 1)
        for own in _shared_out(numbers):
            which = f"{own[0]} to {own[-1]}" if len(own) > 1 else f"{own[0]}"
            intent = f"Plan unit {which}: objectives, and exercises with solutions."
            before = [one for one in tasks if one.worker != "materials"]
            payload: dict[str, JsonValue] = {"units": [*own]}
            tasks.append(_after(before, f"unit-{own[0]}", "materials", intent, payload))
    if "review" in parts:
        intent = "Find gaps, overload, and what is taught before what it requires."
        tasks.append(_after(tasks, "review", "reviewer", intent, said))
    return Plan(goal=request.text, tasks=tasks)


def _after(
    before: Sequence[Task], id: str, worker: str, intent: str, payload: dict[str, JsonValue]
) -> Task:
    needs = tuple(one.id for one in before)
    task = Task(id=id, worker=worker, intent=intent, payload=payload, depends_on=needs)
    return task.model_copy(update={"tolerates_missing": True})


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


def _shared_out(items: Sequence[T]) -> list[Sequence[T]]:
    """The items in at most `MAX_TASKS` parts."""
    size = -(-len(items) // MAX_TASKS) or 1
    return [items[n : n + size] for n in range(0, len(items), size)]
