"""The process that opens a database for one request: load a file, or query.

DuckDB limits neither memory nor time of a function call: `repeat` and `range` fill gigabytes and
cannot be interrupted. The system limits the process, its parent ends it, and a query cannot write
files.
"""

import json
import os
import re
import resource
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Final, cast

import duckdb

from leadhand.tools.child_process import limit_resource
from leadhand.tools.sql.messages import (
    MAX_CELL_CHARS,
    MAX_COLUMNS,
    MAX_COUNTED,
    MAX_ROWS,
    MEMORY_LIMIT_BYTES,
    OUT_OF_MEMORY,
    SqlReply,
    SqlRequest,
)
from leadhand.untrusted.cutting import cut

_MEMORY: Final = "1GB"
_MAX_DATABASE_BYTES: Final = 2 << 30
_COUNTING_S: Final = 3.0
_WHOLE: Final = "compression = 'none', sample_size = -1"
"""Types are detected from the whole file, not from its beginning."""
_MAX_ERROR_CHARS: Final = 600
_PERIOD: Final = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])?")
"""A year, or a year and its month."""


def main() -> None:
    """Answer the request on standard input, as JSON, on standard output."""
    request = cast("SqlRequest", json.load(sys.stdin))
    # Only the reply goes to standard output, where DuckDB would show its progress after 2 s.
    output = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    jobs: dict[str, Callable[[SqlRequest], SqlReply]] = {
        "load": _load,
        "query": _query,
        "select": _select,
    }
    _set_limits(request)
    try:
        reply = jobs[request["job"]](request)
    except (duckdb.OutOfMemoryException, MemoryError):
        reply = SqlReply(error=OUT_OF_MEMORY)
    except duckdb.Error as error:
        reply = SqlReply(error=_line(str(error), request.get("file")))
    json.dump(reply, output)
    output.flush()
    # Threads of DuckDB that are still busy with an interrupted query must not delay the reply.
    os._exit(0)


def _set_limits(request: SqlRequest) -> None:
    files = _MAX_DATABASE_BYTES if request["job"] == "load" else 0
    limit_resource(resource.RLIMIT_FSIZE, files)
    limit_resource(resource.RLIMIT_CORE, 0)
    # At the hard limit the system sends SIGKILL, which does not say why.
    limit_resource(resource.RLIMIT_CPU, request["cpu_s"], request["cpu_s"] + 1)
    # macOS refuses a limit of memory; there only DuckDB's own applies.
    limit_resource(resource.RLIMIT_AS, MEMORY_LIMIT_BYTES)


