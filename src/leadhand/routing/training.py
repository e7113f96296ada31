"""Trains a router with scikit-learn, which is imported here alone, and only when it trains.

One linear support vector machine a worker over the n-grams of the examples. Every example is also
scored by a router that was trained without it; from these scores follow the calibration, the
threshold and the figures.
"""

import importlib
import math
from array import array
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from leadhand.contracts.routes import Guess
from leadhand.errors import InputError
from leadhand.routing.examples import Example, plain, too_few
from leadhand.routing.figures import Figures, figures
from leadhand.routing.ngrams import ngrams
from leadhand.routing.trained import TrainedRouter, idf, log_odds, probability, vector
from leadhand.routing.weights import MAX_WORKERS, Weights

ACCEPT = 0.95
"""The share of the held-back examples of workers that the threshold accepts, if enough of them are
right."""
RIGHT = 0.95
"""The share of the accepted ones that must be right; else the threshold is raised."""
LEAST_EXAMPLES = 8
"""Examples that each worker needs."""
FEW_EXAMPLES = 30
"""With fewer examples of a worker its figures say little."""
FOLDS = 4
_SLOPE, _SLOPE_WEIGHT = 2.0, 50.0
"""The slope of the calibration to expect, and how much that counts: as much as a few wrong examples
say about it."""
_MANY = 2_000
"""From this many examples on, an n-gram must occur in two of them."""

Scores = Sequence[Sequence[float]]
Progress = Callable[[str], None]


class Training(NamedTuple):
    """A trained router, and what it did with the examples while they were held back."""

    router: TrainedRouter
    figures: Figures
    guesses: tuple[Guess, ...]
    """About each example, by a router that was trained without it."""


def train(
    examples: Sequence[Example],
    *,
    accept: float = ACCEPT,
    right: float = RIGHT,
    progress: Progress = lambda what: None,
) -> Training:
    """Train a router. Raises `InputError` without scikit-learn, and for too few examples."""
    _check_installed()
    labels = _labels(examples)
    places = {label: place for place, label in enumerate(labels)}
    # Too few examples of no worker teach nothing, but still count where the threshold is chosen.
    used = [number for number, example in enumerate(examples) if example.worker in places]
    wanted = [places[examples[number].worker] for number in used]
    folds = _folds([examples[number] for number in used])
    held: dict[int, Sequence[float]] = {}
    for fold in range(FOLDS):
        progress(f"part {fold + 1} of {FOLDS}, held back")
        rest = [place for place, own in enumerate(folds) if own != fold]
        fitted = _Fitted.to([examples[used[at]] for at in rest], [wanted[at] for at in rest])
        out = [number for at, number in enumerate(used) if folds[at] == fold]
        if fold == 0:
            out += sorted({*range(len(examples))} - {*used})
        scores = fitted.scores([examples[number] for number in out])
        held.update(zip(out, scores, strict=True))
    progress("all examples")
    fitted = _Fitted.to([examples[number] for number in used], wanted)
    scores = [held[number] for number in range(len(examples))]
    slope, offset = _calibration(_outcomes(examples, labels, scores))
    unmeasured = [_guess(one, labels, slope, offset, 0.0) for one in scores]
    threshold = _threshold(examples, unmeasured, accept=accept, right=right)
    guesses = tuple(
        guess._replace(accepted=guess.worker is not None and guess.confidence >= threshold)
        for guess in unmeasured
    )
    found = figures(examples, guesses)
    weights = fitted.weights(
        labels, slope=slope, offset=offset, threshold=threshold, figures=found.shares()
    )
    return Training(TrainedRouter(weights), found, guesses)


