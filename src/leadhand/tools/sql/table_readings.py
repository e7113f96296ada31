"""How a table is read before figures are made of it: numbers, periods, totals, wide tables.

A reading is a table of the same rows as SQL: nothing is copied, and what was taken to mean
what is said in notes. A column for each period becomes a row for each period; numbers written as
texts become numbers; a row that is the total of the others is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from leadhand.tools.sql.database import RequestFailed
from leadhand.tools.sql.names import quoted
from leadhand.tools.sql.number_formats import NumberFormat, is_empty_cell, number_format
from leadhand.tools.sql.periods import (
    NameWithPeriod,
    is_one_series,
    parse_periods,
    period_in_name,
    shown,
)
from leadhand.tools.sql.roles import is_number, name_words
from leadhand.tools.sql.tables import Column, SqlTools, Table
from leadhand.tools.text import joined_names

MAX_COLUMNS: Final = 400
"""Columns that are looked at."""
MAX_DISTINCT: Final = 1_000
"""Different texts of a column that are looked at."""
_MAX_CHARS: Final = 60
_FLOATS: Final = ("DOUBLE", "FLOAT")
_TOTALS: Final = frozenset(
    ["all", "all regions", "grand total", "overall", "subtotal", "sum", "total", "totals"]
)
_CHANGES: Final = frozenset({"growth", "change", "yoy", "delta", "cagr", "diff", "difference"})
"""What a column is called that holds a change already."""


_TIMES: Final = frozenset({"year", "yr", "fy", "month", "quarter", "qtr", "half", "week", "period"})
_MEASURES: Final = """
    amount average churn cost costs count customers earnings expenses id income margin number orders
    percent population price profit quantity rate revenue sales score share spend turnover units
    users value visits volume
"""
"""What columns are called that measure several things, rather than one thing of several groups."""


@dataclass(frozen=True, slots=True)
class TableReading:
    """A table as it is read."""

    table: Table
    """Its name is SQL that stands for a table."""
    source: Table
    """As it was handed in."""
    notes: tuple[str, ...] = ()
    """What was taken to mean what, a sentence each; names in it are not made safe."""
    left_out: tuple[str, ...] = ()
    """What could not be looked at, half a line each."""


@dataclass(slots=True)
class _Draft:
    """SQL for each column, in order, and what is said of it."""

    columns: dict[str, tuple[str, str]]
    """The expression and its type by name."""
    where: list[str]
    notes: list[str]
    meanings: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """The columns that one sentence is about: what stands before their names, and after."""

    def note(self, before: str, column: str, after: str) -> None:
        """Say it of `column`, in one sentence with the others that it is said of."""
        self.meanings.setdefault((before, after), []).append(column)

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that is said."""
        of_columns = [
            f"{before} {joined_names(names)} {after}."
            for (before, after), names in self.meanings.items()
        ]
        return (*of_columns, *self.notes)


def read_table(tools: SqlTools, table: Table) -> TableReading:
    """`table` as figures are made of it; as it is where it can't be looked at."""
    columns = table.columns[:MAX_COLUMNS]
    more = len(table.columns) - len(columns)
    left_out = [f"{more:,} columns: only the first {MAX_COLUMNS} are looked at"] if more > 0 else []
    draft = _Draft({one.name: (quoted(one.name), one.type) for one in columns}, [], [])
    try:
        _read_texts(tools, table, columns, draft)
        _read_floats(tools, table, columns, draft)
    except RequestFailed as error:
        return TableReading(table, table, left_out=(*left_out, f"its texts as numbers: {error}"))
    made = _view(table, draft)
    long = _unpivoted(made, draft)
    return TableReading(long or made, table, draft.sentences, tuple(left_out))


