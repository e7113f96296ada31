"""A policy is read as people write it, and each of its mistakes is a line that says what to do."""

import pytest

from leadhand import InputError
from leadhand_teams.portfolio.policy import Policy, read_policy


def test_numbers_are_read_as_people_write_them() -> None:
    found = read_policy(
        "target: weights\nweights: {ON: 60 %, NO: '0,25', Y: {target: 15%, max: 0.2}}\n"
        "cash: 10_000\nfees: 0.001\nrisk_free: 2,5 %\nshocks: {bad news: {ON: -30%}}\n",
        "policy.yaml",
    )
    targets = {asset: band.target for asset, band in found.weights.items()}
    assert targets == pytest.approx({"ON": 0.6, "NO": 0.25, "Y": 0.15})
    assert (found.cash, found.fees.rate, found.risk_free) == (10_000, 0.001, 0.025)
    assert found.shocks == {"bad news": {"ON": -0.3}}


def test_bounds_are_of_all_assets_or_by_asset_and_bands_are_within_them() -> None:
    every = Policy.model_validate({"target": "hrp", "bounds": [-1, None]})
    assert every.limits("A") == (-1, float("inf"))
    bounds = {"A": [0, 0.3], "*": [0.1, 1]}
    listed = {"A": {"target": 0.3, "min": 0.2, "max": 0.9}, "B": 0.5}
    found = Policy.model_validate({"target": "weights", "weights": listed, "bounds": bounds})
    assert found.limits("A") == (0.2, 0.3)
    assert found.limits("B") == (0.1, 1)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("target: min_vol", "target: Input should be 'min_volatility'"),
        ("bounds: [0, 1]", "target: Field required"),
        ("target: hrp\ncsah: 5", "csah: unknown key: known are target, target_return"),
        ("target: hrp\nfees: 5", "fees.rate: Input should be less than or equal to 1"),
        ("target: hrp\nbounds: [0.1]", "bounds.*.1: Field required"),
        ("target: hrp\ncash: much", "cash: Input should be a valid number"),
        ("target: efficient_risk", "target: efficient_risk needs target_volatility: add it"),
        ("target: weights", "weights: they belong with `target: weights`"),
        (
            "target: weights\nweights: {A: .7, B: .4}",
            "weights: add up to 110.00%, over 100%: write 0.6",
        ),
        ("target: weights\nweights: {A: {max: .5}}", "weights.A.target: Field required"),
        ("target: [", "this is not YAML"),
        ("", "Policy"),
        ("- 1", "Policy"),
    ],
)
def test_each_mistake_names_file_and_key(text: str, line: str) -> None:
    with pytest.raises(InputError) as found:
        read_policy(f"{text}\n", "policy.yaml")
    assert str(found.value).startswith("policy.yaml: ")
    assert ": :" not in str(found.value)
    assert "Value error" not in str(found.value)
    assert line in str(found.value)


def test_several_mistakes_are_a_line_each() -> None:
    with pytest.raises(InputError) as found:
        read_policy("target: hrp\ncsah: 5\nfees: 5\n", "policy.yaml")
    lines = str(found.value).splitlines()
    keys = [line.split(": ")[:2] for line in lines]
    assert keys == [["policy.yaml", "fees.rate"], ["policy.yaml", "csah"]]
