"""A policy is read as people write it, and each of its mistakes is a line that says what to do."""

import pytest

from leadhand_teams.portfolio.policy import Policy, read_policy


def policy(text: str) -> Policy:
    found, problems = read_policy(text, "policy.yaml")
    assert found is not None, problems
    return found


def test_numbers_are_read_as_people_write_them() -> None:
    found = policy(
        "target: weights\nweights: {ON: 60 %, NO: '0,25', Y: {target: .15, min: 10%, max: 0.2}}\n"
        "cash: 10_000\nfees: 0.001\nrisk_free: 2,5 %\nbounds: [0, null]\nshocks: {ON: -30%}\n"
    )
    assert {asset: band.target for asset, band in found.weights.items()} == {
        "ON": 0.6,
        "NO": 0.25,
        "Y": 0.15,
    }
    assert (found.cash.amount, found.fees.rate, found.risk_free) == (10_000, 0.001, 0.025)
    assert found.bounds_of("Y") == (0.1, 0.2)
    assert found.bounds_of("ON") == (0.0, float("inf"))
    assert found.shocks == {"as given": {"ON": -0.3}}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("target: min_vol", "target: it should be 'min_volatility'"),
        ("bounds: [0, 1]", "target: it is missing: add one of min_volatility"),
        ("target: hrp\ncsah: 5", "csah: unknown key: did you mean cash?"),
        ("target: hrp\nfees: {stamp: 2}", "fees.stamp: unknown key: known are rate, bps"),
        ("target: hrp\nfees: 5", "fees: 5 is more than an order: write fees: {fixed: 5}"),
        ("target: hrp\nbounds: [0.1]", "bounds: write the least and the largest weight"),
        ("target: hrp\ncash: much", "cash.amount: 'much' is not a number: write 0.6 or 60 %"),
        ("target: efficient_risk", "target efficient_risk needs target_volatility: add it"),
        ("target: weights", "weights and target: weights belong together"),
        ("target: weights\nweights: {A: 60, B: 40}", "weights add up to 100, over 1: write 0.6"),
        (
            "target: weights\nweights: {A: {target: 1, max: .5}}",
            "weights.A: target 1 is not between min and max: change one",
        ),
        ("target: [", "2: this is not YAML"),
        ("", "it has no keys"),
        ("- 1", "it has no keys"),
    ],
)
def test_each_mistake_names_file_and_key_and_what_to_do(text: str, line: str) -> None:
    found, problems = read_policy(f"{text}\n", "policy.yaml")
    assert found is None
    assert line in problems[0]
    assert problems[0].startswith("policy.yaml:")
    assert "\n" not in problems[0]
