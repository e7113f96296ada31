"""What a request asks about, word by word, and whether a text speaks of it; pure functions."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from leadhand.tools.files.queries import telling_words

_INSTRUCTIONS: Final = """
    analyse analysis analyze answer best biggest calculate chart compare comparison compute
    describe detail develop document each every evidence explain fastest file find give got happen
    highest identify information key know largest least list look lowest main make need overview
    please question quote rank report research review say says search see show slowest smallest
    sources state summarise summarize summary tell think top use want went worst write
"""
"""What says how to answer, and not what about."""
_ENDINGS: Final = ("ations", "ation", "ings", "ing", "ies", "ed", "es", "ly", "s", "e", "y")
_MIN_STEM: Final = 3
_WORD: Final = re.compile(r"[^\W_]+")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def subject(request: str) -> tuple[str, ...]:
    """The words of `request` that say what it is about, in order, each once."""
    asking = stems(_INSTRUCTIONS)
    return tuple(word for word in telling_words(request) if stem(word) not in asking)


def stem(word: str) -> str:
    """What `price`, `prices` and `pricing` have in common, roughly."""
    small = word.lower()
    for ending in _ENDINGS:
        if small.endswith(ending) and len(small) - len(ending) >= _MIN_STEM:
            return small.removesuffix(ending)
    return small


def stems(*texts: str) -> frozenset[str]:
    """The stems of all words of `texts`; `orderId` and `order_id` have two."""
    return frozenset(stem(word) for text in texts for word in _WORD.findall(_CAMEL.sub(" ", text)))


def matched(words: Iterable[str], *texts: str) -> tuple[str, ...]:
    """Those of `words` that `texts` speak of."""
    there = stems(*texts)
    return tuple(word for word in words if stem(word) in there)


def weights(words: Iterable[str], texts: Sequence[str]) -> dict[str, float]:
    """What each of `words` says of a text: the fewer of `texts` have it, the more."""
    there = [stems(text) for text in texts]
    counts = {word: sum(stem(word) in one for one in there) for word in words}
    return {word: math.log(2 + len(texts) / count) for word, count in counts.items() if count}


def merit(weights: Mapping[str, float], *texts: str) -> float:
    """How much `texts` say of the words that have these weights."""
    return sum(weights[word] for word in matched(weights, *texts))


def asked(intent: str) -> str:
    """The request within an intent of the template, which ends with it; else all of it."""
    return intent.partition(": ")[2] or intent
