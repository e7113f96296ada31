"""Tables with named, typed columns, and the place of each row. Pure.

Rows that can't be data (empty ones, totals, those that are too long) are left out, and `notes` says
which; so is what had to be decided: the order of day and month, and what `1.234` means.
"""

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from leadhand.tools.text import counted, joined_names
from leadhand_teams.shared import values
from leadhand_teams.shared.values import DayOrder, DecimalMark, Period

Kind = Literal["number", "date", "period", "text"]
Cell = float | dt.date | Period | str | None
"""None for an empty cell, and for one that is not of its column's kind."""

_TYPED_SHARE: Final = 0.8
"""A column is of a kind if this part of its cells is."""
_SAMPLE: Final = 500
"""Cells from the top, and about as many from the rest, that decide a column's kind."""
EMPTY: Final = frozenset(("", *values.WORDS["empty"].split()))
_TOTAL: Final = re.compile(values.WORDS["total"], re.IGNORECASE)
_NAME_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class DataColumn:
    """One column of a table."""

    name: str
    kind: Kind
    cells: tuple[Cell, ...]
    texts: tuple[str, ...]
    """The cells as written."""
    unit: str | None = None
    """Of all its numbers: a currency's code or `%`; None if there is none, or several."""

    @property
    def numbers(self) -> tuple[float | None, ...]:
        """Its numbers; None where there is none."""
        return tuple(cell if isinstance(cell, float) else None for cell in self.cells)

    @property
    def dates(self) -> tuple[dt.date | None, ...]:
        """Its dates, of a period its first day; None where there is none."""
        return tuple(
            cell.start if isinstance(cell, Period) else cell if isinstance(cell, dt.date) else None
            for cell in self.cells
        )


@dataclass(frozen=True, slots=True)
class DataTable:
    """Rows with named, typed columns."""

    file: str
    columns: tuple[DataColumn, ...]
    lines: tuple[int, ...]
    """Of each row: its line in the file, or its row in the sheet, from 1."""
    sheet: str | None = None
    notes: tuple[str, ...] = ()
    """What was left out or decided, a sentence each."""

    @property
    def name(self) -> str:
        """`file`, or `file#sheet`."""
        return f"{self.file}#{self.sheet}" if self.sheet else self.file

    def __len__(self) -> int:
        return len(self.lines)

    def ref(self, row: int) -> str:
        """The place of the row with this index: `file:line` or `file#sheet:row`."""
        return f"{self.name}:{self.lines[row]}"

    def column(self, *names: str) -> DataColumn | None:
        """The column with one of these names, the first name that fits; None if none does.

        Case, marks and units do not matter. A column whose name has all words of a name will do.
        """
        by_words = [(_words(column.name), column) for column in self.columns]
        wanted = [_words(name) for name in names]
        for name in wanted:
            for words, column in by_words:
                if words == name:
                    return column
        for name in wanted:
            for words, column in by_words:
                if name and set(name) <= set(words):
                    return column
        return None

    def records(self, names: Mapping[str, Sequence[str]]) -> list[dict[str, str]]:
        """The rows as written: by each key the column with one of its names, else nothing.

        `ref` is the place of the row.
        """
        columns = {key: self.column(*each) for key, each in names.items()}
        return [
            {key: one.texts[n].strip() if one else "" for key, one in columns.items()}
            | {"ref": self.ref(n)}
            for n in range(len(self))
        ]


def typed(
    file: str,
    names: Sequence[str],
    body: Sequence[tuple[int, Sequence[str]]],
    *,
    sheet: str | None = None,
    decimal: DecimalMark | None = None,
    notes: Iterable[str] = (),
) -> DataTable:
    """A table of `body`, whose rows are lines and their cells as written.

    `decimal` is the mark before decimals where the numbers don't show it; `notes` come first.
    """
    width = len(names)
    notes = list(notes)
    kept: list[tuple[int, list[str]]] = []
    totals: list[str] = []
    broken: list[str] = []
    for line, row in body:
        first = next(filter(None, row), "").rstrip(":")
        is_alone = width > 2 and sum(map(bool, row)) == 1
        if not first or (is_alone and not kept):
            continue
        if _TOTAL.fullmatch(first) and not any(row[width:]):
            totals.append(str(line))
        elif is_alone or any(row[width:]):
            broken.append(str(line))
        else:
            kept.append((line, [*row, *[""] * (width - len(row))][:width]))
    what = "Row" if sheet else "Line"
    for lines, why in (
        (totals, "totals, not counted as data"),
        (broken, "left out, the cells don't fit the header"),
    ):
        plural = "s" if len(lines) > 1 else ""
        notes += [f"{what}{plural} {joined_names(lines)}: {why}."] if lines else []
    used = [n for n in range(width) if names[n] or any(row[n] for _, row in kept)]
    titles = _distinct([names[n] or f"column {n + 1}" for n in used])
    cells = [[row[n] for _, row in kept] for n in used]
    mark, said = _mark([cell for column in cells for cell in column], decimal)
    columns = [
        _column(title, column, mark, said, notes)
        for title, column in zip(titles, cells, strict=True)
    ]
    return DataTable(file, tuple(columns), tuple(line for line, _ in kept), sheet, tuple(notes))


