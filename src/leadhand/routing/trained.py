"""The trained router: from a text to a worker and the probability that it is right. Pure.

It needs neither scikit-learn nor numpy, and takes about a millisecond for a request.
"""

import heapq
import json
import math
import re
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from operator import itemgetter, mul
from typing import Annotated, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from leadhand.contracts.role import Guess
from leadhand.errors import InputError

FORMAT = "leadhand trained router"
_Number = Annotated[float, Field(gt=-1e9, lt=1e9)]
VERSION = 2
MAX_BYTES = 64 * 1024 * 1024
"""The largest file, and the largest table of weights in it."""
MAX_CHARS = 4_000
PIECE = "#"
"""Begins a piece of a word, so that it differs from the word with the same letters."""
_WORD = re.compile(r"\w+(?:'\w+)?")


def ngrams(text: str) -> Mapping[str, int]:
    """How often each word, pair of words and piece of a word occurs, `_` for the word's ends."""
    words = _WORD.findall(text[:MAX_CHARS].casefold().replace("’", "'"))
    counts = Counter(words)
    counts.update(f"{one} {other}" for one, other in pairwise(words))
    for word in words:
        padded = f"_{word[:100]}_"
        for size in range(2, 6):
            if size >= len(padded):
                counts[PIECE + padded] += 1
                break
            counts.update([PIECE + padded[at : at + size] for at in range(len(padded) - size + 1)])
    return counts


class Vocabulary:
    """The n-grams of examples, and how much each matters: the fewer examples have it, the more."""

    def __init__(self, known: Sequence[str], counts: Sequence[int], examples: int) -> None:
        """`counts` says how many of the examples have each n-gram."""
        self._places = {ngram: place for place, ngram in enumerate(known)}
        # The last one is for n-grams that no example has.
        self._idf = [math.log((1 + examples) / (1 + count)) + 1 for count in (*counts, 0)]

    def vector(self, text: str) -> list[tuple[int, float]]:
        """The known n-grams of a text: place and factor (TF-IDF with a logarithmic TF).

        Words and pieces are two vectors of length 1, so that many pieces do not drown a few words.
        N-grams that no example had count in the length.
        """
        kinds: tuple[list[tuple[int, float]], ...] = ([], [])
        squares = [0.0, 0.0]
        for ngram, count in ngrams(text).items():
            place = self._places.get(ngram, -1)
            factor = (1 + math.log(count)) * self._idf[place]
            kind = ngram[0] == PIECE
            squares[kind] += factor * factor
            if place >= 0:
                kinds[kind].append((place, factor))
        lengths = [math.sqrt(square) for square in squares]
        return [
            (place, factor / length)
            for kind, length in zip(kinds, lengths, strict=True)
            for place, factor in kind
        ]


class Weights(BaseModel):
    """What was learnt from examples. A label is a worker's name, or `None` for no worker."""

    model_config = ConfigDict(
        frozen=True, allow_inf_nan=False, ser_json_bytes="base64", val_json_bytes="base64"
    )

    format: Literal["leadhand trained router"] = FORMAT
    version: Literal[2] = VERSION
    threshold: float
    """The router abstains if the probability that its worker is right is lower."""
    slope: _Number
    offset: _Number
    """`1 / (1 + exp(-(slope * score + offset)))` is that probability."""
    labels: Annotated[tuple[str | None, ...], Field(min_length=2)]
    bias: tuple[_Number, ...]
    """Of each label."""
    examples: Annotated[int, Field(gt=0, lt=2**53)]
    ngrams: tuple[Annotated[str, Field(min_length=1)], ...]
    counts: tuple[Annotated[int, Field(gt=0)], ...]
    """In how many examples each n-gram occurred."""
    step: _Number
    packed: bytes
    """For each n-gram one signed byte a label, its weight in units of `step`; compressed."""

    @property
    def table(self) -> memoryview:
        # One byte more than it may have, to see whether it has more.
        size = len(self.labels) * len(self.ngrams)
        return memoryview(zlib.decompressobj().decompress(self.packed, size + 1)).cast("b")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        """Columns have the same length, so that every text has a score."""
        labels, ngrams = len(self.labels), len(self.ngrams)
        try:
            fits = labels * ngrams <= MAX_BYTES and len(self.table) == labels * ngrams
        except zlib.error:
            fits = False
        fits = fits and labels == len(set(self.labels)) == len(self.bias)
        if not fits or ngrams != len(self.counts) or max(self.counts, default=0) > self.examples:
            raise ValueError("its columns do not fit together")
        return self