def combined(readings: Sequence[TableReading]) -> TableReading | None:
    """Tables of the same columns whose files are named by period, as one; none where they aren't.

    `sales_2022.csv` and `sales_2023.csv` become one table with the column `period`.
    """
    names = [
        period_in_name(one.table.file.rpartition(".")[0].rpartition("/")[2]) for one in readings
    ]
    found = [one for one in names if one is not None]
    columns = {tuple((one.name, is_number(one.type)) for one in r.table.columns) for r in readings}
    if len(found) != len(readings) or len(columns) != 1 or len({one.rest for one in found}) != 1:
        return None
    if not is_one_series(one.period for one in found) or len({one.period for one in found}) < len(
        found
    ):
        return None
    first = readings[0].table
    if any(one.name.lower() == "period" for one in first.columns):
        return None
    names = ", ".join(quoted(one.name) for one in first.columns)
    parts = [
        f"SELECT {names}, '{one.period.text}' AS period FROM {reading.table.name}"
        for one, reading in zip(found, readings, strict=True)
    ]
    files = [one.table.file for one in readings]
    table = Table(
        name=f"({' UNION ALL '.join(parts)})",
        file=" and ".join(files) if len(files) < 3 else f"{files[0]} to {files[-1]}",
        rows=sum(one.table.rows for one in readings),
        columns=(*first.columns, Column("period", "VARCHAR")),
    )
    note = (
        f"{len(files)} tables of the same columns are read as one, by the periods in their names."
    )
    notes = [*dict.fromkeys(note for one in readings for note in one.notes), note]
    return TableReading(table, replace(table, columns=first.columns), tuple(notes))


def unpivoted_by(reading: TableReading, group: str) -> TableReading | None:
    """A table of periods with a column for each `group`, as one with a row for each; else none.

    `group` is what a request calls them, such as region. A column of times, other columns that are
    all numbers, and none of these called like a measure: that is how it is recognised.
    """
    table = reading.table
    times = [
        one for one in table.columns if not is_number(one.type) or name_words(one.name) & _TIMES
    ]
    held = [one for one in table.columns if one not in times]
    held = [one for one in held if one.name.strip().lower() not in _TOTALS]
    named = {group.lower(), "value"} | {one.name.lower() for one in times}
    if len(times) != 1 or len(held) < 2 or len(named) < 3:
        return None
    if any(name_words(one.name) & set(_MEASURES.split()) for one in held):
        return None
    parts = [
        quoted(times[0].name),
        f"unnest([{', '.join(_text(one.name) for one in held)}]) AS {quoted(group)}",
        f'unnest([{", ".join(f"{quoted(one.name)}::DOUBLE" for one in held)}]) AS "value"',
    ]
    long = replace(
        table,
        name=f"(SELECT {', '.join(parts)} FROM {table.name})",
        rows=table.rows * len(held),
        columns=(times[0], Column(group, "VARCHAR"), Column("value", "DOUBLE")),
    )
    note = f"The columns {held[0].name} to {held[-1].name} are read as one {group} each."
    return replace(reading, table=long, notes=(*reading.notes, note))


def _read_texts(tools: SqlTools, table: Table, columns: Sequence[Column], draft: _Draft) -> None:
    """Periods and numbers that are written as texts, and rows that are totals."""
    looked = [
        one
        for one in columns
        if one.type == "VARCHAR"
        or (is_number(one.type) and name_words(one.name) & {"period", "month"})
    ]
    statements = [
        f"SELECT DISTINCT left({quoted(one.name)}::VARCHAR, {_MAX_CHARS}) AS v FROM {table.name} "
        f"WHERE v IS NOT NULL ORDER BY 1 LIMIT {MAX_DISTINCT}"
        for one in looked
    ]
    results = tools.select(statements) if statements else []
    for column, rows in zip(looked, results, strict=True):
        values = [str(value) for (value,) in rows]
        told = [value for value in values if not is_empty_cell(value)]
        name = column.name
        if len(told) < MAX_DISTINCT and (periods := parse_periods(told)):
            cases = " ".join(
                f"WHEN {_text(value)} THEN '{period.text}'" for value, period in periods.items()
            )
            draft.columns[name] = (f"CASE {quoted(name)}::VARCHAR {cases} END", "VARCHAR")
        elif column.type != "VARCHAR":
            continue
        elif found := number_format(values):
            draft.columns[name] = (found.sql(name), "DOUBLE")
            draft.note("The texts in", name, f"are read as numbers{_meaning(found)}")
            if len(told) < len(values):
                draft.note("Cells of", name, f"such as {_first(values, told)} are empty")
        else:
            totals = [value for value in told if value.strip().lower() in _TOTALS]
            if totals and len(told) > len(totals) + 1:
                texts = ", ".join(map(_text, totals))
                draft.where.append(f"({quoted(name)} IS NULL OR {quoted(name)} NOT IN ({texts}))")
                draft.notes.append(f"Rows with {totals[0]} as {name} are left out as totals.")


