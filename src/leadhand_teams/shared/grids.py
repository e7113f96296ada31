"""Finds the tables in files: any delimiter, the header wherever it is, several below each other.

Pure. CSV, sheets, texts with cells between `|`, and JSON become rows; `tables` types them.
"""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
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


Row = tuple[int, list[str]]
"""A line, from 1, and its cells as written; an empty line has none."""


def csv_tables(file: str, text: str) -> list[DataTable]:
    """The tables of a CSV file with any delimiter."""
    delimiter = _delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=False)
    rows, notes, before = list[Row](), list[str](), 0
    try:
        for cells in reader:
            rows.append((before + 1, cells))
            before = reader.line_num
            if len(rows) > MAX_ROWS:
                notes.append(f"Only its first {MAX_ROWS:,} rows were read.")
                break
    except csv.Error as error:
        notes.append(f"Line {before + 1:,} can't be read ({error}); the rest is left out.")
    return tables_of(file, rows, decimal="," if delimiter == ";" else None, notes=notes)


def sheet_tables(file: str, text: str) -> list[DataTable]:
    """The tables of one sheet: `# NAME`, then a line of tab-separated cells for each row."""
    title, _, body = text.partition("\n")
    rows = [(n, line.split("\t")) for n, line in enumerate(body.split("\n"), 1)]
    return tables_of(file, rows, decimal=".", sheet=title.removeprefix("# ").strip())


def text_tables(file: str, text: str) -> list[DataTable]:
    """The tables in a text whose cells are separated by `|`, as in Markdown, or by tabs."""
    found: list[DataTable] = []
    lines = enumerate(text.split("\n"), 1)
    for is_table, group in groupby(lines, key=lambda pair: _is_row(pair[1])):
        rows = [
            (n, _cells(line)) for n, line in group if is_table and not _RULE.fullmatch(line.strip())
        ]
        if len(rows) > 1:
            found += tables_of(file, rows)
    return found


def json_tables(file: str, text: str) -> list[DataTable]:
    """The table of JSON Lines, or of the longest list of objects in a JSON document."""
    objects = list(_objects(text))
    names = list(dict.fromkeys(name for _, one in objects for name in one))
    if not objects or len(names) < 2:
        return []
    rows = [(line, [_json_cell(one.get(name)) for name in names]) for line, one in objects]
    return [typed(file, names, rows[:MAX_ROWS], decimal=".")]


def tables_of(
    file: str,
    rows: Sequence[Row],
    *,
    sheet: str | None = None,
    decimal: DecimalMark | None = None,
    notes: Sequence[str] = (),
) -> list[DataTable]:
    """The tables of the rows, each below a header of its own; `decimal` is what files of this kind
    usually have."""
    rows = [(line, [cell.strip() for cell in cells]) for line, cells in rows]
    found: list[DataTable] = []
    while header := _header(rows):
        start, names = header
        end = _end(rows, start + 1)
        body = rows[start + 1 : end]
        table = typed(file, names, body, sheet=sheet, decimal=decimal, notes=notes)
        found += [table] if len(table) else []
        rows = rows[end:]
    return found


def _header(rows: Sequence[Row]) -> tuple[int, list[str]] | None:
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


def _end(rows: Sequence[Row], start: int) -> int:
    """The index after the last row of the table: before a blank row and another header."""
    for n in range(start + 2, len(rows) - 2):
        if any(rows[n][1]) and not any(rows[n - 1][1]):
            wide = [row for _, row in rows[start : n - 1] if sum(map(bool, row)) > 1]
            after = [row for _, row in rows[n : n + 6] if sum(map(bool, row)) > 1]
            if wide and after and _differs(after[0], wide) and _header(rows[n:]) is not None:
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
    if line.startswith("|") or line.count("\t") >= 2:
        return line.count("|") >= 2 or "|" not in line
    return " | " in line or ("|" in line and _RULE.fullmatch(line) is not None)


def _cells(line: str) -> list[str]:
    if "|" not in line:
        return line.split("\t")
    line = line.strip().removeprefix("|")
    line = line[:-1] if line.endswith("|") and not line.endswith("\\|") else line
    cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)]
    return [re.sub(r"^(\*\*|__|`)(.+)\1$", r"\2", cell) for cell in cells]


def _objects(text: str) -> Iterator[tuple[int, dict[str, object]]]:
    """The objects of `text` with their lines: one after the other, or of its longest list."""
    decoder, at, start = json.JSONDecoder(), 0, 0
    first = len(text) - len(text.lstrip())
    if text[first : first + 1] != "{" or _ends(text, first) == len(text.rstrip()):
        lists = [one.end() for one in re.finditer(r"\[(?=\s*\{)", text)]
        at = max(lists, key=lambda one: _ends(text, one - 1) - one, default=len(text))
    line = 1
    while (brace := text.find("{", at)) >= 0 and not text[at:brace].strip(" \t\r\n,"):
        try:
            value, at = decoder.raw_decode(text, brace)
        except (ValueError, RecursionError):
            return
        line += text.count("\n", start, brace)
        start = brace
        yield line, cast("dict[str, object]", value)


def _ends(text: str, start: int) -> int:
    """Where the JSON value ends that begins at `start`; `start` if it does not end."""
    try:
        return json.JSONDecoder().raw_decode(text, start)[1]
    except (ValueError, RecursionError):
        return start


def _json_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        text = repr(value)
        return f"{text}0" if text[-4:-3] == "." and "e" not in text else text
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
