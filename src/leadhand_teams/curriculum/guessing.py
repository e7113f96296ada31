"""Guesses what a topic requires from the words of topics, where no source states it. Pure.

A topic that another one's text mentions is likely to come before it, the more so if the words of
its title are rare and there, and both are about the same.
"""

import math
import re
from collections.abc import Sequence
from typing import Final

from leadhand_teams.curriculum.output import Prerequisite
from leadhand_teams.curriculum.topics import Topic, words
from leadhand_teams.shared.search import Index

MAX_TOPICS: Final = 600
"""Nothing is guessed among more."""
_THRESHOLD: Final = 1.25


def guessed(topics: Sequence[Topic]) -> dict[tuple[str, str], float]:
    """Pairs of ids, what comes before first, and a score from 0.5 to 1."""
    if not 1 < len(topics) <= MAX_TOPICS:
        return {}
    index = Index((topic.title, topic.text) for topic in topics)
    texts = [words(topic.text) for topic in topics]
    found: dict[tuple[str, str], float] = {}
    for one, topic in enumerate(topics):
        forms = _forms(topic.title)
        alike = {hit.item: hit.score for hit in index.search(topic.text, limit=len(topics))}
        for hit in index.search(topic.title, limit=len(topics)):
            mentioned = max((_times(form, texts[hit.item]) for form in forms), default=0)
            likeness = alike.get(hit.item, 0.0) / alike.get(one, 1.0)
            score = math.log1p(mentioned) + hit.share * (1 + likeness)
            if hit.item != one and score >= _THRESHOLD:
                found[topic.id, topics[hit.item].id] = score
    return {
        (one, other): round(score / (score + _THRESHOLD), 3)
        for (one, other), score in found.items()
        if found.get((other, one), 0.0) < score
    }


def _forms(title: str) -> list[list[str]]:
    """The stems of how a title may be written: whole, in brackets, a part, initials."""
    bare = re.sub(r"\(.*?\)", "", title)
    parts = re.split(r"\s+(?:and|und|et|y)\s+|:\s+|,\s+", bare)
    initials = "".join(word[0] for word in re.findall(r"[^\W_]+", bare)).lower()
    short = [initials, f"{initials}s"] if len(initials) > 2 else []
    forms = (bare, *re.findall(r"\((.*?)\)", title), *parts, *short)
    return [form for form in map(words, forms) if form]


def _times(form: Sequence[str], text: Sequence[str]) -> int:
    size = len(form)
    return sum(
        text[n] == form[0] and list(text[n : n + size]) == list(form)
        for n in range(len(text) - size + 1)
    )


def beside(given: Sequence[Prerequisite], topics: Sequence[Topic]) -> list[Prerequisite]:
    """The guesses for topics of which no source states what they require, the strongest first."""
    stated = {edge.after for edge in given} | {topic.id for topic in topics if topic.requires}
    found = guessed(topics) if len(stated) < len(topics) else {}
    return [
        Prerequisite(before=one, after=other, basis="guessed", score=score)
        for (one, other), score in sorted(found.items(), key=lambda item: (-item[1], item[0]))
        if other not in stated
    ]
