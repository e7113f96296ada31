"""Computes how a measure grows by period: totals, changes in percent, compound growth."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from leadhand.tools.sql.messages import Row
from leadhand.tools.sql.names import quoted_name
from leadhand.tools.sql.periods import Grain, period_number
from leadhand.tools.sql.roles import TimeColumns, name_words

MAX_PERIODS: Final = 20_000
"""Periods of all groups together; growth is not computed for more."""

_RATES: Final = frozenset(
    {"price", "rate", "ratio", "percent", "pct", "share", "score", "avg", "average", "mean"}
)
"""Words in the names of measures that can't be added up."""


@dataclass(frozen=True, slots=True)
class PeriodTotal:
    """A measure in one period."""

    period: str
    """`2024`, `2024-Q3`, `2024-07` or `2024-07-31`."""
    value: float
    change_percent: float | None
    """From the period before; None for the first one, after a gap, and after zero."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The growth of a measure, in the whole table or in a group of its rows."""

    measure: str
    aggregate: Literal["sum", "mean"]
    """How the rows of a period are combined; rates and prices are not added up."""
    group: tuple[str, str] | None
    """The column and value that define the group; None for the whole table."""
    grain: Grain
    periods: tuple[PeriodTotal, ...]
    """At least two, in order."""
    compound_percent: float | None
    """Compound growth for each period from the first to the last; None unless both are positive."""


@dataclass(frozen=True, slots=True)
class GrowthQuestion:
    """The table and columns for which to compute growth."""

    table: str
    period: TimeColumns
    group_by: str | None
    """A column with few values, for growth of each of them too."""


def growths(
    select: Callable[[list[str]], list[list[Row]]],
    question: GrowthQuestion,
    measures: Sequence[str],
    left_out: list[str],
) -> tuple[Growth, ...]:
    """The growth of all, then of each group; `left_out` gets measures with too many periods."""
    groups: list[str | None] = [None]
    if question.group_by is not None and question.group_by not in question.period.columns:
        groups.append(question.group_by)
    pairs = [(measure, group) for measure in measures for group in groups]
    results = select([_statement(question, measure, group) for measure, group in pairs])
    found: list[Growth] = []
    for (measure, group), rows in zip(pairs, results, strict=True):
        if len(rows) > MAX_PERIODS:
            left_out.append(f"growth of {measure}: it has more than {MAX_PERIODS:,} periods")
            continue
        for value, lines in groupby(rows, key=lambda row: row[0]):
            key = None if group is None else (group, str(value))
            every = [(str(period), float(total or 0)) for _, period, total in lines]
            # A sum of finite values may be infinite.
            totals = [one for one in every if math.isfinite(one[1])]
            if len(totals) > 1:
                found.append(_growth(measure, key, question.period.grain, totals))
    return tuple(found)


def _statement(question: GrowthQuestion, measure: str, group: str | None) -> str:
    value = f"{_function(measure)}({quoted_name(measure)})::DOUBLE"
    by = "NULL" if group is None else f"{quoted_name(group)}::VARCHAR"
    known = "" if group is None else f"AND {quoted_name(group)} IS NOT NULL "
    return (
        f"SELECT {by}, {question.period.expression}, {value} FROM {question.table} "
        f"WHERE {question.period.expression} IS NOT NULL "
        f"AND isfinite({quoted_name(measure)}::DOUBLE) "
        f"{known}GROUP BY 1, 2 ORDER BY 1, 2 LIMIT {MAX_PERIODS + 1}"
    )


def _function(measure: str) -> str:
    return "avg" if name_words(measure) & _RATES else "sum"


def _growth(
    measure: str, group: tuple[str, str] | None, grain: Grain, totals: Sequence[tuple[str, float]]
) -> Growth:
    places = [period_number(period, grain) for period, _ in totals]
    periods = [PeriodTotal(*totals[0], None)]
    for n in range(1, len(totals)):
        before, now = totals[n - 1][1], totals[n][1]
        follows = places[n] - places[n - 1] == 1
        change = _percent(now - before, abs(before)) if follows and before else None
        periods.append(PeriodTotal(*totals[n], change))
    first, last, steps = totals[0][1], totals[-1][1], places[-1] - places[0]
    compound = _compound(first, last, steps)
    aggregate = "mean" if _function(measure) == "avg" else "sum"
    return Growth(measure, aggregate, group, grain, tuple(periods), compound)


def _compound(first: float, last: float, steps: int) -> float | None:
    if not (first > 0 and last > 0 and steps > 0):
        return None
    try:
        # By logarithms, because the quotient may overflow.
        return _percent(math.expm1((math.log(last) - math.log(first)) / steps), 1)
    except OverflowError:
        return None


def _percent(part: float, whole: float) -> float | None:
    percent = part / whole * 100
    return percent if math.isfinite(percent) else None
