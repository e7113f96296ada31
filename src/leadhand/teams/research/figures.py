"""Figures as people read them; pure functions."""

import math

from leadhand.tools.sql.roles import is_number

_TYPES = (
    ("TIMESTAMP", "time"),
    ("DATE", "date"),
    ("TIME", "time of day"),
    ("BOOLEAN", "yes or no"),
    ("VARCHAR", "text"),
)


def number(value: float) -> str:
    """`1,234,567`, `12.34`, `0.0123`: as many places as matter, and no more."""
    size = abs(value)
    if not math.isfinite(value) or size >= 1e15 or 0 < size < 1e-4:
        return f"{value:.3g}"
    if value == int(value):
        return f"{int(value):,}"
    places = 0 if size >= 1_000 else 2 if size >= 1 else 4
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(value: float) -> str:
    """`12.3 %`."""
    return f"{value:,.1f} %"


def change(value: float | None) -> str:
    """`+12.3 %` or `-4.0 %`; a dash where it is unknown."""
    return "–" if value is None else f"{value:+,.1f} %"


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 row`, `1,200 rows`; `plural` where it takes more than an s."""
    return f"1 {noun}" if count == 1 else f"{count:,} {plural or noun + 's'}"


def type_word(kind: str) -> str:
    """What DuckDB calls a type, in a word that anybody knows."""
    if is_number(kind):
        return "number"
    return next((word for name, word in _TYPES if kind.startswith(name)), "nested")


def value(text: str, kind: str) -> str:
    """A value that the database gave as text: a number in groups, a moment without an idle time."""
    if is_number(kind):
        return number(float(text))
    return text.removesuffix(" 00:00:00") if kind.startswith("TIMESTAMP") else text
