"""The messages between the SQL tools and the process that opens the database."""

from typing import Final, Literal, NotRequired, TypedDict

MAX_ROWS: Final = 100
MAX_COUNTED: Final = 1_000_000
"""Rows up to which a longer result is counted."""
MAX_COLUMNS: Final = 40
MAX_CELL_CHARS: Final = 200
"""Characters of a value; results have one more to show that it is longer."""

MEMORY_LIMIT_BYTES: Final = 3 << 30
"""Of the whole process, including memory that DuckDB does not account for."""
OUT_OF_MEMORY: Final = "it needs more memory than there is for it"

Cell = str | int | float | bool | None
Row = list[Cell]


class SqlDetails(TypedDict):
    file: NotRequired[str]
    kind: NotRequired[str]
    table: NotRequired[str]
    statements: NotRequired[list[str]]
    """A single untrusted one for `query`; any number of leadhand's own for `select`."""


class SqlRequest(SqlDetails):
    job: Literal["load", "query", "select"]
    database: str
    cpu_s: int
    """The limit of processor time, in case the parent is no longer there to end the process."""


class SqlReply(TypedDict):
    """The reply of the process: only `error`, or the result."""

    error: NotRequired[str]
    columns: NotRequired[list[str]]
    """Names; for `load` each is followed by its type."""
    rows: NotRequired[list[Row]]
    """Every value as text."""
    count: NotRequired[int | None]
    """The total number of rows; None if they are too many to count."""
    all_columns: NotRequired[int]
    """The total number of columns."""
    results: NotRequired[list[list[Row]]]
    """The rows of each statement of `select`."""
