"""Everyday words of questions beside the words of documents."""

import pytest

from leadhand_teams.shared.everyday import alike, phrases, subjects
from leadhand_teams.shared.search import stem


@pytest.mark.parametrize(
    ("question", "nouns"),
    [
        ("I dropped my phone yesterday by mistake. Who repairs it?", ["phone"]),
        ("May the landlord throttle my broadband?", ["landlord", "broadband"]),
        ("Can I quickly take Veltrax with alcohol?", ["Veltrax", "alcohol"]),
        ("How do I get it back?", []),
        ("What is error 812 on gw-2?", ["error", "812", "gw-2"]),
    ],
)
def test_only_nouns_and_names_are_what_a_question_is_about(question: str, nouns: list[str]) -> None:
    assert subjects(question) == nouns


def test_words_and_phrases_that_mean_the_same_are_found_in_any_form() -> None:
    assert {"delet", "remov"} <= alike(stem("wiping"))
    assert phrases("How do I pay it off?", apart=2) == ["pay_off"]
    assert phrases("How do I pay it off?") == []
    assert stem("repay") in alike("pay_off")
    assert alike("xylophon") == {"xylophon"}
