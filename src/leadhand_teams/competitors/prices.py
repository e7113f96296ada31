"""Prices as pages and tables write them, made comparable per unit, seat and month. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from leadhand_teams.shared.values import amounts, number, unit_of

_PERIODS: Final = {
    "hour": (1 / 730, "h hr hour hourly"),
    "day": (12 / 365, "day daily tag"),
    "week": (12 / 52, "week weekly woche"),
    "month": (1.0, "mo month monthly monat mois mes"),
    "quarter": (3.0, "quarter quarterly"),
    "year": (12.0, "yr year yearly annual annually annum jahr an año"),
}
"""Months in each period, and the words for it."""
_PERIOD: Final = {word: name for name, (_, words) in _PERIODS.items() for word in words.split()}
_SEATS: Final = re.compile(
    r"users?|seats?|members?|agents?|editors?|person|people|employees?|licen[cs]es?|(?:be)?nutzer|"
    r"utilisateur|usuario"
)
_PER: Final = re.compile(
    r"\s*,?\s*(?:(?:/|\b(?:per|pro|par|por|an?|each|every|and|und|et|y)\b)\s*"
    r"(?P<count>\d[\d,.]*)?\s?(?P<scale>k|m|thousand|million|mio)?\b\s?(?P<unit>[^\W\d_]+)"
    r"|\(?(?P<loose>monthly|yearly|annual(?:ly)?|hourly|daily)\b)",
    re.IGNORECASE,
)
_PRICE_WORD: Final = re.compile(r"\b(?:pric\w+|costs?|fees?|preis\w*|kosten|prix|precios?)\b", re.I)


@dataclass(frozen=True, slots=True)
class Price:
    """An amount of money, and what it is for."""

    amount: float
    currency: str
    """Its code; empty if the source does not say."""
    seat: bool = False
    period: str | None = None
    """`month`, `year`, ...; None: once, or by use."""
    unit: str | None = None
    """What else it is for, in singular: `token`, `email`, `gb`."""
    count: float = 1.0
    """How many units it is for."""

    @property
    def per(self) -> str:
        """What it is for, in words: `seat per year`, `1,000 tokens`."""
        return self._words(self.count, self.period)

    @property
    def comparable(self) -> tuple[float, str]:
        """The amount for a month and a round number of units, and what that is in words."""
        base = 1e3 if self.count >= 100 else 1
        if self.unit == "token" and self.count >= 1e3:
            base = 1e6
        months = _PERIODS[self.period][0] if self.period else 1
        amount = self.amount / self.count * base / months
        return round(amount, 6), self._words(base, "month" if self.period else None)

    def _words(self, count: float, period: str | None) -> str:
        units = f"{count:,.0f} {self.unit}s" if self.unit and count != 1 else self.unit
        return " per ".join(filter(None, ("seat" if self.seat else None, units, period)))


def prices(text: str) -> Iterator[tuple[Price, int]]:
    """The prices in a line of text, each with its offset."""
    for found in amounts(text):
        if found.unit and found.unit != "%":
            yield _priced(found.value, found.unit, text[found.end :]), found.start


def price_of(value: str, *, heading: str) -> Price | None:
    """The price in a table's cell; the column's heading may say what it is for."""
    per = re.search(r"/|\b(?:per|pro|par|por|monthly|yearly|annual)\b", heading, re.IGNORECASE)
    rest = f" {heading[per.start() :]}" if per else ""
    for price, _ in prices(value):
        return price if price.per else _priced(price.amount, price.currency, rest)
    amount, currency = number(value), unit_of(heading)
    if amount is None or currency == "%" or not (currency or is_price_word(heading)):
        return None
    return _priced(amount, currency or "", rest)


def is_price_word(name: str) -> bool:
    """Whether an attribute's name says that it is a price."""
    return _PRICE_WORD.search(name) is not None


def _priced(amount: float, currency: str, rest: str) -> Price:
    seat, period, unit, count, at = False, None, None, 1.0, 0
    while (found := _PER.match(rest, at)) and at < 120:
        word = (found["unit"] or found["loose"]).lower()
        is_plural = word.endswith("s") and len(word) > 3 and word not in _PERIOD
        singular = word[:-1] if is_plural else word
        if _SEATS.fullmatch(word):
            seat = True
        elif singular in _PERIOD:
            period = period or _PERIOD[singular]
        elif unit is None:
            unit = singular
            count = number(f"{found['count'] or 1}{found['scale'] or ''}") or 1.0
        else:
            break
        at = found.end()
    return Price(amount, currency, seat, period, unit, count)