def _column(
    name: str, texts: list[str], mark: DecimalMark | None, said: bool, notes: list[str]
) -> DataColumn:
    given = [text for text in texts if text.lower() not in EMPTY]
    kind = _kind_of_all(given)
    own, own_said = _mark(given, None)
    mark = own if own_said else mark
    order = _order(list(dict.fromkeys(given)), name, notes) if kind == "date" else None
    read: dict[str, Cell] = {text: _cell(text, kind, mark, order) for text in set(given)}
    unit = None
    wrong = [text for text in given if read[text] is None]
    if len(given) - len(wrong) < _TYPED_SHARE * len(given):
        kind, wrong = "text", []
        read = dict(zip(given, given, strict=True))
    if wrong:
        shown = joined_names(list(dict.fromkeys(wrong)), 3)
        notes.append(f"{name}: {counted(len(wrong), 'cell')} is no {kind} ({shown}), left empty.")
    if kind == "number":
        if not (own_said or said) and "." in given[0] and all(map(values.is_ambiguous, given)):
            shown = f"{values.number(given[0], mark) or 0:g}"
            notes.append(f"{name}: {given[0]} is read as {shown}.")
        units = {values.unit_of(text) for text in dict.fromkeys(given)}
        unit = next(iter(units)) if len(units) == 1 else None
        unit = unit or (values.unit_of(name) if units <= {None} else None)
        if len(units - {None}) > 1:
            shown = joined_names(sorted(one for one in units if one))
            notes.append(f"{name}: has several units ({shown}).")
    return DataColumn(name, kind, tuple(read.get(text) for text in texts), tuple(texts), unit)


def _kind_of_all(given: Sequence[str]) -> Kind:
    """The kind of most of a column's cells, by a sample of them."""
    sample = [*given[:_SAMPLE], *given[_SAMPLE :: max(1, len(given) // _SAMPLE)]]
    kinds = Counter[Kind](map(kind_of, sample))
    if kinds["number"] + kinds["period"] == len(sample) and kinds["number"]:
        return "number"
    kind, count = kinds.most_common(1)[0] if kinds else ("text", 0)
    return kind if count >= _TYPED_SHARE * len(sample) else "text"


def _cell(text: str, kind: Kind, mark: DecimalMark | None, order: DayOrder | None) -> Cell:
    if kind == "number":
        return values.number(text, mark)
    if kind == "date":
        found = values.date(text, order)
        return found.value if found else None
    return values.period(text) if kind == "period" else text


def kind_of(text: str) -> Kind:
    """What a cell looks like by itself."""
    if values.date(text) is not None:
        return "date"
    if values.period(text) is not None:
        return "period"
    return "number" if values.number(text) is not None else "text"


def _mark(texts: Sequence[str], suggested: DecimalMark | None) -> tuple[DecimalMark | None, bool]:
    """The decimal mark of most numbers that show it, and whether any does."""
    seen: Counter[DecimalMark] = Counter(
        mark for text in texts[:5000] if (mark := values.decimal_mark(text))
    )
    return (seen.most_common(1)[0][0], True) if seen else (suggested, suggested is not None)


def _order(texts: Sequence[str], name: str, notes: list[str]) -> DayOrder | None:
    found = [(one, text) for text in texts if (one := values.date(text)) is not None]
    unclear = [text for one, text in found if one.ambiguous]
    if not unclear:
        return None
    certain: list[DayOrder] = [
        "day" if int(first[0]) > 12 else "month"
        for one, text in found
        if not one.ambiguous and (first := re.match(r"\d{1,2}(?=[/-])", text))
    ]
    if certain:
        return max(("day", "month"), key=certain.count)
    notes.append(f"{name}: in {unclear[0]} the month is taken to come first; nothing decides it.")
    return "month"


def _words(name: str) -> tuple[str, ...]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    bare = (
        re.sub(r"\([^)]*\)|\[[^\]]*\]", " ", spaced) if re.search(r"\w\s*[(\[]", spaced) else spaced
    )
    return tuple(word.lower() for word in _NAME_WORD.findall(bare))


def _distinct(names: Sequence[str]) -> list[str]:
    taken: Counter[str] = Counter()
    found: list[str] = []
    for name in names:
        clean = " ".join(name.split())
        taken[clean.lower()] += 1
        found.append(clean if taken[clean.lower()] == 1 else f"{clean} {taken[clean.lower()]}")
    return found
