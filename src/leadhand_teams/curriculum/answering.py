"""The synthesis: cross-checks order, lessons and sources, and puts the report together."""

from collections.abc import Iterable, Sequence

from leadhand import Plan
from leadhand.extension.roles import Synthesis, TaskResult
from leadhand_teams.curriculum.output import Curriculum, LessonExercise
from leadhand_teams.curriculum.report import report
from leadhand_teams.curriculum.sources import files_of
from leadhand_teams.curriculum.tools import Course
from leadhand_teams.curriculum.topics import Topic, merged, stated_edges
from leadhand_teams.shared import answers
from leadhand_teams.shared.statements import check


def answer(plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
    """The typed answer and its report, from whatever results there are."""
    course = answers.merged(Course, (part for _, part in answers.parts(Course, results)))
    found = Curriculum.model_validate(course.model_dump(exclude={"topics"}))
    # A lesson that was planned stands for the bare unit.
    lessons = sorted(found.lessons, key=lambda one: bool(one.objectives or one.exercises))
    found.lessons = [one for _, one in sorted({one.number: one for one in lessons}.items())]
    found.concepts = found.concepts or [*merged(course.topics)[0]]  # the structure is missing
    found.problems.sort(key=lambda one: one.startswith("Not taken"))
    found.problems.sort(key=lambda one: not one.startswith(("Overload", "These require")))
    paths = next((task.artifacts for task in plan.tasks if task.artifacts), ())
    _add(found, results, paths)
    readers = [one.task.id for one in results if one.task.worker == "topics"]
    conflicts = list(_contradictions(course.topics))
    return answers.synthesis(
        report(plan.goal, found, [about for about, _ in conflicts]).markdown(title=False),
        found,
        by=readers,
        conflicts=conflicts,
        sources=[(readers[0], topic.file) for topic in course.topics],
        gaps=[("files", f"not read: {why}") for why in found.unread],
    )


def _contradictions(topics: Sequence[Topic]) -> Iterable[tuple[str, str]]:
    """Where sources require two topics of each other, or state different hours."""
    titles = {topic.id: topic.title for topic in topics}
    stated = {(edge.before, edge.after): edge.ref for edge in stated_edges(topics)[0]}
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
    checked = check(answers.added(results), files_of(paths).texts if paths else ())
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
