"""Tools of the experts, one each: what a model must not compute in its head. Pure."""

import datetime as dt
import math
import re
from typing import Final

from leadhand.tools.errors import ToolCallError
from leadhand_teams.shared import values

_AMOUNT: Final = re.compile(r"\d+(?:[.,]\d+)? ?(?:mg|µg|mcg|g|ml|tablets?|capsules?|drops)\b", re.I)
_UNITS: Final = {"mm in": 1 / 25.4, "bar psi": 14.503774, "kg lb": 2.2046226, "m ft": 3.2808399}


def period_end(start: str, days: int) -> str:
    """Give the last day of a period of calendar days after a date such as 2026-03-31."""
    found = values.date(start)
    if found is None or not 0 < days < 40_000:
        raise ToolCallError("start is a date such as 2026-03-31, and days from 1 to 39,999")
    return (found.value + dt.timedelta(days=days)).isoformat()


def amounts_in(text: str) -> list[str]:
    """List every amount of a medicine that a passage states, as written, in order."""
    return _AMOUNT.findall(text)


def converted(value: float, unit: str, to: str) -> float:
    """Convert a measure: C and F, mm and in, bar and psi, kg and lb, m and ft."""
    one, other = unit.lower().lstrip("°"), to.lower().lstrip("°")
    if {one, other} == {"c", "f"}:
        return round(value * 1.8 + 32 if one == "c" else (value - 32) / 1.8, 6)
    factor = _UNITS.get(f"{one} {other}") or 1 / _UNITS.get(f"{other} {one}", math.inf)
    if not factor:
        raise ToolCallError(f"no conversion from {unit!r} to {to!r} is known")
    return round(value * factor, 6)


def change(before: float, after: float) -> dict[str, float | None]:
    """Give the difference of two figures, and the change in percent of the first one."""
    percent = round((after - before) / abs(before) * 100, 2) if before else None
    return {"difference": round(after - before, 6), "percent": percent}
