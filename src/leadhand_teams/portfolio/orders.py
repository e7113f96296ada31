"""Orders for one policy: whole shares, greedily or by a mixed-integer program that HiGHS solves.

Weights are fractions of the portfolio's value, which is all shares at their prices and the cash.
"""

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module

import numpy as np

from leadhand_teams.portfolio.inputs import SLACK, HandedIn, Shares
from leadhand_teams.portfolio.market import Floats, Infeasible, market, weights_of
from leadhand_teams.portfolio.output import Constraint, Position, Rebalanced

_Rows = tuple[Floats, Floats | float, Floats | float]
SECONDS = 3.0
"""The time that the solver may take; then its best solution so far is used."""


def rebalanced(given: HandedIn) -> Rebalanced:
    """The orders, weights, cash and constraints. Raises `Infeasible` with the rules that no orders
    can keep."""
    if impossible := _impossible(given):
        raise Infeasible(*impossible)
    target = _target(given)
    shares = allocated(given, target)
    is_broken = shares is None or not given.after(shares).kept.all()
    free = replace(given, policy=given.policy.model_copy(update={"min_trade": 0.0}))
    freed = allocated(free, target) if is_broken and given.policy.min_trade else None
    if shares is None:
        why = "lower min_trade" if freed is not None else "add some"
        raise Infeasible(f"cash: {given.cash:,.2f} is at hand, and no orders leave cash: {why}")
    positions = [*_positions(given, shares, target)]
    return Rebalanced(
        weights=positions,
        orders=sorted([one for one in positions if one.shares], key=lambda one: one.side == "buy"),
        cash=given.after(shares).cash,
        value=given.value,
        constraints=sorted(_rules(given, shares, freed), key=lambda one: one.met),
    )


def _impossible(given: HandedIn) -> list[str]:
    weights, (low, high) = given.policy.weights, given.limits
    missing = ", ".join(asset for asset in weights if asset not in given.assets)
    order = np.argsort(-low, kind="stable")[:3]
    largest = ", ".join(f"{given.assets[n]} {low[n]:.2%}" for n in order)
    over, under = f"least weights add up to {low.sum():.2%}", f"add up to {high.sum():.2%} at most"
    rules = {
        f"weights: {missing}: in the policy, but without prices": missing,
        "cash: no holdings and no cash: add `cash: 10000`, or holdings.csv": given.value <= 0,
        f"bounds: {over}, over 100%: lower some, the largest are {largest}": low.sum() > 1 + SLACK,
        f"bounds: weights {under}: raise some": not weights and high.sum() < 1 - SLACK,
    }
    for n in np.flatnonzero(low > high):
        rules[f"weight of {given.assets[n]}: at least {low[n]:.2%}, at most {high[n]:.2%}"] = True
    return [why for why, is_broken in rules.items() if is_broken]


def _target(given: HandedIn) -> Floats:
    """The weights that the policy lists (of other assets 0), or those that an optimiser gives."""
    if listed := given.policy.weights:
        return np.array([listed[one].target if one in listed else 0.0 for one in given.assets])
    of = market(given.levels, days=given.policy.days)
    unknown = np.isnan(of.covariance).any(axis=0)
    if unknown.any():
        names = ", ".join(np.array(given.assets)[unknown])
        why = "have too few dates with a price, or none in common: add older prices"
        raise Infeasible(f"prices: {names} {why}")
    return weights_of(given.policy, of, given.limits)


def allocated(given: HandedIn, target: Floats) -> Shares | None:
    """The shares after all orders.

    Holdings that have bands are traded no further than into them. Else shares are as near to the
    target as they can be, and what it leaves in cash stays there: greedily, as PyPortfolioOpt's,
    if the policy says so and its rules hold then; or by the program, unless greedy ones are nearer
    by squares.
    """
    policy, prices, value = given.policy, given.prices, given.value
    if given.held.any() and policy.banded:
        return optimal(given, target)
    fees, most = policy.fees, policy.fees.fixed * len(prices)
    spared = fees.rate * (value - given.cash) + most  # of selling all that is held
    rounded = greedy_shares(target, prices, (value - spared) / (1 + fees.rate))
    is_small = given.after(rounded).traded < policy.min_trade
    rounded = np.where(is_small, given.held, rounded)
    reserve = max(0.0, value * (1 - float(target.sum())))
    after = given.after(rounded)
    fits = after.kept.all() and after.cash >= reserve - SLACK
    found = rounded if fits and policy.allocation == "greedy" else optimal(given, target, reserve)
    if found is None or not fits:
        return found
    return min(found, rounded, key=lambda shares: deviation(target, shares, prices))


