"""Prices are read as people write them, and made comparable."""

import pytest

from leadhand_teams.competitors.prices import price_of, prices


@pytest.mark.parametrize(
    ("text", "amount", "currency", "per"),
    [
        ("$12 per user per month, billed annually", 12.0, "USD", "seat per month"),
        ("€144/year per seat", 12.0, "EUR", "seat per month"),
        ("1.234,50 € pro Nutzer und Monat", 1234.5, "EUR", "seat per month"),
        ("8 € par utilisateur et mois", 8.0, "EUR", "seat per month"),
        ("$0.50 / 1M tokens", 0.5, "USD", "1,000,000 tokens"),
        ("$0.002 per 1K tokens", 2.0, "USD", "1,000,000 tokens"),
        ("$5 per 10,000 emails", 0.5, "USD", "1,000 emails"),
        ("from $29/mo", 29.0, "USD", "month"),
        ("49 USD, yearly", 49 / 12, "USD", "month"),
    ],
)
def test_a_price_is_made_comparable(text: str, amount: float, currency: str, per: str) -> None:
    price, _ = next(prices(text))
    assert price.comparable == pytest.approx(amount, abs=1e-6)
    assert price.comparable_per == per
    assert price.currency == currency


def test_a_text_may_have_several_prices() -> None:
    found = [price.amount for price, _ in prices("$10 a month, or $100 a year")]
    assert found == [10.0, 100.0]


def test_the_heading_of_a_column_says_what_a_price_is_for() -> None:
    price = price_of("30.00", heading="Prompt cost (USD) per 1K tokens")
    assert price is not None
    assert (price.comparable, price.comparable_per) == (30_000.0, "1,000,000 tokens")
    assert price.currency == "USD"


@pytest.mark.parametrize("cell", ["12 seats", "", "contact us", "2025-01-01"])
def test_what_is_no_price_is_none(cell: str) -> None:
    assert price_of(cell, heading="Seats") is None
