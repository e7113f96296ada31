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
from leadhand_teams.research.grammar import asks
from leadhand_teams.research.words import listed, stems_in, stems_of, words_of
from leadhand_teams.shared import values
from leadhand_teams.shared.tables import Cell, DataColumn, DataTable
from leadhand_teams.shared.values import Period

Role = Literal["measure", "rate", "key", "group", "date"]
MAX_NAMED: Final = 5_000
"""Different values of a column that a question may name."""
_IN_BRACKETS: Final = re.compile(r"[(\[][^)\]]*[)\]]")

_PERSON: Final = re.compile(r"(?:[A-Z]\w*\.? )?[A-ZÀ-Þ][\w'’-]+ [A-ZÀ-Þ][\w'’-]+")


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
        """Of its name, without what stands in brackets."""
        return stems_in(_IN_BRACKETS.sub(" ", self.name)) or self.all_stems

    @cached_property
    def all_stems(self) -> tuple[str, ...]:
        return stems_in(self.name)

    @property
    def unit(self) -> str | None:
        """Of its figures, or in its name: `salary_eur`, `Waiting time (min)`."""
        named = values.unit_of(self.name.replace("_", " "))
        in_brackets = re.search(r"[(\[]([^\W\d]{1,8})[)\]]$", self.name)
        return self.column.unit or named or (in_brackets[1] if in_brackets else None)

    @cached_property
    def is_trait(self) -> bool:
        """Whether its figures are the same in all rows of a thing, as the volume of a bottle is."""
        for one in self.table.fields:
            pairs = set(zip(one.column.texts, self.column.texts, strict=True))
            things = {text for text, _ in pairs}
            if one.role in ("group", "key") and 1 < len(things) == len(pairs) < self.table.size:
                return not self.is_money
        return False

    @property
    def is_time(self) -> bool:
        """Whether its dates say when a row was: years of another name, as `Drink by`, do not."""
        return not self.is_of_years or asks(_spaced(self.name), "times")

    @property
    def is_of_years(self) -> bool:
        return {one.kind for one in self.column.cells if isinstance(one, Period)} == {"year"}

    @cached_property
    def is_of_periods(self) -> bool:
        """Whether its texts are months or quarters."""
        texts = set(self.column.texts)
        return len(texts) <= 12 and all(values.periods(text, bare=True) for text in texts)

    @property
    def is_money(self) -> bool:
        in_money = self.unit in values.CURRENCIES.values()
        is_named = set(self.stems) & stems_of("money") and not set(self.stems) & stems_of("grains")
        return self.is_figure and (in_money or bool(is_named))

    @cached_property
    def is_series(self) -> bool:
        """Whether its dates are of figures over time, not of a register such as of customers."""
        dates = sorted(cell for cell in self.column.dates if cell is not None)
        months = sorted({day.year * 12 + day.month for day in dates})
        if len(months) < 2 or asks(_spaced(self.name), "registers"):
            return False
        is_regular = len({b - a for a, b in pairwise(months)}) == 1
        return is_regular or len(set(dates)) <= len(dates) / 2 or len(dates) >= 20

    @cached_property
    def named(self) -> dict[tuple[str, ...], list[str]]:
        """Its different texts by their stems; empty for figures and dates."""
        found: dict[tuple[str, ...], list[str]] = {}
        if self.role in ("group", "key"):
            for text in list(dict.fromkeys(self.column.texts))[:MAX_NAMED]:
                if stems := stems_in(text):
                    found.setdefault(stems, []).append(text)
        return found

    def spelled_like(self, text: str) -> list[str]:
        """Other texts that have its words and more, or only its first ones: `Acme`, `Acme Ltd`."""
        own = stems_in(text)
        return [
            same
            for stems, texts in self.named.items()
            if stems != own and (stems[: len(own)] == own or own[: len(stems)] == stems)
            for same in texts
        ]

    def flagged(self, *, yes: bool) -> list[str]:
        """The cells that say yes, or no, if it has no others."""
        texts = set(self.column.texts) - {""} if self.role == "group" else set[str]()
        found = {text for text in texts if text.lower() in listed("yes")}
        rest = {text for text in texts if text.lower() in listed("no")}
        is_flag = bool(found) and texts == found | rest
        return sorted(found if yes else rest) if is_flag else []


