"""The tables as a question sees them: measures, groups, dates, named values, and keys. Pure.

Columns named by years or months are read as rows; tables are joined where one has a key of the
other.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from pathlib import PurePosixPath
from typing import Final, Literal

from leadhand.tools.sql import quoted_name
from leadhand_teams.research.words import listed, name_stems, stems_of, words_of
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


@dataclass(frozen=True)
class Field:
    """A column of a table, with its part in questions."""

    table: "View"
    column: DataColumn
    role: Role

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def sql(self) -> str:
        return f"{quoted_name(self.table.sql_name)}.{quoted_name(self.name)}"

    @property
    def is_figure(self) -> bool:
        return self.role in ("measure", "rate")

    @cached_property
    def stems(self) -> tuple[str, ...]:
        """Of its name, without its unit."""
        bare = re.sub(r"[(\[][^)\]]*[)\]]", " ", self.name)
        return name_stems(bare) or name_stems(self.name)

    @cached_property
    def all_stems(self) -> tuple[str, ...]:
        """Also of what stands in parentheses in its name."""
        return (*self.stems, *name_stems(" ".join(re.findall(r"[(\[]([^)\]]*)", self.name))))

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
    def named(self) -> dict[tuple[str, ...], list[str]]:
        """Its different texts by their stems; empty for figures and dates."""
        found: dict[tuple[str, ...], list[str]] = {}
        if self.role in ("group", "key"):
            for text in list(dict.fromkeys(self.column.texts))[:MAX_NAMED]:
                if text and (stems := tuple(word.stem for word in words_of(text))):
                    found.setdefault(stems, []).append(text)
        return found

    def flagged(self, *, yes: bool) -> list[str]:
        """The cells that say yes, or no, if it has no others."""
        texts = set(self.column.texts) if self.role == "group" else set[str]()
        found = {text for text in texts if text.lower() in listed("yes")}
        rest = {text for text in texts if text.lower() in listed("no")}
        is_flag = bool(found) and texts <= found | rest | {""}
        return sorted(found if yes else rest) if is_flag else []


@dataclass(frozen=True)
class View:
    """A table to be asked."""

    sql_name: str
    source: DataTable
    fields: list[Field] = field(default_factory=list["Field"])

    @cached_property
    def stems(self) -> frozenset[str]:
        """Of its file's and sheet's names."""
        stem = PurePosixPath(self.source.file).stem
        return frozenset(name_stems(f"{stem} {self.source.sheet or ''}"))

    @property
    def label(self) -> Field | None:
        """What names its rows: a column `name`, else the first text whose values differ."""
        texts = [one for one in self.fields if one.role in ("group", "key")]
        for one in texts:
            if {"name", "title", "label"} & set(one.stems):
                return one
        unique = [one for one in texts if len(set(one.column.texts)) == len(self.source)]
        return next((one for one in unique if one.column.kind == "text"), None)

    @property
    def person(self) -> Field | None:
        """The column of people: one named so, else what names the rows, if that is no number."""
        texts = [one for one in self.fields if one.role == "group" and not _KEY.search(one.name)]
        named = [one for one in texts if stems_of("people") & set(one.stems)]
        return next(iter(named), self.label if self.label in texts else None)

    def text(self, row: int) -> str:
        """The cells of a row, as written."""
        return " | ".join(column.texts[row] for column in self.source.columns)

    def is_rows(self, stemmed: str) -> bool:
        """Whether a word means the rows of this table."""
        return stemmed in stems_of("rows") or stemmed in self.stems


@dataclass(frozen=True, slots=True)
class Join:
    """Two columns with the same keys; those of `one` are unique."""

    many: Field
    one: Field


def views(tables: Sequence[DataTable]) -> list[View]:
    """Each table as it is asked."""
    made: list[View] = []
    names: list[str] = []
    for table in map(_dated, map(_long, tables)):
        made.append(View(_sql_name(table, names), table))
        made[-1].fields.extend(Field(made[-1], c, _role(c, table)) for c in table.columns)
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
    if column.kind in ("date", "period"):
        return "date"
    if column.kind == "text":
        return "group"
    numbers = [n for n in column.numbers if n is not None]
    is_whole = all(number.is_integer() for number in numbers)
    # Numbered rows: `ticket` from 1 to 60.
    in_order = bool(numbers) and sorted(numbers) == [min(numbers) + n for n in range(len(table))]
    singular = set(name_stems(column.name)) <= set(name_stems(PurePosixPath(table.file).stem))
    if is_whole and in_order and len(table) > 2 and singular:
        return "key"
    if is_whole and _KEY.search(column.name) and not column.unit:
        return "key"
    return "rate" if column.unit == "%" or _RATE.search(column.name) else "measure"


def _long(table: DataTable) -> DataTable:
    """`table` with a row for each of its columns that are named by a period."""
    wide = [c for c in table.columns if c.kind == "number" and values.period(c.name)]
    rest = [c for c in table.columns if c not in wide]
    if len(wide) < 2 or not rest or any(c.kind != "text" for c in rest):
        return table
    columns = [_below([column] * len(wide)) for column in rest]
    names = tuple(column.name for column in wide for _ in table.lines)
    columns.append(DataColumn("period", "period", tuple(map(values.period, names)), names))
    what = (table.sheet or PurePosixPath(table.file).stem).replace("_", " ")
    columns.append(replace(_below(wide), name=what))
    note = f"The columns {wide[0].name} to {wide[-1].name} are read as rows."
    notes, lines = (*table.notes, note), table.lines * len(wide)
    return replace(table, columns=tuple(columns), lines=lines, notes=notes)


def _dated(table: DataTable) -> DataTable:
    """`table` with quarters or months in its column of years, if another one has their names."""
    for years in table.columns:
        for part in table.columns:
            pairs = zip(part.texts, years.texts, strict=True)
            found = [values.period(f"{name} {year}") for name, year in pairs]
            if years.kind == "period" and part.kind == "text" and all(found):
                dated = replace(years, cells=tuple(found))
                columns = tuple(dated if one is years else one for one in table.columns)
                return replace(table, columns=columns)
    return table


def _below(parts: Sequence[DataColumn]) -> DataColumn:
    """The columns below each other."""
    cells = chain.from_iterable(part.cells for part in parts)
    texts = chain.from_iterable(part.texts for part in parts)
    return replace(parts[0], cells=tuple(cells), texts=tuple(texts))


def _sql_name(table: DataTable, taken: list[str]) -> str:
    stem = PurePosixPath(table.file).stem + (f"_{table.sheet}" if table.sheet else "")
    name = re.sub(r"[^a-z0-9]+", "_", stem.lower()).strip("_")[:40] or "data"
    name = name if name[0].isalpha() else f"t_{name}"
    taken.append(name)
    return name if taken.count(name) == 1 else f"{name}_{taken.count(name)}"
