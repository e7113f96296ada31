"""Returns, risk and falls from prices (dates by assets, nan for none), and weights for a target.

Definitions are PyPortfolioOpt's. Hierarchical risk parity is Lopez de Prado's (2016), risk parity
the convex form of Spinu (2013). Nothing here knows shares or files.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leadhand_teams.portfolio.output import Measures
from leadhand_teams.portfolio.policy import Policy

optimize, hierarchy = import_module("scipy.optimize"), import_module("scipy.cluster.hierarchy")
threads = import_module("threadpoolctl")

Floats = NDArray[np.float64]
Bounds = tuple[Floats, Floats]
"""The least and the largest weight of each asset."""
Goal = tuple[Callable[[Floats], float], Callable[[Floats], Floats]]
"""A function to minimise, and its gradient."""
NOTHING = 1e-6
"""A smaller weight is none: what the optimiser leaves would buy a share."""
ENDLESS = 10.0
"""The largest weight, long or short, of an asset without a bound, where it has to have one."""


class Infeasible(Exception):
    """No weights or shares meet the policy: each rule that can't be kept, `: ` and why."""


class Market(NamedTuple):
    """What a history of prices says about its assets, a year."""

    returns: Floats
    """Changes from row to row; nan before an asset's first price."""
    mean: Floats
    """Compounded return of each asset."""
    covariance: Floats
    """Sample covariance of each pair of assets over the rows that both have."""
    correlation: Floats

    def measured(self, name: str, weights: Floats, rate: float = 0.0) -> tuple[Measures, Floats]:
        """Measures of a portfolio, and how far it was below its highest value so far at each date.

        What `weights` leave of 1 is cash, which earns `rate`. The portfolio is brought back to
        them at each date; falls are nan before all held assets have a return.
        """
        held = weights != 0
        parts, covariance = weights[held], self.covariance[np.ix_(held, held)]
        known = ~np.isnan(self.returns[:, held]).any(axis=1)
        values = np.cumprod(1 + np.where(known, self.returns[:, held] @ parts, 0.0))
        values[~np.logical_or.accumulate(known)] = np.nan
        falls = 1 - values / np.fmax.accumulate(np.maximum(values, 1.0))
        spread = float(np.sqrt(max(parts @ covariance @ parts, 0.0)))
        if np.isnan(spread) or np.isnan(falls).all():
            return Measures(name=name), falls
        cash = round(1 - float(weights.sum()), 9)
        expected = float(parts @ self.mean[held]) + cash * rate
        sharpe = (expected - rate) / spread if spread > 1e-12 else None
        figures = {"name": name, "return": expected, "volatility": spread, "sharpe": sharpe}
        figures["max_drawdown"] = float(np.nanmax(falls))
        return Measures.model_validate(figures), falls


def filled(prices: Floats) -> Floats:
    """The prices with each gap filled by the last price before it."""
    rows = np.where(np.isnan(prices), 0, np.arange(len(prices))[:, None])
    return np.take_along_axis(prices, np.maximum.accumulate(rows, axis=0), axis=0)


def market(prices: Floats, *, days: float) -> Market:
    """Returns, compounded means and pairwise covariances of `prices`, whose gaps are filled.

    A covariance that no portfolio could have, which pairs of different periods may give, is
    replaced by the nearest that is possible (negative eigenvalues become zero).
    """
    levels = filled(prices)
    returns = levels[1:] / levels[:-1] - 1
    flags = (~np.isnan(returns)).astype(np.float64)
    values = np.nan_to_num(returns)
    both, sums = flags.T @ flags, values.T @ flags
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (1 + values).prod(axis=0) ** (days / np.diag(both)) - 1
        products = values.T @ values - sums * sums.T / both
        deviation = np.sqrt(np.maximum((values**2).T @ flags - sums**2 / both, 0))
        covariance = np.where(both > 1, products / (both - 1), np.nan) * days
        correlation = np.clip(products / (deviation * deviation.T), -1, 1)
    roots, vectors = np.linalg.eigh(np.nan_to_num(covariance))
    if roots.min() < -1e-14 and not np.isnan(covariance).any():
        covariance = (vectors * np.maximum(roots, 0)) @ vectors.T
    return Market(returns, mean, covariance, correlation)


def weights_of(policy: Policy, of: Market, bounds: Bounds) -> Floats:
    """The weights within the bounds, with the sum 1, that the policy's target asks for.

    Raises `Infeasible` with the target that can't be reached, and what can.
    """
    variance, gain = _utility(of, gain=0.0, aversion=2.0), _utility(of, gain=1.0, aversion=0.0)
    match policy.target:
        case "efficient_return":
            asked, most = policy.target_return or 0.0, float(of.mean @ _richest(of, bounds))
            if asked > most:
                why = f"{asked:.2%} is above {most:.2%}, the largest return within the bounds"
                raise Infeasible(f"target_return: {why}")
            return _solved(variance, bounds, optimize.LinearConstraint(of.mean, asked, np.inf))
        case "efficient_risk":
            calm, asked = _solved(variance, bounds), policy.target_volatility or 0.0
            least = float(np.sqrt(calm @ of.covariance @ calm))
            if asked < least - 1e-9:
                why = f"{asked:.2%} is below {least:.2%}, the least within the bounds"
                raise Infeasible(f"target_volatility: {why}")
            limit = optimize.NonlinearConstraint(variance[0], 0, asked**2, jac=variance[1])
            return _solved(gain, bounds, limit)
        case "quadratic_utility":
            return _solved(_utility(of, gain=1.0, aversion=policy.risk_aversion), bounds)
        case "max_sharpe":
            return _max_sharpe(of, bounds, policy.risk_free)
        case "risk_parity":
            return nearest(_risk_parity(of.covariance), bounds)
        case "hrp":
            return nearest(_hrp(of), bounds)
        case _:
            return _solved(variance, bounds)


