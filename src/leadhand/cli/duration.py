"""Durations as people type them."""

import re

from leadhand.errors import InputError

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)")


def parse_duration(text: str) -> float:
    """Seconds in `90s`, `10m`, `1h30m`, `30d`, `500ms` or a plain number. Raises `InputError`."""
    plain = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", plain):
        seconds = float(plain)
    else:
        parts = _PART.findall(plain)
        if not parts or "".join(number + unit for number, unit in parts) != plain:
            raise InputError(f"{text!r} is not a duration: write for example 90s, 10m or 1h30m")
        seconds = sum(float(number) * _UNITS_S[unit] for number, unit in parts)
    if seconds <= 0:
        raise InputError(f"{text!r} is no time: give more than 0 seconds")
    return seconds