class TrainedRouter:
    """Chooses the worker for a text by what it learnt from examples, or abstains."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.workers = tuple(label for label in weights.labels if label is not None)
        self._vocabulary = Vocabulary(weights.ngrams, weights.counts, weights.examples)
        self._table = weights.table

    @classmethod
    def from_json(cls, text: str | bytes, source: str = "the router") -> "TrainedRouter":
        """The router in the text of a file, which errors name `source`.

        Raises `InputError` if the text is something else, or is damaged.
        """
        try:
            found: object = json.loads(text)
        except (ValueError, RecursionError):
            found = None
        content = cast("dict[str, object]", found) if isinstance(found, dict) else {}
        made = "with `leadhand router train`"
        if content.get("format") != FORMAT:
            raise InputError(f"{source} is not a trained router: make one {made}")
        if (version := content.get("version")) != VERSION:
            raise InputError(
                f"{source} has version {version!r:.40} of the format, and this leadhand reads "
                f"version {VERSION}: train it again {made}"
            )
        try:
            return cls(Weights.model_validate_json(text))
        except ValidationError as error:
            raise InputError(
                f"{source} is damaged: restore it, or train it again {made}"
            ) from error

    def to_json(self) -> str:
        """The text of its file."""
        return self.weights.model_dump_json() + "\n"

    def guess(self, text: str) -> Guess:
        """The likeliest worker, with the probability that it is right."""
        vector = self._vocabulary.vector(text)
        scores = self._scores(vector)
        score = max(scores)
        return guess_of(
            self.weights.labels[scores.index(score)] if vector else None,
            self.weights.slope * score + self.weights.offset,
            self.weights.threshold,
        )

    def candidates(self, text: str, most: int = 3) -> list[tuple[str | None, float]]:
        """The labels with the highest scores, the highest first; `None`: no worker."""
        found = zip(self.weights.labels, self._scores(self._vocabulary.vector(text)), strict=True)
        return heapq.nlargest(most, found, key=itemgetter(1))

    def reasons(self, text: str, worker: str | None, most: int = 5) -> list[tuple[str, float]]:
        """The words and pairs of words of a text that add most to the score of a label."""
        known, width = self.weights, len(self.weights.labels)
        column = known.labels.index(worker)
        found = [
            (known.ngrams[place], factor * self._table[place * width + column] * known.step)
            for place, factor in self._vocabulary.vector(text)
            if known.ngrams[place][0] != PIECE
        ]
        return [one for one in heapq.nlargest(most, found, key=itemgetter(1)) if one[1] > 0]

    def _scores(self, vector: Sequence[tuple[int, float]]) -> list[float]:
        if not vector:
            return [*self.weights.bias]
        width, step = len(self.weights.labels), self.weights.step
        factors = [factor * step for _, factor in vector]
        rows = [self._table[place * width : (place + 1) * width].tolist() for place, _ in vector]
        return [
            sum(map(mul, factors, column), start=bias)
            for column, bias in zip(zip(*rows, strict=True), self.weights.bias, strict=True)
        ]


def guess_of(worker: str | None, log_odds: float, threshold: float) -> Guess:
    """The guess of a worker that is right with these log-odds; `None`: no worker."""
    if worker is None or log_odds < -700:
        return Guess(worker, 0.0, accepted=False)
    confidence = 1 / (1 + math.exp(-log_odds))
    return Guess(worker, confidence, accepted=confidence >= threshold)
