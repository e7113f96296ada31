"""What the tools and the process that holds a database say to each other; data alone."""

from typing import Final, Literal, NotRequired, TypedDict

MAX_ROWS: Final = 100
"""Rows that a query gives back."""
MAX_COUNTED: Final = 1_000_000
"""How far the rows of a longer result are counted."""
MAX_COLUMNS: Final = 40
"""Columns that a query gives back."""
MAX_CELL_CHARS: Final = 200
"""How much of a value is shown; one more comes back, so that it is known to be longer."""

MEMORY_LIMIT_BYTES: Final = 3 << 30
"""Of a whole process: what functions take beside DuckDB's own accounts counts too."""
OUT_OF_MEMORY: Final = "it needs more memory than there is for it"

Cell = str | int | float | bool | None
Row = list[Cell]


class SqlRequest(TypedDict):
    """What a process is asked to do."""

    job: Literal["load", "query", "select"]
    database: str
    """The database's file."""
    cpu_s: int
    """The processor time it may take, should nobody be left to end it."""
    file: NotRequired[str]
    kind: NotRequired[str]
    table: NotRequired[str]
    statements: NotRequired[list[str]]
    """For `query` one, which a stranger wrote; for `select` any number, which leadhand wrote."""


class SqlReply(TypedDict):
    """What a process answers: `error` alone, or what was asked for."""

    error: NotRequired[str]
    columns: NotRequired[list[str]]
    """Names; for `load` each is followed by its type."""
    rows: NotRequired[list[Row]]
    """Every value as text."""
    count: NotRequired[int | None]
    """Rows in all; none where they are too many to count."""
    all_columns: NotRequired[int]
    """How many columns there are, shown or not."""
    results: NotRequired[list[list[Row]]]
    """Of each statement of `select`, its rows."""
