"""The synthesis: cross-checks order, lessons and sources, and puts the report together."""

from collections.abc import Iterable, Sequence
from typing import cast

from pydantic import JsonValue

from leadhand import Plan
from leadhand.contracts.answer import Conflict, Gap, Source
from leadhand.extension.roles import Synthesis, TaskResult
from leadhand_teams.curriculum.output import Curriculum, LessonExercise, TaughtConcept
from leadhand_teams.curriculum.report import report
from leadhand_teams.curriculum.sources import files_of
from leadhand_teams.curriculum.tools import found_in, topics_in
from leadhand_teams.curriculum.topics import Topic, merged, stated_edges
from leadhand_teams.shared.statements import Added, check


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The typed answer and its report, from whatever results there are."""
    outputs = [one.result.output for one in results if one.result is not None]
    found, topics = found_in(outputs), topics_in(outputs)
    if not found.concepts:  # the structure is missing
        found.concepts = [TaughtConcept(**one.model_dump()) for one in merged(topics)[0]]
    found.problems.sort(key=lambda one: one.startswith("Not taken"))
    found.problems.sort(key=lambda one: not one.startswith(("Overload", "These require")))
    paths = next((task.artifacts for task in plan.tasks if task.artifacts), ())
    _add(found, results, paths)
    readers = [one.task.id for one in results if one.task.worker == "topics"]
    conflicts = tuple(
        Conflict(task_ids=tuple(readers), kind="contradiction", about=about, why=why)
        for about, why in _contradictions(topics)
    )
    gaps = [Gap(task_id="files", why=f"not read: {why}") for why in found.unread]
    return Synthesis(
        answer=report(plan.goal, found, [one.about for one in conflicts]).markdown(title=False),
        output=cast("JsonValue", found.model_dump(mode="json")),
        conflicts=conflicts,
        sources=tuple(
            Source(task_id=readers[0], ref=file)
            for file in dict.fromkeys(topic.file for topic in topics)
        ),
        gaps=tuple(gaps),
    )


def _contradictions(topics: Sequence[Topic]) -> Iterable[tuple[str, str]]:
    """Where sources require two topics of each other, or state different hours."""
    titles = {topic.id: topic.title for topic in topics}
    edges = stated_edges(topics)[0]
    stated = {(edge.before, edge.after): edge.ref for edge in edges}
    for (one, other), ref in stated.items():
        if one < other and (back := stated.get((other, one))):
            yield (
                f"{titles[other]} requires {titles[one]} [{ref}], and {titles[one]} requires "
                f"{titles[other]} [{back}]",
                "both can't be taught first",
            )
    hours: dict[str, Topic] = {}
    for topic in topics:
        if topic.hours is not None:
            first = hours.setdefault(topic.id, topic)
            if first.hours != topic.hours:
                places = [f"{one.hours:g} hours [{one.ref}]" for one in (first, topic)]
                yield f"{topic.title}: {' and '.join(places)}", "the sources state different hours"


def _add(found: Curriculum, results: Sequence[TaskResult], paths: Sequence[str]) -> None:
    """What models added, if its citation holds; the rest is counted."""
    lessons = {concept: lesson for lesson in found.lessons for concept in lesson.concepts}
    ids = {concept.title.lower(): concept.id for concept in found.concepts}
    for one in results:
        output = one.result.output if one.result is not None else None
        if not (isinstance(output, dict) and output.get("added")):
            continue
        checked = check(Added.model_validate(output["added"]).statements, files_of(paths).texts)
        found.removed_statements += len(checked.removed)
        for statement in checked.kept:
            title, _, rest = statement.text.partition(": ")
            question, _, solution = rest.partition(" Answer: ")
            concept = ids.get(title.lower(), title)
            if one.task.worker == "materials" and solution and concept in lessons:
                made = LessonExercise(concept=concept, question=question, ref=statement.ref)
                made.solution, made.by_model = solution, True
                lessons[concept].exercises.append(made)
            else:
                found.statements.append(statement)
