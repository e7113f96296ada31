"""Orders for one policy: target weights, bands, whole shares, and whether each rule is kept."""

import datetime as dt
from collections.abc import Iterator

import numpy as np

from leadhand_teams.portfolio.allocating import Book, Shares, greedy, optimal
from leadhand_teams.portfolio.inputs import HandedIn, Lot
from leadhand_teams.portfolio.measures import Floats, filled, market
from leadhand_teams.portfolio.output import Constraint, Order, Rebalanced, Weight
from leadhand_teams.portfolio.policy import NOT_LISTED, Policy, Taxes
from leadhand_teams.portfolio.targets import Infeasible, nearest, weights_of


def book_of(given: HandedIn, policy: Policy) -> Book:
    """What is held of all assets with prices, and what orders must keep."""
    held = [sum(lot.shares for lot in given.lots.get(asset, ())) for asset in given.assets]
    return Book(
        filled(given.levels)[-1],
        np.array(held, dtype=np.int64),
        policy.cash if given.cash is None else given.cash,
        policy.fees.rate,
        policy.fees.fixed,
        policy.min_trade,
    )


def rebalanced(given: HandedIn, policy: Policy) -> Rebalanced:
    """The orders, weights, cash and constraints. Raises `Infeasible` if there are none."""
    book = book_of(given, policy)
    if missing := [asset for asset in policy.weights if asset not in given.assets]:
        raise Infeasible("weights", f"{', '.join(missing)}: in the policy, but without prices")
    if book.value <= 0:
        raise Infeasible("cash", "no holdings and no cash: add `cash: 10000`, or holdings.csv")
    low, high = np.array([policy.bounds_of(asset) for asset in given.assets]).T
    for asset, least, most in zip(given.assets, low, high, strict=True):
        if least > most:
            raise Infeasible(f"weight of {asset}", f"at least {least:.4g}, at most {most:.4g}")
    if low.sum() > 1 + 1e-9 or (not policy.weights and high.sum() < 1 - 1e-9):
        ends = f"from {low.sum():.4g} to {high.sum():.4g}"
        raise Infeasible("bounds", f"all weights can add up {ends}, not to 1: change some")
    target = _target(given, policy, low, high)
    shares = _shares(given, policy, book, target, low, high)
    if shares is None:
        why = f"{book.cash:,.2f} is at hand, and no orders leave cash: add some, or lower min_trade"
        raise Infeasible("cash", why)
    after = book.weights(shares)
    parts = zip(given.assets, book.weights(book.held), after, target, strict=True)
    return Rebalanced(
        weights=[
            Weight(asset=asset, before=float(before), after=float(then), target=float(wanted))
            for asset, before, then, wanted in parts
            if any((before, then, wanted))
        ],
        orders=_orders(given, policy, book, shares),
        cash=book.cash_after(shares),
        value=book.value,
        constraints=[*_rules(given, policy, book, shares)],
    )


def _target(given: HandedIn, policy: Policy, low: Floats, high: Floats) -> Floats:
    """The weights that the policy lists (of other assets 0), or those that an optimiser gives."""
    if policy.weights:
        aims = np.array([policy.weights.get(one, NOT_LISTED).aim for one in given.assets])
        return aims if aims.sum() <= 1 + 1e-6 else nearest(aims, low, high)
    of = market(given.levels, days=policy.days)
    unknown = np.isnan(of.covariance).any(axis=0)
    if unknown.any():
        names = ", ".join(np.array(given.assets)[unknown])
        why = f"{names} have too few dates with a price, or none in common: add older prices"
        raise Infeasible("prices", why)
    return weights_of(policy, of, low, high)


