"""The weights that a policy's target asks for, by scipy: nothing here knows shares or files.

Definitions are PyPortfolioOpt's. Hierarchical risk parity is Lopez de Prado's (2016), risk parity
the convex form of Spinu (2013).
"""

from collections.abc import Callable
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from leadhand_teams.portfolio.measures import Floats, Market, volatility
from leadhand_teams.portfolio.policy import Policy

optimize, hierarchy = import_module("scipy.optimize"), import_module("scipy.cluster.hierarchy")
threads = import_module("threadpoolctl")

Goal = tuple[Callable[[Floats], float], Callable[[Floats], Floats]]
"""A function to minimise, and its gradient."""
NOTHING = 1e-6
"""A smaller weight is none: what the optimiser leaves would buy a share."""
ENDLESS = 10.0
"""The largest weight, long or short, of an asset without a bound."""


class Infeasible(Exception):
    """No weights or shares meet the policy; `name` is the rule that can't be kept."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"{name}: {why}")
        self.name, self.why = name, why


def nearest(weights: Floats, low: Floats, high: Floats) -> Floats:
    """The weights nearest to `weights` (by squares) within the bounds that sum to 1."""
    least, most = -1e3, 1e3
    for _ in range(100):
        shift = (least + most) / 2
        under = np.clip(weights + shift, low, high).sum() < 1
        least, most = (shift, most) if under else (least, shift)
    return np.clip(weights + most, low, high)


def weights_of(policy: Policy, of: Market, low: Floats, high: Floats) -> Floats:
    """The weights within the bounds, with the sum 1, that the policy's target asks for."""
    variance = _utility(of, gain=0.0, aversion=2.0)
    match policy.target:
        case "min_volatility":
            return _solved(variance, low, high)
        case "efficient_return":
            asked, most = policy.target_return or 0.0, float(of.mean @ _richest(of, low, high))
            if asked > most:
                why = f"{asked:.4g} is above {most:.4g}, the largest return within the bounds"
                raise Infeasible("target_return", why)
            return _solved(variance, low, high, optimize.LinearConstraint(of.mean, asked, np.inf))
        case "efficient_risk":
            asked = policy.target_volatility or 0.0
            least = volatility(_solved(variance, low, high), of.covariance)
            if asked < least - 1e-9:
                why = f"{asked:.4g} is below {least:.4g}, the least within the bounds"
                raise Infeasible("target_volatility", why)
            limit = optimize.NonlinearConstraint(variance[0], 0, asked**2, jac=variance[1])
            return _solved(_utility(of, gain=1.0, aversion=0.0), low, high, limit)
        case "quadratic_utility":
            return _solved(_utility(of, gain=1.0, aversion=policy.risk_aversion), low, high)
        case "max_sharpe":
            return _max_sharpe(of, low, high, policy.risk_free)
        case "risk_parity":
            return nearest(_risk_parity(of.covariance), low, high)
        case "hrp":
            return nearest(_hrp(of), low, high)
        case "weights":
            raise ValueError("listed weights need no market")


def _utility(of: Market, *, gain: float, aversion: float) -> Goal:
    """Half of `aversion` times the variance, less `gain` times the return."""
    mean, covariance = of.mean * gain, of.covariance * aversion
    return lambda w: float(w @ covariance @ w / 2 - mean @ w), lambda w: covariance @ w - mean


def _richest(of: Market, low: Floats, high: Floats) -> Floats:
    """The weights of the largest return."""
    bounds = np.clip(np.column_stack([low, high]), -ENDLESS, ENDLESS)
    whole = np.ones((1, len(low)))
    found = optimize.linprog(-of.mean, A_eq=whole, b_eq=[1.0], bounds=bounds)
    return np.asarray(found.x, dtype=np.float64)


def _max_sharpe(of: Market, low: Floats, high: Floats, risk_free: float) -> Floats:
    """The largest Sharpe ratio: where returns exceed `risk_free` it has no side summit."""
    excess, start = of.mean - risk_free, _richest(of, low, high)
    if float(excess @ start) <= 0:
        why = f"no weights within the bounds earn more than the risk-free rate {risk_free:.4g}"
        raise Infeasible("target max_sharpe", why)

    def slope(w: Floats) -> Floats:
        spread = volatility(w, of.covariance)
        return -excess / spread + float(excess @ w) * (of.covariance @ w) / spread**3

    goal: Goal = (lambda w: -float(excess @ w) / volatility(w, of.covariance), slope)
    return _solved(goal, low, high, start=start)


def _risk_parity(covariance: Floats) -> Floats:
    """Each asset adds the same to the variance."""
    count, scale = len(covariance), np.sqrt(np.diag(covariance))
    unit = covariance / np.outer(scale, scale)
    goal: Goal = (
        lambda x: float(x @ unit @ x / 2 - np.log(x).mean()),
        lambda x: unit @ x - 1 / (x * count),
    )
    start = np.full(count, count**-0.5)
    found = _minimised(goal, start, np.full(count, 1e-9), np.full(count, np.inf)) / scale
    return found / found.sum()


def _hrp(of: Market) -> Floats:
    """Hierarchical risk parity: halves of the tree that single linkage of correlations gives."""
    weights = np.ones(len(of.mean))
    if len(weights) == 1:
        return weights
    distance = np.sqrt(np.clip((1 - of.correlation) / 2, 0, 1))
    tree = hierarchy.linkage(distance[np.triu_indices(len(distance), 1)], "single")
    clusters = [np.asarray(hierarchy.leaves_list(tree))]
    while clusters:
        items = clusters.pop()
        left, right = halves = np.array_split(items, [len(items) // 2])
        first, second = (_inverse_variance(of.covariance, half) for half in halves)
        weights[left] *= second / (first + second)
        weights[right] *= first / (first + second)
        clusters += [half for half in halves if len(half) > 1]
    return weights


def _inverse_variance(covariance: Floats, items: NDArray[np.intp]) -> float:
    """The variance of the items, weighted by the inverse of their own."""
    part = covariance[np.ix_(items, items)]
    weights = 1 / np.diag(part)
    weights /= weights.sum()
    return float(weights @ part @ weights)


def _solved(
    goal: Goal, low: Floats, high: Floats, *limits: object, start: Floats | None = None
) -> Floats:
    """The weights that minimise a smooth goal."""
    ones = np.ones(len(low))
    if start is None:
        start = nearest(ones / len(ones), low, high)
    found = _minimised(goal, start, low, high, optimize.LinearConstraint(ones, 1.0, 1.0), *limits)
    found[(np.abs(found) < NOTHING) & (low <= 0) & (high >= 0)] = 0.0
    return found


def _minimised(goal: Goal, start: Floats, low: Floats, high: Floats, *limits: object) -> Floats:
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
