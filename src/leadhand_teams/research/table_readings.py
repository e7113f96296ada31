"""Interprets a table before figures are computed from it: numbers, periods, totals, wide tables.

A reading is an SQL view of a table, with notes about the interpretation; nothing is copied. Columns
for periods become rows, numbers written as texts become numbers, and rows with totals are left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from leadhand.tools.sql import Column, RequestFailed, SqlTools, Table, quoted_name
from leadhand.tools.text import joined_names
from leadhand_teams.research.number_formats import NumberFormat, is_empty_cell, number_format
from leadhand_teams.research.periods import (
    NameWithPeriod,
    is_one_series,
    parse_periods,
    period_in_name,
    period_label,
)
from leadhand_teams.research.roles import is_number, name_words, period_type

MAX_COLUMNS: Final = 400
"""Columns of a table that are read."""
MAX_DISTINCT: Final = 1_000
"""Different texts of a column that are interpreted."""
_MAX_CHARS: Final = 60
_FLOATS: Final = ("DOUBLE", "FLOAT")
_TOTALS: Final = frozenset(
    ["all", "all regions", "grand total", "overall", "subtotal", "sum", "total", "totals"]
)
_CHANGES: Final = frozenset({"growth", "change", "yoy", "delta", "cagr", "diff", "difference"})
"""Words in the names of columns that have changes."""
_TIMES: Final = frozenset({"year", "yr", "fy", "month", "quarter", "qtr", "half", "week", "period"})
_MEASURES: Final = """
    amount average churn cost costs count customers earnings expenses id income margin number orders
    percent population price profit quantity rate revenue sales score share spend turnover units
    users value visits volume
"""
"""Words in the names of columns that are different measures, not groups of one measure."""


@dataclass(frozen=True, slots=True)
class TableReading:
    """An interpretation of a table."""

    table: Table
    """The view; its name is a subquery in SQL."""
    source: Table
    """The input."""
    notes: tuple[str, ...] = ()
    """Sentences about the interpretation; names in them are not made safe."""
    left_out: tuple[str, ...] = ()
    """What could not be read, each with a short reason."""


@dataclass(slots=True)
class _Draft:
    """SQL for each column, in order, and notes about it."""

    columns: dict[str, tuple[str, str]]
    """The expression and its type by name."""
    where: list[str]
    notes: list[str]
    meanings: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """Columns by the words of a sentence before and after their names."""

    def note(self, before: str, column: str, after: str) -> None:
        """Add a note about `column`, which shares a sentence with others of the same words."""
        self.meanings.setdefault((before, after), []).append(column)

    @property
    def sentences(self) -> tuple[str, ...]:
        of_columns = [
            f"{before} {joined_names(names)} {after}."
            for (before, after), names in self.meanings.items()
        ]
        return (*of_columns, *self.notes)


def read_table(tools: SqlTools, table: Table) -> TableReading:
    """The interpretation of `table`, or `table` itself if reading it fails."""
    columns = table.columns[:MAX_COLUMNS]
    more = len(table.columns) - len(columns)
    left_out = [f"{more:,} columns: only the first {MAX_COLUMNS} are looked at"] if more > 0 else []
    draft = _Draft({one.name: (quoted_name(one.name), one.type) for one in columns}, [], [])
    try:
        _read_texts(tools, table, columns, draft)
        _read_floats(tools, table, columns, draft)
    except RequestFailed as error:
        return TableReading(table, table, left_out=(*left_out, f"its texts as numbers: {error}"))
    made = _view(table, draft)
    long = _unpivoted(made, draft)
    return TableReading(long or made, table, draft.sentences, tuple(left_out))


def combined_table(readings: Sequence[TableReading]) -> TableReading | None:
    """Tables with equal columns and periods in their file names as one; `None` if they aren't."""
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
    names = ", ".join(quoted_name(one.name) for one in first.columns)
    parts = [
        f"SELECT {names}, '{one.period.text}' AS period FROM {reading.table.name}"
        for one, reading in zip(found, readings, strict=True)
    ]
    files = [one.table.file for one in readings]
    table = Table(
        name=f"({' UNION ALL '.join(parts)})",
        file=" and ".join(files) if len(files) < 3 else f"{files[0]} to {files[-1]}",
        rows=sum(one.table.rows for one in readings),
        columns=(*first.columns, Column("period", period_type(found[0].period.grain))),
    )
    note = (
        f"{len(files)} tables of the same columns are read as one, by the periods in their names."
    )
    notes = [*dict.fromkeys(note for one in readings for note in one.notes), note]
    return TableReading(table, replace(table, columns=first.columns), tuple(notes))


