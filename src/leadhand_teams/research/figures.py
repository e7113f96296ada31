"""Formats figures for readers. Pure functions."""

import math
from typing import Final

from leadhand_teams.research.roles import is_number

PERIODS_PER_YEAR: Final = {"month": 12, "quarter": 4, "half": 2}
"""Grain -> how many of its periods make a year."""
_TYPES = (
    ("TIMESTAMP", "time"),
    ("DATE", "date"),
    ("TIME", "time of day"),
    ("BOOLEAN", "yes or no"),
    ("VARCHAR", "text"),
    ("PERIOD", "text"),
)


def number(value: float) -> str:
    """`1,234,567`, `12.34`, `0.0123`: with as many places as matter."""
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
    """`+12.3 %` or `-4.0 %`; a dash if it is unknown."""
    return "–" if value is None else f"{value:+,.1f} %"


def periods_word(grain: str) -> str:
    """`months`, `quarters`, `halves`."""
    return "halves" if grain == "half" else f"{grain}s"


def type_word(kind: str) -> str:
    """A plain word for one of DuckDB's types."""
    if is_number(kind):
        return "number"
    return next((word for name, word in _TYPES if kind.startswith(name)), "nested")


def value(text: str, kind: str) -> str:
    """A value that the database returned as text: digits grouped, times without a midnight."""
    if is_number(kind):
        return number(float(text))
    return text.removesuffix(" 00:00:00") if kind.startswith("TIMESTAMP") else text