def greedy_shares(weights: Floats, prices: Floats, value: float) -> Shares:
    """PyPortfolioOpt's greedy allocation: round down, then one share at a time of the asset
    that is furthest below its weight among those that the cash left buys.

    As there, the search for such an asset ends after ten. Short positions are allocated like long
    ones, with their own part of the value.
    """
    if (weights < 0).any():
        long = greedy_shares(np.maximum(weights, 0), prices, value)
        return long - greedy_shares(np.maximum(-weights, 0), prices, value)
    ideal, budget = weights / (weights.sum() or 1), value * float(weights.sum())
    shares = np.floor(ideal * max(budget, 0.0) / prices)
    while True:
        invested = shares * prices
        funds, below = budget - invested.sum(), ideal - invested / (invested.sum() or 1)
        furthest = [n for n in np.argsort(-below, kind="stable")[:10] if below[n] > 0]
        best = next((n for n in furthest if prices[n] <= funds), None)
        if best is None:
            return shares.astype(np.int64)
        shares[best] += 1


def whole_shares(weights: list[float], prices: list[float], value: float) -> list[int]:
    """Whole shares for weights (fractions of 1) of a value at these prices, allocated greedily."""
    return greedy_shares(np.array(weights), np.array(prices), value).tolist()


def deviation(weights: Floats, shares: Shares, prices: Floats) -> float:
    """The root of the mean squared difference between weights and parts of what is invested."""
    invested = shares * prices
    parts = invested / (invested.sum() or 1)
    return float(np.sqrt(np.mean((weights / (weights.sum() or 1) - parts) ** 2)))


_COLUMNS = ("buy", "sell", "buys", "sells", "off", "away")
"""Columns of the program, one an asset: shares bought and sold, whether there is such an order (0
or 1); as money, how far a weight is outside its limits, and how far from its target."""


def _rows(least: Floats | float, most: Floats | float, **factors: Floats) -> _Rows:
    """Rows of the program from `least` to `most`, with the factors of some columns."""
    nothing = np.zeros_like(next(iter(factors.values())))
    return np.hstack([factors.get(name, nothing) for name in _COLUMNS]), least, most


def optimal(given: HandedIn, target: Floats, reserve: float | None = None) -> Shares | None:
    """The whole shares that a mixed-integer program finds within the limits of each weight, or as
    near to them as whole shares can be; None if not even cash and `reserve` can hold.

    Of these the ones with the least sum of distances from the target and of cash left over. Without
    a reserve those with the least turnover, then fees, then distance; assets without a band of
    their own come within a share of their target.
    """
    prices, value, held, fees = given.prices, given.value, given.held, given.policy.fees
    low, high = given.limits
    if reserve is None:
        near = [asset not in given.policy.banded for asset in given.assets]
        step = np.where(near, prices / value, np.inf)
        low, high = np.maximum(low, target - step), np.minimum(high, target + step)
    one, money, each = np.eye(len(prices)), np.diag(prices), np.ones(len(prices))
    now, low, high = held * prices, np.maximum(low, -1e3), np.minimum(high, 1e3)
    most = np.ceil(np.clip(np.abs(high), 1, 10) * value / prices) + np.abs(held)
    sold = np.where((low < 0) | (target < 0), most, np.maximum(held, 0))

    # Fees make the whole smaller, and so each weight larger: the upper end counts them.
    paid, got, fixed = (1 + fees.rate) * prices, (1 - fees.rate) * prices, fees.fixed * each
    rate, sums = np.outer(high, fees.rate * prices), np.outer(high, fixed)
    spent = (reserve or 0.0) - given.cash
    per_order = {"buys": -fixed[None, :], "sells": -fixed[None, :]}
    above = {"buy": rate + money, "sell": rate - money, "buys": sums, "sells": sums, "off": -one}
    wanted, switched, least = target * value - now, -np.diag(most), -given.policy.min_trade * one
    constraints = [
        _rows(spent, np.inf, buy=-paid[None, :], sell=got[None, :], **per_order),
        _rows(-np.inf, wanted, buy=money, sell=-money, away=-one),
        _rows(wanted, np.inf, buy=money, sell=-money, away=one),
        _rows(-np.inf, high * value - now, **above),
        _rows(low * value - now, np.inf, buy=money, sell=-money, off=one),
        _rows(-np.inf, 1.0, buys=one, sells=one),
        _rows(-np.inf, 0.0, buy=one, buys=switched),
        _rows(-np.inf, 0.0, sell=one, sells=switched),
        _rows(0.0, np.inf, buy=money, buys=least),
        _rows(0.0, np.inf, sell=money, sells=least),
    ]
    # Selling to buy again never pays: turnover costs a little where it is not what counts.
    turnover, fee, left, away = (1.0, 0.01, 0.0, 1e-4) if reserve is None else (1e-4, 1.0, 1.0, 1.0)
    traded, order = (turnover + fee * fees.rate) * prices, fee * fixed
    costs = [traded - left * prices, traded + left * prices, order, order, 1e3 * each]
    switch = int(given.policy.min_trade + fees.fixed > 0)  # else a part of an order will do
    found = import_module("scipy.optimize").milp(
        np.concatenate([*costs, away * each]) / value,
        integrality=np.repeat([1, 1, switch, switch, 0, 0], len(prices)),
        bounds=(0, np.concatenate([most, sold, each, each, np.inf * each, np.inf * each])),
        constraints=constraints,
        options={"time_limit": SECONDS, "mip_rel_gap": 1e-5},
    )
    if found.x is None:
        return None
    bought, gone = np.rint(np.asarray(found.x).reshape(len(_COLUMNS), -1)[:2]).astype(np.int64)
    return held + bought - gone


