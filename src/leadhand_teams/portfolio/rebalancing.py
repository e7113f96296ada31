"""Orders for one policy: target weights, bands, whole shares, and whether each rule is kept."""

from typing import NamedTuple

import numpy as np

from leadhand_teams.portfolio.allocating import Book, Shares, greedy, optimal
from leadhand_teams.portfolio.inputs import HandedIn, Lot
from leadhand_teams.portfolio.measures import Floats, Market, filled, market
from leadhand_teams.portfolio.output import Constraint, Order, Rebalanced, Weight
from leadhand_teams.portfolio.policy import Policy
from leadhand_teams.portfolio.targets import Infeasible, Targets, nearest


class Setting(NamedTuple):
    """The assets of one policy, what their prices say, and what is held of them."""

    assets: list[str]
    market: Market
    prices: Floats
    held: Shares
    lots: list[list[Lot]]
    cash: float

    @property
    def value(self) -> float:
        """Shares and cash."""
        return float(self.prices @ self.held) + self.cash


def setting(given: HandedIn, policy: Policy) -> Setting:
    """All assets with prices that the policy may hold or the user holds."""
    listed = [one for one in [*policy.weights, *given.lots] if one in given.assets]
    assets = list(dict.fromkeys(listed)) if policy.weights else given.assets
    kept = [given.assets.index(asset) for asset in assets]
    levels = given.levels[:, kept]
    lots = [given.lots.get(asset, []) for asset in assets]
    held = np.array([sum(lot.shares for lot in one) for one in lots], dtype=np.int64)
    cash = given.cash if given.cash is not None else policy.cash.amount or 0.0
    of = market(levels, days=policy.days)
    return Setting(assets, of, filled(levels)[-1], held, lots, cash)


def rebalanced(given: HandedIn, policy: Policy) -> Rebalanced:
    """The orders, weights, cash and constraints; without orders if no weights meet the policy."""
    if not given.assets:
        return _refused("prices", "no prices were handed in: add a CSV with dates and prices")
    of = setting(given, policy)
    if missing := [asset for asset in policy.weights if asset not in of.assets]:
        return _refused("weights", f"{', '.join(missing)}: in the policy, but without prices")
    if of.value <= 0:
        return _refused("cash", "no holdings and no cash: add `cash: 10000`, or holdings.csv")
    before = of.held * of.prices / of.value
    low, high = (np.array(ends) for ends in zip(*map(policy.bounds_of, of.assets), strict=True))
    if policy.weights:
        unlisted = np.array([asset not in policy.weights for asset in of.assets])
        low, high = np.where(unlisted, 0.0, low), np.where(unlisted, 0.0, high)
    try:
        target = _target(of, policy, before, low, high)
    except Infeasible as error:
        return _refused(error.name, error.why)
    reserve = policy.cash.reserve * (of.value if policy.cash.reserve < 1 else 1.0)
    # What the reserve needs is taken from all weights alike, if they don't leave it.
    target = target * min(1.0, (1 - reserve / of.value) / max(float(target.sum()), 1e-9))
    book = Book(
        of.prices,
        of.held,
        of.cash,
        rate=policy.fees.rate + policy.fees.bps / 10_000,
        fixed=policy.fees.fixed,
        minimum=policy.fees.minimum,
        min_trade=policy.min_trade,
        reserve=reserve,
        max_turnover=policy.max_turnover,
    )
    shares, least, most = _shares(of, policy, book, target, low, high)
    if shares is None:
        return _refused("cash", _blocked(book, target, least, most))
    after = book.weights(shares)
    traded = abs(shares - of.held) * of.prices
    return Rebalanced(
        weights=[
            Weight(asset=asset, before=float(b), after=float(a), target=float(t))
            for asset, b, a, t in zip(of.assets, before, after, target, strict=True)
            if abs(b) + abs(a) + abs(t) > 0
        ],
        orders=_orders(given, of, policy, book, shares, target),
        cash=book.cash_after(shares),
        value=of.value,
        constraints=[
            *_money(book, shares, traded),
            *_bands(of, policy, after, least, most),
        ],
    )


