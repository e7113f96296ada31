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
_Rows = tuple[Floats, Floats | float, Floats | float]
SECONDS = 3.0
"""The time that the solver may take; then its best solution so far is used."""


class Book(NamedTuple):
    """What is held, at what prices it trades, what an order costs and what orders must keep."""

    prices: Floats
    held: Shares
    cash: float
    rate: float = 0.0
    """The part of an order's value that is its fee, with `fixed`."""
    fixed: float = 0.0
    min_trade: float = 0.0
    """The least value of an order."""
    reserve: float = 0.0
    """The cash that stays."""

    @property
    def value(self) -> float:
        """Shares and cash, before any order."""
        return float(self.prices @ self.held) + self.cash

    def traded(self, shares: Shares) -> Floats:
        """The value of each order that leads to `shares`."""
        return np.abs(shares - self.held) * self.prices

    def fees(self, shares: Shares) -> Floats:
        """The fee of each order that leads to `shares`."""
        traded = self.traded(shares)
        return self.rate * traded + self.fixed * (traded > 0)

    def cash_after(self, shares: Shares) -> float:
        """The cash after the orders and their fees."""
        bought = float((shares - self.held) @ self.prices)
        return self.cash - bought - float(self.fees(shares).sum())

    def weights(self, shares: Shares) -> Floats:
        """The part of each asset in the value after the orders and their fees."""
        return shares * self.prices / (float(shares @ self.prices) + self.cash_after(shares))

    def within(self, shares: Shares, low: Floats, high: Floats) -> bool:
        """Whether all weights are within `low` and `high`."""
        parts = self.weights(shares)
        return bool(((parts >= low - 1e-9) & (parts <= high + 1e-9)).all())


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
        shares = np.where(book.traded(shares) < book.min_trade, book.held, shares)
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


_COLUMNS = ("buy", "sell", "buys", "sells", "off", "away")
"""Columns of the program, one an asset: shares bought and sold, whether there is such an order (0
or 1); as money, how far a weight is outside its band, and how far from its target."""


def _program(
    weights: Floats, book: Book, low: Floats, high: Floats, *, least_turnover: bool
) -> Shares | None:
    """The mixed-integer program: bands may be left at a high price, cash and reserve may not."""
    prices, value, count = book.prices, book.value, len(weights)
    one, money, line = np.eye(count), np.diag(prices), prices[None, :]
    now, each = book.held * prices, np.ones(count)
    most = np.ceil(np.clip(np.abs(high), 1, 10) * value / prices) + np.abs(book.held)

    def rows(least: Floats | float, most: Floats | float, **factors: Floats) -> _Rows:
        nothing = np.zeros_like(next(iter(factors.values())))
        return np.hstack([factors.get(name, nothing) for name in _COLUMNS]), least, most

    wanted = weights * value - now
    bottom, top = np.maximum(low, -1e3), np.minimum(high, 1e3)
    fixed = book.fixed * each[None, :]
    # Fees make the whole smaller, and so each weight larger: the upper end counts them.
    rate, share = np.outer(top, book.rate * prices), np.outer(top, book.fixed * each)
    above = {"buy": rate + money, "sell": rate - money, "buys": share, "sells": share, "off": -one}
    paid, got = -(1 + book.rate) * line, (1 - book.rate) * line
    limits = [
        rows(book.reserve - book.cash, np.inf, buy=paid, sell=got, buys=-fixed, sells=-fixed),
        rows(-np.inf, wanted, buy=money, sell=-money, away=-one),
        rows(wanted, np.inf, buy=money, sell=-money, away=one),
        rows(-np.inf, top * value - now, **above),
        rows(bottom * value - now, np.inf, buy=money, sell=-money, off=one),
    ]
    if book.min_trade or book.fixed:
        least, switched = -book.min_trade * one, -np.diag(most)
        limits += [
            rows(-np.inf, 1.0, buys=one, sells=one),
            rows(-np.inf, 0.0, buy=one, buys=switched),
            rows(-np.inf, 0.0, sell=one, sells=switched),
            rows(0.0, np.inf, buy=money, buys=least),
            rows(0.0, np.inf, sell=money, sells=least),
        ]
    # Turnover and then fees; or distances and the cash left. Selling to buy again never pays.
    turnover, fee, left, away = (1.0, 0.01, 0.0, 1e-4) if least_turnover else (1e-4, 1.0, 1.0, 1.0)
    traded = turnover + fee * book.rate
    order, off = fee * book.fixed * each, 1e3 * each
    costs = [(traded - left) * prices, (traded + left) * prices, order, order, off, away * each]
    sold = np.where((low < 0) | (weights < 0), most, np.maximum(book.held, 0))
    found = import_module("scipy.optimize").milp(
        np.concatenate(costs) / value,
        integrality=np.repeat([1, 1, 1, 1, 0, 0], count),
        bounds=(0, np.concatenate([most, sold, each, each, np.inf * each, np.inf * each])),
        constraints=limits,
        options={"time_limit": SECONDS, "mip_rel_gap": 1e-5},
    )
    if found.x is None:
        return None
    bought, gone = np.rint(np.asarray(found.x[: 2 * count])).astype(np.int64).reshape(2, count)
    return book.held + bought - gone
