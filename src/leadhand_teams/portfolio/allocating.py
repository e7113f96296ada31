"""Whole shares for weights: greedily, or by a mixed-integer program that HiGHS solves.

Nothing here knows files or how weights were found. Weights are fractions of the portfolio's value,
which is all shares at their prices and the cash.
"""

from importlib import import_module
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leadhand_teams.portfolio.measures import Floats

Shares = NDArray[np.int64]
SECONDS = 3.0
"""The time that the solver may take; then its best solution so far is used."""


class Book(NamedTuple):
    """What is held, at what prices it trades, what an order costs and what orders must keep."""

    prices: Floats
    held: Shares
    cash: float
    rate: float = 0.0
    """The part of an order's value that is its fee, with `fixed`, but at least `minimum`."""
    fixed: float = 0.0
    minimum: float = 0.0
    min_trade: float = 0.0
    """The least value of an order."""
    reserve: float = 0.0
    """The cash that stays."""
    max_turnover: float | None = None
    """The largest half of all orders' value, as a fraction of the portfolio's."""

    @property
    def value(self) -> float:
        """Shares and cash, before any order."""
        return float(self.prices @ self.held) + self.cash

    def fees(self, shares: Shares) -> Floats:
        """The fee of each order that leads to `shares`."""
        values = np.abs(shares - self.held) * self.prices
        charged = np.maximum(self.rate * values + self.fixed, self.minimum)
        return np.where(values == 0, 0.0, charged)

    def cash_after(self, shares: Shares) -> float:
        """The cash after the orders and their fees."""
        bought = float((shares - self.held) @ self.prices)
        return self.cash - bought - float(self.fees(shares).sum())

    def weights(self, shares: Shares) -> Floats:
        """The part of each asset in the value after the orders and their fees."""
        return shares * self.prices / (float(shares @ self.prices) + self.cash_after(shares))

    def within(self, shares: Shares, low: Floats, high: Floats) -> bool:
        """Whether bands and the limit of turnover hold."""
        parts, traded = self.weights(shares), float(np.abs(shares - self.held) @ self.prices)
        most = np.inf if self.max_turnover is None else 2 * self.max_turnover * self.value
        inside = (parts >= low - 1e-9) & (parts <= high + 1e-9)
        return bool(inside.all()) and traded <= most + 1e-6


def greedy_shares(weights: Floats, prices: Floats, value: float) -> Shares:
    """PyPortfolioOpt's greedy allocation: round down, then one share at a time of the asset
    that is furthest below its weight among those that the cash left buys.

    As there, the search for such an asset ends after ten. Short positions are allocated like long
    ones, with their own part of the value.
    """
    if (weights < 0).any():
        long = greedy_shares(np.maximum(weights, 0), prices, value)
        return long - greedy_shares(np.maximum(-weights, 0), prices, value)
    out = np.zeros(len(weights), dtype=np.int64)
    total = float(weights.sum())
    if total <= 0 or value <= 0:
        return out
    order = np.argsort(-weights, kind="stable")
    ideal, price, budget = weights[order] / total, prices[order], value * total
    shares = np.floor(ideal * budget / price)
    funds = budget - float(shares @ price)
    while funds > 0:
        invested = shares * price
        deficit = ideal - (invested / invested.sum() if invested.any() else 0)
        furthest = int(np.argmax(deficit))
        for _ in range(9):
            if price[furthest] <= funds or deficit[furthest] <= 0:
                break
            deficit[furthest] = 0
            furthest = int(np.argmax(deficit))
        if deficit[furthest] <= 0 or price[furthest] > funds:
            break
        shares[furthest] += 1
        funds -= price[furthest]
    out[order] = shares
    return out


def greedy(weights: Floats, book: Book) -> Shares | None:
    """Greedy shares that keep fees, the least order and the reserve; None if there are none."""
    value = book.value
    for _ in range(60):
        shares = greedy_shares(weights, book.prices, value)
        small = np.abs(shares - book.held) * book.prices < book.min_trade
        shares = np.where(small, book.held, shares)
        missing = book.reserve - book.cash_after(shares)
        if missing <= 1e-9:
            return shares
        value -= max(missing, value * 1e-5)
    return None


def deviation(weights: Floats, shares: Shares, prices: Floats) -> float:
    """The root of the mean squared difference between weights and parts of what is invested."""
    invested = shares * prices
    parts = invested / (invested.sum() or 1)
    return float(np.sqrt(np.mean((weights / (weights.sum() or 1) - parts) ** 2)))


