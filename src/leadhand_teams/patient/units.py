"""Values in another unit, by UCUM, and by molar mass between mass and amount."""

import functools
import importlib
import re
from typing import Any

from leadhand_teams.patient.clinical import A1C, VOCABULARY
from leadhand_teams.patient.output import LabPoint


def ucum(unit: str | None) -> str | None:
    """The unit as UCUM writes it, where it is known to be written in another way."""
    plain = re.sub(r"\s", "", unit or "").replace("µ", "u").replace("μ", "u")
    return VOCABULARY.units.get(plain.lower().replace("1,73", "1.73"), plain) or None


def convert(value: float, unit: str | None, to: str | None, code: str) -> float | None:
    """`value` in the unit `to`; None if that can't be done."""
    unit, to = ucum(unit), ucum(to)
    if unit == to:
        return value
    if unit is None or to is None:
        return None
    if code == A1C and {unit, to} == {"%", "mmol/mol"}:  # NGSP and IFCC
        return 0.09148 * value + 2.152 if to == "%" else (value - 2.152) / 0.09148
    masses = VOCABULARY.molar_masses.items()
    line = _line(unit, to, next((mass for mass, codes in masses if code in codes), None))
    return None if line is None else line[0] + line[1] * value


def in_unit(one: LabPoint, unit: str | None) -> LabPoint | None:
    """A value and its range in another unit; None if that can't be done."""
    value, low, high = (
        None if number is None else convert(number, one.unit, unit, one.code)
        for number in (one.value, one.low, one.high)
    )
    given = f"{one.value:g} {one.unit or 'without a unit'}"
    given = given if ucum(one.unit) != ucum(unit) else None
    update = {"value": value, "low": low, "high": high, "unit": unit, "as_given": given}
    return None if value is None else one.model_copy(update=update)


@functools.lru_cache(maxsize=256)
def _line(unit: str, to: str, molar_mass: float | None) -> tuple[float, float] | None:
    """What to add, after multiplying by what."""
    from lark.exceptions import LarkError
    from pint.errors import PintError

    registry = _registry()
    how = {"mw": registry.Quantity(molar_mass, "g/mol")} if molar_mass else {}
    try:
        given, wanted = registry.from_ucum(unit).units, registry.from_ucum(to).units
        zero, one = (
            registry.Quantity(n, given).to(wanted, *["chemistry"] * len(how), **how).magnitude
            for n in (0.0, 1.0)
        )
    except (ValueError, PintError, LarkError):
        return None
    return float(zero), float(one - zero)


@functools.lru_cache(maxsize=1)
def _registry() -> Any:
    """Imported when two units differ: it takes a second or so."""
    return importlib.import_module("ucumvert").PintUcumRegistry()