def _meaning(found: NumberFormat) -> str:
    if found.is_percent:
        return ", in percent"
    return f", each times {found.scale:,}" if found.scale > 1 else ""


def _first(values: Sequence[str], told: Sequence[str]) -> str:
    return next((f'"{value}"' for value in values if value not in told and value), "that")


def _read_floats(tools: SqlTools, table: Table, columns: Sequence[Column], draft: _Draft) -> None:
    """Numbers that are infinite or none (NaN) become empty, and are counted."""
    floats = [one for one in columns if one.type in _FLOATS]
    if not floats:
        return
    counts = ", ".join(f"count(*) FILTER (NOT isfinite({quoted(one.name)}))" for one in floats)
    ((found,),) = tools.select([f"SELECT {counts} FROM {table.name}"])
    for column, count in zip(floats, found, strict=True):
        if count:
            name = quoted(column.name)
            draft.columns[column.name] = (f"CASE WHEN isfinite({name}) THEN {name} END", "DOUBLE")
            what = "value is" if count == 1 else "values are"
            draft.notes.append(
                f"{int(count):,} {what} infinite or no number (NaN) in {column.name}, and left out."
            )


def _view(table: Table, draft: _Draft) -> Table:
    plain = all(sql == quoted(name) for name, (sql, _) in draft.columns.items())
    if plain and not draft.where and len(draft.columns) == len(table.columns):
        return table
    names = ", ".join(f"{sql} AS {quoted(name)}" for name, (sql, _) in draft.columns.items())
    where = f" WHERE {' AND '.join(draft.where)}" if draft.where else ""
    columns = tuple(Column(name, kind) for name, (_, kind) in draft.columns.items())
    return replace(table, name=f"(SELECT {names} FROM {table.name}{where})", columns=columns)


def _unpivoted(table: Table, draft: _Draft) -> Table | None:
    """A table with a column for each period as one with a row for each; none where it has none."""
    found: dict[str, list[NameWithPeriod]] = {}
    for column in table.columns:
        held = period_in_name(column.name) if is_number(column.type) else None
        if held is not None and not name_words(held.rest) & _CHANGES and "%" not in held.rest:
            found.setdefault(held.rest.lower(), []).append(held)
    series = {rest: _series(held) for rest, held in found.items()}
    series = {rest: held for rest, held in series.items() if held}
    if not series:
        return None
    longest = max(series.values(), key=len)
    grain = longest[0].period.grain
    series = {rest: held for rest, held in series.items() if held[0].period.grain == grain}
    periods = sorted({one.period.text for held in series.values() for one in held})
    used = {one.name for held in series.values() for one in held}
    kept = [
        one for one in table.columns if one.name not in used and period_in_name(one.name) is None
    ]
    taken = {one.name.lower() for one in kept}
    when = next(name for name in ("period", "when", "period of column") if name not in taken)
    parts = [quoted(one.name) for one in kept]
    parts.append(f"unnest([{', '.join(_text(one) for one in periods)}]) AS {quoted(when)}")
    measures: list[Column] = []
    for rest, held in series.items():
        name = held[0].rest or ("value" if "value" not in taken else "amount")
        by_period = {one.period.text: quoted(one.name) for one in held}
        cells = ", ".join(f"{by_period.get(one, 'NULL')}::DOUBLE" for one in periods)
        parts.append(f"unnest([{cells}]) AS {quoted(name)}")
        measures.append(Column(name, "DOUBLE"))
        del rest
    draft.notes.append(
        f"The columns {longest[0].name} to {longest[-1].name} are read as periods, "
        f"{shown(periods[0])} to {shown(periods[-1])}."
    )
    return replace(
        table,
        name=f"(SELECT {', '.join(parts)} FROM {table.name})",
        rows=table.rows * len(periods),
        columns=(*kept, Column(when, "VARCHAR"), *measures),
    )


def _series(held: Sequence[NameWithPeriod]) -> list[NameWithPeriod]:
    """Those of `held` that are one series of periods, in order: the most, where several are."""
    grains = {one.period.grain for one in held}
    every = [[one for one in held if one.period.grain == grain] for grain in sorted(grains)]
    fitting = [one for one in every if is_one_series(each.period for each in one)]
    best = max(fitting, key=len) if fitting else []
    by_text = {one.period.text: one for one in reversed(best)}
    return sorted(by_text.values(), key=lambda one: one.period.text)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
