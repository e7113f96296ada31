"""What each column of a table is good for, told from its name and its figures; pure functions.

Measures are numbers that it makes sense to rank and add up; labels name a row; a time-like column
says when. Nothing here asks the database.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from leadhand.tools.sql.names import quoted
from leadhand.tools.sql.periods import Grain

_NUMBERS: Final = re.compile(r"^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|FLOAT|DOUBLE|DECIMAL\(.*\))$")
_WHOLE: Final = re.compile(r"^U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?$")
_MOMENTS: Final = re.compile(r"^(DATE|TIMESTAMP.*)$")
_KEY_WORDS: Final = frozenset(
    {"id", "ids", "code", "key", "zip", "postcode", "phone", "index", "no"}
)
_TIME_WORDS: Final = frozenset(
    {"year", "yr", "fy", "month", "quarter", "qtr", "half", "day", "week", "date", "period"}
)
_LABEL_WORDS: Final = (
    "name",
    "title",
    "label",
    "product",
    "customer",
    "company",
    "country",
    "city",
)
_MAX_LABEL_CHARS: Final = 80
_MAX_GROUPS: Final = 12
MAX_GROUPS_ASKED_FOR: Final = 500
"""Groups of a column that a request names."""
_FEW_ROWS: Final = 10
"""In so small a table a column that counts up may well be a measure."""


@dataclass(frozen=True, slots=True)
class ColumnFigures:
    """What is known of one column of a table with `rows` rows."""

    name: str
    type: str
    nulls: int
    distinct: int
    """About, in a big table."""
    minimum: str | None
    maximum: str | None
    mean: float | None
    mean_chars: float | None
    """How long its values are as text."""


@dataclass(frozen=True, slots=True)
class TimeColumns:
    """How a table tells the time of a row."""

    columns: tuple[str, ...]
    """One, or a year and its quarter or month."""
    grain: Grain
    expression: str
    """SQL that gives `2024`, `2024-Q3`, `2024-07` or `2024-07-31`, or NULL."""

    @property
    def shown(self) -> str:
        """SQL for the time of one row, which may be finer than its period."""
        is_date = len(self.columns) == 1 and self.grain != "quarter"
        return f"{quoted(self.columns[0])}::VARCHAR" if is_date else self.expression


def is_number(kind: str) -> bool:
    """Whether `kind` is DuckDB's name for a type of numbers."""
    return _NUMBERS.match(kind) is not None


def measure_columns(columns: Sequence[ColumnFigures], rows: int) -> tuple[ColumnFigures, ...]:
    """The columns whose numbers can be ranked: no keys, no row numbers, no years."""
    return tuple(
        column
        for column in columns
        if is_number(column.type)
        and column.distinct > 1
        and not name_words(column.name) & (_KEY_WORDS | _TIME_WORDS)
        and not _is_row_number(column, rows)
    )


def label_column(columns: Sequence[ColumnFigures], rows: int) -> ColumnFigures | None:
    """The column that best names a row: short texts, many different ones, a telling name."""

    def fitness(column: ColumnFigures) -> float:
        named = any(word in column.name.lower() for word in _LABEL_WORDS)
        return (column.distinct - column.nulls) / max(rows, 1) + (0.5 if named else 0.0)

    return max(_names(columns), key=fitness, default=None)


def group_column(
    columns: Sequence[ColumnFigures], wanted: Callable[[str], bool]
) -> ColumnFigures | None:
    """The column of names whose rows are followed one by one.

    The one that is `wanted` by name, else the first that has few.
    """
    names = _names(columns)
    asked = (one for one in names if wanted(one.name) and one.distinct <= MAX_GROUPS_ASKED_FOR)
    few = (one for one in names if one.distinct <= _MAX_GROUPS)
    return next(asked, None) or next(few, None)


def _names(columns: Sequence[ColumnFigures]) -> list[ColumnFigures]:
    return [
        column
        for column in columns
        if column.type == "VARCHAR"
        and column.distinct > 1
        and (column.mean_chars or 0) <= _MAX_LABEL_CHARS
        and not name_words(column.name) & _TIME_WORDS
    ]


