"""Guesses what a topic requires from the words of topics, where no source states it. Pure.

A topic that another one's text mentions is likely to come before it, the more so if both are about
the same and the other way round nothing is mentioned. The weights are round figures set by hand.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from leadhand_teams.curriculum.topics import StatedEdge, Topic, words

MAX_TOPICS: Final = 600
"""Nothing is guessed among more."""
MOST_BEFORE: Final = 4
_THRESHOLD: Final = 2.5
_MOST_MENTIONED: Final = 2.5
_IN_TITLE: Final = 2.0
_IN_SUMMARY: Final = 1.5
_ALIKE: Final = 4.0
_COVERED: Final = 4.0
_BACK: Final = 1.0
_GENERAL: Final = 0.2


class _Words:
    """The stems of each topic, and how much they say."""

    def __init__(self, topics: Sequence[Topic]) -> None:
        self.titles = [words(topic.title) for topic in topics]
        self.parts = [
            (words(topic.title), words(topic.summary), words("\n".join(topic.goals)))
            for topic in topics
        ]
        every = [Counter(title * 3 + rest + goals) for title, rest, goals in self.parts]
        self.bags = [frozenset(bag) for bag in every]
        number = Counter(word for bag in self.bags for word in bag)
        count = len(topics)
        self.rarity = {
            word: math.log(1 + (count - seen + 0.5) / (seen + 0.5)) for word, seen in number.items()
        }
        self.vectors = [self._vector(bag) for bag in every]
        self.forms = [list(_forms(topic.title)) for topic in topics]

    def _vector(self, bag: Mapping[str, int]) -> dict[str, float]:
        weights = {word: (1 + math.log(seen)) * self.rarity[word] for word, seen in bag.items()}
        length = math.sqrt(sum(one * one for one in weights.values())) or 1.0
        return {word: one / length for word, one in weights.items()}

    def alike(self, one: int, other: int) -> float:
        """The cosine of two topics' words."""
        a, b = sorted((self.vectors[one], self.vectors[other]), key=len)
        return sum(weight * b.get(word, 0.0) for word, weight in a.items())

    def covered(self, one: int, other: int) -> float:
        """The part of the title's words, weighted by their rarity, that the other topic has."""
        title = set(self.titles[one])
        whole = sum(self.rarity[word] for word in title) or 1.0
        return sum(self.rarity[word] for word in title & self.bags[other]) / whole

    def mentioned(self, one: int, other: int) -> float:
        """How often the other topic's text has the title, a part or the initials of it."""
        title, summary, goals = self.parts[other]
        best = 0.0
        for form, weight in self.forms[one]:
            if self.bags[other].issuperset(form):
                score = _IN_TITLE * (form != title and _times(form, title) > 0)
                score += _IN_SUMMARY * math.sqrt(min(_times(form, summary), 2))
                score += math.sqrt(min(_times(form, goals), 3))
                best = max(best, weight * score)
        return min(best, _MOST_MENTIONED)


def _forms(title: str) -> Iterable[tuple[list[str], float]]:
    """How a title may be written, each with its weight: whole, in brackets, a part, initials."""
    bare = re.sub(r"\(.*?\)", "", title)
    forms = [(words(bare), 1.0)]
    forms += [(words(part), 1.0) for part in re.findall(r"\((.*?)\)", title)]
    parts = re.split(r"\s+(?:and|und|et|y)\s+|:\s+|,\s+", bare)
    forms += [(words(part), 0.9) for part in parts if len(parts) > 1]
    initials = "".join(word[0] for word in re.findall(r"[^\W_]+", bare)).lower()
    forms += [([initials], 1.0), ([f"{initials}s"], 1.0)] if len(initials) > 2 else []
    return [(form, weight) for form, weight in forms if form]


def _times(form: Sequence[str], text: Sequence[str]) -> int:
    size = len(form)
    return sum(
        text[n] == form[0] and list(text[n : n + size]) == list(form)
        for n in range(len(text) - size + 1)
    )


def guessed(topics: Sequence[Topic]) -> dict[tuple[str, str], float]:
    """Pairs of ids, what comes before first, and a score from 0.5 to 1; at most four a topic."""
    if not 1 < len(topics) <= MAX_TOPICS:
        return {}
    known = _Words(topics)
    every = range(len(topics))
    mentions = {
        (one, other): score
        for one in every
        for other in every
        if one != other and (score := known.mentioned(one, other))
    }
    general = Counter(one for one, _ in mentions)
    best: dict[int, list[tuple[float, int]]] = defaultdict(list)
    for one in every:
        for other in every:
            if one == other or known.bags[one].isdisjoint(known.bags[other]):
                continue
            alike = known.alike(one, other)
            score = mentions.get((one, other), 0.0)
            score += alike * (_ALIKE + _COVERED * known.covered(one, other))
            score -= _BACK * ((other, one) in mentions)
            score += _GENERAL * (math.log1p(general[one]) - math.log1p(general[other]))
            if score >= _THRESHOLD:
                best[other].append((score, one))
    found = {
        (one, other): score
        for other, scores in best.items()
        for score, one in sorted(scores, key=lambda pair: (-pair[0], pair[1]))[:MOST_BEFORE]
    }
    return {
        (topics[one].id, topics[other].id): round(score / (score + _THRESHOLD), 3)
        for (one, other), score in found.items()
        if found.get((other, one), 0.0) < score
    }


def beside(given: Sequence[StatedEdge], topics: Sequence[Topic]) -> dict[tuple[str, str], float]:
    """The guesses for topics of which no source states what they require."""
    stated = {edge.after for edge in given} | {topic.id for topic in topics if topic.requires}
    if len(stated) == len(topics):
        return {}
    return {pair: score for pair, score in guessed(topics).items() if pair[1] not in stated}
