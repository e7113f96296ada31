"""Short file names that people and models can read, type and cite; pure functions."""

import unicodedata
from collections.abc import Container
from pathlib import PurePosixPath
from typing import Final

MAX_CHARS: Final = 160

_BRACKETS: Final = str.maketrans("[]\\", "()_")
"""Citations are in square brackets, so names have none."""


def legible(part: str) -> str:
    """One part of a path, safe to show in a terminal, a page or a citation.

    Control characters, bidirectional and zero-width marks, and bytes that are not text become `_`.
    """
    composed = unicodedata.normalize("NFC", part)
    shown = "".join(c if c.isprintable() or c.isspace() else "_" for c in composed)
    return " ".join(shown.translate(_BRACKETS).split()) or "_"


def display_name(parts: tuple[str, ...]) -> str:
    """The listed name of the file at `parts`: legible, and at most `MAX_CHARS` long."""
    name = "/".join(legible(part) for part in parts)
    if len(name) <= MAX_CHARS:
        return name
    half = MAX_CHARS // 2 - 1
    return f"{name[:half]}…{name[-half:]}"


def distinct(name: str, taken: Container[str]) -> str:
    """`name`, with a number if it is taken: `report (2).md`."""
    path = PurePosixPath(name)
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = str(path.with_name(f"{path.stem} ({number}){path.suffix}"))
    return candidate
