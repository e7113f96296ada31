"""What sort of file a name and its first bytes speak of; nothing here opens a file."""

from pathlib import PurePath
from typing import Final, Literal

FileKind = Literal["text", "markdown", "html", "pdf", "docx", "csv", "json", "parquet", "other"]

KIND_NAMES: Final[dict[FileKind, str]] = {
    "text": "text",
    "markdown": "Markdown",
    "html": "HTML",
    "pdf": "PDF",
    "docx": "Word",
    "csv": "CSV",
    "json": "JSON",
    "parquet": "Parquet",
    "other": "other",
}
"""Each kind as people write it, in the order in which a summary names them."""

NOT_READ: Final = "neither a text nor a table that is read here"
"""Why a file of the kind `other` is not read."""
PROBE_BYTES: Final = 8000
"""How much of a file's beginning tells text from binary."""

_SUFFIXES: Final[dict[str, FileKind]] = {
    ".txt": "text",
    ".text": "text",
    ".rst": "text",
    ".log": "text",
    ".md": "markdown",
    ".markdown": "markdown",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
}


def kind_of_name(name: str) -> FileKind | None:
    """The kind that the suffix of `name` stands for, or none where it takes a look inside."""
    return _SUFFIXES.get(PurePath(name).suffix.lower())


def kind_of_bytes(head: bytes) -> FileKind:
    """`text`, unless the first bytes of the file have a NUL and no UTF-16 or UTF-32 mark."""
    marked = head.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff"))
    return "text" if marked or b"\0" not in head else "other"
