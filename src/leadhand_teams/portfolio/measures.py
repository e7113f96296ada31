"""Returns, volatility, falls and correlation, from prices: dates by assets, nan for none."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leadhand_teams.portfolio.output import Measures

Floats = NDArray[np.float64]


class Market(NamedTuple):
    """What a history of prices says about its assets, a year."""

    returns: Floats
    """Changes from row to row; nan before an asset's first price."""
    mean: Floats
    """Compounded return of each asset."""
    covariance: Floats
    """Sample covariance of each pair of assets over the rows that both have."""
    correlation: Floats


def filled(prices: Floats) -> Floats:
    """The prices with each gap filled by the last price before it."""
    rows = np.where(np.isnan(prices), -1, np.arange(len(prices))[:, None])
    last = np.maximum.accumulate(rows, axis=0)
    values = np.take_along_axis(prices, np.maximum(last, 0), axis=0)
    return np.where(last < 0, np.nan, values)


def market(prices: Floats, *, days: float) -> Market:
    """Returns, compounded means and pairwise covariances of `prices`, whose gaps are filled.

    A covariance that no portfolio could have, which pairs of different periods may give, is
    replaced by the nearest that is possible (negative eigenvalues become zero).
    """
    levels = filled(prices)
    returns = levels[1:] / levels[:-1] - 1
    known = ~np.isnan(returns)
    flags = known.astype(np.float64)
    counts = np.maximum(flags.sum(axis=0), 1)
    growth = np.where(known, 1 + returns, 1.0).prod(axis=0)
    mean = np.where(known.any(axis=0), growth ** (days / counts) - 1, np.nan)
    # Moments about each asset's own mean: the pairs' means are then small corrections.
    values = np.where(known, returns - np.where(known, returns, 0.0).sum(axis=0) / counts, 0.0)
    both, sums = flags.T @ flags, values.T @ flags
    with np.errstate(divide="ignore", invalid="ignore"):
        products = values.T @ values - sums * sums.T / both
        deviation = np.sqrt(np.maximum((values**2).T @ flags - sums**2 / both, 0))
        covariance = np.where(both > 1, products / (both - 1), np.nan) * days
        correlation = np.clip(products / (deviation * deviation.T), -1, 1)
    if len(covariance) and not np.isnan(covariance).any():
        roots, vectors = np.linalg.eigh(covariance)
        if roots.min() < -1e-14:
            covariance = (vectors * np.maximum(roots, 0)) @ vectors.T
    return Market(returns, mean, covariance, correlation)


def volatility(weights: Floats, covariance: Floats) -> float:
    """The yearly standard deviation of a portfolio."""
    held = weights != 0
    part = covariance[np.ix_(held, held)]
    return float(np.sqrt(max(weights[held] @ part @ weights[held], 0.0)))


def measured(weights: Floats, of: Market, *, risk_free: float) -> Measures:
    """Measures of a portfolio; what `weights` leave of 1 is cash, which earns `risk_free`."""
    held = weights != 0
    cash = 1 - float(weights.sum())
    expected = float(weights[held] @ of.mean[held]) + (cash if abs(cash) > 1e-9 else 0) * risk_free
    spread = volatility(weights, of.covariance)
    if np.isnan(expected) or np.isnan(spread):
        return Measures()
    sharpe = (expected - risk_free) / spread if spread > 1e-12 else None
    fall = falls(path(weights, of.returns))
    deepest = None if np.isnan(fall).all() else float(np.nanmax(fall))
    figures = {"return": expected, "volatility": spread, "sharpe": sharpe, "max_drawdown": deepest}
    return Measures.model_validate(figures)


def path(weights: Floats, returns: Floats) -> Floats:
    """The value of 1 over the rows in which every held asset has a return, brought back to
    `weights` at each row; nan in the rows before."""
    part = returns[:, weights != 0]
    known = ~np.isnan(part).any(axis=1)
    changes = np.where(known, part @ weights[weights != 0], 0.0)
    values = np.concatenate([[1.0], np.cumprod(1 + changes)])
    values[: int(np.argmax(known)) if known.any() else len(values)] = np.nan
    return values


def falls(values: Floats) -> Floats:
    """How far each value is below the highest before it, as a fraction from 0 to 1."""
    return 1 - values / np.fmax.accumulate(values)