@dataclass(frozen=True)
class View:
    """A table to be asked."""

    sql_name: str
    source: DataTable
    size: int
    """Rows in the file: fewer than in `source` if its columns were read as rows."""
    fields: list[Field] = field(default_factory=list["Field"])

    @cached_property
    def stems(self) -> frozenset[str]:
        """Of its file's and sheet's names."""
        return frozenset(stems_in(f"{_title(self.source)} {self.source.sheet or ''}"))

    @cached_property
    def terms(self) -> dict[str, str]:
        """The stems of its names and of its values of one word, each with that word."""
        names = [_title(self.source), self.source.sheet or "", *(one.name for one in self.fields)]
        alone = (texts[0] for one in self.fields for key, texts in one.named.items() if not key[1:])
        words = chain.from_iterable(map(words_of, map(_spaced, [*alone, *names])))
        return {word.stem: word.text for word in words}

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The stems of its names and values."""
        return frozenset(self.terms).union(*(key for one in self.fields for key in one.named))

    @cached_property
    def label(self) -> Field | None:
        """What names its rows: a text whose values differ, a column `name` before others."""
        texts = [one for one in self.fields if one.role in ("group", "key")]
        named = [one for one in texts if stems_of("names") & set(one.stems)]
        named += [one for one in texts if self.stems & set(one.stems)]
        unique = [
            one
            for one in [*named, *texts]
            if one.column.kind == "text" and len(set(one.column.texts)) == self.size
        ]
        return next(chain(unique, named), None)

    @cached_property
    def texts(self) -> list[Field]:
        """The columns of words that are no numbers or codes."""
        groups = (one for one in self.fields if one.role == "group")
        return [one for one in groups if not asks(_spaced(one.name), "keys")]

    @cached_property
    def people(self) -> list[Field]:
        """The columns named so, and those whose cells look like names of people."""
        named = [one for one in self.texts if stems_of("people") & set(one.stems)]
        alike = [
            one for one in self.texts if all(map(_PERSON.fullmatch, filter(None, one.column.texts)))
        ]
        return [*named, *(one for one in alike if one not in named)]

    def text(self, row: int) -> str:
        """The cells of a row, as written."""
        return " | ".join(column.texts[row] for column in self.source.columns)

    def is_rows(self, stem: str) -> bool:
        """Whether a word means the rows of this table."""
        return stem in stems_of("rows") or stem in self.stems


@dataclass(frozen=True, slots=True)
class Join:
    """Two columns with the same keys; those of `one` are unique."""

    many: Field
    one: Field


def views(tables: Sequence[DataTable]) -> list[View]:
    """Each table as it is asked."""
    made: list[View] = []
    names: list[str] = []
    for given in _stacked(tables):
        given = _without_sums(given)
        table = _dated(_long(given))
        made.append(View(_sql_name(table, names), table, len(given)))
        made[-1].fields.extend(Field(made[-1], c, _role(c, table)) for c in table.columns)
    return made


@dataclass(frozen=True, slots=True)
class _Stacked(DataTable):
    """Tables below each other."""

    parts: tuple[DataTable, ...] = ()

    def ref(self, row: int) -> str:
        for one in self.parts:
            if row < len(one):
                return one.ref(row)
            row -= len(one)
        raise IndexError(row)


def _stacked(tables: Sequence[DataTable]) -> list[DataTable]:
    """Tables, those of one name but for its numbers and of the same columns as one: a year a file.

    They must have dates, which tell their rows apart.
    """
    groups: dict[object, list[DataTable]] = {}
    for one in tables:
        title = re.sub(r"\d+", "", f"{_title(one)}#{one.sheet or ''}".lower())
        heads = tuple((column.name.lower(), column.kind) for column in one.columns)
        has_dates = any(column.kind in ("date", "period") for column in one.columns)
        groups.setdefault((title, heads) if has_dates else id(one), []).append(one)
    return [_below_each_other(group) if group[1:] else group[0] for group in groups.values()]


def _below_each_other(tables: Sequence[DataTable]) -> DataTable:
    first = tables[0]
    columns = [_below(parts) for parts in zip(*(one.columns for one in tables), strict=True)]
    lines = tuple(chain.from_iterable(one.lines for one in tables))
    notes = tuple(f"{one.name}: {note}" for one in tables for note in one.notes)
    said = f"{', '.join(one.name for one in tables)} are read as one table."
    return _Stacked(
        first.file, tuple(columns), lines, first.sheet, (*notes, said), parts=tuple(tables)
    )


def join(left: View, right: View) -> Join | None:
    """How the rows of `left` belong to those of `right`, if they do."""
    best, found = 0.0, None
    for one in (one for one in right.fields if one.role in ("group", "key")):
        keys = [text for text in one.column.texts if text]
        known = set(keys)
        if len(known) < len(keys):
            continue
        for many in (many for many in left.fields if many.role in ("group", "key")):
            used = [text for text in many.column.texts if text]
            overlap = len([text for text in used if text in known]) / max(1, len(used))
            is_named = not {*one.stems, *right.stems}.isdisjoint(many.stems)
            if overlap >= (0.6 if is_named else 0.9) and overlap > best:
                best, found = overlap, Join(many, one)
    return found


def _without_sums(table: DataTable) -> DataTable:
    """`table` without its last row, if the figures of this are the sums of all others."""
    figures = [one.numbers for one in table.columns if _role(one, table) == "measure"]
    rests = [sum(filter(None, numbers[:-1])) for numbers in figures]
    are_sums = [n[-1] and abs(n[-1] - rest) < 0.01 for n, rest in zip(figures, rests, strict=True)]
    if len(table) < 4 or not are_sums or not all(are_sums):
        return table
    columns = (replace(one, cells=one.cells[:-1], texts=one.texts[:-1]) for one in table.columns)
    note = f"The last row, “{table.columns[0].texts[-1]}”, has the sums of the others; not counted."
    return replace(
        table, columns=tuple(columns), lines=table.lines[:-1], notes=(*table.notes, note)
    )


def _role(column: DataColumn, table: DataTable) -> Role:
    if column.kind in ("date", "period"):
        return "date"
    if column.kind == "text":
        return "group"
    numbers = [n for n in column.numbers if n is not None]
    is_whole = all(number.is_integer() for number in numbers) and not column.unit
    # Numbered rows: `ticket` from 1 to 60.
    low = min(numbers, default=0.0)
    # A number that names rows stands first, and no two rows have it: `plot`, but not `visitors`.
    is_first = column is table.columns[0] and len(set(numbers)) == len(table) > 2
    is_name = is_first and not column.name.endswith("s") and values.unit_of(column.name) is None
    in_order = len(numbers) > 2 and sorted(numbers) == [low + n for n in range(len(table))]
    is_rows = is_name or (in_order and set(stems_in(column.name)) <= set(stems_in(_title(table))))
    if is_whole and (is_rows or asks(_spaced(column.name), "keys")):
        return "key"
    is_rate = column.unit == "%" or asks(_spaced(column.name), "rates")
    return "rate" if is_rate else "measure"


def _title(table: DataTable) -> str:
    return PurePosixPath(table.file).stem


def _spaced(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).replace("_", " ")


def _long(table: DataTable) -> DataTable:
    """`table` with a row for each period that its columns are named by.

    `2024`, `Budget 2024`, and `January` beside a column of years; totals are dropped.
    """
    wide: dict[str, dict[Period, DataColumn]] = {}
    rest: list[DataColumn] = []
    for column in table.columns:
        found = values.periods(column.name, bare=True) if column.kind == "number" else []
        if len(found) == 1:
            what = " ".join(column.name.replace(found[0].text, " ").split())
            what = what or (table.sheet or _title(table)).replace("_", " ")
            wide.setdefault(what, {})[replace(found[0], text="")] = column
        elif not re.fullmatch(values.WORDS["total"], column.name, re.IGNORECASE):
            rest.append(column)
    periods = list(dict.fromkeys(chain.from_iterable(wide.values())))
    years = [column for column in rest if column.kind == "period"]
    is_bare = any(one.start.year == values.NO_YEAR for one in periods)
    texts = [c for c in rest if c.kind == "text" or _role(c, table) == "key"]
    if len(periods) < 2 or not texts or len(texts) + len(years) < len(rest):
        return table
    if years and not (is_bare and len(years) == 1):
        return table
    named = {one.start.year: one for one in values.periods(_spaced(table.name))}
    default = next(iter(named.values())) if len(named) == 1 else None
    size = len(table)
    columns = [_below([column] * len(periods)) for column in texts]
    of_rows = years[0].cells if years else (default,) * size
    dated = [_of_year(one, year) for one in periods for year in of_rows]
    columns.append(DataColumn("period", "period", tuple(dated), tuple(one.label for one in dated)))
    empty = DataColumn("", "number", (None,) * size, ("",) * size)
    for what, each in wide.items():
        below = _below([each.get(one, empty) for one in periods])
        columns.append(replace(below, name=what, unit=next(iter(each.values())).unit))
    note = f"The columns of {periods[0].label} to {periods[-1].label} are read as rows."
    notes, lines = (*table.notes, note), table.lines * len(periods)
    return replace(table, columns=tuple(columns), lines=lines, notes=notes)


def _of_year(month: Period, year: Cell) -> Period:
    if month.start.year != values.NO_YEAR or not isinstance(year, Period):
        return month
    return replace(month, start=month.start.replace(year=year.start.year))


def _dated(table: DataTable) -> DataTable:
    """`table` with quarters or months in its column of years, if another one has their names."""
    for years in table.columns:
        for part in table.columns:
            if years.kind == "period" and part.kind == "text":
                pairs = zip(part.texts, years.texts, strict=True)
                found = tuple(values.period(f"{name} {year}") for name, year in pairs)
                if all(found):
                    dated = replace(years, cells=found)
                    columns = (dated if one is years else one for one in table.columns)
                    return replace(table, columns=tuple(columns))
    return table


def _below(parts: Sequence[DataColumn]) -> DataColumn:
    """The columns below each other."""
    cells = tuple(chain.from_iterable(part.cells for part in parts))
    texts = tuple(chain.from_iterable(part.texts for part in parts))
    return replace(parts[0], cells=cells, texts=texts)


def _sql_name(table: DataTable, taken: list[str]) -> str:
    is_named = table.sheet and not re.match(
        r"(?:sheet|tabelle|table|data)\s*\d*$", table.sheet, re.I
    )
    name = re.sub(r"[^a-z0-9]+", "_", f"{table.sheet if is_named else _title(table)}".lower())
    name = name.strip("_")[:40] or "data"
    taken.append(name if name[0].isalpha() else f"t_{name}")
    times = taken.count(taken[-1])
    return taken[-1] if times == 1 else f"{taken[-1]}_{times}"
