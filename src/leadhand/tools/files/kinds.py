"""Tells the kind of a file from its name and its first bytes; opens no files."""

from pathlib import PurePath
from typing import Final, Literal

FileKind = Literal[
    "text", "markdown", "html", "pdf", "docx", "xlsx", "csv", "json", "parquet", "other"
]

KIND_NAMES: Final[dict[FileKind, str]] = {
    "text": "text",
    "markdown": "Markdown",
    "html": "HTML",
    "pdf": "PDF",
    "docx": "Word",
    "xlsx": "spreadsheet",
    "csv": "CSV",
    "json": "JSON",
    "parquet": "Parquet",
    "other": "other",
}
"""In the order of a summary."""

NOT_READ: Final = "neither a text nor a table that is read here"
PROBE_BYTES: Final = 8000
"""Bytes that are checked to tell text from binary."""

_SUFFIXES: Final[dict[FileKind, str]] = {
    "text": ".txt .text .rst .log",
    "markdown": ".md .markdown",
    "html": ".html .htm .xhtml",
    "pdf": ".pdf",
    "docx": ".docx",
    "xlsx": ".xlsx .xlsm .xlsb .xls .ods",
    "csv": ".csv .tsv",
    "json": ".json .jsonl .ndjson",
    "parquet": ".parquet",
}
_KINDS: Final[dict[str, FileKind]] = {
    suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes.split()
}


def kind_of_name(name: str) -> FileKind | None:
    """The kind by the suffix of `name`; None if the content has to decide."""
    return _KINDS.get(PurePath(name).suffix.lower())


def kind_of_bytes(head: bytes) -> FileKind:
    """`text`, unless the first bytes have a NUL without a UTF-16 or UTF-32 byte order mark."""
    marked = head.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff"))
    return "text" if marked or b"\0" not in head else "other"
