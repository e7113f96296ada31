"""The trained router at work: from a text to a worker and the probability that it is right. Pure.

It needs neither scikit-learn nor numpy, and takes a fraction of a millisecond for a request.
"""

import heapq
import math
import struct
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leadhand.contracts.routes import Guess
from leadhand.routing.ngrams import PIECE, ngrams
from leadhand.routing.weights import Weights, from_json, to_json

SHARPNESS = 2.0
"""The factor of the scores before they become shares. Larger ones tell known requests apart from
each other, smaller ones from those that belong to no worker."""
_LANE = 4
"""Bytes in which the sum for one label is computed."""
_KEPT_BYTES = 16 * 1024 * 1024
_MOST = 1 << 23
"""The sum of the factors of a text's n-grams: times 255 it fits a lane."""


@dataclass(frozen=True, slots=True)
class Reason:
    """An n-gram of a text, and how much it adds to the score of a label."""

    ngram: str
    weight: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A label with its score; `None`: no worker."""

    worker: str | None
    score: float


class TrainedRouter:
    """Chooses the worker for a text by what it learnt from examples, or abstains."""

    __slots__ = ("_idf", "_places", "_rows", "weights", "workers")

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.workers = tuple(label for label in weights.labels if label is not None)
        """The workers that it can choose."""
        self._places = {ngram: place for place, ngram in enumerate(weights.ngrams)}
        self._idf = idf(weights.counts, weights.examples)
        self._rows: dict[int, int] = {}
        """The rows that were used before."""

    @classmethod
    def from_json(cls, text: str | bytes, source: str = "the router") -> "TrainedRouter":
        """The router in the text of a file that `router train` wrote; errors name it `source`.

        Raises `InputError` if the text is something else, or was changed.
        """
        return cls(from_json(text, source))

    def to_json(self) -> str:
        """The text of its file."""
        return to_json(self.weights)

    @property
    def threshold(self) -> float:
        """It abstains if the probability that its worker is right is lower."""
        return self.weights.threshold

    def guess(self, text: str) -> Guess:
        """The likeliest worker, with the probability that it is right."""
        known = self._vector(text)
        scores = self._scores(known)
        best = max(range(len(scores)), key=scores.__getitem__)
        worker = self.weights.labels[best]
        if worker is None or not known:
            return Guess(None, 0.0, accepted=False)
        x = self.weights.slope * log_odds(scores, best) + self.weights.offset
        confidence = probability(x)
        return Guess(worker, confidence, accepted=confidence >= self.threshold)

    def candidates(self, text: str, most: int = 3) -> list[Candidate]:
        """The labels with the highest scores, the highest first."""
        scores = self._scores(self._vector(text))
        best = heapq.nlargest(most, range(len(scores)), key=scores.__getitem__)
        return [Candidate(self.weights.labels[place], scores[place]) for place in best]

    def reasons(self, text: str, worker: str | None, most: int = 5) -> list[Reason]:
        """The n-grams of a text that speak most for a label."""
        labels, rows = self.weights.labels, self.weights.rows
        column = labels.index(worker)
        found = [
            Reason(
                self.weights.ngrams[place],
                factor * (rows[place * len(labels) + column] - 128) * self.weights.step,
            )
            for place, factor in self._vector(text)
        ]
        best = heapq.nlargest(most, found, key=lambda reason: reason.weight)
        return [reason for reason in best if reason.weight > 0]

    def _vector(self, text: str) -> list[tuple[int, float]]:
        """The known n-grams of a text: place and factor."""
        return vector(text, self._places, self._idf)

    def _scores(self, vector: Sequence[tuple[int, float]]) -> list[float]:
        """The score of each label.

        A row of weights is added to the others as one large integer with a lane for each label,
        which for a hundred labels is faster than a hundred additions.
        """
        weights, labels = self.weights, len(self.weights.labels)
        if not vector:
            return list(weights.bias)
        unit = _MOST / sum(factor for _, factor in vector)
        total, factors = 0, 0
        for place, factor in vector:
            whole = round(factor * unit)
            total += self._row(place) * whole
            factors += whole
        sums = struct.unpack(f"<{labels}I", total.to_bytes(_LANE * labels, "little"))
        step = weights.step / unit
        return [
            (one - 128 * factors) * step + bias
            for one, bias in zip(sums, weights.bias, strict=True)
        ]

    def _row(self, place: int) -> int:
        """The weights of an n-gram, plus 128, with a lane for each label."""
        row = self._rows.get(place)
        if row is None:
            labels = len(self.weights.labels)
            lanes = bytearray(_LANE * labels)
            lanes[::_LANE] = self.weights.rows[place * labels : (place + 1) * labels]
            row = int.from_bytes(lanes, "little")
            if len(self._rows) * len(lanes) < _KEPT_BYTES:
                self._rows[place] = row
        return row


def vector(text: str, places: Mapping[str, int], idf: Sequence[float]) -> list[tuple[int, float]]:
    """The known n-grams of a text: place and factor (TF-IDF with a logarithmic TF).

    Words and pieces are two vectors of length 1, so that many pieces do not drown a few words.
    N-grams that no example had count in the length: the less of a text is known, the less its known
    part says. `idf` ends with theirs.
    """
    kinds: tuple[list[tuple[int, float]], ...] = ([], [])
    squares = [0.0, 0.0]
    for ngram, count in ngrams(text).items():
        place = places.get(ngram, -1)
        factor = idf[place] if count == 1 else (1 + math.log(count)) * idf[place]
        kind = ngram[0] == PIECE
        squares[kind] += factor * factor
        if place >= 0:
            kinds[kind].append((place, factor))
    found: list[tuple[int, float]] = []
    for kind, square in zip(kinds, squares, strict=True):
        if kind:
            scale = 1 / math.sqrt(square)
            found += [(place, factor * scale) for place, factor in kind]
    return found


def idf(counts: Sequence[int], examples: int) -> tuple[float, ...]:
    """How much each n-gram matters, by how many examples have it: the rarer, the more.

    The last one is for n-grams that no example has.
    """
    return tuple(math.log((1 + examples) / (1 + count)) + 1 for count in (*counts, 0))


def log_odds(scores: Sequence[float], best: int) -> float:
    """The log-odds of the share of the best label."""
    others = sum(
        math.exp(SHARPNESS * (score - scores[best]))
        for place, score in enumerate(scores)
        if place != best
    )
    return -math.log(others or sys.float_info.min)


def probability(x: float) -> float:
    """The probability with the log-odds `x`."""
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0
