"""The feature matrix says yes, no, partly, or that no source says anything."""

import pytest

from leadhand_teams.competitors.features import has, matrix, only_one_has, same_feature
from leadhand_teams.competitors.output import CompetitorFact


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        ("✓", "yes"), ("Yes", "yes"), ("included", "yes"), ("unlimited", "yes"), ("10 GB", "yes"),
        ("✗", "no"), ("–", "no"), ("not available", "no"), ("None", "no"), ("kein", "no"),
        ("add-on", "partly"), ("Enterprise only", "partly"), ("beta", "partly"),
        ("", "unknown"), ("?", "unknown"), ("n.k.", "unknown"), ("tbd", "unknown"),
    ],
)  # fmt: skip
def test_a_cell_says_whether_a_feature_is_there(value: str, verdict: str) -> None:
    assert has(value) == verdict


@pytest.mark.parametrize(
    ("one", "two", "same"),
    [
        ("Single sign-on (SSO)", "SAML SSO", True),
        ("Audit logs", "audit log", True),
        ("API access", "REST API", True),
        ("Custom domains", "Own domain", True),
        ("24/7 support", "Email support", False),
        ("Shared inbox", "Shared calendar", False),
        ("10 projects", "20 projects", False),
    ],
)
def test_names_of_one_feature_are_recognised(one: str, two: str, same: bool) -> None:
    assert same_feature(one, two) is same


def facts(competitor: str, item: str, ref: str, values: dict[str, str]) -> list[CompetitorFact]:
    return [
        CompetitorFact(competitor=competitor, item=item, attribute=name, value=value, ref=ref)
        for name, value in values.items()
    ]


FACTS = [
    *facts("acme", "Basic", "a.md:3", {"SSO": "no"}),
    *facts("acme", "Pro", "a.md:9", {"Single sign-on": "yes", "Audit log": "yes"}),
    *facts("globex", "", "g.md:2", {"SSO": "✓", "Audit log": "✗"}),
    *facts("initech", "", "i.md:2", {"Seats": "12"}),
]


def test_some_plans_of_a_competitor_have_it_in_part() -> None:
    cells = {
        (one.attribute, one.competitor): one for one in matrix(FACTS, ["acme", "globex", "initech"])
    }
    assert {(*key, one.has, one.ref) for key, one in cells.items() if key[0] == "SSO"} == {
        ("SSO", "acme", "partly", "a.md:9"),
        ("SSO", "globex", "yes", "g.md:2"),
        ("SSO", "initech", "unknown", None),
    }
    assert cells["SSO", "acme"].value == "only Pro"


def test_only_a_stated_no_makes_a_feature_the_only_one() -> None:
    cells = matrix(FACTS, ["acme", "globex"])
    assert [(one.competitor, one.attribute) for one in only_one_has(cells)] == [
        ("acme", "Audit log")
    ]
    assert only_one_has(matrix(FACTS, ["acme", "globex", "initech"])) == []


def test_a_cell_has_a_limit_and_the_plans_in_brackets_but_not_its_own_name() -> None:
    stated = facts("acme", "Pro", "a.md:1", {"Single sign-on": "yes (SSO)", "Guests": "yes (20)"})
    assert [cell.value for cell in matrix(stated, ["acme"])] == ["Pro", "20 (Pro)"]
