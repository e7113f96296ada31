"""Which workers are given the same kind of task, by the words of what they were given. Pure.

The cosine of sets of words, the rare ones with more weight (K. Sparck Jones, 1972), and the nearest
neighbour of each task (T. Cover and P. Hart, 1967): two workers overlap if the task most like one
of theirs is as often the other's. Not compared are words that all tasks of a run share, and workers
that continue each other's work in every run.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from statistics import median
from typing import NamedTuple

from leadhand.advice.facts import RunFacts
from leadhand.contracts.team import Team
from leadhand.plans import graph

MIN_TASKS = 10
"""Tasks that each of two workers must have been given before they are compared."""
MAX_TASKS = 50
"""The latest tasks of each worker that are compared."""
CONFUSED = 0.35
"""The share of tasks as like the other's, for an overlap; 0.5 if tasks were dealt by chance."""
ALIKE = 0.29
"""The median cosine of a task and the other worker's nearest one, for an overlap."""
_WORD = re.compile(r"[^\W\d_]{2,}|\d+")


class _Chosen(NamedTuple):
    worker: str
    intent: str
    words: set[str]
    """Without those of the run's subject."""


class Overlap(NamedTuple):
    workers: tuple[str, str]
    confused: float
    """The share of tasks, 0 to 1, that are at least as like one of the other's as their own."""
    intents: tuple[str, str]
    """The two that are most alike."""


def overlaps(team: Team, runs: Sequence[RunFacts]) -> list[Overlap]:
    """The most confused first."""
    chosen = [task for run in runs for task in _chosen(run)]
    sequences = [(run.workers, _in_sequence(run)) for run in runs]
    found: list[Overlap] = []
    for one, other in combinations(team.workers, 2):
        pair = (one.name, other.name)
        declared = one.role is not None and one.role == other.role
        spare = one.fallback == other.name or other.fallback == one.name
        together = [after for workers, after in sequences if workers >= {*pair}]
        ordered = any(all(p in after for after in together) for p in (pair, pair[::-1]))
        if not (declared or spare or (together and ordered)):
            left, right = ([task for task in chosen if task.worker == name] for name in pair)
            found += _overlap(left, right)
    return sorted(found, key=lambda overlap: -overlap.confused)


def _chosen(run: RunFacts) -> Iterator[_Chosen]:
    texts = (f"{task.intent} {task.payload or ''}".casefold() for task in run.chosen)
    words = [{*_WORD.findall(text)} for text in texts]
    several = len({task.worker for task in run.chosen}) > 1
    subject = set[str].intersection(*words) if several else set[str]()
    for task, own in zip(run.chosen, words, strict=True):
        yield _Chosen(task.worker, task.intent, own - subject)


def _in_sequence(run: RunFacts) -> set[tuple[str, str]]:
    """The second continues what the first did."""
    after = graph.dependants(run.plan.tasks)
    worker = {task.id: task.worker for task in run.plan.tasks}
    return {(worker[id], worker[later]) for id in worker for later in graph.descendants(after, id)}


def _overlap(left: Sequence[_Chosen], right: Sequence[_Chosen]) -> Iterator[Overlap]:
    # As many of each: among more tasks there is a nearer one.
    count = min(len(left), len(right), MAX_TASKS)
    if count < MIN_TASKS:
        return
    tasks = [*left[-count:], *right[-count:]]
    known = Counter(word for task in tasks for word in task.words)
    rarity = {word: math.log((1 + len(tasks)) / (1 + n)) + 1 for word, n in known.items()}

    def weight(words: set[str]) -> float:
        return math.fsum(rarity[word] ** 2 for word in words)  # the same in any order

    def nearest(a: int, others: range) -> float:
        return max(alike[min(a, b), max(a, b)] for b in others if b != a)

    own = [weight(task.words) or 1.0 for task in tasks]
    alike = {
        (a, b): weight(tasks[a].words & tasks[b].words) / math.sqrt(own[a] * own[b])
        for a, b in combinations(range(2 * count), 2)
    }
    halves = (range(count), range(count, 2 * count))
    near = [
        (nearest(a, one), nearest(a, other)) for one, other in permutations(halves) for a in one
    ]
    confused = sum(across >= within for within, across in near) / (2 * count)
    if confused >= CONFUSED and median(across for _, across in near) >= ALIKE:
        a, b = max(product(*halves), key=alike.__getitem__)
        workers = (tasks[a].worker, tasks[b].worker)
        yield Overlap(workers, confused, (tasks[a].intent, tasks[b].intent))