def _labels(examples: Sequence[Example]) -> tuple[str | None, ...]:
    """What the router learns to tell apart. Raises `InputError`."""
    workers = sorted({example.worker for example in examples if example.worker is not None})
    # The same text again says nothing new.
    distinct = [Example(text, worker) for text, worker in {*map(plain, examples)}]
    few = too_few(distinct, workers, least=LEAST_EXAMPLES)
    if few:
        shown = ", ".join(f"{worker} has {count}" for worker, count in few.items())
        raise InputError(
            f"each worker needs {LEAST_EXAMPLES} different examples or more, better "
            f"{FEW_EXAMPLES}: {shown}"
        )
    unplaced = sum(example.worker is None for example in distinct)
    labels = (*workers, None) if unplaced >= LEAST_EXAMPLES else (*workers,)
    if len(labels) < 2:
        raise InputError(
            "there is nothing to tell apart: add examples of another worker, or of no worker "
            f"(null), {LEAST_EXAMPLES} or more"
        )
    if len(labels) > MAX_WORKERS:
        raise InputError(f"{len(labels)} workers are too many to tell apart: group them into teams")
    return labels


def _folds(examples: Sequence[Example]) -> list[int]:
    """In which part each example is held back: those of each label are dealt out in turn.

    Repeated examples are in the same part: else the router would have seen what is held back.
    """
    seen: Counter[str | None] = Counter()
    folds: dict[Example, int] = {}
    for example in map(plain, examples):
        if example not in folds:
            folds[example] = seen[example.worker] % FOLDS
            seen[example.worker] += 1
    return [folds[plain(example)] for example in examples]


class _Fitted(NamedTuple):
    """A model that scikit-learn fitted."""

    model: Any
    """A `LinearSVC`, whose package has no types and is not always installed."""
    places: Mapping[str, int]
    counts: Sequence[int]
    examples: int
    is_pair: bool
    """Whether there are two labels: scikit-learn then scores the second alone."""

    @classmethod
    def to(cls, examples: Sequence[Example], wanted: Sequence[int]) -> "_Fitted":
        """Fit a model to examples and the numbers of their labels."""
        seen = Counter(ngram for example in examples for ngram in ngrams(example.text))
        least = 2 if len(examples) >= _MANY else 1
        counts = {ngram: count for ngram, count in sorted(seen.items()) if count >= least}
        if not counts:
            raise InputError("the examples have no words that a router could learn from")
        places = {ngram: place for place, ngram in enumerate(counts)}
        svm = importlib.import_module("sklearn.svm").LinearSVC(C=1.0, tol=1e-3, random_state=0)
        is_pair = max(wanted) == 1
        fitted = cls(svm, places, tuple(counts.values()), len(examples), is_pair)
        svm.fit(fitted._matrix(examples), list(wanted))
        return fitted

    def scores(self, examples: Sequence[Example]) -> Scores:
        """The score of each label for each example."""
        if not examples:
            return []
        found = self.model.decision_function(self._matrix(examples)).tolist()
        return [[-one, one] for one in found] if self.is_pair else found

    def weights(
        self,
        labels: tuple[str | None, ...],
        *,
        slope: float,
        offset: float,
        threshold: float,
        figures: Mapping[str, float],
    ) -> Weights:
        """The weights in one byte each."""
        numpy = importlib.import_module("numpy")
        columns, bias = self.model.coef_, self.model.intercept_
        if self.is_pair:
            columns, bias = numpy.vstack([-columns, columns]), numpy.concatenate([-bias, bias])
        step = float(abs(columns).max()) / 127 or 1.0
        rows = (numpy.rint(columns.T / step) + 128).astype("uint8").tobytes()
        return Weights(
            labels=labels,
            ngrams=tuple(self.places),
            counts=tuple(self.counts),
            examples=self.examples,
            rows=rows,
            step=step,
            bias=tuple(float(one) for one in bias),
            slope=slope,
            offset=offset,
            threshold=threshold,
            figures=figures,
        )

    def _matrix(self, examples: Sequence[Example]) -> object:
        """A row of factors for each example, as a sparse matrix."""
        weights = idf(self.counts, self.examples)
        factors, columns, ends = array("d"), array("q"), array("q", [0])
        for example in examples:
            for place, factor in vector(example.text, self.places, weights):
                columns.append(place)
                factors.append(factor)
            ends.append(len(columns))
        sparse = importlib.import_module("scipy.sparse")
        return sparse.csr_matrix((factors, columns, ends), shape=(len(examples), len(self.places)))