def _positions(given: HandedIn, shares: Shares, target: Floats) -> Iterator[Position]:
    before, after = given.after(given.held), given.after(shares)
    for n, (asset, price) in enumerate(zip(given.assets, given.prices.tolist(), strict=True)):
        count = int(shares[n] - given.held[n])
        position = Position(
            asset=asset,
            before=before.weights[n],
            after=after.weights[n],
            target=target[n],
            side="sell" if count < 0 else "buy",
            shares=abs(count),
            price=price,
            value=round(float(after.traded[n]), 2),
            fee=after.fees[n],
            ref=given.places[asset],
        )
        if count < 0:
            _choose_lots(given, position)
        if any((position.before, position.after, position.target)):
            yield position


def _choose_lots(given: HandedIn, order: Position) -> None:
    """Sell the shares with the least tax first, and estimate it, if rates and lots are given."""
    rates, taxed = given.policy.taxes, list[tuple[float, int, str]]()
    for lot in given.lots.get(order.asset, ()):
        if rates is None or lot.cost is None or lot.bought is None:
            return
        is_long = (given.dates[-1] - lot.bought).days > rates.days
        rate = rates.long if is_long else rates.short
        taxed.append(((order.price - lot.cost) * rate, lot.shares, lot.ref))
    left, total, lots = order.shares, 0.0, list[str]()
    for tax, count, ref in sorted(taxed, key=lambda one: one[0]):
        if sold := min(count, left):
            left, total = left - sold, total + sold * tax
            lots.append(f"{sold} of {ref}")
    order.tax, order.lots = round(total, 2) if lots else None, ", ".join(lots)


def _rules(given: HandedIn, shares: Shares, freed: Shares | None) -> Iterator[Constraint]:
    """The rules of the policy, checked anew on what was found, and why they are kept or not."""
    policy, (traded, _, weights, cash, kept) = given.policy, given.after(shares)
    yield Constraint(name="cash", met=cash >= -1e-6, why=f"{cash:,.2f} is left after fees")
    if policy.min_trade and traded.any():
        least = float(traded[traded > 0].min())
        why = f"the smallest order is {least:,.2f}, at least {policy.min_trade:,.2f} is needed"
        yield Constraint(name="min_trade", met=least >= policy.min_trade - 1e-6, why=why)
    fits = kept if freed is None else given.after(freed).kept  # without min_trade
    each = (given.held, weights, *given.limits, kept, fits, given.prices)
    for asset, held, weight, low, high, met, free, price in zip(given.assets, *each, strict=True):
        listed = not policy.weights or asset in policy.weights
        if (low > 0 or high < 1) and (listed or weight or held):
            why = f"{weight:.2%} is {'within' if met else 'outside'} {low:.2%} to {high:.2%}"
            room = f"whole shares (one is {price / given.value:.2%}), cash and other rules leave"
            room = f"min_trade {policy.min_trade:,.2f} leaves" if free else room
            why += "" if met else f": {room} no room"
            yield Constraint(name=f"weight of {asset}", met=bool(met), why=why)
