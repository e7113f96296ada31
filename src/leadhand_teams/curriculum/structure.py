"""Orders topics by what they require, and divides them into units. Pure."""

import datetime as dt
import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median_high
from typing import Final

from pydantic import BaseModel

from leadhand.tools.text import joined_names
from leadhand_teams.curriculum.guessing import beside
from leadhand_teams.curriculum.output import Curriculum, Lesson, Prerequisite
from leadhand_teams.curriculum.topics import Topic, merged, stated_edges

UNIT_HOURS: Final = 4.0
"""Of a unit if the request names neither weeks nor hours."""


class CourseTime(BaseModel):
    """What the request says about time."""

    weeks: int | None = None
    a_week: float | None = None
    """Hours."""
    starts: dt.date | None = None


def structured(every: Sequence[Topic], time: CourseTime) -> Curriculum:
    """Prerequisites without circles, order and units; and what is wrong with them."""
    topics, _ = merged(every)
    titles = {topic.id: topic.title for topic in topics}
    stated, missing = stated_edges(topics)
    given, circles = acyclic(stated)
    edges, _ = acyclic([*given, *beside(given, topics)])
    order = ordered([*titles], [(edge.before, edge.after) for edge in edges])
    found = Curriculum(order=order, concepts=[*topics], prerequisites=edges)
    usual = usual_hours(topics)
    hours = {topic.id: topic.hours or usual for topic in topics}
    for number, unit in enumerate(units(order, hours, time.weeks, time.a_week), start=1):
        lesson = Lesson(
            number=number, concepts=unit, title=joined_names([titles[one] for one in unit], 3),
            hours=round(sum(hours[one] for one in unit), 4),
            starts=time.starts + dt.timedelta(weeks=number - 1) if time.starts else None,
        )  # fmt: skip
        found.lessons.append(lesson)
    for circle in circles:
        names = [titles[edge.before] for edge in circle]
        left = circle[-1]
        found.problems.append(
            f"These require each other: {' → '.join([*names, names[0]])} "
            f"[{', '.join(dict.fromkeys(edge.ref for edge in circle))}]. "
            f"The order leaves out that {titles[left.after]} requires {titles[left.before]}."
        )
    found.problems += [
        f"{name} is required and is no topic here: by "
        f"{joined_names([one.title for one in by], 3)} [{by[0].ref}]."
        for name, by in sorted(missing.items(), key=lambda item: -len(item[1]))
    ]
    return found


def usual_hours(topics: Sequence[Topic]) -> float:
    """The hours that are assumed where no source states them."""
    return median_high([topic.hours for topic in topics if topic.hours] or [1.0])


def acyclic(edges: Sequence[Prerequisite]) -> tuple[list[Prerequisite], list[list[Prerequisite]]]:
    """The edges without those that close a circle with earlier ones; and each circle, closed."""
    kept, circles = list[Prerequisite](), list[list[Prerequisite]]()
    into = defaultdict[str, list[Prerequisite]](list)
    for edge in edges:
        path = _path(into, edge.after, edge.before)
        if path is None:
            kept.append(edge)
            into[edge.after].append(edge)
        else:
            circles.append([*path, edge])
    return kept, circles


def _path(
    into: Mapping[str, Sequence[Prerequisite]], first: str, last: str
) -> list[Prerequisite] | None:
    """The edges that lead from `first` to `last`; None if none do."""
    ways: dict[str, list[Prerequisite]] = {last: []}
    names = [last]
    for name in names:
        for edge in into.get(name, ()):
            if edge.before not in ways:
                ways[edge.before] = [edge, *ways[name]]
                names.append(edge.before)
    return ways.get(first)


def ordered(ids: Sequence[str], pairs: Iterable[tuple[str, str]]) -> list[str]:
    """All ids, each after what it requires, and otherwise as given; without those in circles."""
    needs: dict[str, set[str]] = {name: set() for name in ids}
    for before, after in pairs:
        needs[after].add(before)
    left, found = dict.fromkeys(ids), dict[str, None]()
    while (ready := next((one for one in left if needs[one] <= found.keys()), None)) is not None:
        found[ready] = left.pop(ready)
    return list(found)


def units(
    order: Sequence[str], hours: Mapping[str, float], weeks: int | None, a_week: float | None
) -> list[list[str]]:
    """The order in parts of at most `a_week` hours, or in `weeks` parts as even as can be."""
    if not order:
        return []
    if weeks is None:
        return _filled(order, hours, a_week or UNIT_HOURS)
    if a_week is not None and len(parts := _filled(order, hours, a_week)) <= weeks:
        return parts
    sizes = range(math.ceil(100 * sum(hours[one] for one in order)) + 1)  # in hundredths
    fits = bisect_left(sizes, True, key=lambda n: len(_filled(order, hours, n / 100)) <= weeks)
    return _filled(order, hours, fits / 100)


def _filled(order: Sequence[str], hours: Mapping[str, float], most: float) -> list[list[str]]:
    parts: list[list[str]] = []
    left = 0.0
    for one in order:
        if not parts or hours[one] > left + 1e-9:
            parts.append([])
            left = most
        parts[-1].append(one)
        left -= hours[one]
    return parts
