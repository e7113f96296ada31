"""Orders topics by what they require, and divides them into units. Pure.

What they require is guessed where no source states it: a topic that another one's text mentions is
likely to come before it, the more so if the words of its title are rare and there, and both are
about the same.
"""

import datetime as dt
import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median_high
from typing import Final

from pydantic import BaseModel

from leadhand.tools.text import joined_names
from leadhand_teams.curriculum.output import Curriculum, Lesson, Prerequisite
from leadhand_teams.curriculum.topics import Topic, merged, stated_edges, words
from leadhand_teams.shared.search import Index

UNIT_HOURS: Final = 4.0
"""Of a unit if the request names neither weeks nor hours."""
MAX_TOPICS: Final = 600
"""Nothing is guessed among more."""
_THRESHOLD: Final = 1.25
"""Of guesses."""


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
    known = {edge.after for edge in given} | {topic.id for topic in topics if topic.requires}
    found = guessed(topics) if len(known) < len(topics) else {}
    guesses = [
        Prerequisite(before=one, after=other, basis="guessed", score=score)
        for (one, other), score in sorted(found.items(), key=lambda item: (-item[1], item[0]))
        if other not in known  # no source states what it requires
    ]
    edges, _ = acyclic([*given, *guesses])
    order = ordered([*titles], [(edge.before, edge.after) for edge in edges])
    made = Curriculum(order=order, concepts=[*topics], prerequisites=edges)
    usual = usual_hours(topics)
    hours = {topic.id: topic.hours or usual for topic in topics}
    for number, unit in enumerate(units(order, hours, time.weeks, time.a_week), start=1):
        lesson = Lesson(
            number=number, concepts=unit, title=joined_names([titles[one] for one in unit], 3),
            hours=round(sum(hours[one] for one in unit), 4),
            starts=time.starts + dt.timedelta(weeks=number - 1) if time.starts else None,
        )  # fmt: skip
        made.lessons.append(lesson)
    for circle in circles:
        names = [titles[edge.before] for edge in circle]
        left = circle[-1]
        made.problems.append(
            f"These require each other: {' → '.join([*names, names[0]])} "
            f"[{', '.join(dict.fromkeys(edge.ref for edge in circle))}]. "
            f"The order leaves out that {titles[left.after]} requires {titles[left.before]}."
        )
    made.problems += [
        f"{name} is required and is no topic here: by "
        f"{joined_names([one.title for one in by], 3)} [{by[0].ref}]."
        for name, by in sorted(missing.items(), key=lambda item: -len(item[1]))
    ]
    return made


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


def guessed(topics: Sequence[Topic]) -> dict[tuple[str, str], float]:
    """Pairs of ids, what comes before first, and a score from 0.5 to 1."""
    if not 1 < len(topics) <= MAX_TOPICS:
        return {}
    index = Index((topic.title, topic.text) for topic in topics)
    texts = [_spaced(topic.text) for topic in topics]
    found: dict[tuple[str, str], float] = {}
    for one, topic in enumerate(topics):
        forms = _forms(topic.title)
        alike = {hit.item: hit.score for hit in index.search(topic.text, limit=len(topics))}
        for hit in index.search(topic.title, limit=len(topics)):
            mentioned = max(map(texts[hit.item].count, forms), default=0)
            likeness = alike.get(hit.item, 0.0) / alike.get(one, 1.0)
            score = math.log1p(mentioned) + hit.share * (1 + likeness)
            if hit.item != one and score >= _THRESHOLD:
                found[topic.id, topics[hit.item].id] = score
    return {
        (one, other): round(score / (score + _THRESHOLD), 3)
        for (one, other), score in found.items()
        if found.get((other, one), 0.0) < score
    }


def _forms(title: str) -> list[str]:
    """The stems of how a title may be written: whole, in brackets, a part, initials."""
    bare = re.sub(r"\(.*?\)", "", title)
    parts = re.split(r"\s+(?:and|und|et|y)\s+|:\s+|,\s+", bare)
    initials = "".join(word[0] for word in re.findall(r"[^\W_]+", bare)).lower()
    short = [initials, f"{initials}s"] if len(initials) > 2 else []
    forms = (bare, *re.findall(r"\((.*?)\)", title), *parts, *short)
    return [form for form in map(_spaced, forms) if form.strip()]


def _spaced(text: str) -> str:
    """The stems of a text, each with spaces of its own, so that they can be counted."""
    return f" {'  '.join(words(text))} "
