"""Recognises periods in texts: `FY23`, `Q1 2024`, `Jan-24`, `2024/25`; pure functions.

They are normalised to names that sort: `2024`, `2024-H1`, `2024-Q3`, `2024-07`, `2024-W05`,
`2024-07-31`, and without a year `Q3` or `07`.
"""

import datetime as dt
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

Grain = Literal["year", "half", "quarter", "month", "week", "day"]
GRAINS: Final[tuple[Grain, ...]] = get_args(Grain)

MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_MONTH_NUMBERS: Final = {
    name[:length].lower(): n
    for n, name in enumerate(MONTHS, 1)
    for length in (3, 4 if name == "September" else 3, len(name))
}
_MONTH: Final = "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True))
_YEAR: Final = r"(?P<year>(?:19|20)\d\d)"
_SHORT: Final = r"'?(?P<short>\d\d)"
_ANY_YEAR: Final = rf"(?:{_YEAR}|{_SHORT})"
_GAP: Final = r"[\s_./-]*"
_FORMS: Final[tuple[tuple[Grain, str], ...]] = (
    ("day", rf"{_YEAR}-(?P<month>0[1-9]|1[0-2])-(?P<day>[0-3]\d)"),
    ("day", rf"(?P<day>[0-3]?\d)\.(?P<month>0?[1-9]|1[0-2])\.{_YEAR}"),
    ("year", rf"(?:fy|year|cy|y|x)?{_GAP}{_YEAR}(?:{_GAP}fy)?"),
    ("year", rf"(?:fy|cy){_GAP}{_SHORT}"),
    ("year", rf"(?:fy)?{_GAP}{_YEAR}[/-](?P<to>\d\d|(?:19|20)\d\d)"),
    ("half", rf"(?:h(?P<half>[12])|(?P<half2>[12])h){_GAP}(?:fy)?{_ANY_YEAR}"),
    ("half", rf"(?:fy)?{_YEAR}{_GAP}h(?P<half>[12])"),
    ("quarter", rf"(?:q(?P<quarter>[1-4])|(?P<quarter2>[1-4])q){_GAP}(?:fy)?{_ANY_YEAR}"),
    ("quarter", rf"quarter{_GAP}(?P<quarter>[1-4])[\s,_./-]*{_YEAR}"),
    ("quarter", rf"(?:fy)?{_YEAR}{_GAP}(?:q|quarter{_GAP})(?P<quarter>[1-4])"),
    ("quarter", rf"fy{_SHORT}{_GAP}q(?P<quarter>[1-4])"),
    ("month", rf"(?P<name>{_MONTH})\.?,?{_GAP}{_ANY_YEAR}"),
    ("month", rf"{_YEAR}{_GAP}(?P<name>{_MONTH})\.?"),
    ("month", rf"{_YEAR}[\s_./-]?m?(?P<month>0[1-9]|1[0-2])"),
    ("month", rf"(?P<month>0?[1-9]|1[0-2])[/._-]{_YEAR}"),
    ("week", rf"{_YEAR}{_GAP}(?:w|cw|kw|week){_GAP}(?P<week>[0-5]?\d)"),
    ("week", rf"(?:w|cw|kw|week){_GAP}(?P<week>[0-5]?\d){_GAP}{_YEAR}"),
    ("quarter", r"(?:q|quarter)[\s_-]*(?P<quarter>[1-4])|(?P<quarter2>[1-4])q"),
    ("half", r"h[\s_-]*(?P<half>[12])"),
    ("month", rf"(?P<name>{_MONTH})\.?"),
)
_WHOLE: Final[tuple[tuple[Grain, re.Pattern[str]], ...]] = tuple(
    (grain, re.compile(form, re.IGNORECASE)) for grain, form in _FORMS
)
_WITHIN: Final[tuple[tuple[Grain, re.Pattern[str]], ...]] = (
    *(
        (grain, re.compile(rf"(?<![^\W_])(?:{form})(?![^\W_])", re.IGNORECASE))
        for grain, form in _FORMS
    ),
    ("year", re.compile(rf"(?<!\d){_YEAR}(?!\d)")),
)
_EDGES: Final = " _-./:()[]"


@dataclass(frozen=True, slots=True)
class PeriodName:
    """One period."""

    grain: Grain
    text: str
    """The normalised name."""


