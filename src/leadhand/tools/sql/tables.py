"""Loads input files as tables, and provides the tools to query them; `child` limits statements."""

import re
import threading
import time
from dataclasses import dataclass
from typing import Final, Self

from leadhand.engine.current_attempt import time_left_s
from leadhand.tools.errors import ToolCallError
from leadhand.tools.files.inputs import Inputs, UnreadableInput
from leadhand.tools.files.legible import cleaned
from leadhand.tools.sql.database import Database, RequestFailed, RunRequest, in_new_process
from leadhand.tools.sql.messages import MAX_CELL_CHARS, MAX_COLUMNS, MAX_ROWS, Row, SqlReply
from leadhand.tools.sql.names import quoted_name, table_names
from leadhand.tools.text import UnreadFile
from leadhand.untrusted.cutting import cut

MAX_FILES: Final = 50
"""Files that are loaded; the others are reported."""
MAX_FILE_BYTES: Final = 256 << 20
MAX_STATEMENT_CHARS: Final = 10_000
MAX_RESULT_CHARS: Final = 20_000
"""Characters of a tool's result."""
_MAX_LISTED_COLUMNS: Final = 200
_LOADING_SHARE: Final = 1 / 2
_FILES_SHARE: Final = 3
"""A file may take a third of what is left of that, unless fewer than three are left."""
_REQUEST_SHARE: Final = 1 / 10
"""The part of the remaining time that a request to a table may take if there are others (F43)."""


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: str
    """DuckDB's type: `BIGINT`, `VARCHAR`, `DATE`, ..."""


@dataclass(frozen=True, slots=True)
class Table:
    name: str
    file: str
    rows: int
    columns: tuple[Column, ...]


class SqlTools:
    """SQL over the CSV, JSON and Parquet files of `inputs`, loaded on first use; thread-safe."""

    def __init__(
        self,
        inputs: Inputs,
        *,
        query_timeout_s: float = 20.0,
        load_timeout_s: float = 60.0,
        answer: RunRequest = in_new_process,
    ) -> None:
        self._inputs = inputs
        self._query_timeout_s = query_timeout_s
        self._load_timeout_s = load_timeout_s
        self._answer = answer
        self._loading = threading.Lock()
        self._loaded: _Loaded | None = None
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def list_tables(self) -> str:
        """List the tables that `query` can read, with their columns, types and row counts."""
        loaded = self._tables()
        lines = [_listed(table) for table in loaded.tables]
        lines += [f"{broken.name} is not a table: {broken.why}" for broken in loaded.broken]
        listed = "\n".join(lines) or "no CSV, JSON or Parquet file was handed in"
        return cut(cleaned(listed), MAX_RESULT_CHARS)

    def query(self, sql: str) -> str:
        """Run one read-only SQL statement (DuckDB's dialect) over the tables.

        SELECT, WITH, DESCRIBE, SUMMARIZE and SHOW TABLES work. At most 100 rows come back, so
        aggregate, filter and order in SQL. Call `list_tables` first for the names.
        """
        if len(sql) > MAX_STATEMENT_CHARS:
            raise ToolCallError(
                f"the statement has {len(sql):,} characters: at most {MAX_STATEMENT_CHARS:,}"
            )
        if lone := re.search("[\ud800-\udfff]", sql):
            raise ToolCallError(
                f"character {lone.start() + 1:,} of the statement is a lone surrogate "
                f"(U+{ord(lone[0]):04X}): remove it"
            )
        loaded = self._tables()
        if not loaded.tables:
            raise ToolCallError("there is no table to query: " + self.list_tables())
        try:
            return _shown(loaded.database.query(sql, timeout_s=self._query_timeout_s))
        except RequestFailed as error:
            raise ToolCallError(f"the query failed: {cleaned(str(error))}") from error

    @property
    def tables(self) -> tuple[Table, ...]:
        return self._tables().tables

    @property
    def broken(self) -> tuple[UnreadFile, ...]:
        return self._tables().broken

    def unread(self) -> list[tuple[str, str]]:
        """(file, reason) of files that could not be loaded; empty before the first use."""
        broken = self._loaded.broken if self._loaded is not None else ()
        return [(file, f"not a table: {why}") for file, why in broken]

    def select(self, statements: list[str]) -> list[list[Row]]:
        """Raises `RequestFailed`."""
        loaded = self._tables()
        share = _REQUEST_SHARE if len(loaded.tables) > 1 else _LOADING_SHARE
        timeout_s = min(self._query_timeout_s, share * max(0.0, time_left_s()))
        return loaded.database.select(statements, timeout_s=timeout_s)

    def close(self) -> None:
        with self._loading:
            self._closed = True
            if self._loaded is not None:
                self._loaded.database.close()

    def _tables(self) -> "_Loaded":
        with self._loading:
            if self._closed:
                raise ToolCallError("the tables are closed")
            if self._loaded is None:
                self._loaded = _load(self._inputs, Database(self._answer), self._load_timeout_s)
            return self._loaded


