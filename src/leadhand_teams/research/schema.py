"""The tables as a question sees them: measures, groups, dates, named values, and keys. Pure.

Columns named by years or months are read as rows; tables are joined where one has a key of the
other.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Final, Literal

from leadhand.tools.text import joined_names
from leadhand_teams.research.words import is_row_word, name_stems, words_of
from leadhand_teams.shared import values
from leadhand_teams.shared.tables import DataColumn, DataTable

Role = Literal["measure", "rate", "key", "group", "date"]
MAX_NAMED: Final = 5_000
"""Different values of a column that a question may name."""
_RATE: Final = re.compile(
    r"(?:^|[\W_])(?:rate|ratio|pct|percent(?:age)?|share|median|mean|avg|average|price|score|index|"
    r"satisfaction|margin|churn|temperature|age|grade|rating|per)(?:$|[\W_])|%",
    re.IGNORECASE,
)
"""Names of columns whose figures can't be added up."""
_KEY: Final = re.compile(
    r"(?:^|[\W_])(?:id|no|nr|number|code|key|zip|plz|year)$|(?<=[a-z])Id$", re.I
)
_REGISTER: Final = re.compile(r"since|start|join|born|birth|hired|founded|opened|built", re.I)
_NAME: Final = ("name", "title", "label")


@dataclass(frozen=True)
class Field:
    """A column of a table, with its part in questions."""

    table: "View"
    column: DataColumn
    role: Role

    @property
    def name(self) -> str:
        return self.column.name

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """Of its name, without its unit."""
        bare = re.sub(r"[(\[][^)\]]*[)\]]", " ", self.name)
        return name_stems(bare) or name_stems(self.name)

    @property
    def unit(self) -> str | None:
        """Of its figures, or the currency in its name: `salary_eur`."""
        named = values.unit_of(self.name.replace("_", " "))
        return self.column.unit or (named if named and re.fullmatch("[A-Z]{3}", named) else None)

    @cached_property
    def is_series(self) -> bool:
        """Whether its dates are of figures over time, not of a register such as of customers."""
        dates = sorted(cell for cell in self.column.dates if cell is not None)
        months = sorted({day.year * 12 + day.month for day in dates})
        if len(months) < 2 or _REGISTER.search(self.name):
            return False
        is_regular = len({b - a for a, b in pairwise(months)}) == 1
        return is_regular or len(set(dates)) <= len(dates) / 2 or len(dates) >= 20

    @cached_property
    def unit_stems(self) -> tuple[str, ...]:
        """Of what stands in parentheses in its name."""
        return tuple(
            s for part in re.findall(r"[(\[]([^)\]]*)", self.name) for s in name_stems(part)
        )

    @cached_property
    def named(self) -> dict[tuple[str, ...], list[str]]:
        """Its different texts by their stems; empty for numbers and dates."""
        found: dict[tuple[str, ...], list[str]] = {}
        if self.role in ("group", "key"):
            for text in list(dict.fromkeys(self.column.texts))[:MAX_NAMED]:
                if text and (stems := tuple(word.stem for word in words_of(text))):
                    found.setdefault(stems, []).append(text)
        return found


@dataclass(frozen=True)
class View:
    """A table to be asked."""

    sql_name: str
    source: DataTable
    notes: tuple[str, ...] = ()
    fields: list[Field] = field(default_factory=list["Field"])
    refs: tuple[str, ...] = ()
    """The places of the rows if they are of several files."""

    @cached_property
    def stems(self) -> frozenset[str]:
        """Of its file's and sheet's names."""
        stem = PurePosixPath(self.source.file).stem
        return frozenset(name_stems(f"{stem} {self.source.sheet or ''}"))

    def field(self, name: str) -> Field | None:
        return next((one for one in self.fields if one.name == name), None)

    @property
    def label(self) -> Field | None:
        """What names its rows: a column `name`, else the first text whose values differ."""
        texts = [one for one in self.fields if one.role in ("group", "key")]
        for one in texts:
            if set(one.stems) & set(_NAME):
                return one
        unique = [one for one in texts if len(set(one.column.texts)) == len(self.source)]
        return next((one for one in unique if one.column.kind == "text"), None)

    def ref(self, row: int) -> str:
        """The place of a row."""
        return self.refs[row] if self.refs else self.source.ref(row)

    def text(self, row: int) -> str:
        """The cells of a row, as written."""
        return " | ".join(column.texts[row] for column in self.source.columns)

    def is_rows(self, stemmed: str) -> bool:
        """Whether a word means the rows of this table."""
        return is_row_word(stemmed) or stemmed in self.stems


@dataclass(frozen=True, slots=True)
class Join:
    """Two columns with the same keys; those of `one` are unique."""

    many: Field
    one: Field


def views(tables: Sequence[DataTable]) -> list[View]:
    """Each table as it is asked; columns named by periods become rows."""
    made: list[View] = []
    taken: set[str] = set()
    shaped: dict[tuple[str, ...], list[DataTable]] = {}
    for table in tables:
        shaped.setdefault(tuple(c.name.lower() for c in table.columns), []).append(table)
    for alike in shaped.values():
        table, notes, refs = _stacked(alike) if len(alike) > 1 else (alike[0], (), ())
        if melted := _melted(table):
            refs *= len(melted[0]) // (len(table) or 1)
            table, more = melted
            notes = (*notes, *more)
        view = View(_sql_name(table, taken), table, (*table.notes, *notes), refs=refs)
        view.fields.extend(Field(view, column, _role(column, table)) for column in table.columns)
        made.append(view)
    return made


