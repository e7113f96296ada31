"""Whole shares: as near as they can be, never without the cash for them."""

import numpy as np
import pytest

from leadhand_teams.portfolio.allocating import Book, Shares, deviation, greedy, optimal

PRICES = np.array([101.0, 47.0, 23.0, 390.0])
TARGET = np.array([0.4, 0.3, 0.2, 0.1])


def book(held: list[int], **terms: float) -> Book:
    return Book(PRICES, np.array(held, dtype=np.int64), 5_000.0, **terms)


def best(of: Book, spread: float, *, least_turnover: bool = True) -> Shares:
    found = optimal(
        TARGET, of, low=TARGET - spread, high=TARGET + spread, least_turnover=least_turnover
    )
    assert found is not None
    return found


def test_greedy_rounds_down_and_then_buys_what_is_furthest_below() -> None:
    # 245 are left: too little for the one that is below its weight, so nothing more is bought.
    assert greedy(TARGET, book([0, 0, 0, 0])) == pytest.approx([19, 31, 43, 1])
    # Here 600 would be left: one of the fourth, and then of the first two.
    of = Book(np.array([101.0, 47.0, 23.0, 210.0]), np.zeros(4, dtype=np.int64), 5_000.0)
    assert greedy(np.array([0.41, 0.3, 0.2, 0.09]), of) == pytest.approx([20, 32, 43, 2])


def test_optimal_is_never_further_from_the_weights_than_greedy() -> None:
    for cash in range(1_500, 9_000, 750):
        of = Book(PRICES, np.zeros(4, dtype=np.int64), float(cash))
        rounded = greedy(TARGET, of)
        assert rounded is not None
        found = best(of, 1.0, least_turnover=False)
        assert deviation(TARGET, found, PRICES) <= deviation(TARGET, rounded, PRICES) + 1e-12
        assert of.cash_after(found) >= 0


def test_bands_are_met_with_the_least_turnover() -> None:
    of = book([60, 20, 40, 3])
    found = best(of, 0.05)
    parts = of.weights(found)
    assert (np.abs(parts - TARGET) <= 0.05 + 1e-9).all()
    # No other shares do with less: tried are all around.
    traded = float(np.abs(found - of.held) @ PRICES)
    ranges = [range(max(0, int(n) - 3), int(n) + 4) for n in found]
    for shares in np.stack(np.meshgrid(*ranges), -1).reshape(-1, 4):
        inside = (np.abs(of.weights(shares) - TARGET) <= 0.05).all() and of.cash_after(shares) >= 0
        assert not inside or np.abs(shares - of.held) @ PRICES >= traded - 1.0


def test_holdings_within_their_bands_are_not_traded() -> None:
    of = Book(PRICES, np.array([40, 64, 87, 3], dtype=np.int64), 0.0)
    assert (best(of, 0.05) == of.held).all()


@pytest.mark.parametrize("greedily", [True, False])
def test_fees_least_orders_and_the_reserve_are_kept(greedily: bool) -> None:
    of = book([60, 0, 40, 3], rate=0.01, fixed=2.0, min_trade=300.0, reserve=250.0)
    found = greedy(TARGET, of) if greedily else best(of, 0.05)
    assert found is not None
    traded = np.abs(found - of.held) * PRICES
    assert of.cash_after(found) >= 250.0
    assert (traded[traded > 0] >= 300.0).all()
    assert of.fees(found) == pytest.approx(np.where(traded, traded * 0.01 + 2, 0))
