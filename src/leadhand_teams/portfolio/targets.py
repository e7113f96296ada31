"""The weights that a policy's target asks for, by scipy: nothing here knows shares or files.

Definitions are PyPortfolioOpt's. Hierarchical risk parity is Lopez de Prado's (2016), risk parity
the convex form of Spinu (2013).
"""

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leadhand_teams.portfolio.measures import Floats, Market, volatility

Goal = tuple[Callable[[Floats], float], Callable[[Floats], Floats]]
"""A function to minimise, and its gradient."""
NOTHING = 1e-6
"""A smaller weight is none: what the optimiser leaves would buy a share."""
ENDLESS = 10.0
"""The largest weight, long or short, of an asset without a bound."""


class Infeasible(Exception):
    """No weights meet the policy."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name}: {why}")
        self.name, self.why = name, why


def nearest(weights: Floats, low: Floats, high: Floats, *, total: float = 1.0) -> Floats:
    """The weights nearest to `weights` (by squares) within the bounds that sum to `total`."""
    least, most = -1e3, 1e3
    for _ in range(100):
        shift = (least + most) / 2
        under = np.clip(weights + shift, low, high).sum() < total
        least, most = (shift, most) if under else (least, shift)
    return np.clip(weights + most, low, high)


class Targets(NamedTuple):
    """Weights that sum to 1 within bounds, each method by another aim."""

    market: Market
    low: Floats
    high: Floats

    def min_volatility(self) -> Floats:
        """The least variance."""
        return self._solved(self._variance())

    def efficient_return(self, target_return: float) -> Floats:
        """The least variance with at least this return."""
        mean = self.market.mean
        most = float(mean @ self._richest())
        if target_return > most:
            why = f"{target_return:.4g} is above {most:.4g}, the largest return within the bounds"
            raise Infeasible("target_return", why)
        return self._solved(self._variance(), _linear(mean, target_return, np.inf))

    def efficient_risk(self, target_volatility: float) -> Floats:
        """The largest return with at most this volatility."""
        mean, variance = self.market.mean, self._variance()
        least = volatility(self.min_volatility(), self.market.covariance)
        if target_volatility < least - 1e-9:
            why = f"{target_volatility:.4g} is below {least:.4g}, the least within the bounds"
            raise Infeasible("target_volatility", why)
        limit = import_module("scipy.optimize").NonlinearConstraint(
            variance[0], 0, target_volatility**2, jac=variance[1]
        )
        return self._solved((lambda w: -float(mean @ w), lambda w: -mean), limit)

    def quadratic_utility(self, risk_aversion: float) -> Floats:
        """The largest return less half of `risk_aversion` times the variance."""
        mean, covariance = self.market.mean, self.market.covariance * risk_aversion
        return self._solved(
            (lambda w: float(w @ covariance @ w / 2 - mean @ w), lambda w: covariance @ w - mean)
        )

    def max_sharpe(self, risk_free: float) -> Floats:
        """The largest Sharpe ratio: where returns exceed `risk_free` it has no side summit."""
        excess, covariance = self.market.mean - risk_free, self.market.covariance
        start = self._richest()
        if float(excess @ start) <= 0:
            why = f"no weights within the bounds earn more than the risk-free rate {risk_free:.4g}"
            raise Infeasible("target max_sharpe", why)

        def slope(w: Floats) -> Floats:
            spread = volatility(w, covariance)
            return -excess / spread + float(excess @ w) * (covariance @ w) / spread**3

        goal: Goal = (lambda w: -float(excess @ w) / volatility(w, covariance), slope)
        return self._solved(goal, start=start)

    def risk_parity(self) -> Floats:
        """Each asset adds the same to the variance; bounds that cut this move it least."""
        covariance, count = self.market.covariance, len(self.low)
        scale = np.sqrt(np.diag(covariance))
        unit = covariance / np.outer(scale, scale)
        goal: Goal = (
            lambda x: float(x @ unit @ x / 2 - np.log(x).mean()),
            lambda x: unit @ x - 1 / (x * count),
        )
        endless = (np.full(count, 1e-9), np.full(count, np.inf))
        found = _minimised(goal, np.full(count, count**-0.5), *endless) / scale
        return nearest(found / found.sum(), self.low, self.high)

    def hrp(self) -> Floats:
        """Hierarchical risk parity: halves of a tree of correlations, by inverse variance."""
        weights = np.ones(len(self.low))
        clusters = [self._leaves()] if len(weights) > 1 else []
        while clusters:
            pairs = [(part[: len(part) // 2], part[len(part) // 2 :]) for part in clusters]
            for left, right in pairs:
                first = _inverse_variance(self.market.covariance, left)
                second = _inverse_variance(self.market.covariance, right)
                weights[left] *= second / (first + second)
                weights[right] *= first / (first + second)
            clusters = [half for pair in pairs for half in pair if len(half) > 1]
        return nearest(weights, self.low, self.high)

    def _leaves(self) -> NDArray[np.intp]:
        """The assets in the order of the tree that single linkage of correlations gives."""
        hierarchy = import_module("scipy.cluster.hierarchy")
        distance = np.sqrt(np.clip((1 - self.market.correlation) / 2, 0, 1))
        upper = distance[np.triu_indices(len(distance), 1)]
        return np.asarray(hierarchy.leaves_list(hierarchy.linkage(upper, "single")))

    def _variance(self) -> Goal:
        covariance = self.market.covariance
        return lambda w: float(w @ covariance @ w), lambda w: 2 * covariance @ w

    def _richest(self) -> Floats:
        """The weights of the largest return."""
        ones = np.ones((1, len(self.low)))
        bounds = list(zip(self.low, self.high, strict=True))
        found = import_module("scipy.optimize").linprog(
            -self.market.mean, A_eq=ones, b_eq=[1.0], bounds=np.clip(bounds, -ENDLESS, ENDLESS)
        )
        return np.asarray(found.x, dtype=np.float64)

    def _solved(self, goal: Goal, *limits: object, start: Floats | None = None) -> Floats:
        """The weights that minimise a smooth goal."""
        ones = np.ones(len(self.low))
        if start is None:
            start = nearest(ones / len(ones), self.low, self.high)
        found = _minimised(goal, start, self.low, self.high, _linear(ones, 1.0, 1.0), *limits)
        found[(np.abs(found) < NOTHING) & (self.low <= 0) & (self.high >= 0)] = 0.0
        return found


def _linear(row: Floats, least: float, most: float) -> object:
    return import_module("scipy.optimize").LinearConstraint(row, least, most)


def _minimised(goal: Goal, start: Floats, low: Floats, high: Floats, *limits: object) -> Floats:
    optimize, threads = import_module("scipy.optimize"), import_module("threadpoolctl")
    # Threads take longer to agree on such small matrices than one takes for the work.
    with threads.threadpool_limits(1):
        found = optimize.minimize(
            goal[0],
            start,
            jac=goal[1],
            method="SLSQP",
            bounds=list(zip(low, high, strict=True)),
            constraints=limits,
            options={"maxiter": 2000, "ftol": 1e-15},
        )
    # Mode 8: no direction goes further down, which is where so small a tolerance ends.
    if found.status not in (0, 8) or not np.isfinite(found.x).all():
        raise Infeasible("target", f"the optimiser found no weights ({found.message})")
    return np.clip(np.asarray(found.x, dtype=np.float64), low, high)


def _inverse_variance(covariance: Floats, items: NDArray[np.intp]) -> float:
    """The variance of the items, weighted by the inverse of their own."""
    part = covariance[np.ix_(items, items)]
    weights = 1 / np.diag(part)
    weights /= weights.sum()
    return float(weights @ part @ weights)
