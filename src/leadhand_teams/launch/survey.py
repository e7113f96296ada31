"""Prices from a survey: van Westendorp (1976), and Newton, Miller and Smith's extension. Pure.

Four prices of each respondent: too cheap, cheap, expensive, too expensive. With the likelihood of
buying at the two inner ones, the share of buyers at each price is interpolated.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

LIKELIHOODS: Final[Mapping[str, float]] = {
    "very unlikely": 0.0, "unlikely": 0.1, "neither likely nor unlikely": 0.3, "neutral": 0.3,
    "likely": 0.5, "very likely": 0.7,
}  # fmt: skip
"""Probabilities of buying for the answers of the usual scale."""
MAX_DRAWN: Final = 100
SCALE: Final = (0.0, 0.1, 0.3, 0.5, 0.7)
"""The same for answers 1 to 5."""


class SurveyPoints(NamedTuple):
    """Prices at which the curves cross, and the curves."""

    valid: int
    idp: float
    opp: float
    pmc: float
    pme: float
    price_max_adoption: float | None
    price_max_revenue: float | None
    curves: list[tuple[float, ...]]
    """Prices, each with the four shares; at most about `MAX_DRAWN`."""


def points(
    answers: Sequence[tuple[float, float, float, float]],
    likelihoods: Sequence[tuple[float, float]] | None = None,
) -> SurveyPoints | None:
    """The points of the respondents whose prices are in order; None if there are none.

    `likelihoods` are of buying at the cheap and at the expensive price, 0 to 1.
    """
    given = np.array(answers, dtype=float).reshape(-1, 4)
    in_order = (np.diff(given, axis=1) > 0).all(axis=1)
    rows = given[in_order]
    if not len(rows):
        return None
    prices = np.unique(rows)
    too_cheap, cheap = (1 - _share(rows[:, n], prices) for n in (0, 1))
    expensive, too_expensive = (_share(rows[:, n], prices) for n in (2, 3))
    shares = np.column_stack((prices, too_cheap, cheap, expensive, too_expensive))
    curves = shares[:: -(-len(prices) // MAX_DRAWN)]
    adoption = revenue = None
    if likelihoods is not None:
        buys = np.array(likelihoods, dtype=float).reshape(-1, 2)[in_order]
        ends = np.zeros(len(rows))
        known = np.column_stack((ends, buys, ends))
        pairs = zip(rows, known, strict=True)
        likely: list[NDArray[np.float64]] = [
            np.interp(prices, row, answer, left=0, right=0) for row, answer in pairs
        ]
        reach = np.array(likely).mean(axis=0)
        adoption, revenue = float(prices[reach.argmax()]), float(prices[(reach * prices).argmax()])
    return SurveyPoints(
        len(rows), _crossing(prices, expensive, cheap), _crossing(prices, too_expensive, too_cheap),
        _crossing(prices, 1 - cheap, too_cheap), _crossing(prices, too_expensive, 1 - expensive),
        adoption, revenue, [tuple(map(float, one)) for one in curves.round(4)],
    )  # fmt: skip


def likelihood(text: str) -> float | None:
    """The probability of buying that an answer states: words, or 1 to 5; None if it is neither."""
    known = LIKELIHOODS.get(" ".join(text.lower().split()))
    if known is None and text.strip() in ("1", "2", "3", "4", "5"):
        return SCALE[int(text) - 1]
    return known


def _share(values: NDArray[np.float64], prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Of the values, the share that is at most each price."""
    return np.searchsorted(np.sort(values), prices, side="right") / len(values)


def _crossing(
    prices: NDArray[np.float64], rising: NDArray[np.float64], falling: NDArray[np.float64]
) -> float:
    """The first price at which `rising` has reached `falling`; the last one if it never does."""
    reached = np.flatnonzero(rising >= falling)
    return float(prices[reached[0] if len(reached) else -1])
