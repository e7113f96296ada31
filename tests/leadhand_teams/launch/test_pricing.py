"""Elasticities recover what made the data; the survey's points are those of the method."""

import math
import random

import pytest

from leadhand_teams.launch.elasticity import confounder, control_sets, fit
from leadhand_teams.launch.survey import likelihood, points


def sold(slope: float = -2.0) -> tuple[list[float], list[float], list[str], list[int]]:
    """Quantities, prices, brands and weeks; dear brands sell more, which hides the slope."""
    chance = random.Random(3)
    quantities, prices, brands, weeks = list[float](), list[float](), list[str](), list[int]()
    for week in range(60):
        for brand, usual, level in (("a", 10.0, 1000.0), ("b", 20.0, 3000.0), ("c", 40.0, 9000.0)):
            price = usual * math.exp(chance.gauss(0, 0.1))
            season = 1.3 if week % 5 == 0 else 1.0
            noise = math.exp(chance.gauss(0, 0.02))
            quantities.append(level * season * (price / usual) ** slope * noise)
            prices.append(price)
            brands.append(brand)
            weeks.append(week)
    return quantities, prices, brands, weeks


def test_the_elasticity_is_recovered_once_the_confounder_is_controlled() -> None:
    quantities, prices, brands, weeks = sold()
    controlled = fit(quantities, prices, [brands, weeks])
    bare = fit(quantities, prices)
    assert controlled is not None
    assert bare is not None
    assert controlled.value == pytest.approx(-2.0, abs=0.1)
    assert controlled.high - controlled.low < 0.15
    assert bare.value > 0


def test_the_confounder_is_named_with_both_values() -> None:
    quantities, prices, brands, weeks = sold()
    columns = {"brand": brands, "week": weeks}
    fits = {
        names: found
        for names in control_sets(list(columns))
        if (found := fit(quantities, prices, [columns[name] for name in names])) is not None
    }
    assert set(fits) == {(), ("brand",), ("week",), ("brand", "week")}
    named = confounder(fits)
    assert named is not None
    assert named[0] == "brand"
    assert named[2] == pytest.approx(-2.0, abs=0.1)


def test_demeaning_in_turns_equals_least_squares_with_a_column_for_each_value() -> None:
    import numpy as np

    quantities, prices, brands, weeks = sold()
    del quantities[7], prices[7], brands[7], weeks[7]  # an uneven panel
    found = fit(quantities, prices, [brands, weeks])
    columns = [np.log(prices), *(np.array([one == name for one in brands]) for name in "abc")]
    columns += [np.array([one == week for one in weeks]) for week in range(1, 60)]
    exact = np.linalg.lstsq(np.column_stack(columns).astype(float), np.log(quantities), rcond=None)
    assert found is not None
    assert found.value == pytest.approx(float(exact[0][0]), abs=1e-6)


def test_a_price_that_never_changes_tells_nothing() -> None:
    assert fit([5.0, 6.0, 7.0, 8.0], [2.0] * 4) is None
    assert fit([5.0, 6.0, 7.0, 8.0], [2.0, 2.0, 3.0, 3.0], [["a", "a", "b", "b"]]) is None


ANSWERS = [(10.0, 20.0, 30.0, 40.0), (15.0, 25.0, 35.0, 45.0), (20.0, 22.0, 38.0, 50.0)]


def test_answers_out_of_order_are_left_out() -> None:
    found = points([*ANSWERS, (30.0, 20.0, 40.0, 50.0), (10.0, 10.0, 30.0, 40.0)])
    assert found is not None
    assert found.valid == 3
    assert found[:5] == points(ANSWERS)[:5]  # pyright: ignore[reportOptionalSubscript]


def test_the_points_are_where_the_curves_cross() -> None:
    found = points(ANSWERS)
    assert found is not None
    # Too cheap for none from 20 on, cheap for none from 25 on; expensive for all from 38 on.
    assert (found.pmc, found.idp, found.opp) == (20.0, 25.0, 20.0)
    assert found.pme == 38.0
    assert found.price_max_revenue is None


def test_likelihoods_give_the_prices_of_most_buyers_and_of_most_revenue() -> None:
    found = points(ANSWERS, [(0.7, 0.5)] * 3)
    assert found is not None
    assert (found.price_max_adoption, found.price_max_revenue) == (25.0, 30.0)


@pytest.mark.parametrize(
    ("answer", "probability"),
    [("Very likely", 0.7), (" neutral ", 0.3), ("1", 0.0), ("5", 0.7), ("?", None)],
)
def test_answers_on_the_usual_scale_are_probabilities(
    answer: str, probability: float | None
) -> None:
    assert likelihood(answer) == probability
