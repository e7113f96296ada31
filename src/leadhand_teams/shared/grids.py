"""Finds the tables in files: any delimiter, the header wherever it is, several below each other.

Pure. CSV, sheets, texts with cells between `|`, and JSON become a `Grid`; `tables` types it.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Final, cast

from leadhand_teams.shared import values
from leadhand_teams.shared.tables import EMPTY, DataTable, kind_of, typed
from leadhand_teams.shared.values import DecimalMark

MAX_ROWS: Final = 200_000
_HEADER_WITHIN: Final = 40
"""Rows from the top among which the header is looked for."""
_DELIMITERS: Final = (",", ";", "\t", "|")
_RULE: Final = re.compile(r"\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)*\|?")


@dataclass(slots=True)
class Grid:
    """Cells as written, before a header is found and columns are typed."""

    rows: list[tuple[int, list[str]]] = field(default_factory=list[tuple[int, list[str]]])
    """Line, from 1, and cells; an empty line has none."""
    decimal: DecimalMark | None = None
    """What its kind of file suggests."""
    notes: list[str] = field(default_factory=list[str])


def csv_tables(file: str, text: str) -> list[DataTable]:
    """The tables of a CSV file with any delimiter."""
    delimiter = _delimiter(text)
    grid = Grid(decimal="," if delimiter == ";" else None)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=False)
    before = 0
    try:
        for cells in reader:
            grid.rows.append((before + 1, cells))
            before = reader.line_num
            if len(grid.rows) > MAX_ROWS:
                grid.notes.append(f"Only its first {MAX_ROWS:,} rows were read.")
                break
    except csv.Error as error:
        grid.notes.append(f"Line {before + 1:,} can't be read ({error}); the rest is left out.")
    return tables_of(file, grid)


def sheet_tables(file: str, text: str) -> list[DataTable]:
    """The tables of one sheet: `# NAME`, then a line of tab-separated cells for each row."""
    title, _, body = text.partition("\n")
    rows = [(n, line.split("\t")) for n, line in enumerate(body.split("\n"), 1)]
    return tables_of(file, Grid(rows, decimal="."), sheet=title.removeprefix("# ").strip())


def text_tables(file: str, text: str) -> list[DataTable]:
    """The tables in a text whose cells are separated by `|`, as in Markdown."""
    found: list[DataTable] = []
    lines = enumerate(text.split("\n"), 1)
    for is_table, group in groupby(lines, key=lambda pair: _is_row(pair[1])):
        rows = [
            (n, _cells(line)) for n, line in group if is_table and not _RULE.fullmatch(line.strip())
        ]
        if len(rows) > 1:
            found += tables_of(file, Grid(rows))
    return found


def json_tables(file: str, text: str) -> list[DataTable]:
    """The table of JSON Lines, or of the longest list of objects in a JSON document."""
    objects = list(_objects(text))
    names = list(dict.fromkeys(name for _, one in objects for name in one))
    if not objects or len(names) < 2:
        return []
    rows = [(line, [_json_cell(one.get(name)) for name in names]) for line, one in objects]
    return [typed(file, names, rows[:MAX_ROWS], decimal=".")]


def tables_of(file: str, grid: Grid, *, sheet: str | None = None) -> list[DataTable]:
    """The tables of `grid`, each below a header of its own."""
    rows = [(line, [cell.strip() for cell in cells]) for line, cells in grid.rows]
    found: list[DataTable] = []
    while rows:
        header = _header(rows)
        if header is None:
            break
        start, names = header
        end = _end(rows, start + 1)
        body = rows[start + 1 : end]
        table = typed(file, names, body, sheet=sheet, decimal=grid.decimal, notes=grid.notes)
        if len(table):
            found.append(table)
        rows = rows[end:]
    return found


def _header(rows: Sequence[tuple[int, list[str]]]) -> tuple[int, list[str]] | None:
    """The index and names of the header; index -1 if the first row is data already."""
    filled = [(n, row) for n, (_, row) in enumerate(rows) if any(row)]
    if not filled:
        return None
    widths = Counter(sum(map(bool, row)) for _, row in filled)
    widths.pop(1, None)
    if not widths:
        return None
    usual = max(widths, key=lambda width: (widths[width], width))
    for place, (n, row) in enumerate(filled[:_HEADER_WITHIN]):
        names = [cell for cell in row if cell]
        if len(names) < max(2, 0.6 * usual):
            continue
        after = [other for _, other in filled[place + 1 : place + 30]]
        if _names_columns(row, after):
            return n, row
        if len(names) >= usual:  # Data without a header above it.
            return n - 1, [f"column {number}" for number in range(1, len(row) + 1)]
    return None


def _names_columns(row: Sequence[str], after: Sequence[Sequence[str]]) -> bool:
    names = [cell.lower() for cell in row if cell]
    if not after or len(set(names)) < len(names):
        return False
    for n, cell in enumerate(row):
        below = [other[n] for other in after if n < len(other) and other[n].lower() not in EMPTY]
        if cell and kind_of(cell) != "text":
            # A year or month may name a column of figures.
            is_period = values.period(cell) is not None or values.date(cell) is not None
            if not is_period or (below and all(values.period(one) is not None for one in below)):
                return False
    # The column of what the rows are often has no name.
    return not row[0] or any(kind_of(cell) == "text" for cell in row if cell)


def _end(rows: Sequence[tuple[int, list[str]]], start: int) -> int:
    """The index after the last row of the table: before a blank row and another header."""
    for n in range(start + 1, len(rows) - 2):
        is_after_gap = not any(rows[n - 1][1]) and len([cell for cell in rows[n][1] if cell]) > 0
        if is_after_gap and n > start + 1:
            above = [row for _, row in rows[start : n - 1] if sum(map(bool, row)) > 1]
            filled = [row for _, row in rows[n : n + 6] if any(row)]
            first = next((row for row in filled if sum(map(bool, row)) > 1), None)
            if above and first and _differs(first, above) and _header(rows[n:]) is not None:
                return n
    return len(rows)


def _differs(row: Sequence[str], above: Sequence[Sequence[str]]) -> bool:
    """Whether `row` has words where all rows above have figures."""
    for n, cell in enumerate(row):
        column = [other[n] for other in above[:50] if n < len(other) and other[n]]
        figures = [one for one in column if kind_of(one) != "text"]
        if cell and kind_of(cell) == "text" and column and len(figures) == len(column):
            return cell.lower() not in EMPTY
    return False


def _delimiter(text: str) -> str:
    head = "\n".join(text.split("\n", 200)[:200])

    def fit(delimiter: str) -> tuple[float, int]:
        widths = Counter(
            len(row) for row in csv.reader(io.StringIO(head), delimiter=delimiter) if row
        )
        wide = {width: count for width, count in widths.items() if width > 1}
        if not wide:
            return 0, 0
        width = max(wide, key=lambda one: (wide[one], one))
        return wide[width] / sum(widths.values()), width

    return max(_DELIMITERS, key=fit)


def _is_row(line: str) -> bool:
    line = line.strip()
    return (
        line.count("|") >= 2
        if line.startswith("|")
        else " | " in line or ("|" in line and _RULE.fullmatch(line) is not None)
    )


def _cells(line: str) -> list[str]:
    line = line.strip().removeprefix("|")
    line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)]
    return [re.sub(r"^(\*\*|__|`)(.+)\1$", r"\2", cell) for cell in cells]


def _objects(text: str) -> Iterator[tuple[int, dict[str, object]]]:
    """The objects of `text` with their lines."""
    decoder = json.JSONDecoder()
    at = start = 0
    if (first := re.match(r"\s*\{", text)) and _document(text) is not None:
        # A document that is one object: of its lists, the longest.
        best = max(
            re.finditer(r'"\s*:\s*\[(?=\s*\{)', text),
            key=lambda one: _length(text, one.end()),
            default=None,
        )
        at = best.end() if best else len(text)
    elif not first:
        bracket = text.find("[")
        at = bracket + 1 if bracket >= 0 else len(text)
    line = text.count("\n", 0, at) + 1
    start = at
    while (brace := text.find("{", at)) >= 0:
        if text[at:brace].strip(" \t\r\n,"):
            return
        try:
            value, at = decoder.raw_decode(text, brace)
        except (ValueError, RecursionError):
            return
        line += text.count("\n", start, brace)
        start = brace
        yield line, cast("dict[str, object]", value)


def _document(text: str) -> object | None:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _length(text: str, start: int) -> int:
    try:
        return json.JSONDecoder().raw_decode(text, start - 1)[1] - start
    except (ValueError, RecursionError):
        return 0


def _json_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        text = repr(value)
        return f"{text}0" if text[-4:-3] == "." and "e" not in text else text
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
