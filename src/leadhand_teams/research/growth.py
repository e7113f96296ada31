"""Computes how a measure grows by period: totals, changes in percent, compound growth."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from leadhand.tools.sql import Row, quoted_name
from leadhand_teams.research.figures import PERIODS_PER_YEAR
from leadhand_teams.research.periods import Grain, period_number
from leadhand_teams.research.roles import TimeColumns, name_words

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

    @property
    def compound_percent(self) -> float | None:
        """Compound growth for each period from the first to the last; None unless both are > 0."""
        first, last = self.periods[0], self.periods[-1]
        steps = period_number(last.period, self.grain) - period_number(first.period, self.grain)
        if not (first.value > 0 and last.value > 0 and steps > 0):
            return None
        try:
            # By logarithms, because the quotient may overflow.
            return _percent(math.expm1((math.log(last.value) - math.log(first.value)) / steps), 1)
        except OverflowError:
            return None

    @property
    def years(self) -> tuple[float, float] | None:
        """The measure in the year before the last twelve months or four quarters, and in those."""
        length = PERIODS_PER_YEAR.get(self.grain)
        if length is None or len(self.periods) < 2 * length:
            return None
        before, last = self.periods[-2 * length : -length], self.periods[-length:]
        first, second = before[0].period, last[0].period
        if int(second[:4]) - int(first[:4]) != 1 or first[4:] != second[4:]:
            return None  # a period between them is missing
        each = 1 if self.aggregate == "sum" else length
        return sum(one.value for one in before) / each, sum(one.value for one in last) / each


def growths(
    select: Callable[[list[str]], list[list[Row]]],
    table: str,
    when: TimeColumns | None,
    *,
    measures: Sequence[str],
    group_by: str | None,
    left_out: list[str],
) -> tuple[Growth, ...]:
    """The growth of all, then of each group; `left_out` gets measures with too many periods."""
    if when is None:
        return ()
    groups = [None, group_by] if group_by not in (None, *when.columns) else [None]
    pairs = [(measure, group) for measure in measures for group in groups]
    results = select([_statement(table, when, measure, group) for measure, group in pairs])
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
                found.append(_growth(measure, key, when.grain, totals))
    return tuple(found)


def _statement(table: str, when: TimeColumns, measure: str, group: str | None) -> str:
    value = f"{_function(measure)}({quoted_name(measure)})::DOUBLE"
    by = "NULL" if group is None else f"{quoted_name(group)}::VARCHAR"
    known = "" if group is None else f"AND {quoted_name(group)} IS NOT NULL "
    return (
        f"SELECT {by}, {when.expression}, {value} FROM {table} "
        f"WHERE {when.expression} IS NOT NULL "
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
    aggregate = "mean" if _function(measure) == "avg" else "sum"
    return Growth(measure, aggregate, group, grain, tuple(periods))


def _percent(part: float, whole: float) -> float | None:
    percent = part / whole * 100
    return percent if math.isfinite(percent) else None
