"""Ranks texts by the words of a question: BM25 over stems, in memory. Pure."""

import math
import re
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, cast

from leadhand.tools.files import content_words

K1: Final = 1.2
B: Final = 0.75
"""The parameters and the formula: Robertson and Zaragoza, The Probabilistic Relevance Framework."""
_WORD: Final = re.compile(r"[^\W_]+")
_stemming = threading.Lock()


@dataclass(frozen=True, slots=True)
class Hit:
    """An item of an index that has words of a query."""

    item: int
    """Its place in the index."""
    score: float
    share: float
    """The part of the query's words, weighted by their rarity, that the item has: 0 to 1."""


class Index:
    """Items to search, each a heading and a body; its index is its place in `items`."""

    def __init__(self, items: Iterable[tuple[str, str]], *, heading_weight: float = 2.0) -> None:
        self._found: dict[str, list[tuple[int, float]]] = defaultdict(list)
        lengths: list[float] = []
        for number, (heading, body) in enumerate(items):
            counts: dict[str, float] = defaultdict(float)
            for text, weight in ((heading, heading_weight), (body, 1.0)):
                for term, count in Counter(terms(text)).items():
                    counts[term] += weight * count
            for term, count in counts.items():
                self._found[term].append((number, count))
            lengths.append(sum(counts.values()))
        mean = sum(lengths) / len(lengths) if lengths else 1.0
        self._norms = [1 - B + B * length / (mean or 1.0) for length in lengths]

    def __len__(self) -> int:
        return len(self._norms)

    def rarity(self, term: str) -> float:
        """The inverse document frequency of a stem; the highest for one that is in no item."""
        count = len(self._found.get(term, ()))
        return math.log(1 + (len(self._norms) - count + 0.5) / (count + 0.5))

    def search(self, query: str, limit: int = 10) -> list[Hit]:
        """The best items, best first; of equal ones the first."""
        asked = list(dict.fromkeys(map(stem, content_words(query))))
        weights = {term: self.rarity(term) for term in asked}
        scores = self.scores({term: 1.0} for term in asked)
        shares: dict[int, float] = defaultdict(float)
        for term, weight in weights.items():
            for number, _ in self._found.get(term, ()):
                shares[number] += weight
        whole = sum(weights.values()) or 1.0
        best = sorted(scores, key=lambda number: (-scores[number], number))[:limit]
        return [Hit(number, scores[number], shares[number] / whole) for number in best]

    def scores(self, asked: Iterable[Mapping[str, float]]) -> dict[int, float]:
        """The score of each item that has one of the words asked for: each is a stem and others
        that mean the same, with what they count. A word is as rare as the first of them."""
        scores: dict[int, float] = defaultdict(float)
        for word in asked:
            parts: dict[int, float] = defaultdict(float)
            for term, share in word.items():
                for number, count in self._found.get(term, ()):
                    part = count * (K1 + 1) / (count + K1 * self._norms[number])
                    parts[number] = max(parts[number], share * part)
            for number, part in parts.items():
                scores[number] += self.rarity(next(iter(word))) * part
        return scores


def terms(text: str) -> list[str]:
    """The stems of all words of `text`, in order."""
    return [stem(word) for word in _WORD.findall(text.lower())]


@lru_cache(100_000)
def stem(word: str) -> str:
    """The stem of a word, in lower case."""
    with _stemming:  # a stemmer keeps the word in itself, and workers run in threads
        return _stemmer()(word.lower())


@cache
def _stemmer() -> Callable[[str], str]:
    import snowballstemmer  # pyright: ignore[reportMissingTypeStubs]

    stemmer = snowballstemmer.stemmer("english")  # pyright: ignore
    return cast("Callable[[str], str]", stemmer.stemWord)  # pyright: ignore
