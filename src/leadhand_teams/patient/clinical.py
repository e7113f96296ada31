"""The few codes, masses and words that the team knows itself, in `vocabulary.yaml`."""

import re
from pathlib import Path
from typing import Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict

from leadhand_teams.patient.output import ItemKind

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
    columns: dict[str, list[str]]
    rules: list[list[str]]
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
