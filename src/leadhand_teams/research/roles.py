"""Decides by names and figures which columns are measures, labels or times; queries nothing."""

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from leadhand.tools.sql import quoted_name
from leadhand_teams.research.periods import GRAINS, Grain

_NUMBERS: Final = re.compile(r"^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*\))$")
_WHOLE: Final = re.compile(r"^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$")
_MOMENTS: Final = re.compile(r"^(DATE|TIMESTAMP.*)$")
_KEY_WORDS: Final = frozenset(
    {"id", "ids", "code", "key", "zip", "postcode", "phone", "index", "no"}
)
_TIME_WORDS: Final = frozenset(
    {"year", "yr", "fy", "month", "quarter", "qtr", "half", "day", "week", "date", "period"}
)
_LABELS: Final = "name title label product customer company country city"
_LABEL_WORDS: Final = tuple(_LABELS.split())
_MAX_LABEL_CHARS: Final = 80
_MAX_GROUPS: Final = 12
MAX_REQUESTED_GROUPS: Final = 500
"""Groups of a column that the request names."""
_FEW_ROWS: Final = 10
"""In a table with so few rows, a column of consecutive numbers may be a measure."""


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """One column in figures."""

    name: str
    type: str
    nulls: int
    distinct: int
    """Different values; approximate in a table of more than a million rows."""
    minimum: str | None
    maximum: str | None
    mean: float | None
    """Of numbers."""
    mean_chars: float | None
    """The mean length of texts."""
    top: tuple[tuple[str, int], ...] = ()
    """The most frequent values with their counts, if values repeat."""


@dataclass(frozen=True, slots=True)
class TimeColumns:
    """The columns that date the rows of a table."""

    columns: tuple[str, ...]
    """One column, or a year and its quarter or month."""
    grain: Grain
    expression: str
    """SQL that gives `2024`, `2024-Q3`, `2024-07` or `2024-07-31`, or NULL."""

    @property
    def shown(self) -> str:
        """SQL for the time of a row, which may be more precise than its period."""
        is_date = len(self.columns) == 1 and self.grain != "quarter"
        return f"{quoted_name(self.columns[0])}::VARCHAR" if is_date else self.expression


def period_type(grain: Grain) -> str:
    """The type of a column whose texts were read as periods of `grain`."""
    return f"PERIOD {grain}"


def is_number(kind: str) -> bool:
    """Whether `kind` is a DuckDB type of numbers."""
    return _NUMBERS.match(kind) is not None


def measure_columns(columns: Sequence[ColumnProfile], rows: int) -> tuple[ColumnProfile, ...]:
    """The columns whose numbers can be ranked: without keys, row numbers and years."""
    return tuple(
        column
        for column in columns
        if is_number(column.type)
        and column.distinct > 1
        and not name_words(column.name) & (_KEY_WORDS | _TIME_WORDS)
        and not _is_row_number(column, rows)
    )


def label_column(columns: Sequence[ColumnProfile], rows: int) -> ColumnProfile | None:
    """The column that names rows best: with short texts, many distinct ones, and a typical name."""

    def fitness(column: ColumnProfile) -> float:
        named = any(word in column.name.lower() for word in _LABEL_WORDS)
        return (column.distinct - column.nulls) / max(rows, 1) + (0.5 if named else 0.0)

    return max(_names(columns), key=fitness, default=None)


def group_column(
    columns: Sequence[ColumnProfile], wanted: Callable[[str], bool]
) -> ColumnProfile | None:
    """The column to group by: one whose name is `wanted`, else the first with few values."""
    names = _names(columns)
    requested = (one for one in names if wanted(one.name) and one.distinct <= MAX_REQUESTED_GROUPS)
    few = (one for one in names if one.distinct <= _MAX_GROUPS)
    return next(requested, None) or next(few, None)


def _names(columns: Sequence[ColumnProfile]) -> list[ColumnProfile]:
    return [
        column
        for column in columns
        if column.type == "VARCHAR"
        and column.distinct > 1
        and (column.mean_chars or 0) <= _MAX_LABEL_CHARS
        and not name_words(column.name) & _TIME_WORDS
    ]


def time_columns(columns: Sequence[ColumnProfile]) -> TimeColumns | None:
    """The time columns: a date, a year (with a quarter or month), or a text; None without them."""
    moment = next((column for column in columns if _MOMENTS.match(column.type)), None)
    if moment is not None:
        return _of_moment(moment)
    year = next((column for column in columns if _is_year(column)), None)
    if year is not None:
        return _of_year(year, columns)
    return _of_text(columns)


def _of_text(columns: Sequence[ColumnProfile]) -> TimeColumns | None:
    for column, grain in itertools.product(columns, GRAINS):
        is_named = grain != "year" or bool(name_words(column.name) & _TIME_WORDS)
        if column.type == period_type(grain) and is_named and column.distinct > 1:
            return TimeColumns((column.name,), grain, quoted_name(column.name))
    return None


_QUARTERS: Final = re.compile(r"^[Qq]?[1-4]$")
_MONTHS: Final = re.compile(r"^(0?[1-9]|1[0-2])$")


def _of_moment(moment: ColumnProfile) -> TimeColumns | None:
    if moment.minimum is None or moment.maximum is None:
        return None
    # The text of a timestamp starts with its date.
    first, last = moment.minimum[:10], moment.maximum[:10]
    if int(last[:4]) - int(first[:4]) >= 2:
        grain, form = "year", "%Y"
    elif first[:7] != last[:7]:
        grain, form = "month", "%Y-%m"
    elif moment.distinct > 1:
        grain, form = "day", "%Y-%m-%d"
    else:
        return None
    return TimeColumns((moment.name,), grain, f"strftime({quoted_name(moment.name)}, '{form}')")


def _of_year(year: ColumnProfile, columns: Sequence[ColumnProfile]) -> TimeColumns | None:
    name = quoted_name(year.name)
    for column in columns:
        part = quoted_name(column.name)
        low, high = column.minimum or "", column.maximum or ""
        named = name_words(column.name)
        if named & {"quarter", "qtr"} and _QUARTERS.match(low) and _QUARTERS.match(high):
            text = f"{name}::VARCHAR || '-Q' || right({part}::VARCHAR, 1)"
            return TimeColumns((year.name, column.name), "quarter", text)
        if "month" in named and _MONTHS.match(low) and _MONTHS.match(high):
            text = f"{name}::VARCHAR || '-' || lpad({part}::VARCHAR, 2, '0')"
            return TimeColumns((year.name, column.name), "month", text)
    return TimeColumns((year.name,), "year", f"{name}::VARCHAR") if year.distinct > 1 else None


def _is_year(column: ColumnProfile) -> bool:
    named = "year" in column.name.lower() or name_words(column.name) & {"yr", "fy"}
    if not named or not _WHOLE.match(column.type):
        return False
    return 1000 <= int(column.minimum or 0) <= int(column.maximum or 0) <= 2999


def _is_row_number(column: ColumnProfile, rows: int) -> bool:
    """Whether a column numbers the rows: consecutive whole numbers, each once."""
    if not _WHOLE.match(column.type) or column.minimum is None or column.maximum is None:
        return False
    span = int(column.maximum) - int(column.minimum) + 1
    return rows > _FEW_ROWS and column.nulls == 0 and span == rows == column.distinct


def name_words(name: str) -> set[str]:
    """The words of a column's name: `order` and `id` for `orderId` and `order_id`."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return set(re.findall(r"[a-z]+", apart.lower()))