def nearest(weights: Floats, bounds: Bounds) -> Floats:
    """The weights nearest to `weights` (by squares) within the bounds that sum to 1."""
    goal: Goal = (lambda w: float((w - weights) @ (w - weights)) / 2, lambda w: w - weights)
    return _solved(goal, bounds, start=np.clip(weights, *bounds))


def _utility(of: Market, *, gain: float, aversion: float) -> Goal:
    """Half of `aversion` times the variance, less `gain` times the return."""
    mean, covariance = of.mean * gain, of.covariance * aversion
    return lambda w: float(w @ covariance @ w / 2 - mean @ w), lambda w: covariance @ w - mean


def _richest(of: Market, bounds: Bounds) -> Floats:
    """The weights of the largest return."""
    ends = np.clip(np.column_stack(bounds), -ENDLESS, ENDLESS)
    found = optimize.linprog(-of.mean, A_eq=np.ones((1, len(ends))), b_eq=[1.0], bounds=ends)
    return np.asarray(found.x, dtype=np.float64)


def _max_sharpe(of: Market, bounds: Bounds, risk_free: float) -> Floats:
    """The largest Sharpe ratio: where returns exceed `risk_free` it has no side summit."""
    excess, start = of.mean - risk_free, _richest(of, bounds)
    if float(excess @ start) <= 0:
        why = f"no weights within the bounds earn more than the risk-free rate {risk_free:.2%}"
        raise Infeasible(f"target max_sharpe: {why}")

    def slope(w: Floats) -> Floats:
        variance = float(w @ of.covariance @ w)
        return (float(excess @ w) / variance * (of.covariance @ w) - excess) / variance**0.5

    goal: Goal = (lambda w: -float(excess @ w) / float(w @ of.covariance @ w) ** 0.5, slope)
    return _solved(goal, bounds, start=start)


def _risk_parity(covariance: Floats) -> Floats:
    """Each asset adds the same to the variance, asset by asset (Griveau-Billion et al., 2013)."""
    scale = np.sqrt(np.diag(covariance))
    unit, parts = covariance / np.outer(scale, scale), np.ones(len(scale))
    for n in [*range(len(parts))] * 200:
        rest = float(unit[n] @ parts - parts[n])
        parts[n] = (np.sqrt(rest**2 + 4) - rest) / 2
    return parts / scale / (parts / scale).sum()


def _hrp(of: Market) -> Floats:
    """Hierarchical risk parity: halves of the tree that single linkage of correlations gives."""
    weights = np.ones(len(of.mean))
    distance = np.sqrt(np.clip((1 - of.correlation) / 2, 0, 1))
    upper = distance[np.triu_indices(len(distance), 1)]
    clusters = [hierarchy.leaves_list(hierarchy.linkage(upper, "single"))] if len(upper) else []
    while clusters:
        items = clusters.pop()
        halves, risks = np.array_split(items, [len(items) // 2]), list[float]()
        for half in halves:  # its variance, weighted by the inverse of each asset's own
            part = of.covariance[np.ix_(half, half)]
            own = 1 / np.diag(part) / (1 / np.diag(part)).sum()
            risks.append(float(own @ part @ own))
        for half, other in zip(halves, reversed(risks), strict=True):
            weights[half] *= other / sum(risks)
        clusters += [half for half in halves if len(half) > 1]
    return weights


def _solved(goal: Goal, bounds: Bounds, *limits: object, start: Floats | None = None) -> Floats:
    """The weights that minimise a smooth goal."""
    (low, high), ones = bounds, np.ones(len(bounds[0]))
    # Threads take longer to agree on such small matrices than one takes for the work.
    with threads.threadpool_limits(1):
        found = optimize.minimize(
            goal[0],
            np.clip(ones / len(ones), low, high) if start is None else start,
            jac=goal[1],
            method="SLSQP",
            bounds=list(zip(low, high, strict=True)),
            constraints=[optimize.LinearConstraint(ones, 1.0, 1.0), *limits],
            options={"maxiter": 2000, "ftol": 1e-15},
        )
    # Mode 8: no direction goes further down, which is where so small a tolerance ends.
    if found.status not in (0, 8) or not np.isfinite(found.x).all():
        raise Infeasible(f"target: the optimiser found no weights ({found.message})")
    weights = np.clip(np.asarray(found.x, dtype=np.float64), low, high)
    return np.where((np.abs(weights) < NOTHING) & (low <= 0) & (high >= 0), 0.0, weights)


def stressed(weights: Mapping[str, float], shocks: Mapping[str, float]) -> float:
    """The change of a portfolio if assets change by `shocks`, all as fractions of 1; "*" stands
    for the assets that have no shock of their own."""
    rest = shocks.get("*", 0.0)
    return sum(weight * shocks.get(asset, rest) for asset, weight in weights.items())
