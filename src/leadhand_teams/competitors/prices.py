"""Prices and numbers as pages and tables write them, made comparable. Pure."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from leadhand_teams.shared.values import amounts, number, unit_of

VOCABULARY: Final[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("vocabulary.yaml").read_text(encoding="utf-8")
)
PATTERNS: Final = {name: re.compile(one, re.I) for name, one in VOCABULARY["patterns"].items()}
_MONTHS: Final[dict[str, float]] = VOCABULARY["months"]
_PERIOD: Final[dict[str, str]] = VOCABULARY["periods"]
_NUMBERS: Final[dict[str, str]] = VOCABULARY["numbers"]
_WORD: Final = re.compile(rf"\b({'|'.join(_NUMBERS)})\b", re.IGNORECASE)


class Price(NamedTuple):
    """An amount of money, what it is for, and the same for a month and a round number of units."""

    amount: float
    currency: str
    """Its code; empty if the source does not say."""
    per: str
    """In words: `seat per year`, `1,000 tokens`; empty: once."""
    comparable: float
    comparable_per: str


def prices(text: str) -> Iterator[tuple[Price, int]]:
    """The prices in a line of text, each with its offset; `any` of them says whether it has one."""
    for found in amounts(text):
        if found.unit and found.unit != "%":
            yield _priced(found.value, found.unit, text[found.end :]), found.start


def price_of(value: str, *, heading: str) -> Price | None:
    """The price in a table's cell; the column's heading may say what it is for."""
    per = PATTERNS["per in heading"].search(heading)
    rest = f" {heading[per.start() :]}" if per else ""
    for price, _ in prices(value):
        return price if price.per else _priced(price.amount, price.currency, rest)
    amount, currency = number(value), unit_of(heading)
    if amount is None or currency == "%" or not (currency or PATTERNS["price"].search(heading)):
        return None
    return _priced(amount, currency or "", rest)


def comparable_price(price: str) -> str:
    """Make a written price comparable: `$144/year per user` is 12 USD for seat per month."""
    for found, _ in prices(price):
        return f"{found.comparable:,.6g} {found.currency} for {found.comparable_per or 'one'}"
    return f"There is no price in {price!r}: write it like `$12 per user per month`."


def _priced(amount: float, currency: str, rest: str) -> Price:
    """The price whose unit, seat and period `rest` says."""
    seat, period, unit, count, at = None, None, None, 1.0, 0
    while (found := PATTERNS["per"].match(rest, at)) and at < 120:
        word = (found["unit"] or found["loose"]).lower()
        is_plural = word.endswith("s") and len(word) > 3 and word not in _PERIOD
        singular = word[:-1] if is_plural else word
        if PATTERNS["seats"].match(word):
            seat = "seat"
        elif singular in _PERIOD:
            period = period or _PERIOD[singular]
        elif unit is None:
            unit = singular
            count = number(f"{found['count'] or 1}{found['scale'] or ''}") or 1.0
        else:
            break
        at = found.end()
    base = 1e3 if count >= 100 else 1.0
    base = 1e6 if unit == "token" and count >= 1e3 else base
    comparable = amount / count * base / (_MONTHS[period] if period else 1)

    def words(count: float, period: str | None) -> str:
        units = f"{count:,.0f} {unit}s" if unit and count != 1 else unit
        return " per ".join(filter(None, (seat, units, period)))

    per, comparable_per = words(count, period), words(base, "month" if period else None)
    return Price(amount, currency, per, round(comparable, 6), comparable_per)


class Quantity(NamedTuple):
    """A number in a text: `unit` is a currency, `%`, `gb` or empty, `noun` the word after it."""

    value: float
    unit: str
    noun: str

    def __str__(self) -> str:
        return " ".join(filter(None, (f"{self.value:,.10g}", self.unit.upper(), self.noun)))


def quantities(text: str) -> list[Quantity]:
    """The numbers of a text in their order, without those of addresses; `ten` is 10."""
    text = PATTERNS["address"].sub(" ", text)
    text = _WORD.sub(lambda word: _NUMBERS[word[1].lower()], text)
    found: list[Quantity] = []
    for one in amounts(text, "."):
        if after := PATTERNS["counted"].match(text, one.end):
            unit = (after["unit"] or one.unit or "").lower()
            found.append(Quantity(one.value, unit, (after["noun"] or "").lower()))
    return found
