"""Guesses what a topic requires from the words of topics, where no source states it. Pure.

A topic that another one's text mentions is likely to come before it, the more so if both are about
the same and the other way round nothing is mentioned. The weights are round figures set by hand.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import Final

from leadhand_teams.curriculum.output import Prerequisite
from leadhand_teams.curriculum.topics import Topic, words
from leadhand_teams.shared.search import Index

MAX_TOPICS: Final = 600
"""Nothing is guessed among more."""
_THRESHOLD: Final = 2.5
_IN_TITLE: Final = 2.0
_IN_SUMMARY: Final = 1.5
_ALIKE: Final = 4.0
_COVERED: Final = 4.0
_GENERAL: Final = 0.2


class _Words:
    """The stems of a topic, and how much they say."""

    def __init__(self, topic: Topic, every: Index) -> None:
        goals = "\n".join(topic.goals)
        self.title, self.summary, self.goals = map(words, (topic.title, topic.summary, goals))
        self.forms = list(_forms(topic.title))
        self.rarity = {word: every.rarity(word) for word in self.title}
        bag = Counter(self.title * 3 + self.summary + self.goals)
        weights = {word: (1 + math.log(n)) * every.rarity(word) for word, n in bag.items()}
        length = math.sqrt(sum(one * one for one in weights.values())) or 1.0
        self.vector = {word: one / length for word, one in weights.items()}

    def alike(self, other: "_Words") -> float:
        """The cosine of two topics' words."""
        a, b = sorted((self.vector, other.vector), key=len)
        return sum(weight * b.get(word, 0.0) for word, weight in a.items())

    def covered(self, other: "_Words") -> float:
        """The part of the title's words, weighted by their rarity, that the other topic has."""
        whole = sum(self.rarity.values()) or 1.0
        return sum(one for word, one in self.rarity.items() if word in other.vector) / whole

    def mentioned(self, other: "_Words") -> float:
        """How often the other topic's text has the title, a part or the initials of it."""
        best = 0.0
        for form, weight in self.forms:
            if other.vector.keys() >= set(form):
                score = _IN_TITLE * (form != other.title and _times(form, other.title) > 0)
                score += _IN_SUMMARY * math.sqrt(min(_times(form, other.summary), 2))
                score += math.sqrt(min(_times(form, other.goals), 3))
                best = max(best, weight * score)
        return best


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
    """Pairs of ids, what comes before first, and a score from 0.5 to 1."""
    if not 1 < len(topics) <= MAX_TOPICS:
        return {}
    every = Index((topic.title, topic.text) for topic in topics)
    known = {topic.id: _Words(topic, every) for topic in topics}
    mentions = {
        (one, other): score
        for one, other in permutations(known, 2)
        if (score := known[one].mentioned(known[other]))
    }
    general = Counter(one for one, _ in mentions)
    found: dict[tuple[str, str], float] = {}
    for one, other in permutations(known, 2):
        alike = known[one].alike(known[other])
        score = mentions.get((one, other), 0.0)
        score += alike * (_ALIKE + _COVERED * known[one].covered(known[other]))
        score += _GENERAL * (math.log1p(general[one]) - math.log1p(general[other]))
        if alike and score >= _THRESHOLD:
            found[one, other] = score
    return {
        (one, other): round(score / (score + _THRESHOLD), 3)
        for (one, other), score in found.items()
        if found.get((other, one), 0.0) < score
    }


def beside(given: Sequence[Prerequisite], topics: Sequence[Topic]) -> list[Prerequisite]:
    """The guesses for topics of which no source states what they require, the strongest first."""
    stated = {edge.after for edge in given} | {topic.id for topic in topics if topic.requires}
    found = guessed(topics) if len(stated) < len(topics) else {}
    return [
        Prerequisite(before=one, after=other, basis="guessed", score=score)
        for (one, other), score in sorted(found.items(), key=lambda item: (-item[1], item[0]))
        if other not in stated
    ]