def _shares(
    given: HandedIn, policy: Policy, book: Book, target: Floats, low: Floats, high: Floats
) -> Shares | None:
    """The shares after all orders.

    Holdings that have bands are traded no further than into them, and those without one to within
    a share of their target. Else shares are as near to the target as they can be, greedily if the
    policy says so and its rules hold then.
    """
    bands = policy.weights.values()
    if book.held.any() and not all(band.is_open for band in bands):
        is_open = [policy.weights.get(asset, NOT_LISTED).is_open for asset in given.assets]
        step = np.where(is_open, book.prices / book.value, np.inf)
        low, high = np.maximum(low, target - step), np.minimum(high, target + step)
        return optimal(target, book, low=low, high=high, least_turnover=True)
    # What the target leaves in cash stays there.
    book = book._replace(reserve=max(0.0, book.value * (1 - float(target.sum()))))
    found = greedy(target, book) if policy.allocation == "greedy" else None
    if found is not None and book.within(found, low, high):
        return found
    return optimal(target, book, low=low, high=high, least_turnover=False)


def _rules(given: HandedIn, policy: Policy, book: Book, shares: Shares) -> Iterator[Constraint]:
    """The rules of the policy, checked anew on what was found, and why they are kept or not."""
    cash, traded = book.cash_after(shares), book.traded(shares)
    yield Constraint(name="cash", met=cash >= -1e-6, why=f"{cash:,.2f} is left after fees")
    if book.min_trade and traded.any():
        least = float(traded[traded > 0].min())
        why = f"the smallest order is {least:,.2f}; {book.min_trade:,.2f} it must be"
        yield Constraint(name="min_trade", met=least >= book.min_trade - 1e-6, why=why)
    steps = book.prices / book.value
    for asset, weight, step in zip(given.assets, book.weights(shares), steps, strict=True):
        least, most = policy.bounds_of(asset)
        listed = not policy.weights or asset in policy.weights
        if (least <= 0 and most >= 1) or not (listed or weight or asset in given.lots):
            continue
        met = bool(least - 1e-9 <= weight <= most + 1e-9)
        why = f"{weight:.2%} is {'within' if met else 'outside'} {least:.2%} to {most:.2%}"
        why += "" if listed else ": held, but not in the policy"
        if not met and step > most - least:
            why += f": one share is {step:.2%}, no whole number of them fits"
        elif not met:
            why += ": whole shares, cash and the other bands leave no room"
        yield Constraint(name=f"weight of {asset}", met=met, why=why)


def _orders(given: HandedIn, policy: Policy, book: Book, shares: Shares) -> list[Order]:
    """Sales first, as their money pays for what is bought."""
    found: list[Order] = []
    counts = map(int, shares - book.held)
    values, fees = book.traded(shares), book.fees(shares)
    for asset, count, price, value, fee in zip(
        given.assets, counts, book.prices, values, fees, strict=True
    ):
        if count:
            order = Order(
                asset=asset,
                side="buy" if count > 0 else "sell",
                shares=abs(count),
                price=float(price),
                value=round(float(value), 2),
                fee=float(fee),
                ref=given.places[asset],
            )
            lots = given.lots.get(asset, [])
            if count < 0 and policy.taxes and all(lot.cost and lot.bought for lot in lots):
                order.tax, order.lots = _sold(lots, order, policy.taxes, given.dates[-1])
            found.append(order)
    return sorted(found, key=lambda one: one.side == "buy")


def _sold(lots: list[Lot], order: Order, rates: Taxes, today: dt.date) -> tuple[float, list[str]]:
    """The tax of a sale, and which shares: those with the least tax a share first."""

    def tax(lot: Lot) -> float:
        held = (today - lot.bought).days if lot.bought else 0
        rate = rates.long if held > rates.days else rates.short
        return (order.price - (lot.cost or 0.0)) * rate

    total, left, chosen = 0.0, order.shares, list[str]()
    for lot in sorted(lots, key=tax):
        if sold := min(lot.shares, left):
            total += sold * tax(lot)
            left -= sold
            chosen.append(f"{sold} of {lot.ref}")
    return round(total, 2), chosen