def _outcomes(
    examples: Sequence[Example], labels: Sequence[str | None], scores: Scores
) -> list[tuple[float, bool]]:
    """The log-odds of the best worker of each example, and whether it is right."""
    found: list[tuple[float, bool]] = []
    for example, one in zip(examples, scores, strict=True):
        best = max(range(len(one)), key=one.__getitem__)
        if labels[best] is not None:
            found.append((log_odds(one, best), labels[best] == example.worker))
    return found


def _guess(
    scores: Sequence[float],
    labels: Sequence[str | None],
    slope: float,
    offset: float,
    threshold: float,
) -> Guess:
    best = max(range(len(scores)), key=scores.__getitem__)
    worker = labels[best]
    confidence = probability(slope * log_odds(scores, best) + offset) if worker else 0.0
    return Guess(worker, confidence, accepted=confidence >= threshold)


def _calibration(outcomes: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """Slope and offset of the probability that is likeliest to give these outcomes.

    Platt's method with his corrected targets, by Newton's steps (Lin, Lin, Weng 2007). Where hardly
    any example is wrong, the outcomes say nothing about the slope, and would make any text look as
    certain as the examples: then it stays near `_SLOPE`.
    """
    right = sum(hit for _, hit in outcomes)
    high = (right + 1) / (right + 2)
    low = 1 / (len(outcomes) - right + 2)
    slope, offset = _SLOPE, 0.0
    for _ in range(50):
        # Gradient and Hessian of the log-likelihood; the small term keeps it invertible.
        g1, g2, h12 = _SLOPE_WEIGHT * (_SLOPE - slope), 0.0, 0.0
        h11, h22 = _SLOPE_WEIGHT, 1e-9
        for x, hit in outcomes:
            p = probability(slope * x + offset)
            miss, w = (high if hit else low) - p, p * (1 - p)
            g1, g2 = g1 + miss * x, g2 + miss
            h11, h12, h22 = h11 + w * x * x, h12 + w * x, h22 + w
        determinant = h11 * h22 - h12 * h12
        if determinant <= 0:
            break
        up, out = (h22 * g1 - h12 * g2) / determinant, (h11 * g2 - h12 * g1) / determinant
        # Steps are limited: far from the answer the curve is flat, and a step leads anywhere.
        scale = min(1.0, 4.0 / max(abs(up), abs(out), 1e-12))
        slope, offset = slope + scale * up, offset + scale * out
        if max(abs(up), abs(out)) < 1e-6:
            break
    # More agreement never makes a worker less likely, whatever a few examples say.
    return max(slope, 1e-3), offset


def _threshold(
    examples: Sequence[Example], guesses: Sequence[Guess], *, accept: float, right: float
) -> float:
    """The confidence from which a guess is accepted.

    The highest one that accepts the share `accept` of the examples of workers; or, if fewer of
    those than the share `right` are right, the lowest one above it with which enough are. But a
    guess that is right with that probability is never refused.
    """
    ranked = sorted(
        (guess.confidence, guess.worker == example.worker)
        for example, guess in zip(examples, guesses, strict=True)
        if example.worker is not None
    )
    start = min(len(ranked) - 1, math.floor(len(ranked) * (1 - accept) + 1e-9))
    while start > 0 and ranked[start - 1][0] == ranked[start][0]:
        start -= 1  # guesses of the same confidence are accepted together
    hits = sum(hit for _, hit in ranked[start:])
    for place in range(start, len(ranked)):
        confidence, hit = ranked[place]
        is_first = place == start or ranked[place - 1][0] < confidence
        if is_first and hits >= right * (len(ranked) - place):
            return min(confidence, right)
        hits -= hit
    return right


def _check_installed() -> None:
    """Raise an `InputError` without scikit-learn."""
    try:
        importlib.import_module("sklearn.svm")
    except ImportError as error:
        raise InputError(
            "training needs scikit-learn, which is not installed: "
            'pip install "leadhand[router]" (a trained router runs without it)'
        ) from error
