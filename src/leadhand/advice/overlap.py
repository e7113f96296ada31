"""Which workers are given the same kind of task, by the words of what they were given. Pure.

TF-IDF vectors and their cosine (G. Salton and C. Buckley, 1988), and the nearest neighbour of each
task (T. Cover and P. Hart, 1967): two workers overlap if the task most like one of theirs is as
often the other's as their own. The words that all tasks of a run share are its subject, not a kind
of task, and workers that continue each other's work in every run do not overlap.
"""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import median
from typing import NamedTuple

from pydantic import JsonValue

from leadhand.advice.facts import RunFacts
from leadhand.contracts.task import Task
from leadhand.contracts.team import Team
from leadhand.plans import graph

MIN_TASKS = 10
"""Tasks that each of two workers must have been given before they are compared."""
MAX_TASKS = 50
"""The latest tasks of each worker that are compared."""
CONFUSED = 0.35
"""The share of tasks that are as like one of the other worker's, for an overlap. Tasks that were
dealt to two workers by chance have 0.5."""
ALIKE = 0.3
"""The median cosine of a task and the other worker's nearest one, for an overlap."""
_WORD = re.compile(r"[^\W\d_]{2,}|\d+")


class ChosenTask(NamedTuple):
    """A task that a planner or router chose a worker for."""

    run_id: str
    task: Task
    words: Counter[str]
    """Without those of the run's subject."""


class Overlap(NamedTuple):
    """Two workers whose tasks can't be told apart."""

    workers: tuple[str, str]
    confused: float
    """The share of tasks, 0 to 1, that are at least as like one of the other's as their own."""
    examples: tuple[ChosenTask, ChosenTask]
    """A task of each, more like each other than most."""


def overlaps(team: Team, runs: Sequence[RunFacts]) -> list[Overlap]:
    """The pairs of the team's workers that overlap, the most confused first."""
    chosen = _chosen(runs)
    sequences = [(run.workers, _in_sequence(run)) for run in runs]
    found: list[Overlap] = []
    for first, second in combinations(team.workers, 2):
        pair = (first.name, second.name)
        declared = first.role is not None and first.role == second.role
        if declared or first.fallback == second.name or second.fallback == first.name:
            continue
        together = [after for workers, after in sequences if workers.issuperset(pair)]
        if together and any(all(p in after for after in together) for p in (pair, pair[::-1])):
            continue
        if all(len(chosen.get(name, ())) >= MIN_TASKS for name in pair):
            overlap = _overlap(*(chosen[name] for name in pair))
            found += [overlap] if overlap is not None else []
    return sorted(found, key=lambda overlap: -overlap.confused)


def _chosen(runs: Sequence[RunFacts]) -> dict[str, list[ChosenTask]]:
    found: dict[str, list[ChosenTask]] = {}
    for run in runs:
        words = [
            Counter(_WORD.findall(f"{task.intent} {_texts(task.payload)}".casefold()))
            for task in run.chosen
        ]
        several = len({task.worker for task in run.chosen}) > 1
        subject = set(words[0]).intersection(*words) if several else set[str]()
        for task, own in zip(run.chosen, words, strict=True):
            kept = Counter({word: count for word, count in own.items() if word not in subject})
            found.setdefault(task.worker, []).append(ChosenTask(run.run_id, task, kept))
    return found


def _texts(payload: JsonValue) -> str:
    """The texts and numbers in a payload, without its keys, which its worker's input declares."""
    if isinstance(payload, dict):
        payload = [*payload.values()]
    if isinstance(payload, list):
        return " ".join(map(_texts, payload))
    return "" if payload is None else str(payload)


def _in_sequence(run: RunFacts) -> set[tuple[str, str]]:
    """The pairs of workers of which the second continues what the first did."""
    after = graph.dependants(run.tasks)
    worker = {task.id: task.worker for task in run.tasks}
    return {(worker[id], worker[later]) for id in worker for later in graph.descendants(after, id)}


def _overlap(first: Sequence[ChosenTask], second: Sequence[ChosenTask]) -> Overlap | None:
    # As many of each: among more tasks there is a nearer one.
    count = min(len(first), len(second), MAX_TASKS)
    ours, theirs = first[-count:], second[-count:]
    vectors = _vectors([chosen.words for chosen in (*ours, *theirs)])
    left, right = vectors[:count], vectors[count:]
    across = [[_cosine(one, other) for other in right] for one in left]
    nearest = [max(row) for row in across] + [max(column) for column in zip(*across, strict=True)]
    own = [*_nearest_own(left), *_nearest_own(right)]
    confused = sum(far >= near for far, near in zip(nearest, own, strict=True)) / (2 * count)
    if confused < CONFUSED or median(nearest) < ALIKE:
        return None
    _, row, column = max((across[r][c], r, c) for r in range(count) for c in range(count))
    examples = (ours[row], theirs[column])
    return Overlap((ours[0].task.worker, theirs[0].task.worker), confused, examples)


def _nearest_own(vectors: Sequence[Mapping[str, float]]) -> Iterator[float]:
    for place, one in enumerate(vectors):
        yield max(_cosine(one, other) for at, other in enumerate(vectors) if at != place)


def _vectors(counts: Sequence[Counter[str]]) -> list[dict[str, float]]:
    """TF-IDF vectors of length 1."""
    known = Counter(word for words in counts for word in words)
    found: list[dict[str, float]] = []
    for words in counts:
        weights = {
            word: count * (math.log((1 + len(counts)) / (1 + known[word])) + 1)
            for word, count in words.items()
        }
        length = math.hypot(*weights.values()) or 1.0
        found.append({word: weight / length for word, weight in weights.items()})
    return found


def _cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return sum(weight * other.get(word, 0.0) for word, weight in one.items())
