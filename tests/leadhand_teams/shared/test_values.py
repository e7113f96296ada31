"""Numbers, dates and periods as people write them."""

import datetime as dt

import pytest

from leadhand_teams.shared import values


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("1.234,56", 1234.56, None),
        ("1,234.56", 1234.56, None),
        ("1'234.50", 1234.5, None),
        ("1\u00a0234,5", 1234.5, None),
        ("1,234,567", 1234567, None),
        ("€ 99", 99, "EUR"),
        ("99 EUR", 99, "EUR"),
        ("-$5.20", -5.2, "USD"),
        ("(1,200)", -1200, None),
        ("12,5 %", 12.5, "%"),
        ("$2.5 million", 2_500_000, "USD"),
        ("1.5k", 1500, None),
        ("1e5", 100_000, None),
        ("0.125", 0.125, None),
        ("abc", None, None),
        ("3 apples", None, None),
        ("", None, None),
        ("9" * 400, None, None),
    ],
)
def test_a_number_is_read_with_its_unit(text: str, value: float | None, unit: str | None) -> None:
    assert values.number(text) == value
    assert values.unit_of(text) == unit


def test_three_decimals_are_read_by_the_mark_of_their_column() -> None:
    assert values.is_ambiguous("1.234")
    assert values.number("1.234", ",") == 1234
    assert values.number("1.234", ".") == 1.234


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2025-04-03", dt.date(2025, 4, 3)),
        ("2025-04-03T10:00:00Z", dt.date(2025, 4, 3)),
        ("13/4/2025", dt.date(2025, 4, 13)),
        ("4/13/25", dt.date(2025, 4, 13)),
        ("3.4.2025", dt.date(2025, 4, 3)),
        ("1. März 2024", dt.date(2024, 3, 1)),
        ("3 avril 2025", dt.date(2025, 4, 3)),
        ("March 3rd, 2024", dt.date(2024, 3, 3)),
        ("15-Jan-2024", dt.date(2024, 1, 15)),
        ("the first day of March 2025", dt.date(2025, 3, 1)),
        ("2025-13-45", None),
        ("March", None),
    ],
)
def test_a_date_is_read_in_numbers_and_words(text: str, date: dt.date | None) -> None:
    found = values.date(text)
    assert (found.value if found else None) == date


def test_a_date_that_may_be_read_two_ways_says_so() -> None:
    (found,) = values.dates("due on 3/4/2025")
    assert found.ambiguous
    (found,) = values.dates("due on 3/4/2025", "day")
    assert (found.value, found.ambiguous) == (dt.date(2025, 4, 3), False)


def test_periods_are_found_with_their_last_day() -> None:
    text = "in Q3 2024, March 2025 and 2023, not in the first half of 2022 or on 3 May 2021"
    assert [(one.label, one.end) for one in values.periods(text)] == [
        ("Q3 2024", dt.date(2024, 9, 30)),
        ("March 2025", dt.date(2025, 3, 31)),
        ("2023", dt.date(2023, 12, 31)),
        ("first half of 2022", dt.date(2022, 6, 30)),
    ]


def test_amounts_of_a_text_leave_out_its_dates() -> None:
    found = values.amounts("EUR 1.234,50 on 3 April 2025, 12 percent more than the $2 million.")
    assert [(one.value, one.unit) for one in found] == [
        (1234.5, "EUR"),
        (12, "%"),
        (2_000_000, "USD"),
    ]


def test_figures_are_written_for_readers() -> None:
    assert values.amount_text(1234.5, "EUR") == "1,234.50 EUR"
    assert values.amount_text(1234.0, "EUR") == "1,234 EUR"
    assert values.amount_text(12.345, "%") == "12.3 %"
    assert values.number_text(0.0341) == "0.034"
    assert values.number_text(-0.0) == "0"
    assert values.date_text(dt.date(2025, 4, 3)) == "3 April 2025"