def _open(database: str, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    # These can't be set once the database is open; `_locked` sets the rest.
    return duckdb.connect(
        database,
        read_only=read_only,
        config={
            "allow_community_extensions": "false",
            "allow_persistent_secrets": "false",
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "memory_limit": _MEMORY,
            "python_enable_replacements": "false",
            "temp_directory": "",
            "threads": "2",
        },
    )


def _locked(database: str) -> duckdb.DuckDBPyConnection:
    """The database for reading, without access to anything outside of it."""
    connection = _open(database, read_only=True)
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")
    return connection


def _load(request: SqlRequest) -> SqlReply:
    """Load a file as a table; `table` is a plain name that needs no quotes."""
    table, file = request.get("table", ""), request.get("file", "")
    connection = _open(request["database"], read_only=False)
    # No file makes DuckDB read others, but if one did, DuckDB could read only this path.
    connection.execute("SET allowed_paths = ?", [[file]])
    connection.execute("SET enable_external_access = false")
    match request.get("kind"):
        case "csv":
            described = _create_from_csv(connection, table, file)
        case "json":
            described = _create(connection, table, f"read_json(?, {_WHOLE})", file)
        case _:
            described = _create(connection, table, "read_parquet(?)", file)
    ((rows,),) = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
    connection.close()
    return SqlReply(columns=[part for column in described for part in column], count=int(rows))


def _create(
    connection: duckdb.DuckDBPyConnection, table: str, reader: str, file: str
) -> list[tuple[str, str]]:
    connection.execute(f"CREATE OR REPLACE TABLE {table} AS FROM {reader}", [file])
    described = connection.execute(f"DESCRIBE {table}").fetchall()
    return [(str(row[0]), str(row[1])) for row in described]


def _create_from_csv(
    connection: duckdb.DuckDBPyConnection, table: str, file: str
) -> list[tuple[str, str]]:
    options = _WHOLE
    try:
        described = _create(connection, table, f"read_csv(?, {options})", file)
    except duckdb.Error as error:
        if "utf-8" not in str(error):
            raise
        options += ", encoding = 'latin-1'"
        described = _create(connection, table, f"read_csv(?, {options})", file)
    if len(described) == 1 and any(mark in described[0][0] for mark in ",;|\t"):
        # With rows of different lengths, DuckDB takes the whole line for one column.
        options += ", null_padding = true"
        described = _create(connection, table, f"read_csv(?, {options})", file)
    if _has_periods_for_names(connection, table, described):
        described = _create(connection, table, f"read_csv(?, {options}, header = true)", file)
    return described


def _has_periods_for_names(
    connection: duckdb.DuckDBPyConnection, table: str, described: Sequence[tuple[str, str]]
) -> bool:
    """Whether the first row of numbers is the header: DuckDB takes years for data."""
    if not all(name.removeprefix("column").isdigit() for name, _ in described):
        return False
    first = connection.execute(f"SELECT COLUMNS(*)::VARCHAR FROM {table} LIMIT 1").fetchone() or ()
    cells = [(str(cell or ""), kind) for cell, (_, kind) in zip(first, described, strict=True)]
    texts = [cell for cell, kind in cells if kind == "VARCHAR"]
    numbers = {cell for cell, kind in cells if kind != "VARCHAR"}
    is_named = bool(texts) and all(texts) and len(numbers) > 1
    return is_named and all(map(_PERIOD.fullmatch, numbers))


def _query(request: SqlRequest) -> SqlReply:
    connection = _locked(request["database"])
    (text,) = request.get("statements", [""])
    statements = connection.extract_statements(text)
    if len(statements) != 1:
        return SqlReply(error=f"one statement at a time, not {len(statements)}: write one SELECT")
    (statement,) = statements
    if statement.type != duckdb.StatementType.SELECT:
        return SqlReply(
            error=f"{_kind(statement)} is not allowed, tables are only read: "
            "use SELECT, WITH, DESCRIBE, SUMMARIZE or SHOW TABLES"
        )
    # As a subquery a statement can't write, and its result is cut before it is materialised.
    inner = f"(\n{_without_end(statement.query)}\n)"
    found = connection.execute(
        # Longer than what is shown, so that a secret at its end is recognized.
        f"SELECT left(COLUMNS(*)::VARCHAR, {MAX_CELL_CHARS * 3}) FROM {inner} LIMIT {MAX_ROWS + 1}"
    )
    names = [str(column[0]) for column in found.description or ()]
    rows = [list(row[:MAX_COLUMNS]) for row in found.fetchall()]
    count = len(rows) if len(rows) <= MAX_ROWS else _count(connection, inner)
    return SqlReply(
        columns=names[:MAX_COLUMNS], rows=rows[:MAX_ROWS], count=count, all_columns=len(names)
    )


def _without_end(statement: str) -> str:
    data = statement.encode()
    for offset, kind in duckdb.tokenize(statement):
        if kind == duckdb.token_type.operator and data[offset : offset + 1] == b";":
            return data[:offset].decode()
    return statement


def _count(connection: duckdb.DuckDBPyConnection, inner: str) -> int | None:
    """The number of rows; None if counting takes too long or exceeds the limit."""
    timer = threading.Timer(_COUNTING_S, connection.interrupt)
    timer.daemon = True
    timer.start()
    try:
        ((rows,),) = connection.execute(
            f"SELECT count(*) FROM (FROM {inner} LIMIT {MAX_COUNTED + 1})"
        ).fetchall()
    except duckdb.Error:
        return None
    finally:
        timer.cancel()
    return int(rows) if rows <= MAX_COUNTED else None


def _select(request: SqlRequest) -> SqlReply:
    connection = _locked(request["database"])
    statements: Sequence[str] = request.get("statements", [])
    return SqlReply(
        results=[
            [list(row) for row in connection.execute(statement).fetchmany(MAX_COUNTED)]
            for statement in statements
        ]
    )


def _kind(statement: duckdb.Statement) -> str:
    name = statement.type.name
    return "a PIVOT without IN (...)" if name == "MULTI" else name.replace("_", " ")


def _line(message: str, file: str | None) -> str:
    """DuckDB's error without the path of our copy, the quoted statement and the advice."""
    if file:
        named = rf"(?:\bfile )?[\"']?{re.escape(file)}[\"']?"
        message = re.sub(named, "the file", message, flags=re.IGNORECASE)
    for end in ("\nLINE ", "\nPossible", "\nThe search space", "\nOriginal Line"):
        message = message.partition(end)[0]
    return cut(" ".join(message.split()), _MAX_ERROR_CHARS)
