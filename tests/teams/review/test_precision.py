"""Confidence is measured, and low if there are few measurements."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from leadhand.teams.review import precision
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.precision import (
    MAX_UNMEASURED,
    MIN_LABELLED,
    Confidence,
    Hits,
    PrecisionTable,
    load_table,
    wilson_lower,
)

FAMILIES = {"bugs/a": "bugs/names", "bugs/b": "bugs/names", "bugs/c": "bugs/alone"}


def confidence(**hits: tuple[str, int, int]) -> Confidence:
    """Confidence by a table of rules of `bugs`: each with family, true hits and labelled hits."""
    rules = {f"bugs/{name}": Hits(family=family, k=k, n=n) for name, (family, k, n) in hits.items()}
    table = PrecisionTable(method="made up", sources=(), labelled_by="a test", rules=rules)
    return Confidence(table, FAMILIES)


@pytest.mark.parametrize(
    ("k", "n", "bound"), [(10, 10, 0.7225), (81, 100, 0.7222), (0, 10, 0.0), (5, 10, 0.2366)]
)
def test_the_lower_bound_is_wilsons(k: int, n: int, bound: float) -> None:
    assert abs(wilson_lower(k, n) - bound) < 5e-4


def test_the_lower_bound_grows_with_evidence_and_stays_between_0_and_the_share() -> None:
    bounds = [wilson_lower(9 * n, 10 * n) for n in range(1, 200)]
    assert bounds == sorted(bounds)
    assert all(0 < bound < 0.9 for bound in bounds)
    assert wilson_lower(0, 0) == 0


def test_a_rule_with_enough_labelled_hits_has_its_own_figure_rounded_down() -> None:
    rated = confidence(a=("bugs/names", 50, 50), b=("bugs/names", 0, 50))
    assert rated("bugs/a").confidence == 92
    assert rated("bugs/b").confidence == 0


def test_a_rule_with_too_few_takes_its_familys_pooled_figures() -> None:
    rated = confidence(a=("bugs/names", 30, 30), b=("bugs/names", 0, 10))
    assert rated("bugs/b").confidence == int(100 * wilson_lower(30, 40))
    only_family = confidence(a=("bugs/names", 40, 40))
    assert only_family("bugs/b").confidence == only_family("bugs/a").confidence == 91


@pytest.mark.parametrize(
    ("k", "n", "expected"), [(0, 0, 50), (3, 3, 79), (18, 19, 79), (0, 5, 14), (2, 4, 50)]
)
def test_few_hits_alone_never_lift_a_rule_to_the_default_threshold(
    k: int, n: int, expected: int
) -> None:
    assert n < MIN_LABELLED
    rated = confidence(c=("bugs/alone", k, n))
    assert rated("bugs/c").confidence == expected <= MAX_UNMEASURED < 80


def test_a_rule_that_nobody_knows_is_as_likely_right_as_wrong() -> None:
    assert confidence()("bugs/unheard-of").confidence == 50


def test_more_true_hits_than_hits_are_refused() -> None:
    with pytest.raises(ValidationError, match="k can't exceed n"):
        Hits(family="bugs/names", k=3, n=2)


def test_the_table_that_ships_is_sound_and_says_where_its_figures_are_from() -> None:
    table = load_table()
    assert table.method
    assert table.labelled_by
    assert table.sources or not table.rules
    raw = Path(precision.__file__).with_name("precision.json").read_text(encoding="utf-8")
    assert set(json.loads(raw)) == set(PrecisionTable.model_fields)


def test_confidence_of_rules_knows_their_families() -> None:
    rule = LensRule(id="bugs/new", family="bugs/never-labelled", severity="info", why="", fix="")
    assert Confidence.of([rule])(rule.id).confidence == 50


def test_a_fact_is_certain_whatever_the_table_says() -> None:
    fact = LensRule("bugs/broken", "bugs/x", "critical", why="", fix="", fact=True)
    assert Confidence.of([fact])(fact.id) == (100, "fact", "")
