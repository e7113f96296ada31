"""The supervisor's part: plans by the request, and puts the answer together from the results."""

from collections.abc import Iterable, Sequence
from typing import Final, TypeVar, cast

from pydantic import JsonValue

from leadhand import InputError, Plan, Task, Team
from leadhand.extension.roles import PlanRequest, Synthesis, TaskResult
from leadhand.tools.text import joined_names
from leadhand_teams.curriculum.output import Curriculum, LessonExercise
from leadhand_teams.curriculum.report import report
from leadhand_teams.curriculum.sources import files_of
from leadhand_teams.curriculum.structure import CourseTime, structured
from leadhand_teams.curriculum.tools import course_of, not_stated
from leadhand_teams.curriculum.topics import VOCABULARY, Topic, has, merged, stated_edges
from leadhand_teams.shared.answers import added, inputs, synthesis
from leadhand_teams.shared.statements import check
from leadhand_teams.shared.values import dates, number

T = TypeVar("T")
MAX_TASKS: Final = 12
"""Of topics and of materials; more files or units share them."""


def plan(request: PlanRequest, team: Team) -> Plan:
    """The parts that the request asks for. Raises `InputError` if no file has topics."""
    paths = inputs(request)
    files = files_of(paths)
    if not files.topics:
        why = "the curriculum team found no topics: hand in notes, a list, or a table with `title`"
        raise InputError("; not read: ".join([why, *files.unread]))
    time = time_of(request.text)
    parts = {part for part, words in VOCABULARY.parts.items() if has(request.text, words)}
    if not parts or has(request.text, VOCABULARY.patterns["whole"]):
        parts |= {"materials", "review"}
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
        numbers = range(1, len(structured(files.every, time).lessons) + 1)
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
    return Task(
        id=id, worker=worker, intent=intent, payload=payload, tolerates_missing=True,
        depends_on=tuple(one.id for one in before),
    )  # fmt: skip


def time_of(request: str) -> CourseTime:
    """Weeks, hours a week and the first day, as far as the request names them."""
    patterns = VOCABULARY.patterns
    weeks, hours = has(request, patterns["weeks"]), has(request, patterns["hours_a_week"])
    a_week = number(hours[1]) if hours else None
    starts = next((found.value for found in dates(request)), None)
    count = int(weeks[1]) if weeks else None
    return CourseTime(weeks=count or None, a_week=a_week or None, starts=starts)


def _shared_out(items: Sequence[T]) -> list[Sequence[T]]:
    """The items in at most `MAX_TASKS` parts."""
    size = -(-len(items) // MAX_TASKS) or 1
    return [items[n : n + size] for n in range(0, len(items), size)]


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The typed answer and its report, from whatever results there are."""
    course = course_of(one.result.output for one in results if one.result is not None)
    found = Curriculum.model_validate(course.model_dump(exclude={"topics"}))
    found.concepts = found.concepts or [*merged(course.topics)[0]]  # the structure is missing
    first, last = ("Overload", "These require"), "Not taken"
    if any(task.worker in ("materials", "reviewer") for task in plan.tasks):
        found.problems += not_stated(merged(course.topics)[0])
    found.problems.sort(key=lambda one: (not one.startswith(first), one.startswith(last)))
    paths = next((task.artifacts for task in plan.tasks if task.artifacts), ())
    lessons = {concept: lesson for lesson in found.lessons for concept in lesson.concepts}
    ids = {concept.title.lower(): concept.id for concept in found.concepts}
    checked = check(added(results), files_of(paths).texts if paths else ())
    found.removed_statements = len(checked.removed)
    for statement in checked.kept:
        title, _, rest = statement.text.partition(": ")
        question, _, solution = rest.partition(" Answer: ")
        concept = ids.get(title.lower(), title)
        if solution and concept in lessons:
            made = LessonExercise(concept=concept, question=question, ref=statement.ref)
            made.solution, made.by_model = solution, True
            lessons[concept].exercises.append(made)
        else:
            found.statements.append(statement)
    readers = [one.task.id for one in results if one.task.worker == "topics"]
    conflicts = list(_contradictions(course.topics))
    return synthesis(
        report(plan.goal, found, [about for about, _ in conflicts]).markdown(title=False), found,
        by=readers, conflicts=conflicts,
        sources=[(readers[0], topic.file) for topic in course.topics],
        gaps=[("files", f"not read: {why}") for why in found.unread],
    )  # fmt: skip


def _contradictions(topics: Sequence[Topic]) -> Iterable[tuple[str, str]]:
    """Where sources require two topics of each other, or state different hours."""
    titles = {topic.id: topic.title for topic in topics}
    stated = {(edge.before, edge.after): edge.ref for edge in stated_edges(topics)[0]}
    for (one, other), ref in stated.items():
        first, then, back = titles[one], titles[other], stated.get((other, one))
        if one < other and back:
            about = f"{then} requires {first} [{ref}], and {first} requires {then} [{back}]"
            yield about, "both can't be taught first"
    hours: dict[str, Topic] = {}
    for topic in topics:
        if topic.hours is not None:
            first = hours.setdefault(topic.id, topic)
            if first.hours != topic.hours:
                places = [f"{one.hours:g} hours [{one.ref}]" for one in (first, topic)]
                yield f"{topic.title}: {' and '.join(places)}", "the sources state different hours"