def unpivoted_by(reading: TableReading, group: str) -> TableReading | None:
    """A table of periods with a column for each `group`, unpivoted to a row for each; else None.

    `group` is the word of the request, for example region. The table must have one column of times
    and otherwise columns of numbers that are not named like measures.
    """
    table = reading.table
    times = [
        one for one in table.columns if not is_number(one.type) or name_words(one.name) & _TIMES
    ]
    group_columns = [one for one in table.columns if one not in times]
    group_columns = [one for one in group_columns if one.name.strip().lower() not in _TOTALS]
    named = {group.lower(), "value"} | {one.name.lower() for one in times}
    if len(times) != 1 or len(group_columns) < 2 or len(named) < 3:
        return None
    if any(name_words(one.name) & set(_MEASURES.split()) for one in group_columns):
        return None
    names = [one.name for one in group_columns]
    long = _long(
        table, times, Column(group, "VARCHAR"), names, {"value": list(map(quoted_name, names))}
    )
    first, last = group_columns[0].name, group_columns[-1].name
    note = f"The columns {first} to {last} are read as one {group} each."
    return replace(reading, table=long, notes=(*reading.notes, note))


def _read_texts(tools: SqlTools, table: Table, columns: Sequence[Column], draft: _Draft) -> None:
    """Read periods and numbers that are written as texts, and leave out rows with totals."""
    candidates = [
        one
        for one in columns
        if one.type == "VARCHAR"
        or (is_number(one.type) and name_words(one.name) & {"period", "month"})
    ]
    statements = [
        f"SELECT DISTINCT left({quoted_name(one.name)}::VARCHAR, {_MAX_CHARS}) AS v "
        f"FROM {table.name} WHERE v IS NOT NULL ORDER BY 1 LIMIT {MAX_DISTINCT}"
        for one in candidates
    ]
    results = tools.select(statements) if statements else []
    for column, rows in zip(candidates, results, strict=True):
        values = [str(value) for (value,) in rows]
        filled = [value for value in values if not is_empty_cell(value)]
        name = column.name
        totals = [value for value in filled if value.strip().lower() in _TOTALS]
        others = [value for value in filled if value not in totals]
        if len(filled) < MAX_DISTINCT and (periods := parse_periods(others)):
            cases = " ".join(
                f"WHEN {_text(value)} THEN '{period.text}'" for value, period in periods.items()
            )
            grain = next(iter(periods.values())).grain
            read = f"CASE {quoted_name(name)}::VARCHAR {cases} END"
            draft.columns[name] = (read, period_type(grain))
        elif column.type == "VARCHAR" and (found := number_format(values)):
            draft.columns[name] = (found.sql(name), "DOUBLE")
            draft.note("The texts in", name, f"are read as numbers{_meaning(found)}")
            if len(filled) < len(values):
                draft.note("Cells of", name, f"such as {_first(values, filled)} are empty")
        if totals and len(others) > 1:
            texts = ", ".join(map(_text, totals))
            column = quoted_name(name)
            draft.where.append(f"({column} IS NULL OR {column} NOT IN ({texts}))")
            draft.notes.append(f"Rows with {totals[0]} as {name} are left out as totals.")


def _meaning(found: NumberFormat) -> str:
    if found.is_percent:
        return ", in percent"
    return f", each times {found.scale:,}" if found.scale > 1 else ""


def _first(values: Sequence[str], filled: Sequence[str]) -> str:
    return next((f'"{value}"' for value in values if value not in filled and value), "that")


