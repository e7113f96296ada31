"""Whole shares: as near as they can be, never without the cash for them."""

import numpy as np
import pytest

from leadhand_teams.portfolio.inputs import HandedIn
from leadhand_teams.portfolio.orders import allocated, deviation, greedy_shares, optimal
from leadhand_teams.portfolio.policy import Policy

PRICES = np.array([101.0, 47.0, 23.0, 390.0])
TARGET = np.array([0.4, 0.3, 0.2, 0.1])


def desk(held: list[int], spread: float = 1.0, cash: float = 5_000.0, **terms: object) -> HandedIn:
    """Four assets that may be `spread` from their target."""
    bands = {
        asset: {
            "target": wanted,
            "min": max(0.0, wanted - spread),
            "max": min(1.0, wanted + spread),
        }
        for asset, wanted in zip("ABCD", TARGET.tolist(), strict=True)
    }
    policy = Policy.model_validate({"target": "weights", "weights": bands, **terms})
    shares = np.array(held, dtype=np.int64)
    return HandedIn(assets=[*"ABCD"], prices=PRICES, held=shares, cash=cash, policy=policy)


def test_greedy_rounds_down_and_then_buys_what_is_furthest_below() -> None:
    # 245 are left: too little for the one that is below its weight, so nothing more is bought.
    assert greedy_shares(TARGET, PRICES, 5_000) == pytest.approx([19, 31, 43, 1])
    # Here 600 would be left: one of the fourth, and then of the first two.
    prices, weights = np.array([101.0, 47.0, 23.0, 210.0]), np.array([0.41, 0.3, 0.2, 0.09])
    assert greedy_shares(weights, prices, 5_000) == pytest.approx([20, 32, 43, 2])


def test_optimal_is_never_further_from_the_weights_than_greedy() -> None:
    for cash in range(1_500, 9_000, 750):
        of = desk([0, 0, 0, 0], cash=float(cash))
        rounded, found = greedy_shares(TARGET, PRICES, cash), allocated(of, TARGET)
        assert found is not None
        assert deviation(TARGET, found, PRICES) <= deviation(TARGET, rounded, PRICES) + 1e-12
        assert of.after(found).cash >= 0


def test_bands_are_met_with_the_least_turnover() -> None:
    of = desk([60, 20, 40, 3], 0.05)
    found = optimal(of, TARGET)
    assert found is not None
    assert of.after(found).kept.all()
    # No other shares do with less: tried are all around.
    traded = float(of.after(found).traded.sum())
    ranges = [range(max(0, int(n) - 3), int(n) + 4) for n in found]
    for shares in np.stack(np.meshgrid(*ranges), -1).reshape(-1, 4):
        after = of.after(shares)
        inside = after.kept.all() and after.cash >= 0
        assert not inside or float(after.traded.sum()) >= traded - 1.0


def test_holdings_within_their_bands_are_not_traded() -> None:
    of = desk([40, 64, 87, 3], 0.05, cash=0.0)
    assert (allocated(of, TARGET) == of.held).all()


@pytest.mark.parametrize("allocation", ["greedy", "optimal"])
def test_fees_least_orders_and_the_reserve_are_kept(allocation: str) -> None:
    of = desk([60, 0, 40, 3], fees={"rate": 0.01, "fixed": 2}, min_trade=300, allocation=allocation)
    found = allocated(of, TARGET * 0.95)
    assert found is not None
    after = of.after(found)
    assert after.cash >= 0.05 * of.value
    assert (after.traded[after.traded > 0] >= 300).all()
    assert after.fees == pytest.approx(np.where(after.traded, after.traded * 0.01 + 2, 0))
    assert after.cash == pytest.approx(of.value - found @ PRICES - after.fees.sum())
