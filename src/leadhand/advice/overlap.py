"""Which workers are given the same kind of task, by the words of what they were given. Pure.

The cosine of how often each word occurs in the tasks of two workers, rare words with more weight
(K. Sparck Jones, 1972).
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from leadhand.advice.facts import RunFacts
from leadhand.contracts.team import Team
from leadhand.plans import graph

MIN_TASKS = 10
"""Tasks that each of two workers must have been given before they are compared."""
_MAX_TASKS = 15
"""The latest tasks of each worker that are compared."""
ALIKE = 0.43
"""The cosine from which two workers overlap."""
_WORD = re.compile(r"[^\W\d_]{2,}|\d+")


class Overlap(NamedTuple):
    workers: tuple[str, str]
    alike: float
    """0 to 1."""
    intents: tuple[str, str]
    """The latest of each worker."""


def overlaps(team: Team, runs: Sequence[RunFacts]) -> list[Overlap]:
    """The most alike first. Left out are workers that stand in for each other, or continue each
    other's work in every run."""
    words: dict[str, list[set[str]]] = {worker.name: [] for worker in team.workers}
    intents: dict[str, str] = {}
    for run in runs:
        for worker, intent, own in _words(run):
            words.setdefault(worker, []).append(own)
            intents[worker] = intent
    found: list[Overlap] = []
    for one, other in combinations(team.workers, 2):
        pair = (one.name, other.name)
        stand_in = other.name == one.fallback or one.name == other.fallback
        stand_in |= one.role is not None and one.role == other.role
        left, right = (words[name][-_MAX_TASKS:] for name in pair)
        if not stand_in and min(len(left), len(right)) >= MIN_TASKS:
            alike = _cosine(left, right)
            if alike >= ALIKE and not _in_sequence(pair, runs):
                found.append(Overlap(pair, alike, (intents[one.name], intents[other.name])))
    return sorted(found, key=lambda overlap: -overlap.alike)


def _words(run: RunFacts) -> Iterator[tuple[str, str, set[str]]]:
    """Of each task that was chosen, without the words of the run's subject, which all share."""
    texts = [f"{task.intent} {task.payload or ''}".casefold() for task in run.chosen]
    words = [{*_WORD.findall(text)} for text in texts]
    several = len({task.worker for task in run.chosen}) > 1
    subject = set[str].intersection(*words) if several else set[str]()
    for task, own in zip(run.chosen, words, strict=True):
        yield task.worker, task.intent, own - subject


def _in_sequence(pair: tuple[str, str], runs: Sequence[RunFacts]) -> bool:
    """Whether in every run of both the same of them continues what the other did."""
    orders: list[set[tuple[str, str]]] = []
    for run in runs:
        worker = {task.id: task.worker for task in run.plan.tasks}
        if {*pair} <= {task.worker for task in run.tasks}:
            after = graph.dependants(run.plan.tasks)
            later = ((id, one) for id in worker for one in graph.descendants(after, id))
            orders.append({(worker[id], worker[one]) for id, one in later})
    return any(orders and all(way in order for order in orders) for way in (pair, pair[::-1]))


def _cosine(left: Sequence[set[str]], right: Sequence[set[str]]) -> float:
    one, other = (Counter(word for words in tasks for word in words) for tasks in (left, right))
    tasks = len(left) + len(right)
    weight = {word: (math.log((1 + tasks) / (1 + n)) + 1) ** 3 for word, n in (one + other).items()}
    length = math.sqrt(
        math.fsum(one[word] ** 2 * weight[word] for word in one)
        * math.fsum(other[word] ** 2 * weight[word] for word in other)
    )
    return math.fsum(one[word] * other[word] * weight[word] for word in one) / (length or 1.0)
