"""The weights of each target, against what can be worked out by hand."""

import numpy as np
import pytest

from leadhand_teams.portfolio.market import (
    Floats,
    Infeasible,
    Market,
    filled,
    market,
    weights_of,
)  # fmt: skip
from leadhand_teams.portfolio.policy import Policy

MEAN = np.array([0.10, 0.06, 0.04])
DEVIATION = np.array([0.30, 0.20, 0.10])


def independent(low: float = 0.0, high: float = 1.0, **policy: object) -> Floats:
    """The weights of three assets that move by themselves."""
    of = Market(np.zeros((2, 3)), MEAN, np.diag(DEVIATION**2), np.eye(3))
    asked = Policy.model_validate(policy)
    return weights_of(asked, of, (np.full(3, low), np.full(3, high)))


def shares(values: Floats) -> Floats:
    return values / values.sum()


def test_independent_assets_have_least_variance_by_inverse_variance() -> None:
    assert independent(target="min_volatility") == pytest.approx(shares(DEVIATION**-2), abs=1e-6)


def test_independent_assets_have_the_same_risk_by_inverse_deviation() -> None:
    assert independent(target="risk_parity") == pytest.approx(shares(1 / DEVIATION), abs=1e-6)


def test_the_largest_sharpe_ratio_is_by_excess_return_over_variance() -> None:
    expected = shares((MEAN - 0.02) / DEVIATION**2)
    assert independent(target="max_sharpe") == pytest.approx(expected, abs=1e-5)


def test_quadratic_utility_without_bounds_solves_its_equations() -> None:
    weights = independent(-np.inf, np.inf, target="quadratic_utility", risk_aversion=3)
    slopes = MEAN - 3.0 * DEVIATION**2 * weights
    assert slopes == pytest.approx(np.full(3, slopes[0]), abs=1e-6)
    assert weights.sum() == pytest.approx(1)


def test_targets_of_return_and_risk_are_met_and_are_each_other() -> None:
    calm = independent(target="efficient_return", target_return=0.07)
    assert float(MEAN @ calm) == pytest.approx(0.07)
    risk = float(np.sqrt((DEVIATION**2) @ calm**2))
    bold = independent(target="efficient_risk", target_volatility=risk)
    assert bold == pytest.approx(calm, abs=1e-4)


@pytest.mark.parametrize(
    "policy",
    [
        {"target": "min_volatility"},
        {"target": "max_sharpe"},
        {"target": "efficient_return", "target_return": 0.065},
        {"target": "efficient_risk", "target_volatility": 0.15},
        {"target": "quadratic_utility"},
        {"target": "risk_parity"},
        {"target": "hrp"},
    ],
    ids=lambda policy: policy["target"],
)
def test_bounds_are_kept_by_every_target(policy: dict[str, object]) -> None:
    weights = independent(0.2, 0.45, **policy)
    assert weights.sum() == pytest.approx(1)
    assert weights.min() >= 0.2 - 1e-9
    assert weights.max() <= 0.45 + 1e-9


def test_what_cannot_be_reached_is_named_with_the_limit() -> None:
    with pytest.raises(Infeasible, match=r"target_return: 20.00% is above 10.00%"):
        independent(target="efficient_return", target_return=0.2)
    with pytest.raises(Infeasible, match=r"target_volatility: 1.00% is below 8.57%"):
        independent(target="efficient_risk", target_volatility=0.01)
    with pytest.raises(Infeasible, match="earn more than the risk-free rate"):
        independent(target="max_sharpe", risk_free=0.5)


def test_hierarchical_risk_parity_halves_by_clusters() -> None:
    correlation = np.array([[1, 0.9, 0, 0], [0.9, 1, 0, 0], [0, 0, 1, 0.8], [0, 0, 0.8, 1.0]])
    of = Market(np.zeros((2, 4)), np.zeros(4), 0.04 * correlation, correlation)
    weights = weights_of(Policy(target="hrp"), of, (np.zeros(4), np.ones(4)))
    # Each pair has the variance .04 (1 + correlation) / 2.
    first, second = 0.04 * 1.9 / 2, 0.04 * 1.8 / 2
    part = second / (first + second) / 2
    assert weights == pytest.approx([part, part, 0.5 - part, 0.5 - part])


def test_moments_of_assets_with_different_histories_are_pairwise() -> None:
    prices = np.array([[np.nan, 10], [100, 11], [110, np.nan], [99, 12.1], [118.8, 12.705]])
    of = market(prices, days=4)
    first, second = np.array([0.1, -0.1, 0.2]), np.array([0.0, 0.1, 0.05])
    assert of.covariance[0, 1] == pytest.approx(4 * np.cov(first, second)[0, 1])
    assert of.covariance[0, 0] == pytest.approx(4 * np.var(first, ddof=1))
    assert of.correlation[0, 1] == pytest.approx(np.corrcoef(first, second)[0, 1])
    assert of.mean[0] == pytest.approx(1.188 ** (4 / 3) - 1)
    assert filled(prices)[2].tolist() == [110, 11]


def test_measures_count_cash_and_the_deepest_fall() -> None:
    prices = np.array([[100.0], [120], [90], [135]])
    of = market(prices, days=3)
    found, falls = of.measured("all", np.array([1.0]))
    assert found.max_drawdown == pytest.approx(0.25)
    assert found.yearly_return == pytest.approx(0.35)
    assert falls == pytest.approx([0, 0.25, 0])
    cash, _ = of.measured("cash", np.array([0.0]), 0.01)
    figures = (cash.yearly_return, cash.volatility, cash.sharpe, cash.max_drawdown)
    assert figures == (0.01, 0, None, 0)
