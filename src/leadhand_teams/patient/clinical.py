"""The few codes, masses and words that the team knows itself, in `vocabulary.yaml`.

Values are converted by UCUM, and by molar mass between mass and amount.
"""

import functools
import importlib
import re
from pathlib import Path
from typing import Any, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict

from leadhand_teams.patient.output import ItemKind, LabPoint

PRESSURE: Final = "85354-9"
PRESSURES: Final = ("8480-6", "8462-4")
"""Systolic and diastolic."""
A1C: Final = "4548-4"


class FlagThreshold(BaseModel):
    """Which values of a measurement make a flag, in its unit."""

    code: str
    name: str
    unit: str
    least: float = float("-inf")
    below: float = float("inf")
    when: Literal["any", "last"] | int
    adults: bool = False


class KnownProblem(BaseModel):
    """How the problem of a flag is coded, named and measured."""

    model_config = ConfigDict(coerce_numbers_to_str=True)
    codes: list[str]
    words: str
    labs: list[str]
    values: list[FlagThreshold]

    def is_it(self, code: str) -> bool:
        """Whether `code` is one of its codes; those of ICD-10, with a letter, are beginnings."""
        return any(code == one or (one[0].isalpha() and code.startswith(one)) for one in self.codes)


class ClinicalVocabulary(BaseModel):
    """What is in `vocabulary.yaml`."""

    problems: dict[str, KnownProblem]
    not_it: str
    no_known_allergy: frozenset[str]
    analytes: dict[str, str]
    molar_masses: dict[float, list[str]]
    units: dict[str, str]
    shown: dict[str, str]
    columns: dict[str, list[str]]
    rules: list[list[str]]
    rule_columns: dict[str, list[str]]
    holds: dict[str, list[ItemKind]]
    kinds: dict[str, ItemKind]
    fhir: dict[str, str]
    left_out: str
    parts: dict[str, str]
    advice: str


VOCABULARY: Final = ClinicalVocabulary.model_validate(
    yaml.safe_load(Path(__file__).with_name("vocabulary.yaml").read_text(encoding="utf-8"))
)


def known_problem(codes: list[str], display: str) -> str:
    """The name of the flag that this is, by its code, else by its words; empty if it is none."""
    excluded = re.search(VOCABULARY.not_it, display, re.IGNORECASE)
    for name, known in VOCABULARY.problems.items():
        named = not excluded and re.search(known.words, display, re.IGNORECASE)
        if named or any(map(known.is_it, codes)):
            return name
    return ""


def analyte(name: str) -> str | None:
    """The LOINC code of what a table calls `name`."""
    analytes = VOCABULARY.analytes.items()
    return next((code for code, words in analytes if re.fullmatch(f"(?i:{words})", name)), None)


def ucum(unit: str | None) -> str | None:
    """The unit as UCUM writes it, where it is known to be written in another way."""
    plain = re.sub(r"\s", "", unit or "").replace("µ", "u").replace("μ", "u")
    return VOCABULARY.units.get(plain.lower().replace("1,73", "1.73"), plain) or None


def readable(unit: str | None) -> str:
    """The unit as reports write it, however the source does."""
    written = ucum(unit) or ""
    for pattern, shown in VOCABULARY.shown.items():
        written = re.sub(pattern, shown, written)
    return written


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
    is_same = ucum(one.unit) == ucum(unit)
    given = None if is_same else f"{one.value:g} {one.unit or 'without a unit'}"
    update = {"value": value, "low": low, "high": high, "unit": unit, "as_given": given}
    return None if value is None else one.model_copy(update=update)


@functools.cache
def _unit(unit: str) -> Any:
    return _registry().from_ucum(unit).units


@functools.cache
def _registry() -> Any:
    """Imported when two units differ: it takes a second or so."""
    return importlib.import_module("ucumvert").PintUcumRegistry()