def _blocked(book: Book, target: Floats, low: Floats, high: Floats) -> str:
    """Which limits keep the cash from what it has to be: those without which there are shares."""
    rules = {"cash.reserve": book._replace(reserve=0.0), "min_trade": book._replace(min_trade=0.0)}
    rules["max_turnover"] = book._replace(max_turnover=None)
    free = [
        name
        for name, one in rules.items()
        if optimal(target, one, low=low, high=high, least_turnover=True) is not None
    ]
    need = f"{book.cash:,.2f} is at hand, {book.reserve:,.2f} must stay"
    cause = " or ".join(free) or "cash.reserve, min_trade, max_turnover and fees together"
    return f"{need}, and no orders within the limits bring that about: loosen {cause}"


def _refused(name: str, why: str) -> Rebalanced:
    return Rebalanced(constraints=[Constraint(name=name, met=False, why=why)])


def _target(of: Setting, policy: Policy, before: Floats, low: Floats, high: Floats) -> Floats:
    """The weights that the policy asks for, of all assets of the setting."""
    for asset, least, most in zip(of.assets, low, high, strict=True):
        if least > most:
            why = f"at least {least:.4g}, at most {most:.4g}: change the policy's bounds or weights"
            raise Infeasible(f"weight of {asset}", why)
    usable = np.isfinite(of.market.mean)
    while np.isnan(of.market.only(usable).covariance).any():
        unknown = np.isnan(of.market.covariance) & np.outer(usable, usable)
        usable[int(np.argmax(unknown.sum(axis=0)))] = False
    total = 1.0
    if policy.weights:
        bands = [policy.weights.get(asset) for asset in of.assets]
        given = np.array(
            [np.nan if one and one.target is None else (one.target if one else 0) for one in bands],
            dtype=np.float64,
        )
        usable = np.isnan(given)
        total = 1 - float(np.nansum(given))
    else:
        given = np.zeros(len(of.assets))
    low, high = low[usable], high[usable]
    if usable.any() and (
        low.sum() > total + 1e-9 or (high.sum() < total - 1e-9 and not policy.weights)
    ):
        ends = f"from {low.sum():.4g} to {high.sum():.4g}"
        why = f"the weights of {len(low)} assets can add up {ends}, not to {total:.4g}: change some"
        raise Infeasible("weights" if policy.weights else "bounds", why)
    if policy.weights:
        start = before[usable] if of.held.any() else np.full(len(low), total / max(len(low), 1))
        given[usable] = nearest(start, low, high, total=total)
        return given
    if not usable.any():
        raise Infeasible("prices", "no asset has two prices or more: add older prices")
    targets = Targets(of.market.only(usable), low, high)
    match policy.target:
        case "efficient_return":
            given[usable] = targets.efficient_return(policy.target_return or 0.0)
        case "efficient_risk":
            given[usable] = targets.efficient_risk(policy.target_volatility or 0.0)
        case "quadratic_utility":
            given[usable] = targets.quadratic_utility(policy.risk_aversion)
        case "max_sharpe":
            given[usable] = targets.max_sharpe(policy.risk_free)
        case "min_volatility" | "hrp" | "risk_parity" | "weights":
            given[usable] = getattr(targets, policy.target)()
    return given


def _shares(
    of: Setting, policy: Policy, book: Book, target: Floats, low: Floats, high: Floats
) -> tuple[Shares | None, Floats, Floats]:
    """The shares after all orders, and the least and the largest weight of each asset.

    Holdings that have bands are traded no further than into them. Else shares are as near to the
    target as they can be, greedily if the policy says so and its rules hold then.
    """
    if policy.band is not None:
        low, high = np.maximum(low, target - policy.band), np.minimum(high, target + policy.band)
    into = bool(of.held.any()) and (
        policy.band is not None
        or any(one.min is not None or one.max is not None for one in policy.weights.values())
    )
    least, most = low, high
    if into:
        # Without a band of its own, an asset is brought within a share of its target.
        step = book.prices / book.value
        free = np.array(
            [
                policy.band is None and (one is None or (one.min is None and one.max is None))
                for one in map(policy.weights.get, of.assets)
            ]
        )
        least = np.where(free, np.maximum(low, target - step), low)
        most = np.where(free, np.minimum(high, target + step), high)
    if not into:  # What the target leaves in cash stays there.
        book = book._replace(reserve=max(book.reserve, book.value * (1 - float(target.sum()))))
    if policy.allocation == "greedy" and not into:
        found = greedy(target, book)
        if found is not None and book.within(found, least, most):
            return found, low, high
    return optimal(target, book, low=least, high=most, least_turnover=into), low, high