def _read_floats(tools: SqlTools, table: Table, columns: Sequence[Column], draft: _Draft) -> None:
    """Replace and count numbers that are infinite or NaN."""
    floats = [one for one in columns if one.type in _FLOATS]
    if not floats:
        return
    counts = ", ".join(f"count(*) FILTER (NOT isfinite({quoted_name(one.name)}))" for one in floats)
    ((found,),) = tools.select([f"SELECT {counts} FROM {table.name}"])
    for column, count in zip(floats, found, strict=True):
        if count:
            name = quoted_name(column.name)
            draft.columns[column.name] = (f"CASE WHEN isfinite({name}) THEN {name} END", "DOUBLE")
            what = "value is" if count == 1 else "values are"
            draft.notes.append(
                f"{int(count):,} {what} infinite or no number (NaN) in {column.name}, and left out."
            )


def _view(table: Table, draft: _Draft) -> Table:
    plain = all(sql == quoted_name(name) for name, (sql, _) in draft.columns.items())
    if plain and not draft.where and len(draft.columns) == len(table.columns):
        return table
    names = ", ".join(f"{sql} AS {quoted_name(name)}" for name, (sql, _) in draft.columns.items())
    where = f" WHERE {' AND '.join(draft.where)}" if draft.where else ""
    columns = tuple(Column(name, kind) for name, (_, kind) in draft.columns.items())
    return replace(table, name=f"(SELECT {names} FROM {table.name}{where})", columns=columns)


def _unpivoted(table: Table, draft: _Draft) -> Table | None:
    """A table with a column for each period, unpivoted to a row for each; None if it has none."""
    found: dict[str, list[NameWithPeriod]] = {}
    for column in table.columns:
        matches = period_in_name(column.name) if is_number(column.type) else None
        if (
            matches is not None
            and not name_words(matches.rest) & _CHANGES
            and "%" not in matches.rest
        ):
            found.setdefault(matches.rest.lower(), []).append(matches)
    series = {rest: _series(matches) for rest, matches in found.items()}
    series = {rest: matches for rest, matches in series.items() if matches}
    if not series:
        return None
    longest = max(series.values(), key=len)
    grain = longest[0].period.grain
    series = {rest: matches for rest, matches in series.items() if matches[0].period.grain == grain}
    periods = sorted({one.period.text for matches in series.values() for one in matches})
    used = {one.name for matches in series.values() for one in matches}
    kept = [
        one for one in table.columns if one.name not in used and period_in_name(one.name) is None
    ]
    taken = {one.name.lower() for one in kept}
    when = next(name for name in ("period", "when", "period of column") if name not in taken)
    measures: dict[str, list[str]] = {}
    for matches in series.values():
        by_period = {one.period.text: quoted_name(one.name) for one in matches}
        name = matches[0].rest or ("value" if "value" not in taken else "amount")
        measures[name] = [by_period.get(one, "NULL") for one in periods]
    draft.notes.append(
        f"The columns {longest[0].name} to {longest[-1].name} are read as periods, "
        f"{period_label(periods[0])} to {period_label(periods[-1])}."
    )
    return _long(table, kept, Column(when, period_type(grain)), periods, measures)


def _long(
    table: Table,
    kept: Sequence[Column],
    label: Column,
    labels: Sequence[str],
    measures: Mapping[str, Sequence[str]],
) -> Table:
    """`table` with a row for each of `labels`; `measures` are the cells of each, in SQL."""
    parts = [quoted_name(one.name) for one in kept]
    parts.append(f"unnest([{', '.join(map(_text, labels))}]) AS {quoted_name(label.name)}")
    for name, cells in measures.items():
        values = ", ".join(f"{cell}::DOUBLE" for cell in cells)
        parts.append(f"unnest([{values}]) AS {quoted_name(name)}")
    return replace(
        table,
        name=f"(SELECT {', '.join(parts)} FROM {table.name})",
        rows=table.rows * len(labels),
        columns=(*kept, label, *(Column(name, "DOUBLE") for name in measures)),
    )


def _series(matches: Sequence[NameWithPeriod]) -> list[NameWithPeriod]:
    """The longest series of periods in `matches`, in order."""
    grains = {one.period.grain for one in matches}
    every = [[one for one in matches if one.period.grain == grain] for grain in sorted(grains)]
    fitting = [one for one in every if is_one_series(each.period for each in one)]
    best = max(fitting, key=len) if fitting else []
    by_text = {one.period.text: one for one in reversed(best)}
    return sorted(by_text.values(), key=lambda one: one.period.text)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
