"""Values in another unit, by UCUM, and by molar mass between mass and amount."""

import functools
import importlib
import re
from contextlib import suppress
from typing import Any, Final

from leadhand_teams.patient.clinical import A1C

_MOLAR_MASSES: Final = {
    386.65: "2093-3 18262-6 13457-7 2089-1 2085-9 14647-2",  # cholesterol
    885.4: "2571-8 14927-8",  # triglycerides
    180.16: "2339-0 2345-7 1558-6 14749-6 15074-8",  # glucose
    113.12: "38483-4 2160-0 14682-9 2161-8",  # creatinine
    28.014: "6299-2 3094-0 14937-7",  # urea, reported as the mass of its nitrogen
    168.11: "3084-1 14933-6",  # uric acid
    584.66: "1975-2 14631-6 1968-7",  # bilirubin
    40.078: "49765-1 17861-6 2000-8",  # calcium
    24.305: "2601-3 19123-9",  # magnesium
    30.974: "2777-1 14879-1",  # phosphate, reported as the mass of its phosphorus
}
"""Grams per mole, of what is reported by mass and by amount, with LOINC codes."""
_ALIASES: Final = {
    "mmhg": "mm[Hg]", "iu/l": "[IU]/L", "iu/ml": "[IU]/mL", "°c": "Cel", "kg/m²": "kg/m2",
    "kg/m^2": "kg/m2", "ml/min/1.73m2": "mL/min/{1.73_m2}", "ml/min/1.73m²": "mL/min/{1.73_m2}",
    "10^9/l": "10*9/L", "10^3/ul": "10*3/uL", "10^12/l": "10*12/L",
}  # fmt: skip
"""How laboratories write units that UCUM writes in another way."""


def ucum(unit: str | None) -> str | None:
    """The unit as UCUM writes it, where it is known to be written in another way."""
    plain = re.sub(r"\s", "", unit or "").replace("µ", "u").replace("μ", "u")
    return _ALIASES.get(plain.lower().replace("1,73", "1.73"), plain) or None


def convert(value: float, unit: str | None, to: str | None, code: str) -> float | None:
    """`value` in the unit `to`; None if that can't be done."""
    unit, to = ucum(unit), ucum(to)
    if unit == to:
        return value
    if unit is None or to is None:
        return None
    if code == A1C and {unit, to} == {"%", "mmol/mol"}:  # NGSP and IFCC
        return 0.09148 * value + 2.152 if to == "%" else (value - 2.152) / 0.09148
    mass = next((mass for mass, codes in _MOLAR_MASSES.items() if code in codes.split()), None)
    line = _line(unit, to, mass)
    return None if line is None else line[0] + line[1] * value


@functools.lru_cache(maxsize=256)
def _line(unit: str, to: str, molar_mass: float | None) -> tuple[float, float] | None:
    """What to add, after multiplying by what."""
    from lark.exceptions import LarkError
    from pint.errors import PintError

    registry = _registry()
    try:
        given, wanted = registry.from_ucum(unit).units, registry.from_ucum(to).units
        mass = registry.Quantity(molar_mass or 1.0, registry.from_ucum("g/mol").units)
    except (ValueError, PintError, LarkError):
        return None
    for factor in (1.0, mass, 1.0 / mass) if molar_mass else (1.0,):
        with suppress(PintError):
            zero, one = (
                (amount if factor == 1.0 else amount * factor).to(wanted).magnitude
                for amount in (registry.Quantity(0.0, given), registry.Quantity(1.0, given))
            )
            return float(zero), float(one - zero)
    return None


@functools.lru_cache(maxsize=1)
def _registry() -> Any:
    """Imported when two units differ: it takes a second or so."""
    return importlib.import_module("ucumvert").PintUcumRegistry()
