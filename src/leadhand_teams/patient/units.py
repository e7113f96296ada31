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
    from lark.exceptions import LarkError
    from pint.errors import PintError

    unit, to = ucum(unit), ucum(to)
    if unit == to or unit is None or to is None:
        return value if unit == to else None
    if code == A1C and {unit, to} == {"%", "mmol/mol"}:  # NGSP and IFCC
        return 0.09148 * value + 2.152 if to == "%" else (value - 2.152) / 0.09148
    masses = [mass for mass, codes in VOCABULARY.molar_masses.items() if code in codes]
    try:
        given = _registry().Quantity(value, _unit(unit))
        for mass in masses:
            molar = _registry().Quantity(mass, "g/mol")
            return float(given.to(_unit(to), "chemistry", mw=molar).magnitude)
        return float(given.to(_unit(to)).magnitude)
    except (ValueError, PintError, LarkError):
        return None


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


@functools.cache
def _unit(unit: str) -> Any:
    return _registry().from_ucum(unit).units


@functools.cache
def _registry() -> Any:
    """Imported when two units differ: it takes a second or so."""
    return importlib.import_module("ucumvert").PintUcumRegistry()