def _money(book: Book, shares: Shares, traded: Floats) -> list[Constraint]:
    """The rules of cash and orders, checked anew on what was found."""
    cash, turnover = book.cash_after(shares), float(traded.sum()) / 2 / book.value
    found = [
        Constraint(
            name="cash",
            met=cash >= book.reserve - 1e-6,
            why=f"{cash:,.2f} is left after fees; at least {book.reserve:,.2f} must be",
        )
    ]
    if book.min_trade:
        orders = traded[traded > 0]
        smallest = f"the smallest is {orders.min():,.2f}" if len(orders) else "there are no orders"
        met = not len(orders) or float(orders.min()) >= book.min_trade - 1e-6
        why = f"orders of {book.min_trade:,.2f} or more: {smallest}"
        found.append(Constraint(name="min_trade", met=met, why=why))
    if book.max_turnover is not None:
        why = f"{turnover:.1%} of the portfolio is turned over, at most {book.max_turnover:.1%} may"
        met = turnover <= book.max_turnover + 1e-9
        found.append(Constraint(name="max_turnover", met=met, why=why))
    return found


def _bands(
    of: Setting, policy: Policy, after: Floats, low: Floats, high: Floats
) -> list[Constraint]:
    """Whether each weight is within its band, and why not."""
    found: list[Constraint] = []
    for asset, weight, least, most, price in zip(
        of.assets, after, low, high, of.prices, strict=True
    ):
        listed = not policy.weights or asset in policy.weights
        if listed and least <= 0 and most >= 1:
            continue
        met = least - 1e-9 <= weight <= most + 1e-9
        why = f"{weight:.2%} is {'within' if met else 'outside'} {least:.2%} to {most:.2%}"
        if not listed:
            why = f"{weight:.2%}: held, but the policy does not list it, so its target is 0"
        elif not met and price / of.value > most - least:
            why += f": one share is {price / of.value:.2%}, no whole number of them fits"
        elif not met:
            why += ": whole shares, cash, the other bands and limits of orders leave no room"
        found.append(Constraint(name=f"weight of {asset}", met=met, why=why))
    return found


def _orders(
    given: HandedIn, of: Setting, policy: Policy, book: Book, shares: Shares, target: Floats
) -> list[Order]:
    """Sales first, as their money pays for what is bought."""
    fees, after = book.fees(shares), book.weights(shares)
    before = of.held * of.prices / of.value
    found: list[Order] = []
    counts = [int(count) for count in shares - of.held]
    for n, count in sorted(enumerate(counts), key=lambda pair: pair[1] > 0):
        if count == 0:
            continue
        tax, lots = None, list[str]()
        if count < 0:
            tax, lots = _lots(of.lots[n], -count, of.prices[n], given, policy)
        found.append(
            Order(
                asset=of.assets[n],
                side="buy" if count > 0 else "sell",
                shares=abs(count),
                price=float(of.prices[n]),
                fee=float(fees[n]),
                tax=tax,
                lots=lots,
                why=f"from {before[n]:.2%} to {after[n]:.2%}, target {target[n]:.2%}",
            )
        )
    return found


def _lots(
    lots: list[Lot], count: int, price: float, given: HandedIn, policy: Policy
) -> tuple[float | None, list[str]]:
    """The tax of selling `count` shares, and which: those with the least tax a share first."""
    rates = policy.taxes
    if rates is None or any(lot.cost is None or lot.bought is None for lot in lots):
        return None, [f"{count} of {lots[0].ref}"] if len(lots) == 1 else []

    def tax(lot: Lot) -> float:
        held = (given.dates[-1] - lot.bought).days if lot.bought else 0
        return (price - (lot.cost or 0.0)) * (rates.long if held > rates.days else rates.short)

    total, chosen = 0.0, list[str]()
    for lot in sorted(lots, key=tax):
        sold = min(lot.shares, count)
        if sold > 0:
            total += sold * tax(lot)
            chosen.append(f"{sold} of {lot.ref}")
        count -= sold
    return total, chosen