def join(left: View, right: View) -> Join | None:
    """How the rows of `left` belong to those of `right`, if they do."""
    best: tuple[float, Join] | None = None
    for many in left.fields:
        for one in right.fields:
            if one.role not in ("group", "key") or many.role not in ("group", "key"):
                continue
            keys = [text for text in one.column.texts if text]
            if len(set(keys)) < len(keys) or not keys:
                continue
            used = [text for text in many.column.texts if text]
            overlap = sum(text in set(keys) for text in used) / len(used) if used else 0
            is_named = bool(set(many.stems) & (set(one.stems) | right.stems))
            if overlap >= (0.6 if is_named else 0.9) and (best is None or overlap > best[0]):
                best = (overlap, Join(many, one))
    return best[1] if best else None


def _role(column: DataColumn, table: DataTable) -> Role:
    match column.kind:
        case "date" | "period":
            return "date"
        case "text":
            return "group"
        case "number":
            pass
    numbers = [n for n in column.numbers if n is not None]
    is_whole = all(number.is_integer() for number in numbers)
    # Numbered rows: `ticket` from 1 to 60.
    in_order = (
        sorted(numbers) == [min(numbers) + n for n in range(len(table))] if numbers else False
    )
    singular = set(name_stems(column.name)) <= set(name_stems(PurePosixPath(table.file).stem))
    if is_whole and in_order and len(table) > 2 and singular:
        return "key"
    if is_whole and _KEY.search(column.name) and not column.unit:
        return "key"
    return "rate" if column.unit == "%" or _RATE.search(column.name) else "measure"


def _stacked(
    tables: Sequence[DataTable],
) -> tuple[DataTable, tuple[str, ...], tuple[str, ...]]:
    """Tables of the same columns as one; a period in the files' names becomes a column."""
    first = tables[0]
    columns: list[DataColumn] = []
    for n, column in enumerate(first.columns):
        parts = [table.columns[n] for table in tables]
        kind = column.kind if all(part.kind == column.kind for part in parts) else "text"
        cells = tuple(
            cell if kind != "text" else text or None
            for part in parts
            for cell, text in zip(part.cells, part.texts, strict=True)
        )
        texts = tuple(text for part in parts for text in part.texts)
        columns.append(DataColumn(column.name, kind, cells, texts, column.unit))
    names = [re.sub(r"[_\W]+", " ", PurePosixPath(table.file).stem) for table in tables]
    names = [f"{name} {table.sheet or ''}" for name, table in zip(names, tables, strict=True)]
    periods = [values.periods(name) for name in names]
    if all(periods) and not any(column.kind in ("date", "period") for column in columns):
        cells = tuple(p[0] for p, table in zip(periods, tables, strict=True) for _ in table.lines)
        texts = tuple(cell.text for cell in cells)
        columns.append(DataColumn("period", "period", cells, texts))
    listed = joined_names([table.name for table in tables])
    notes = (f"{listed} have the same columns and are read as one table.",)
    refs = tuple(table.ref(row) for table in tables for row in range(len(table)))
    lines = tuple(line for table in tables for line in table.lines)
    notes += tuple(note for table in tables for note in table.notes)
    return DataTable(first.file, tuple(columns), lines, first.sheet), notes, refs


def _melted(table: DataTable) -> tuple[DataTable, tuple[str, ...]] | None:
    """`table` with a row for each of its columns that are named by a period."""
    wide = [c for c in table.columns if c.kind == "number" and values.period(c.name)]
    rest = [c for c in table.columns if c not in wide]
    if len(wide) < 2 or not rest or any(c.kind != "text" for c in rest):
        return None
    what = (table.sheet or PurePosixPath(table.file).stem).replace("_", " ")
    count = len(table)
    periods = [values.period(c.name) for c in wide]
    columns = [
        DataColumn(c.name, c.kind, c.cells * len(wide), c.texts * len(wide), c.unit) for c in rest
    ]
    dates = tuple(one for one in periods for _ in range(count))
    names = tuple(c.name for c in wide for _ in range(count))
    columns.append(DataColumn("period", "period", dates, names))
    cells = tuple(cell for c in wide for cell in c.cells)
    texts = tuple(text for c in wide for text in c.texts)
    columns.append(DataColumn(what, "number", cells, texts, wide[0].unit))
    note = f"The columns {wide[0].name} to {wide[-1].name} are read as rows."
    return DataTable(table.file, tuple(columns), table.lines * len(wide), table.sheet), (note,)


def _sql_name(table: DataTable, taken: set[str]) -> str:
    stem = PurePosixPath(table.file).stem + (f"_{table.sheet}" if table.sheet else "")
    name = re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_")[:40] or "data"
    name = name if name[0].isalpha() else f"t_{name}"
    number, made = 1, name
    while made in taken:
        number += 1
        made = f"{name}_{number}"
    taken.add(made)
    return made
