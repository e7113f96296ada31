"""Makes table names from file names: unique, and without quotes, so that models can type them."""

import re
import unicodedata
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Final

MAX_CHARS: Final = 48

_WORDS: Final = """
    all analyse analyze and anti any array as asc asof asymmetric at authorization binary both
    by case cast check collate collation column columns concurrently constraint create cross
    default deferrable desc describe distinct do else end except false fetch for foreign freeze
    from full generated glob group having ilike in initially inner intersect into is isnull join
    lambda lateral leading left like limit map natural not notnull null offset on only or order
    outer overlaps pivot pivot_longer pivot_wider placing positional primary qualify references
    returning right select semi show similar some struct summarize symmetric table tablesample
    then to trailing true try_cast tuple union unique unpack unpivot using variadic verbose when
    where window with
"""
RESERVED: Final = frozenset(_WORDS.split())
"""Words that DuckDB accepts as names of tables or columns only in quotes."""


def table_names(files: Iterable[str]) -> dict[str, str]:
    """`t_2024_sales` for `2024 Sales.csv`."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for file in files:
        stem = unicodedata.normalize("NFKD", PurePosixPath(file).stem)
        plain = re.sub(r"[^a-z0-9]+", "_", stem.encode("ascii", "ignore").decode().lower())
        name = plain.strip("_")[:MAX_CHARS] or "table"
        if not name[0].isalpha():
            name = f"t_{name}"
        if name in RESERVED:
            name = f"{name}_table"
        names[file] = _distinct(name, taken)
        taken.add(names[file])
    return names


def quoted_name(name: str) -> str:
    """`name` for SQL: in quotes, unless it is a plain word."""
    plain = name.isidentifier() and name.isascii()
    return name if plain and name.lower() not in RESERVED else '"' + name.replace('"', '""') + '"'


def _distinct(name: str, taken: set[str]) -> str:
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = f"{name}_{number}"
    return candidate
