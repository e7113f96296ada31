"""Which statements of a model are kept."""

import pytest

from leadhand_teams.shared.reading import Text
from leadhand_teams.shared.statements import Statement, check

CONTRACT = Text(
    "contract.txt",
    "1. Term.\nThis Agreement lasts for two\nyears from 3 April 2025.\n"
    "2. Fee. The fee is $1,200 a month, see https://example.org/fees.\n",
)


def said(text: str, quote: str, ref: str = "contract.txt:1") -> Statement:
    return Statement(text=text, ref=ref, quote=quote)


def test_a_quote_in_the_source_is_kept_with_its_own_place() -> None:
    statement = said("It ends after two years.", "agreement lasts for two years")
    (kept,) = check([statement], [CONTRACT]).kept
    assert kept.ref == "contract.txt:2"


def test_a_period_in_words_may_be_quoted_in_digits() -> None:
    statement = said("It costs $1,200 each of twelve months.", "Pay for 12 months at $1,200.")
    source = Text("contract.txt", "Pay for 12 months at $1,200.")
    assert check([statement], [source]).kept
    word = said("Not one of the parties may assign it.", "Pay for 12 months at $1,200.")
    assert check([word], [source]).kept


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        (said("It is renewed.", "renews automatically each year"), "does not have these words"),
        (said("It ends.", "lasts for two", ref="other.txt:1"), "no such source"),
        (said("It ends.", "lasts"), "too short"),
        (said("The fee is $1,300.", "The fee is $1,200 a month"), "$1,300 is neither"),
        (said("It lasts at most one year.", "agreement lasts for two years"), "1 is neither"),
        (said("See https://evil.example/x", "The fee is $1,200 a month"), "address"),
        (said("See [this](//evil.example)", "The fee is $1,200 a month"), "address"),
    ],
)
def test_other_statements_are_removed_and_counted(statement: Statement, why: str) -> None:
    checked = check([statement], [CONTRACT])
    assert checked.kept == ()
    assert why in checked.removed[0].why
    assert checked.note.startswith("1 statement of the model left out")


def test_the_same_words_are_kept_once() -> None:
    twice = [said("It ends.", "lasts for two years"), said("It ends.", "The fee is $1,200")]
    checked = check(twice, [CONTRACT])
    assert [one.quote for one in checked.kept] == ["lasts for two years"]
    assert "the same as another" in checked.removed[0].why


def test_a_number_may_be_quoted_or_computed() -> None:
    quote = "The fee is $1,200 a month"
    statements = [said("The fee is $1,200.", quote), said("A year costs $14,400.", quote)]
    assert len(check(statements, [CONTRACT], computed=[14_400]).kept) == 2