@dataclass(frozen=True, slots=True)
class NameWithPeriod:
    """A name with a period in it, for example that of a column: `Revenue FY23`."""

    name: str
    period: PeriodName
    rest: str
    """The name without its period: `Revenue`; may be empty."""


def parse_period(text: str) -> PeriodName | None:
    """The period that `text` is the name of, or None."""
    for grain, form in _WHOLE:
        if (found := form.fullmatch(text.strip())) and (read := _read(grain, found)):
            return read
    return None


def period_in_name(name: str) -> NameWithPeriod | None:
    """`name` with the period in it; None if there is no period."""
    if (whole := parse_period(name)) is not None:
        return NameWithPeriod(name, whole, "")
    matches: list[tuple[re.Match[str], Grain]] = [
        (found, grain) for grain, form in _WITHIN if (found := form.search(name))
    ]
    # The longest match: `Jan 2024` rather than `2024`.
    matches.sort(key=lambda one: one[0].start() - one[0].end())
    for found, grain in matches:
        if read := _read(grain, found):
            before, after = name[: found.start()].strip(_EDGES), name[found.end() :].strip(_EDGES)
            return NameWithPeriod(name, read, " ".join(filter(None, (before, after))))
    return None


def parse_periods(texts: Sequence[str]) -> dict[str, PeriodName] | None:
    """The period of each of `texts`; None unless all are of one grain and at least two differ.

    `2011-12` and `2012-13` together are years that start in one calendar year and end in the next.
    """
    if texts and all(_SPLIT.fullmatch(text.strip()) for text in texts):
        ends = [_SPLIT.fullmatch(text.strip()) for text in texts]
        if all(one and (int(one[1]) + 1) % 100 == int(one[2]) for one in ends):
            years = {text: PeriodName("year", text.strip().replace("-", "/")) for text in texts}
            return years if len({one.text for one in years.values()}) > 1 else None
    read = {text: parse_period(text) for text in texts}
    found = {text: one for text, one in read.items() if one is not None}
    return found if len(found) == len(read) and is_one_series(found.values()) else None


_SPLIT: Final = re.compile(r"(\d{4})[/-](\d\d)")


def is_one_series(periods: Iterable[PeriodName]) -> bool:
    """Whether `periods` have one grain, all or none have a year, and they are not all equal."""
    every = list(periods)
    forms = {(one.grain, one.text[:1].isdigit() and len(one.text) > 2) for one in every}
    return len(forms) == 1 and len({one.text for one in every}) > 1


def period_number(text: str, grain: Grain) -> int:
    """The number of a normalised period of a grain; consecutive periods differ by 1."""
    match grain:
        case "year":
            return int(text[:4])
        case "day":
            return dt.date.fromisoformat(text).toordinal()
        case _:
            each = {"half": 2, "quarter": 4, "month": 12, "week": 52}[grain]
            year, _, part = text.rpartition("-")
            return int(year or 0) * each + int(part.lstrip("HQW"))


def period_label(text: str) -> str:
    """The display name of a period: a month without a year by its name."""
    return MONTHS[int(text) - 1][:3] if re.fullmatch(r"\d\d", text) else text


def _read(grain: Grain, found: re.Match[str]) -> PeriodName | None:
    parts = {name: value for name, value in found.groupdict().items() if value is not None}
    if "to" in parts and (int(parts["year"]) + 1) % 100 != int(parts["to"]) % 100:
        return None
    year = parts.get("year") or (f"20{parts['short']}" if "short" in parts else "")
    before = f"{year}-" if year else ""
    number = next((parts[n] for n in (grain, f"{grain}2") if n in parts), "")
    match grain:
        case "year":
            return PeriodName(grain, f"{year}/{parts['to'][-2:]}" if "to" in parts else year)
        case "half":
            return PeriodName(grain, f"{before}H{number}")
        case "quarter":
            return PeriodName(grain, f"{before}Q{number}")
        case "week":
            return (
                PeriodName(grain, f"{before}W{int(number):02}") if 1 <= int(number) <= 53 else None
            )
        case "day":
            return PeriodName(grain, f"{before}{int(parts['month']):02}-{int(number):02}")
        case "month":
            named = _MONTH_NUMBERS.get(parts.get("name", "").lower())
            return PeriodName(grain, f"{before}{named or int(number):02}")
