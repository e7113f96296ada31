"""Trains a router with scikit-learn, which is imported here alone, and only when it trains.

One linear support vector machine a worker over the n-grams of the examples. Scores by a router that
was trained without the example give the calibration, the threshold and the figures.
"""

import importlib
import zlib
from array import array
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from leadhand.errors import InputError
from leadhand.routing.examples import (
    Example,
    Figures,
    calibration_error,
    distinct,
    figures,
    too_few,
)
from leadhand.routing.trained import TrainedRouter, Vocabulary, Weights, guess_of, ngrams

LEAST_EXAMPLES = 8
"""Different examples that each worker needs."""
FEW_EXAMPLES = 30
"""With fewer examples of a worker its figures say little."""
CHECKED = 200
"""Held-back examples from which the calibration is checked."""
MAX_CALIBRATION_ERROR = 0.10
_MANY = 2_000
"""From this many examples on, an n-gram must occur in two of them."""


class Training(NamedTuple):
    router: TrainedRouter
    figures: Figures
    calibration_error: float | None


def train(examples: Sequence[Example], *, accept: float = 0.93, right: float = 0.95) -> Training:
    """Accepts the share `accept`, or fewer if less than `right` are right.

    Raises `InputError` without scikit-learn, for too few examples, and if the router would accept
    nothing or state a wrong confidence.
    """
    examples = distinct(examples)
    labels = _labels(examples)
    names = [example.worker for example in examples]
    wanted = [labels.index(name) for name in names]
    held: list[tuple[str | None, float]] = [(None, 0.0)] * len(examples)
    folds = _module("sklearn.model_selection").StratifiedKFold(4)
    for _, part in folds.split(wanted, wanted):
        out: set[int] = {*part.tolist()}
        rest = [example for at, example in enumerate(examples) if at not in out]
        router = TrainedRouter(_fitted(rest, labels))
        for at in out:
            held[at] = router.candidates(examples[at].text, 1)[0]
    slope, offset = _calibration(
        [(score, one == name) for (one, score), name in zip(held, names, strict=True) if one]
    )
    guesses = [guess_of(one, slope * score + offset, 0.0) for one, score in held]
    pairs = zip(guesses, names, strict=True)
    inside = [(guess.confidence, guess.worker == name) for guess, name in pairs if name]
    threshold = _threshold(inside, accept=accept, right=right)
    guesses = [guess._replace(accepted=guess.confidence >= threshold) for guess in guesses]
    found, error = figures(examples, guesses), calibration_error(examples, guesses)
    if slope <= 0 or not found.accepted:
        raise _accepts_nothing(examples, labels)
    if found.examples >= CHECKED and error is not None and error > MAX_CALIBRATION_ERROR:
        raise InputError(
            f"the confidence of a router of these examples is off by {error:.0%} on average, so "
            "none was written: some contradict each other or name the wrong worker"
        )
    fitted = {"slope": slope, "offset": offset, "threshold": threshold}
    weights = _fitted(examples, labels).model_copy(update=fitted)
    return Training(TrainedRouter(weights), found, error)


def _labels(examples: Sequence[Example]) -> list[str | None]:
    """Raises `InputError`."""
    names = {example.worker for example in examples}
    labels = sorted(names, key=lambda name: (name is None, name or ""))
    if few := too_few(examples, labels, LEAST_EXAMPLES):
        shown = ", ".join(f"{name} has {count}" for name, count in few.items())
        raise InputError(
            f"each worker needs {LEAST_EXAMPLES} different examples or more, better "
            f"{FEW_EXAMPLES}: {shown}"
        )
    if len(labels) < 2:
        raise InputError("there is nothing to tell apart: add examples of another worker, or null")
    return labels


def _accepts_nothing(examples: Sequence[Example], labels: Sequence[str | None]) -> InputError:
    """Says how many more examples to give; as many again if there are not few."""
    few = too_few(examples, labels, FEW_EXAMPLES)
    more = {name: FEW_EXAMPLES - count for name, count in few.items()}
    more = more or {"each worker": len(examples) // len(labels)}
    shown = ", ".join(f"{count} more of {name}" for name, count in more.items())
    return InputError(
        "a router of these examples would accept nothing, so none was written: it needs about "
        f"{shown}, with words that tell the workers apart"
    )


def _fitted(examples: Sequence[Example], labels: Sequence[str | None]) -> Weights:
    """The weights that scikit-learn fits to examples, in one byte each, without a calibration."""
    seen = Counter(ngram for example in examples for ngram in ngrams(example.text))
    least = 2 if len(examples) >= _MANY else 1
    known = {ngram: count for ngram, count in sorted(seen.items()) if count >= least}
    if not known:
        raise InputError("the examples have no words that a router could learn from")
    vocabulary = Vocabulary([*known], [*known.values()], len(examples))
    factors, columns, ends = array("d"), array("q"), array("q", [0])
    for example in examples:
        for place, factor in vocabulary.vector(example.text):
            columns.append(place)
            factors.append(factor)
        ends.append(len(columns))
    shape = (len(examples), len(known))
    matrix = _module("scipy.sparse").csr_matrix((factors, columns, ends), shape=shape)
    svm = _module("sklearn.svm").LinearSVC(tol=1e-3, random_state=0)
    svm.fit(matrix, [labels.index(example.worker) for example in examples])
    # Of two labels scikit-learn scores the second alone.
    pair = len(labels) == 2
    rows = svm.coef_ * [[-1.0], [1.0]] if pair else svm.coef_
    step = float(abs(rows).max()) / 127 or 1.0
    return Weights(
        labels=tuple(labels),
        bias=tuple((svm.intercept_ * [-1.0, 1.0] if pair else svm.intercept_).tolist()),
        examples=len(examples),
        ngrams=tuple(known),
        counts=tuple(known.values()),
        step=step,
        packed=zlib.compress((rows.T / step).round().astype("int8").tobytes(), 9),
        slope=1.0,
        offset=0.0,
        threshold=0.0,
    )


def _calibration(outcomes: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """Slope and offset of the probability that a worker with a score is right (Platt 1999).

    A score of 0.5 counts as right once more, and -0.5 as wrong: examples that are all right say
    nothing about the slope.
    """
    seen = [*outcomes, (0.5, True), (-0.5, False)]
    logistic = _module("sklearn.linear_model").LogisticRegression(C=10.0)
    logistic.fit([[score] for score, _ in seen], [hit for _, hit in seen])
    return float(logistic.coef_[0][0]), float(logistic.intercept_[0])


def _threshold(outcomes: Sequence[tuple[float, bool]], *, accept: float, right: float) -> float:
    """The confidence from which a guess is accepted.

    The highest that accepts the share `accept`; or, if fewer than `right` of those are right, the
    lowest above it with which enough are. A guess that is right with that probability is never
    refused.
    """
    ranked = sorted(outcomes, reverse=True)
    found, hits = right, 0
    for taken, (confidence, hit) in enumerate(ranked, 1):
        hits += hit
        if taken < len(ranked) and ranked[taken][0] == confidence:
            continue  # guesses of the same confidence are accepted together
        if hits >= right * taken:
            found = min(confidence, right)
        if taken >= accept * len(ranked) - 1e-9:
            break
    return found


def _module(name: str) -> Any:
    """A module that scikit-learn has or needs. Raises `InputError` without it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InputError(
            "training needs scikit-learn, which is not installed: "
            'pip install "leadhand[router]" (a trained router runs without it)'
        ) from error