@dataclass(frozen=True, slots=True)
class _Loaded:
    database: Database
    tables: tuple[Table, ...]
    broken: tuple[UnreadFile, ...]


def _load(inputs: Inputs, database: Database, timeout_s: float) -> _Loaded:
    files = inputs.of_kind("csv", "json", "parquet")
    names = table_names(file.name for file in files[:MAX_FILES])
    tables: list[Table] = []
    broken = [
        UnreadFile(file.name, f"only the first {MAX_FILES} files are loaded")
        for file in files[MAX_FILES:]
    ]
    until_s = time.monotonic() + _LOADING_SHARE * time_left_s()
    # Small files first: a large one may take all the time.
    order = sorted(files[:MAX_FILES], key=lambda file: file.size_bytes)
    for number, file in enumerate(order):
        name = names[file.name]
        share_s = (until_s - time.monotonic()) / min(_FILES_SHARE, len(order) - number)
        file_s = min(timeout_s, max(0.0, share_s))
        try:
            with inputs.open(file.name) as source:
                reply = database.load(
                    name, file.kind, source, max_bytes=MAX_FILE_BYTES, timeout_s=file_s
                )
        except UnreadableInput as error:
            broken.append(UnreadFile(file.name, error.why))
        except RequestFailed as error:
            broken.append(UnreadFile(file.name, str(error)))
        else:
            words = reply.get("columns", [])
            columns = map(Column, words[::2], words[1::2])
            tables.append(Table(name, file.name, reply.get("count") or 0, tuple(columns)))
    given = [file.name for file in files]
    tables.sort(key=lambda table: given.index(table.file))
    return _Loaded(database, tuple(tables), tuple(broken))


def _listed(table: Table) -> str:
    shown = [f"{quoted_name(column.name)} {column.type}" for column in table.columns]
    more = len(shown) - _MAX_LISTED_COLUMNS
    columns = ", ".join(shown[:_MAX_LISTED_COLUMNS]) + (f", and {more} more" if more > 0 else "")
    return f"{table.name} ({table.rows:,} rows, from {table.file}): {columns}"


def _shown(reply: SqlReply) -> str:
    names, rows = reply.get("columns", []), reply.get("rows", [])
    lines = [" | ".join(_cell(name) for name in names)]
    size = len(lines[0])
    for row in rows:
        line = " | ".join(_cell(value) for value in row)
        size += len(line) + 1
        if size > MAX_RESULT_CHARS:
            break
        lines.append(line)
    shown, count = len(lines) - 1, reply.get("count")
    total = f"{count:,}" if count is not None else f"more than {MAX_ROWS}"
    rows_of = f"{total} row" if count == 1 else f"{total} rows"
    notes = [rows_of if shown == count else f"the first {shown} of {rows_of}"]
    if (columns := reply.get("all_columns", 0)) > len(names):
        notes.append(f"the first {MAX_COLUMNS} of {columns} columns")
    return "\n".join([*lines, f"({'; '.join(notes)})"])


def _cell(value: object) -> str:
    if value is None:
        return "NULL"
    text = " ".join(cleaned(str(value)).split("\n")).replace("|", "\\|")
    return text if len(text) <= MAX_CELL_CHARS else cut(text, MAX_CELL_CHARS - 1, "…")
