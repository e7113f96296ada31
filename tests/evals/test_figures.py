"""Means, their intervals, and what is better or worse beyond noise."""

import random

from leadhand.evals.figures import change, figure


def moved(now: dict[str, list[float]], before: dict[str, list[float]], **how: bool) -> str | None:
    options = {"noisy": True, "lower_is_better": False, **how}
    found = change("x", now, before, **options)
    return found and found.verdict


def test_each_case_counts_the_same_however_often_it_was_repeated() -> None:
    found = figure({"a": [1.0, 1.0, 1.0], "b": [0.0]})
    assert (found.mean, found.trials, found.low) == (0.5, 4, None)


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says() -> None:
    chance = random.Random(1)
    hits = 0
    for _ in range(25):
        found = figure({str(n): [float(chance.random() < 0.5)] for n in range(60)})
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 0.5 <= found.high
    assert 22 <= hits <= 25


def test_without_a_model_every_difference_counts() -> None:
    one, other = {"a": [1.0], "b": [0.9]}, {"a": [1.0], "b": [1.0]}
    assert moved(one, other, noisy=False) == "worse"
    assert moved(other, one, noisy=False) == "better"
    assert moved(one, one, noisy=False) == "same"
    assert moved({"a": [9.0]}, {"a": [5.0]}, noisy=False, lower_is_better=True) == "worse"


def test_with_a_model_only_what_noise_does_not_explain_counts() -> None:
    right, coin = {"a": [1.0] * 10}, {"a": [1.0, 0.0] * 5}
    wrong = {"a": [0.0] * 10}
    assert moved(wrong, right) == "worse"
    assert moved(right, wrong) == "better"
    assert moved({"a": [1.0] * 6 + [0.0] * 4}, coin) == "same"
    assert moved({"a": [0.0]}, {"a": [1.0]}) == "unknown", "one trial says nothing"
    assert moved({"a": [1.0]}, {"b": [1.0]}) is None
