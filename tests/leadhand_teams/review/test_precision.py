"""Confidence is the share of true hits to expect, from labelled hits of the rule and its family."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from benchmarks.precision.shrinkage import by_family, expected_share, log_likelihood
from benchmarks.precision.table import labels, table
from pydantic import ValidationError

from leadhand_teams.review import precision
from leadhand_teams.review.precision import Confidence, Hits, PrecisionTable, Prior, load_table
from leadhand_teams.review.rules import LensRule, rules

RULES = [
    LensRule(f"bugs/{name}", f"bugs/{family}", why="", fix="")
    for name, family in (("a", "names"), ("b", "names"), ("c", "alone"))
]
PRIOR = Prior(mean=0.7, family_strength=6, rule_strength=2)


def confidence(**hits: tuple[int, int]) -> Confidence:
    """Confidence by a table of rules of `bugs/names`, each with true hits and labelled hits."""
    labelled = {
        f"bugs/{name}": Hits(family="bugs/names", k=k, n=n) for name, (k, n) in hits.items()
    }
    made = PrecisionTable(
        method="made up", sources=(), labelled_by="a test", prior=PRIOR, rules=labelled,
        families={"bugs/names": expected_share(list(labelled.values()), PRIOR)} if hits else {},
    )  # fmt: skip
    return Confidence(made, RULES)


@pytest.mark.parametrize(("k", "n"), [(50, 50), (42, 51), (1, 60)])
def test_with_many_labelled_hits_confidence_is_nearly_their_share(k: int, n: int) -> None:
    rated = confidence(a=(k, n))("bugs/a")
    assert abs(rated.confidence / 100 - k / n) < 0.03
    assert rated.why == f"right in {k} of {n} labelled hits"


def test_the_share_on_ordinary_commits_is_told_apart() -> None:
    [removed] = [one for one in labels("table") if one.source == "leadhand@70c7eb57 ordinary change"
                 and one.rule == "security/removed-clause"]  # fmt: skip
    made = table([removed, replace(removed, true=False), replace(removed, source="a@1 undone")])
    rated = Confidence(made, ())("security/removed-clause")
    assert rated.why.startswith("right in 2 of 3 labelled hits, on ordinary commits in 1 of 2")


def test_the_documents_state_both_shares_of_removed_protections() -> None:
    removed = [one for one in labels("table") if one.rule.startswith("security/removed-")]
    undone = [one.true for one in removed if one.source.endswith(" undone")]
    ordinary = [one.true for one in removed if one.is_ordinary]
    guide = (Path(__file__).parents[3] / "docs" / "review.md").read_text(encoding="utf-8")
    text = " ".join(guide.split())
    assert f"{sum(undone)} of {len(undone)} on fixes undone" in text
    assert f"{sum(ordinary)} of {len(ordinary)} on ordinary commits" in text
    assert Confidence.of(rules())("security/removed-guard").why in text


def test_with_few_labelled_hits_the_family_counts() -> None:
    once, often = confidence(a=(1, 1), b=(0, 40)), confidence(a=(1, 1), b=(40, 40))
    assert once("bugs/a").confidence < often("bugs/a").confidence < 100
    assert once("bugs/a").why == "right in 1 of 1 labelled hit; with related rules in 1 of 41"
    assert not once("bugs/a").unproven


def test_fewer_than_ten_labels_of_a_rule_and_its_family_prove_little() -> None:
    few, enough = confidence(a=(5, 5), b=(4, 4)), confidence(a=(5, 5), b=(5, 5))
    assert (few("bugs/a").confidence, few("bugs/a").unproven) == (79, True)
    assert few("bugs/a").why == "right in 5 of 5 labelled hits; fewer than 10 prove little"
    assert enough("bugs/a").confidence > 80
    assert not enough("bugs/a").unproven


def test_a_rule_without_labels_has_what_its_family_or_else_all_rules_lead_to_expect() -> None:
    rated = confidence(a=(40, 40))
    share = expected_share([Hits(family="bugs/names", k=40, n=40)], PRIOR)
    assert 0.7 < share < 1, "between the mean of all rules and the share of the only rule"
    assert rated("bugs/b").confidence == int(100 * share)
    none = "no labelled hits of its own"
    assert rated("bugs/b").why == f"{none}; related rules were right in 40 of 40 labelled hits"
    why = f"{none}; all rules together were right in 40 of 40 labelled hits"
    assert rated("bugs/c") == (70, "measured", f"{why}; fewer than 10 prove little", True)
    assert rated("bugs/unheard-of") == rated("bugs/c")


def test_a_rule_without_labels_is_no_better_than_the_hits_that_its_text_counts() -> None:
    """One bad rule says little of its family to the model, but it is all that a reader sees."""
    rated = confidence(a=(10, 38))("bugs/b")
    assert rated.confidence == 26
    assert rated.why.endswith("related rules were right in 10 of 38 labelled hits")


def test_every_rule_says_why_and_what_to_do_and_is_named_like_its_family() -> None:
    ids = [rule.id for rule in rules()]
    assert len(ids) == len(set(ids))
    assert all(
        rule.why and rule.fix and rule.family.startswith(f"{rule.lens}/") for rule in rules()
    )


def test_a_fact_is_certain_whatever_the_table_says() -> None:
    fact = LensRule("bugs/broken", "bugs/x", why="", fix="", severity="critical", fact=True)
    assert Confidence.of([fact])(fact.id) == (100, "fact", "", False)


def test_no_rule_that_ships_without_labels_stands_above_its_family() -> None:
    """README and docs/review.md say what confidence is; 38 rules without a label showed 92 once."""
    made, rated = load_table(), Confidence.of(rules())
    mean, strength = made.prior.mean, made.prior.rule_strength
    for rule in rules():
        expected = made.families.get(rule.family, mean)
        own = made.rules.get(rule.id)
        if rule.fact:
            assert rated(rule.id).confidence == 100
        elif own is None:
            assert rated(rule.id).confidence <= 100 * expected, rule.id
        else:
            share = (own.k + strength * expected) / (own.n + strength)
            most = 79 if rated(rule.id).unproven else 100
            assert rated(rule.id).confidence == min(int(100 * share), most), rule.id


def test_more_true_hits_than_hits_are_refused() -> None:
    with pytest.raises(ValidationError, match="k can't exceed n"):
        Hits(family="bugs/names", k=3, n=2)


def test_the_table_that_ships_is_made_of_the_labels() -> None:
    """`python -m benchmarks.precision.table` writes it."""
    assert load_table() == table(labels("table"))
    raw = Path(precision.__file__).with_name("precision.json").read_text(encoding="utf-8")
    assert set(json.loads(raw)) == set(PrecisionTable.model_fields)


def test_the_figures_of_the_prior_are_published() -> None:
    prior = load_table().prior
    readme = Path(__file__).parents[3] / "benchmarks" / "README.md"
    row = f"| {prior.mean} | {prior.family_strength} hits | {prior.rule_strength} hits |"
    assert row in readme.read_text(encoding="utf-8").splitlines()


def test_the_labels_are_nowhere_more_likely_than_under_the_fitted_prior() -> None:
    made = load_table()
    families = by_family(made.rules.values())
    best = log_likelihood(families, made.prior)
    for mean, family, rule in product((0.9, 1, 1.1), (0.7, 1, 1.4), (0.7, 1, 1.4)):
        other = Prior(
            mean=made.prior.mean * mean,
            family_strength=made.prior.family_strength * family,
            rule_strength=made.prior.rule_strength * rule,
        )
        assert log_likelihood(families, other) <= best + 1e-3
