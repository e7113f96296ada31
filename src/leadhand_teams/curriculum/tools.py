"""What the workers do by code, and the tools that their models may call."""

import datetime as dt
from collections import defaultdict
from typing import cast

from pydantic import Field

from leadhand import Handoff, Result
from leadhand.tools.text import joined_names
from leadhand_teams.curriculum.output import Curriculum, Lesson, LessonExercise
from leadhand_teams.curriculum.sources import files_of
from leadhand_teams.curriculum.structure import CourseTime, ordered, structured
from leadhand_teams.curriculum.topics import Topic, definitions, merged, stated_edges
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
    time = CourseTime.model_validate(handoff.payload)
    made = structured(_so_far(handoff).topics, time)
    titles = {topic.id: topic.title for topic in made.topics}
    found = Curriculum(order=made.order, concepts=[*made.topics], prerequisites=made.edges)
    for number, unit in enumerate(made.units, start=1):
        starts = time.starts + dt.timedelta(weeks=number - 1) if time.starts else None
        title, hours = joined_names([titles[one] for one in unit], 3), made.taken(unit)
        lesson = Lesson(number=number, title=title, concepts=unit, hours=hours, starts=starts)
        found.lessons.append(lesson)
    for circle in made.circles:
        names = [titles[edge.before] for edge in circle]
        left = circle[-1]
        found.problems.append(
            f"These require each other: {' → '.join([*names, names[0]])} "
            f"[{', '.join(dict.fromkeys(edge.ref for edge in circle))}]. "
            f"The order leaves out that {titles[left.after]} requires {titles[left.before]}."
        )
    missing = defaultdict[str, list[Topic]](list)
    for name, topic in stated_edges(made.topics)[1]:
        missing[name].append(topic)
    found.problems += [
        f"{name} is required and is no topic here: by "
        f"{joined_names([one.title for one in by], 3)} [{by[0].ref}]."
        for name, by in sorted(missing.items(), key=lambda item: -len(item[1]))
    ]
    return answers.drafted(found)


def teach(handoff: Handoff) -> Result:
    """Objectives and exercises of the units that the payload names, as the sources have them."""
    wanted = cast("dict[str, list[int]]", handoff.payload)["units"]
    found = _so_far(handoff)
    topics = {topic.id: topic for topic in merged(found.topics)[0]}
    lessons = [one for one in found.lessons if one.number in wanted]
    for lesson in lessons:
        for topic in (topics[one] for one in lesson.concepts if one in topics):
            lesson.objectives += [goal for goal in topic.goals if not goal.endswith("?")]
            asked = [one for one in topic.goals if one.endswith("?")]
            questions = [LessonExercise(question=one, ref=topic.ref) for one in asked]
            lesson.exercises += [
                one.model_copy(update={"concept": topic.id})
                for one in (*topic.exercises, *definitions(topic), *questions)
            ]
    return answers.drafted(Curriculum(lessons=lessons))


def review(handoff: Handoff) -> Result:
    """Overload, what is taught before what it requires, and what the sources leave open."""
    time = CourseTime.model_validate(handoff.payload)
    every = _so_far(handoff).topics
    made, twice = structured(every, time), merged(every)[1]
    by_id = {topic.id: topic for topic in made.topics}
    needed, weeks, a_week = made.taken(made.order), time.weeks, time.a_week
    problems: list[str] = []
    is_overfull = weeks and a_week and needed > weeks * a_week
    if weeks and a_week and is_overfull:
        problems.append(
            f"Overload: the topics take {needed:,.4g} hours, and {weeks} weeks of {a_week:g} hours "
            f"are {weeks * a_week:g}."
        )
    for unit in made.units:
        hours = made.taken(unit)
        if a_week and hours > a_week and (len(unit) == 1 or not is_overfull):
            names = joined_names([by_id[one].title for one in unit], 3)
            problems.append(f"Overload: {hours:,.4g} hours in a week of {a_week:g}: {names}.")
    for edge in (one for one in made.edges if one.basis == "given"):
        first, then = by_id[edge.before], by_id[edge.after]
        if first.file == then.file and (first.position or 0) > (then.position or 0):
            problems.append(
                f"{then.title} [{then.ref}] is taught before {first.title} [{first.ref}], "
                "which it requires."
            )
    problems += [
        f"{one[0].title} is listed twice: {joined_names([each.ref for each in one])}."
        for one in twice
    ]
    open_ones = {
        "hours": [one.title for one in made.topics if one.hours is None],
        "goals": [one.title for one in made.topics if not one.goals],
        "exercises": [
            one.title for one in made.topics if not (one.exercises or [*definitions(one)])
        ],
    }
    for what, names in open_ones.items():
        note = f" ({made.usual:g} assumed for each)" if what == "hours" else ""
        problems += [f"No {what} are stated for {joined_names(names)}{note}."] if names else []
    return answers.drafted(Curriculum(problems=problems, is_reviewed=True))


def _so_far(handoff: Handoff) -> Course:
    return answers.merged(Course, map(Course.model_validate, handoff.inputs.values()))


def order_of(topics: list[str], prerequisites: list[tuple[str, str]]) -> list[str]:
    """Topics, each after what it requires; a prerequisite is a pair, what is taught first first."""
    return ordered(topics, [pair for pair in prerequisites if set(pair) <= set(topics)])


def weeks_needed(hours: list[float], hours_a_week: float) -> int:
    """How many weeks topics take at so many hours a week."""
    return -int(-sum(hours) // hours_a_week) if hours_a_week > 0 else 0
