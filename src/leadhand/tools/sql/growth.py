"""How a measure changes from period to period: totals, changes in percent, compound growth."""

import datetime as dt
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from leadhand.tools.sql.messages import Row
from leadhand.tools.sql.names import quoted
from leadhand.tools.sql.roles import Grain, Period, words

MAX_PERIODS: Final = 400
"""Periods that are followed, of all groups together; of a longer table no growth is given."""

_RATES: Final = frozenset(
    {"price", "rate", "ratio", "percent", "pct", "share", "score", "avg", "average", "mean"}
)
"""What a measure is called whose values can't be added up."""


@dataclass(frozen=True, slots=True)
class PeriodTotal:
    """A measure in one period."""

    period: str
    """`2024`, `2024-Q3`, `2024-07` or `2024-07-31`."""
    value: float
    change_percent: float | None
    """Against the period just before; none for the first, after a gap, and after zero."""


@dataclass(frozen=True, slots=True)
class Growth:
    """How one measure went, in the whole table or in one group of its rows."""

    measure: str
    aggregate: Literal["sum", "mean"]
    """How the rows of a period are put together; rates and prices are not added up."""
    group: tuple[str, str] | None
    """The column and the value of it that all the rows have; none for the whole table."""
    grain: Grain
    periods: tuple[PeriodTotal, ...]
    """At least two, in order."""
    compound_percent: float | None
    """Growth for each period from the first to the last, compounded; none where one is not
    above zero."""


@dataclass(frozen=True, slots=True)
class Question:
    """Where growth is looked for."""

    table: str
    period: Period
    group_by: str | None
    """A column with few values, each of which is followed too."""


def growths(
    select: Callable[[list[str]], list[list[Row]]], question: Question, measures: Sequence[str]
) -> tuple[Growth, ...]:
    """The growth of each measure, in the whole table first, then in each group."""
    groups: list[str | None] = [None]
    if question.group_by is not None and question.group_by not in question.period.columns:
        groups.append(question.group_by)
    asked = [(measure, group) for measure in measures for group in groups]
    results = select([_statement(question, measure, group) for measure, group in asked])
    found: list[Growth] = []
    for (measure, group), rows in zip(asked, results, strict=True):
        if len(rows) > MAX_PERIODS:
            continue
        for value, lines in groupby(rows, key=lambda row: row[0]):
            key = None if group is None else (group, str(value))
            totals = [(str(period), float(total or 0)) for _, period, total in lines]
            if len(totals) > 1:
                found.append(_growth(measure, key, question.period.grain, totals))
    return tuple(found)


def _statement(question: Question, measure: str, group: str | None) -> str:
    value = f"{_function(measure)}({quoted(measure)})::DOUBLE"
    by = "NULL" if group is None else f"{quoted(group)}::VARCHAR"
    known = "" if group is None else f"AND {quoted(group)} IS NOT NULL "
    return (
        f"SELECT {by}, {question.period.expression}, {value} FROM {question.table} "
        f"WHERE {question.period.expression} IS NOT NULL AND isfinite({quoted(measure)}::DOUBLE) "
        f"{known}GROUP BY 1, 2 ORDER BY 1, 2 LIMIT {MAX_PERIODS + 1}"
    )


def _function(measure: str) -> str:
    return "avg" if words(measure) & _RATES else "sum"


def _growth(
    measure: str,
    group: tuple[str, str] | None,
    grain: Grain,
    totals: Sequence[tuple[str, float]],
) -> Growth:
    places = [_ordinal(period, grain) for period, _ in totals]
    periods = [PeriodTotal(*totals[0], None)]
    for n in range(1, len(totals)):
        before, now = totals[n - 1][1], totals[n][1]
        follows = places[n] - places[n - 1] == 1
        change = _percent(now - before, abs(before)) if follows and before else None
        periods.append(PeriodTotal(*totals[n], change))
    first, last, steps = totals[0][1], totals[-1][1], places[-1] - places[0]
    compound = _percent((last / first) ** (1 / steps) - 1, 1) if first > 0 and last > 0 else None
    aggregate = "mean" if _function(measure) == "avg" else "sum"
    return Growth(measure, aggregate, group, grain, tuple(periods), compound)


def _percent(part: float, whole: float) -> float | None:
    percent = part / whole * 100
    return percent if math.isfinite(percent) else None


def _ordinal(period: str, grain: Grain) -> int:
    """The number of a period among all of its grain, so that gaps show."""
    match grain:
        case "year":
            return int(period)
        case "quarter":
            return int(period[:4]) * 4 + int(period[-1])
        case "month":
            return int(period[:4]) * 12 + int(period[5:7])
        case "day":
            return dt.date.fromisoformat(period).toordinal()
