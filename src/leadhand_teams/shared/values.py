"""Numbers, money, percentages, dates and periods in text, and their form in reports. Pure."""

import datetime as dt
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import yaml

DecimalMark = Literal[".", ","]
PeriodKind = Literal["month", "quarter", "half", "year"]
DayOrder = Literal["day", "month"]
"""What comes first in `3/4/2025`."""

WORDS: Final[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("values.yaml").read_text(encoding="utf-8")
)
"""What is in `values.yaml`."""
_CODES: Final[frozenset[str]] = frozenset(WORDS["codes"].split())
CURRENCIES: Final[dict[str, str]] = {
    mark: code for code, marks in WORDS["currencies"].items() for mark in marks.split()
}
_SCALES: Final[dict[str, float]] = {
    word: float(scale) for scale, words in WORDS["scales"].items() for word in words.split()
}

_MARK: Final = "|".join(re.escape(mark) for mark in sorted(CURRENCIES, key=len, reverse=True))
_CURRENCY: Final = rf"(?:{_MARK}|\b(?:{'|'.join(sorted(_CODES))})\b)"
_DIGITS: Final = r"\d{1,3}(?:[,.'’ \u00a0\u202f]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
_SCALE: Final = (
    r"(?:[ \u00a0]?(?:million(?:s|en)?|billion|milliarden|thousand|mrd|mio|tsd|mn|bn)\b\.?|[km]\b)"
)
AMOUNT: Final = re.compile(
    rf"(?P<before>{_CURRENCY})?[ \u00a0]?(?P<sign>[-+−–]?)(?P<inner>{_CURRENCY})?[ \u00a0]?"
    rf"(?<![\w.,:])(?P<digits>{_DIGITS})(?!\d|:\d)(?P<scale>{_SCALE})?"
    r"(?:[ \u00a0]?(?P<percent>%|percent\b|per cent\b|prozent\b)"
    rf"|[ \u00a0]?(?P<after>{_CURRENCY}))?",
    re.IGNORECASE,
)
_PLAIN: Final = re.compile(r"[-+−–]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_FAST: Final = re.compile(r"-?\d{1,15}(?:\.\d{1,9})?")
_GROUP: Final = re.compile(r"[’' \u00a0\u202f]")
_AMBIGUOUS: Final = re.compile(r"[-+−–]?\d{1,3}[.,]\d{3}")

_MONTH_NAMES: Final[list[str]] = WORDS["months"]
MONTHS: Final = {
    name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()
}
"""The month of each of its names."""
_DAYS: Final = {word: number for number, word in enumerate(WORDS["days"].split(), 1)}


def _pattern(text: str) -> re.Pattern[str]:
    months, days = ("|".join(sorted(one, key=len, reverse=True)) for one in (MONTHS, _DAYS))
    text = text.replace("<y>", r"(?P<y>(?:19|20)\d\d)", 1) if "?P<y>" not in text else text
    text = text.replace("<month>", rf"(?P<name>{months})\b\.?").replace(
        "<day>", f"(?P<word>{days})"
    )
    return re.compile(text, re.IGNORECASE)


_DATES: Final = [_pattern(one) for one in WORDS["dates"]]
_PERIODS: Final[dict[str, list[tuple[PeriodKind, re.Pattern[str]]]]] = {
    name: [(kind, _pattern(one)) for kind, one in WORDS[name]]
    for name in ("periods", "bare_periods")
}
_AROUND: Final = re.compile(WORDS["around_dates"])
_MONTHS_OF: Final = {"year": 12, "half": 6, "quarter": 3, "month": 1}
MONTH_NAMES: Final = [names.split()[0].capitalize() for names in _MONTH_NAMES]
NO_YEAR: Final = 1
"""The year of a period that was named without one."""


@dataclass(frozen=True, slots=True)
class NumberFound:
    """A number in a text."""

    value: float
    """With its scale: `2.5 million` is 2,500,000; a percentage stays as written, 12 for `12 %`."""
    unit: str | None
    """A currency's code, `%`, or None."""
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class DateFound:
    """A date in a text."""

    value: dt.date
    start: int
    end: int
    text: str
    ambiguous: bool = False
    """Whether day and month could be the other way round."""


@dataclass(frozen=True, slots=True)
class Period:
    """A month, quarter, half year or year."""

    kind: PeriodKind
    start: dt.date
    text: str = ""
    """As written."""

    @property
    def end(self) -> dt.date:
        """Its last day."""
        months = self.start.month - 1 + _MONTHS_OF[self.kind]
        first = dt.date(self.start.year + months // 12, months % 12 + 1, 1)
        return first - dt.timedelta(days=1)

    @property
    def label(self) -> str:
        """`2025`, `first half of 2025`, `Q1 2025` or `March 2025`."""
        month = self.start.month
        year = f" {self.start.year}" if self.start.year != NO_YEAR else ""
        return {
            "year": year.strip(),
            "half": f"{'first' if month == 1 else 'second'} half{' of' * bool(year)}{year}",
            "quarter": f"Q{(month + 2) // 3}{year}",
            "month": f"{MONTH_NAMES[month - 1]}{year}",
        }[self.kind]


def number(text: str, mark: DecimalMark | None = None) -> float | None:
    """The number that `text` is, without currency and percent sign; None if it is none.

    `mark` separates decimals. Without it the last separator does, unless it occurs twice or three
    digits follow a single comma.
    """
    if mark != "," and _FAST.fullmatch(text):
        return float(text)
    bare = text.strip().replace("−", "-").replace("–", "-")
    negative = bare.startswith("(") and bare.endswith(")")
    bare = bare[1:-1] if negative else bare
    found = AMOUNT.fullmatch(bare.strip())
    if found is None:
        plain = _PLAIN.fullmatch(bare)
        value = float(bare) if plain else None
        return value if value is None or math.isfinite(value) else None
    value = _value(found, mark)
    return None if math.isinf(value) else -value if negative else value


def is_ambiguous(text: str) -> bool:
    """Whether `text` is a number such as `1.234`, of one thousand or of about one."""
    return _AMBIGUOUS.fullmatch(_bare(text)) is not None


def decimal_mark(text: str) -> DecimalMark | None:
    """The mark before the decimals in the number `text`, where it can only be that one."""
    if text.isdigit():
        return None
    bare = _GROUP.sub("", _bare(text)).lstrip("-+−–")
    points, commas = bare.count("."), bare.count(",")
    if points and commas:
        return "." if bare.rindex(".") > bare.rindex(",") else ","
    if points > 1 or commas > 1:
        return "," if points else "."
    if (points or commas) and (bare.startswith("0") or not is_ambiguous(text)):
        return "." if points else ","
    return None


def unit_of(text: str) -> str | None:
    """The currency's code, or `%`, in `text`, which is a number or a column's name."""
    if _FAST.fullmatch(text):
        return None
    if re.search(r"%|percent|(?<![a-z])pct(?![a-z])", text, re.IGNORECASE):
        return "%"
    found = re.search(_CURRENCY, text) or re.search(_CURRENCY, text, re.IGNORECASE)
    return _code(found[0]) if found else None


def amounts(text: str, mark: DecimalMark | None = None) -> Iterator[NumberFound]:
    """The numbers in `text`, in order; not those of dates."""
    taken = [(found.start, found.end) for found in dates(text)]
    for found in AMOUNT.finditer(text):
        if len(found["digits"]) > 300 or any(
            start < found.end() and found.start("digits") < end for start, end in taken
        ):
            continue
        unit = found["before"] or found["inner"] or found["after"]
        start = found.start() + len(found[0]) - len(found[0].lstrip())
        yield NumberFound(
            _value(found, mark),
            "%" if found["percent"] else _code(unit) if unit else None,
            start,
            found.end(),
            text[start : found.end()],
        )


def unused(request: str, text: str) -> list[str]:
    """The numbers of a request, except in dates, that `text` has nowhere: it did not use them."""
    known = {round(one.value, 6) for one in amounts(text)}
    found = (one for one in amounts(request) if round(one.value, 6) not in known)
    return list(dict.fromkeys(one.text.strip() for one in found))


def dates(text: str, order: DayOrder | None = None) -> list[DateFound]:
    """The dates in `text`, in order; of `3/4/2025`, `order` says what comes first.

    Without it, day first if the mark is a point, else month first, and the date is `ambiguous`
    where both would do.
    """
    found: list[DateFound] = []
    for pattern in _DATES:
        for match in pattern.finditer(text):
            if any(one.start < match.end() and match.start() < one.end for one in found):
                continue
            value, ambiguous = _date(match, order)
            if value is not None:
                found.append(DateFound(value, match.start(), match.end(), match[0], ambiguous))
    return sorted(found, key=lambda one: one.start)


def date(text: str, order: DayOrder | None = None) -> DateFound | None:
    """The date that `text` is, perhaps with a time of day; None if it is none."""
    bare = _AROUND.sub("", text.strip())
    found = dates(bare, order)
    whole = len(found) == 1 and (found[0].start, found[0].end) == (0, len(bare))
    return found[0] if whole else None


def periods(text: str, *, bare: bool = False) -> list[Period]:
    """The months, quarters, half years and years that `text` names with their year, in order.

    `bare`: also those without a year, as of the year `NO_YEAR`.
    """
    taken = [(one.start, one.end) for one in dates(text)]
    found: list[tuple[int, Period]] = []
    for kind, pattern in _PERIODS["periods"] + _PERIODS["bare_periods"] * bare:
        for match in pattern.finditer(text):
            if any(start < match.end() and match.start() < end for start, end in taken):
                continue
            taken.append(match.span())
            found.append((match.start(), _period(kind, match)))
    return [period for _, period in sorted(found, key=lambda pair: pair[0])]


def period(text: str) -> Period | None:
    """The period that the whole of `text` names; None if it is none."""
    found = periods(text.strip())
    return found[0] if len(found) == 1 and found[0].text == text.strip() else None


def number_text(value: float, *, digits: int | None = None) -> str:
    """`1,234.5`; without `digits`, as many decimals as tell it from its neighbours, at most 2.

    Below 1, two significant digits.
    """
    if not math.isfinite(value):
        return "not a number"
    small = 0 < abs(value) < 0.1
    needed = min(10, 1 - math.floor(math.log10(abs(value)))) if small else 2
    text = f"{value:,.{needed if digits is None else digits}f}"
    text = text.rstrip("0").rstrip(".") if digits is None else text
    return "0" if text in ("-0", "") else text


def amount_text(value: float, unit: str | None = None, *, digits: int | None = None) -> str:
    """A number with its unit: `1,234.50 EUR`, `12.5 %`, `1,234`."""
    if unit in _CODES and digits is None:
        digits = 0 if float(value).is_integer() else 2
    if unit == "%" and digits is None:
        digits = 1 if abs(value) >= 0.1 else None
    text = number_text(value, digits=digits)
    return f"{text} {unit}" if unit else text


def date_text(value: dt.date) -> str:
    """`3 April 2025`."""
    return f"{value.day} {MONTH_NAMES[value.month - 1]} {value.year}"


def _bare(text: str) -> str:
    found = AMOUNT.fullmatch(text.strip().strip("()"))
    return found["digits"] if found else text.strip()


def _value(found: re.Match[str], mark: DecimalMark | None) -> float:
    digits = _GROUP.sub("", found["digits"])
    mark = mark or decimal_mark(digits) or ("." if "." in digits else None)
    group = "." if mark == "," else ","
    value = float(digits.replace(group, "").replace(",", "."))
    scale = (found["scale"] or "").strip().rstrip(".").lower()
    value *= _SCALES.get(scale, 1)
    return -value if found["sign"] in ("-", "−", "–") and found["sign"] else value


def _code(mark: str) -> str:
    return CURRENCIES.get(mark) or CURRENCIES.get(mark.lower()) or mark.upper()


def _date(match: re.Match[str], order: DayOrder | None) -> tuple[dt.date | None, bool]:
    parts = match.groupdict()
    year = int(parts["y"])
    year += 0 if year > 99 else 2000 if year < 70 else 1900
    if parts.get("a"):
        day, month, bare = int(parts["a"]), int(parts["b"]), parts["mark"] != "."
        ambiguous = order is None and bare and max(day, month) <= 12 and day != month
        is_month_first = order == "month" or (order is None and bare)
        if month > 12 or (is_month_first and day <= 12):
            day, month = month, day
    else:
        name, word, ambiguous = parts.get("name"), parts.get("word"), False
        day = _DAYS[word.lower()] if word else int(parts["d"])
        month = MONTHS[name.lower()] if name else int(parts["m"])
    try:
        return dt.date(year, month, day), ambiguous
    except ValueError:
        return None, False


def _period(kind: PeriodKind, match: re.Match[str]) -> Period:
    parts = match.groupdict()
    year = int(parts.get("y") or NO_YEAR)
    name, word = parts.get("name"), parts.get("word")
    n = int(parts.get("n") or 1)
    if name:
        n = MONTHS[name.lower()]
    elif word:
        n = (_DAYS | {"last": 4})[word.lower()]
    return Period(kind, dt.date(year, (n - 1) * _MONTHS_OF[kind] + 1, 1), match[0])
