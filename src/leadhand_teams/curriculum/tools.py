"""What the workers do by code, and the tools that their models may call."""

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from pydantic import Field

from leadhand import Handoff, Result
from leadhand.tools.text import joined_names
from leadhand_teams.curriculum.output import Curriculum, LessonExercise
from leadhand_teams.curriculum.sources import files_of
from leadhand_teams.curriculum.structure import CourseTime, ordered, structured, usual_hours
from leadhand_teams.curriculum.topics import Topic, exercises, merged
from leadhand_teams.shared import answers


class Course(Curriculum):
    """What workers hand on: parts of the answer, and the topics as the sources have them."""

    topics: list[Topic] = Field(default=[])


def collect(handoff: Handoff) -> Result:
    """The topics in the files that the payload names."""
    files = files_of(handoff.artifacts)
    names = cast("dict[str, list[str]]", handoff.payload)["files"]
    topics = [topic for name in names for topic in files.topics.get(name, ())]
    found = Course(topics=topics, unread=list(files.unread))
    if files.left_out:
        found.problems = [f"Not taken as topics: {joined_names(list(files.left_out), 12)}."]
    return answers.drafted(found)


def arrange(handoff: Handoff) -> Result:
    """Prerequisites, order and units, by the time that the payload names."""
    time, found = CourseTime.model_validate(handoff.payload), course_of(handoff.inputs.values())
    return answers.drafted(structured(found.topics, time))


def teach(handoff: Handoff) -> Result:
    """Objectives and exercises of the units that the payload names, as the sources have them."""
    wanted = cast("dict[str, list[int]]", handoff.payload)["units"]
    found = course_of(handoff.inputs.values())
    topics = {topic.id: topic for topic in merged(found.topics)[0]}
    lessons = [one for one in found.lessons if one.number in wanted]
    for lesson in lessons:
        for topic in (topics[one] for one in lesson.concepts if one in topics):
            lesson.objectives += [goal for goal in topic.goals if not goal.endswith("?")]
            asked = [one for one in topic.goals if one.endswith("?")]
            questions = [LessonExercise(question=one, ref=topic.ref) for one in asked]
            lesson.exercises += [
                one.model_copy(update={"concept": topic.id})
                for one in (*exercises(topic), *questions)
            ]
    return answers.drafted(Curriculum(lessons=lessons))


def review(handoff: Handoff) -> Result:
    """Overload, what is taught before what it requires, and what the sources leave open."""
    time, found = CourseTime.model_validate(handoff.payload), course_of(handoff.inputs.values())
    topics, twice = merged(found.topics)
    by_id = {topic.id: topic for topic in topics}
    needed, a_week = sum(one.hours for one in found.lessons), time.a_week or 0.0
    available = (time.weeks or 0) * a_week
    problems: list[str] = []
    if 0 < available < needed:
        problems.append(
            f"Overload: the topics take {needed:,.4g} hours, and {time.weeks} weeks of {a_week:g} "
            f"hours are {available:g}."
        )
    over = [one for one in found.lessons if 0 < a_week < one.hours]
    if over:
        named = [f"{one.hours:,.4g} in unit {one.number} ({one.title})" for one in over]
        problems.append(f"Overload: more than {a_week:g} hours in a week: {', '.join(named)}.")
    given = (one for one in found.prerequisites if one.basis == "given")
    for first, then in ((by_id[one.before], by_id[one.after]) for one in given):
        if first.file == then.file and (first.position or 0) > (then.position or 0):
            problems.append(
                f"{then.title} [{then.ref}] is taught before {first.title} [{first.ref}], "
                "which it requires."
            )
    problems += [
        f"{one[0].title} is listed twice: {joined_names([each.ref for each in one])}."
        for one in twice
    ]
    return answers.drafted(Curriculum(problems=problems, is_reviewed=True))


def not_stated(topics: Sequence[Topic]) -> Iterator[str]:
    """The topics for which the sources have no hours, no goals or no exercises."""
    assumed = f" ({usual_hours(topics):g} assumed for each)"
    for what, note, names in (
        ("hours", assumed, [one.title for one in topics if one.hours is None]),
        ("goals", "", [one.title for one in topics if not one.goals]),
        ("exercises", "", [one.title for one in topics if not exercises(one)]),
    ):
        if names:
            yield f"No {what} are stated for {joined_names(names)}{note}."


def course_of(outputs: Iterable[object]) -> Course:
    """What results hold of the course; a lesson that was planned stands for the bare unit."""
    parts = (Course.model_validate(one) for one in outputs if isinstance(one, dict))
    found = answers.merged(Course, parts)
    lessons = sorted(found.lessons, key=lambda one: bool(one.objectives or one.exercises))
    found.lessons = [one for _, one in sorted({one.number: one for one in lessons}.items())]
    return found


def order_of(topics: list[str], prerequisites: list[tuple[str, str]]) -> list[str]:
    """Topics, each after what it requires; a prerequisite is a pair, what is taught first first."""
    return ordered(topics, [pair for pair in prerequisites if set(pair) <= set(topics)])


def weeks_needed(hours: list[float], hours_a_week: float) -> int:
    """How many weeks topics take at so many hours a week."""
    return -int(-sum(hours) // hours_a_week) if hours_a_week > 0 else 0