def time_columns(columns: Sequence[ColumnFigures]) -> TimeColumns | None:
    """How the rows' time is told, if it is: a date, a year (with a quarter or month), or text."""
    moment = next((column for column in columns if _MOMENTS.match(column.type)), None)
    if moment is not None:
        return _of_moment(moment)
    year = next((column for column in columns if _is_year(column)), None)
    if year is not None:
        return _of_year(year, columns)
    return _of_text(columns)


def _of_text(columns: Sequence[ColumnFigures]) -> TimeColumns | None:
    for column in columns:
        grain = _written_grain(column.minimum or "") if column.type == "VARCHAR" else None
        if grain is None or grain != _written_grain(column.maximum or "") or column.distinct < 2:
            continue
        if grain == "year" and not name_words(column.name) & _TIME_WORDS:
            continue
        text = name = quoted(column.name)
        if grain == "quarter" and len(column.minimum or "") > len("Q1"):
            text = f"left({name}, 4) || '-Q' || right({name}, 1)"
        form = _WRITTEN[grain]
        known = f"CASE WHEN regexp_full_match({name}, '{form}') THEN {text} END"
        return TimeColumns((column.name,), grain, known)
    return None


_QUARTERS: Final = re.compile(r"^[Qq]?[1-4]$")
_MONTHS: Final = re.compile(r"^(0?[1-9]|1[0-2])$")


def _of_moment(moment: ColumnFigures) -> TimeColumns | None:
    if moment.minimum is None or moment.maximum is None:
        return None
    # A moment as text begins with its date.
    first, last = moment.minimum[:10], moment.maximum[:10]
    if int(last[:4]) - int(first[:4]) >= 2:
        grain, form = "year", "%Y"
    elif first[:7] != last[:7]:
        grain, form = "month", "%Y-%m"
    elif moment.distinct > 1:
        grain, form = "day", "%Y-%m-%d"
    else:
        return None
    return TimeColumns((moment.name,), grain, f"strftime({quoted(moment.name)}, '{form}')")


def _of_year(year: ColumnFigures, columns: Sequence[ColumnFigures]) -> TimeColumns | None:
    name = quoted(year.name)
    for column in columns:
        part = quoted(column.name)
        low, high = column.minimum or "", column.maximum or ""
        named = name_words(column.name)
        if named & {"quarter", "qtr"} and _QUARTERS.match(low) and _QUARTERS.match(high):
            text = f"{name}::VARCHAR || '-Q' || right({part}::VARCHAR, 1)"
            return TimeColumns((year.name, column.name), "quarter", text)
        if "month" in named and _MONTHS.match(low) and _MONTHS.match(high):
            text = f"{name}::VARCHAR || '-' || lpad({part}::VARCHAR, 2, '0')"
            return TimeColumns((year.name, column.name), "month", text)
    return TimeColumns((year.name,), "year", f"{name}::VARCHAR") if year.distinct > 1 else None


_WRITTEN: Final[dict[Grain, str]] = {
    "year": r"\d{4}(/\d\d)?",
    "half": r"(\d{4}-)?H[12]",
    "quarter": r"(\d{4}[- ]?)?[Qq][1-4]",
    "month": r"(\d{4}-)?(0[1-9]|1[0-2])",
    "week": r"(\d{4}-)?W[0-5]\d",
    "day": r"\d{4}-\d\d-\d\d",
}


def _written_grain(text: str) -> Grain | None:
    return next((grain for grain, form in _WRITTEN.items() if re.fullmatch(form, text)), None)


def _is_year(column: ColumnFigures) -> bool:
    named = "year" in column.name.lower() or name_words(column.name) & {"yr", "fy"}
    if not named or not _WHOLE.match(column.type):
        return False
    return 1000 <= int(column.minimum or 0) <= int(column.maximum or 0) <= 2999


def _is_row_number(column: ColumnFigures, rows: int) -> bool:
    """Whether a column only counts the rows: whole, gapless, each once."""
    if not _WHOLE.match(column.type) or column.minimum is None or column.maximum is None:
        return False
    span = int(column.maximum) - int(column.minimum) + 1
    return rows > _FEW_ROWS and column.nulls == 0 and span == rows == column.distinct


def name_words(name: str) -> set[str]:
    """The words of a column's name: `orderId` and `order_id` are `order` and `id`."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return set(re.findall(r"[a-z]+", apart.lower()))