def optimal(
    weights: Floats, book: Book, *, low: Floats, high: Floats, least_turnover: bool
) -> Shares | None:
    """Whole shares within the bands `low` to `high`; where that is impossible, as near to them as
    whole shares can be. None if not even cash and reserve can hold.

    Of these the ones with the least turnover, then fees, then distance from the weights. Else
    those with the least sum of distances from the weights, in money, and of cash left over, as
    PyPortfolioOpt's `lp_portfolio`, or greedy ones if these are nearer to the weights by squares.
    """
    found = _program(weights, book, low, high, least_turnover=least_turnover)
    rounded = None if least_turnover else greedy(weights, book)
    if found is None or rounded is None or not book.within(rounded, low, high):
        return found
    return min(found, rounded, key=lambda shares: deviation(weights, shares, book.prices))


_BLOCKS = ("buy", "sell", "buys", "sells", "fee", "over", "under", "away")
"""Columns, one an asset: shares bought and sold, whether there is such an order (0 or 1); as money
the fee, what is over and under the band, and the distance from the weight."""


class _Rows:
    """The rows of a program: a sum of columns, each times its factor, between two limits."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.rows: list[Floats] = []
        self.limits: list[tuple[Floats, Floats]] = []

    def add(self, least: Floats | float, most: Floats | float, **factors: Floats) -> None:
        """A row an asset for one factor an asset, and one row for a line (1 by assets) of them."""
        parts = {name: np.diag(one) if one.ndim == 1 else one for name, one in factors.items()}
        height = len(next(iter(parts.values())))
        empty = np.zeros((height, self.count))
        self.rows.append(np.hstack([parts.get(name, empty) for name in _BLOCKS]))
        self.limits.append((np.full(height, least), np.full(height, most)))


def _program(
    weights: Floats, book: Book, low: Floats, high: Floats, *, least_turnover: bool
) -> Shares | None:
    """The mixed-integer program: bands may be left at a high price, cash and reserve may not."""
    prices, value, count = book.prices, book.value, len(weights)
    held = book.held.astype(np.float64)
    now, one, line = held * prices, np.ones(count), prices[None, :]
    most = np.ceil(np.maximum(np.abs(np.clip(high, -10, 10)), 1) * value / prices) + np.abs(held)
    short = (low < 0) | (weights < 0)
    rows = _Rows(count)
    rows.add(book.reserve - book.cash, np.inf, buy=-line, sell=line, fee=-one[None, :])
    wanted = weights * value - now
    rows.add(-np.inf, wanted, buy=prices, sell=-prices, away=-one)
    rows.add(wanted, np.inf, buy=prices, sell=-prices, away=one)
    # Fees make the whole smaller and so every weight larger: the upper end counts them.
    top = np.where(np.isfinite(high), high, 1e3)
    paid = np.outer(top, one)
    rows.add(-np.inf, top * value - now, buy=prices, sell=-prices, over=-one, fee=paid)
    bottom = np.where(np.isfinite(low), low, -1e3)
    rows.add(bottom * value - now, np.inf, buy=prices, sell=-prices, under=one)
    rate, fixed = -prices * book.rate, -one * book.fixed
    rows.add(0.0, np.inf, fee=one, buy=rate, sell=rate, buys=fixed, sells=fixed)
    rows.add(0.0, np.inf, fee=one, buys=-one * book.minimum, sells=-one * book.minimum)
    if book.min_trade or book.fixed or book.minimum:
        rows.add(-np.inf, 1.0, buys=one, sells=one)
        for order, switch in (("buy", "buys"), ("sell", "sells")):
            rows.add(-np.inf, 0.0, **{order: one, switch: -most})
            rows.add(0.0, np.inf, **{order: prices, switch: -one * book.min_trade})
    if book.max_turnover is not None:
        rows.add(-np.inf, 2 * book.max_turnover * value, buy=line, sell=line)
    if least_turnover:
        cost = {"buy": prices, "sell": prices, "fee": one * 1e-2, "away": one * 1e-4}
    else:
        cost = {"buy": -prices * 0.9999, "sell": prices * 1.0001, "fee": one, "away": one}
    cost |= {"over": one * 1e3, "under": one * 1e3}
    limits = {"buy": most, "sell": np.where(short, most, np.maximum(held, 0))}
    limits |= {"buys": one, "sells": one}
    endless, nothing = np.full(count, np.inf), np.zeros(count)
    found = import_module("scipy.optimize").milp(
        np.concatenate([cost.get(name, nothing) for name in _BLOCKS]) / value,
        integrality=np.repeat([1, 1, 1, 1, 0, 0, 0, 0], count),
        bounds=(0, np.concatenate([limits.get(name, endless) for name in _BLOCKS])),
        constraints=(
            np.vstack(rows.rows),
            np.concatenate([least for least, _ in rows.limits]),
            np.concatenate([most for _, most in rows.limits]),
        ),
        options={"time_limit": SECONDS, "mip_rel_gap": 1e-5},
    )
    if found.x is None:
        return None
    orders = np.rint(np.asarray(found.x[: 2 * count])).astype(np.int64)
    return book.held + orders[:count] - orders[count:]
