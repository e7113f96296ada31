"""Describes tables in figures, without a model: columns, rankings, growth.

Each figure comes from a query with limits; what exceeds them is left out and reported. Texts here
come only from the names of columns and their values.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from leadhand.tools.sql import Cell, Column, RequestFailed, Row, SqlTools, Table, quoted_name
from leadhand_teams.research import roles
from leadhand_teams.research.growth import Growth, growths

R = TypeVar("R")

MAX_COLUMNS: Final = 40
"""Columns of a table that are profiled."""
MAX_MEASURES: Final = 5
"""Numeric columns for which rankings and growth are computed."""
MAX_TOP_VALUES: Final = 5
MAX_RANKED: Final = 5
_MAX_EXACT_ROWS: Final = 1_000_000
_MAX_TEXT: Final = 120
_NESTED: Final = ("[", "STRUCT", "MAP", "UNION", "JSON", "VARIANT", "BLOB")


@dataclass(frozen=True, slots=True)
class RankedRow:
    """One row of a ranking."""

    label: str
    """The value of its label column, and its period if it has one."""
    value: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """The rows with the largest and the smallest values of a measure; no row is in both."""

    measure: str
    labelled_by: tuple[str, ...]
    """The columns of the labels."""
    top: tuple[RankedRow, ...]
    """Largest first."""
    bottom: tuple[RankedRow, ...]
    """Smallest first."""


@dataclass(frozen=True, slots=True)
class TableProfile:
    """The figures of one table."""

    table: Table
    columns: tuple[roles.ColumnProfile, ...]
    rankings: tuple[Ranking, ...]
    growths: tuple[Growth, ...]
    left_out: tuple[str, ...]
    """What could not be computed, each with a short reason."""


def profile_table(
    tools: SqlTools, table: Table, *, wanted: Callable[[str], bool] = lambda _: False
) -> TableProfile:
    """The profile of a table, with growth grouped by a `wanted` column if there is one."""
    left_out: list[str] = []
    if (more := len(table.columns) - MAX_COLUMNS) > 0:
        left_out.append(f"{more} columns: only the first {MAX_COLUMNS} are looked at")
    try:
        figures = _figures(tools, table)
    except RequestFailed as error:
        return TableProfile(table, (), (), (), (*left_out, f"all figures: {error}"))
    numbers = roles.measure_columns(figures, table.rows)[:MAX_MEASURES]
    name, when = roles.label_column(figures, table.rows), roles.time_columns(figures)
    by = roles.group_column(figures, wanted)

    def growth() -> tuple[Growth, ...]:
        measures = [number.name for number in numbers]
        group = by.name if by else None
        return growths(
            tools.select, table.name, when, measures=measures, group_by=group, left_out=left_out
        )

    def computed(what: str, compute: Callable[[], R], default: R) -> R:
        try:
            return compute()
        except RequestFailed as error:
            left_out.append(f"{what}: {error}")
            return default

    others = [one for one in figures if one not in numbers]
    tops = computed("most frequent values", lambda: _top_values(tools, table, others), {})
    rankings = computed("rankings", lambda: _rankings(tools, table, numbers, name, when), ())
    grown = computed("growth", growth, ())
    columns = tuple(replace(one, top=tops.get(one.name, ())) for one in figures)
    return TableProfile(table, columns, rankings, grown, tuple(left_out))


_PER_COLUMN: Final = 6


def _figures(tools: SqlTools, table: Table) -> tuple[roles.ColumnProfile, ...]:
    columns = table.columns[:MAX_COLUMNS]
    distinct = "count(DISTINCT" if table.rows <= _MAX_EXACT_ROWS else "approx_count_distinct("
    parts = ", ".join(part for column in columns for part in _summary(column, distinct))
    (((*cells,),),) = tools.select([f"SELECT {parts} FROM {table.name}"])
    chunks = (cells[n : n + _PER_COLUMN] for n in range(0, len(cells), _PER_COLUMN))
    return tuple(map(_figures_of, columns, chunks))


def _summary(column: Column, distinct: str) -> tuple[str, ...]:
    name = quoted_name(column.name)
    is_nested = any(mark in column.type for mark in _NESTED)
    return (
        f"count(*) - count({name})",
        f"{distinct} {name}{'::VARCHAR' if is_nested else ''})",
        "NULL" if is_nested else f"left(min({name})::VARCHAR, {_MAX_TEXT})",
        "NULL" if is_nested else f"left(max({name})::VARCHAR, {_MAX_TEXT})",
        f"avg({name})::DOUBLE" if roles.is_number(column.type) else "NULL",
        f"avg(length({name}))" if column.type == "VARCHAR" else "NULL",
    )


def _figures_of(column: Column, cells: Sequence[Cell]) -> roles.ColumnProfile:
    nulls, distinct, low, high, mean, chars = cells
    low, high = (None if one is None else str(one) for one in (low, high))
    counts = int(nulls or 0), int(distinct or 0)
    return roles.ColumnProfile(
        column.name, column.type, *counts, low, high, _finite(mean), _finite(chars)
    )


def _finite(value: Cell) -> float | None:
    number = float(value) if value is not None else math.nan
    return number if math.isfinite(number) else None


def _top_values(
    tools: SqlTools, table: Table, columns: Sequence[roles.ColumnProfile]
) -> dict[str, tuple[tuple[str, int], ...]]:
    repeating = [column for column in columns if 0 < column.distinct < table.rows - column.nulls]
    statements = [
        f"SELECT left({quoted_name(column.name)}::VARCHAR, {_MAX_TEXT}), count(*) "
        f"FROM {table.name} WHERE {quoted_name(column.name)} IS NOT NULL "
        f"GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {MAX_TOP_VALUES}"
        for column in repeating
    ]
    results = tools.select(statements) if statements else []
    return {
        column.name: tuple((str(value), int(count or 0)) for value, count in rows)
        for column, rows in zip(repeating, results, strict=True)
    }


def _rankings(
    tools: SqlTools,
    table: Table,
    numbers: Sequence[roles.ColumnProfile],
    name: roles.ColumnProfile | None,
    when: roles.TimeColumns | None,
) -> tuple[Ranking, ...]:
    labels = ([quoted_name(name.name)] if name else []) + ([when.shown] if when else [])
    if not labels or not numbers:
        return ()
    by = (*((name.name,) if name else ()), *(when.columns if when else ()))
    shown = f"left(concat_ws(', ', {', '.join(labels)}), {_MAX_TEXT})"
    statements = [
        f"SELECT {shown}, {quoted_name(number.name)}::DOUBLE AS v FROM {table.name} "
        f"WHERE isfinite(v) ORDER BY v {order}, 1 LIMIT {MAX_RANKED}"
        for number in numbers
        for order in ("DESC", "ASC")
    ]
    results = tools.select(statements)
    rankings: list[Ranking] = []
    for number, top, bottom in zip(numbers, results[::2], results[1::2], strict=True):
        rest = max(0, table.rows - number.nulls - MAX_RANKED)
        rankings.append(Ranking(number.name, by, _ranked(top), _ranked(bottom[:rest])))
    return tuple(rankings)


def _ranked(rows: Sequence[Row]) -> tuple[RankedRow, ...]:
    return tuple(RankedRow(str(text), float(value or 0)) for text, value in rows)
