"""Orders topics by what they require, and divides them into units. Pure."""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from typing import Final, NamedTuple

from pydantic import BaseModel

from leadhand_teams.curriculum.guessing import beside
from leadhand_teams.curriculum.topics import StatedEdge, Topic, merged, stated_edges

Pair = tuple[str, str]
UNIT_HOURS: Final = 4.0
"""Of a unit if the request names neither weeks nor hours."""


class CourseTime(BaseModel):
    """What the request says about time."""

    weeks: int | None = None
    a_week: float | None = None
    """Hours."""
    starts: dt.date | None = None


class Structure(NamedTuple):
    """What follows from the topics."""

    topics: list[Topic]
    stated: list[StatedEdge]
    given: list[StatedEdge]
    """What is stated, without circles."""
    guessed: dict[Pair, float]
    circles: list[list[StatedEdge]]
    order: list[str]
    units: list[list[str]]
    usual: float
    """The hours that are assumed where no source states them."""
    hours: dict[str, float]

    def taken(self, ids: Iterable[str]) -> float:
        """The hours that topics take."""
        return round(sum(self.hours[one] for one in ids), 4)


def structured(every: Sequence[Topic], time: CourseTime) -> Structure:
    """Prerequisites without circles, order and units."""
    topics, _ = merged(every)
    stated, _ = stated_edges(topics)
    given, circles = without_cycles(stated)
    guesses = acyclic_guesses(given, beside(given, topics))
    order = ordered(
        [topic.id for topic in topics], [*((one.before, one.after) for one in given), *guesses]
    )
    known = sorted(topic.hours for topic in topics if topic.hours)
    usual = known[len(known) // 2] if known else 1.0
    hours = {topic.id: topic.hours or usual for topic in topics}
    parts = units(order, hours, time.weeks, time.a_week)
    return Structure(topics, stated, given, guesses, circles, order, parts, usual, hours)


def without_cycles(edges: Sequence[StatedEdge]) -> tuple[list[StatedEdge], list[list[StatedEdge]]]:
    """The edges without those that close a circle, and each circle as it was found.

    Of a circle the edge that was stated last is left out.
    """
    kept, circles = list(edges), list[list[StatedEdge]]()
    place = {edge: n for n, edge in enumerate(edges)}
    while circle := _circle([(edge.before, edge.after) for edge in kept]):
        by_pair = {(edge.before, edge.after): edge for edge in kept}
        found = [by_pair[pair] for pair in circle]
        circles.append(found)
        kept.remove(max(found, key=lambda edge: place[edge]))
    return kept, circles


def _circle(pairs: Iterable[Pair]) -> list[Pair]:
    before: dict[str, list[str]] = {}
    for one, after in pairs:
        before.setdefault(after, []).append(one)
    try:
        TopologicalSorter(before).prepare()
    except CycleError as error:
        names = [str(name) for name in error.args[1]]
        return list(pairwise(names))
    return []


def acyclic_guesses(
    given: Sequence[StatedEdge], guesses: Mapping[Pair, float]
) -> dict[Pair, float]:
    """The guesses, the strongest first, that make no circle with what is given or guessed."""
    pairs = [(edge.before, edge.after) for edge in given]
    kept: dict[Pair, float] = {}
    for pair, score in sorted(guesses.items(), key=lambda item: (-item[1], item[0])):
        if not _circle([*pairs, *kept, pair]):
            kept[pair] = score
    return kept


def ordered(ids: Sequence[str], pairs: Iterable[Pair]) -> list[str]:
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
    low, high = max(hours[one] for one in order), sum(hours[one] for one in order)
    for _ in range(40):
        middle = (low + high) / 2
        if len(_filled(order, hours, middle)) <= weeks:
            high = middle
        else:
            low = middle
    return _filled(order, hours, high)


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
