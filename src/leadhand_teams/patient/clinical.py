"""The few codes and words that the team knows itself."""

import re
from typing import Final

BMI: Final = "39156-5"
A1C: Final = "4548-4"
SYSTOLIC: Final = "8480-6"
DIASTOLIC: Final = "8462-4"
EGFR: Final = "33914-3"
_ANALYTES: Final = {
    A1C: r"hb\s?a1c|h[aä]e?moglobin a1c",
    BMI: r"bmi|body mass index",
    SYSTOLIC: r"systolic\b.*|blutdruck systolisch|rr sys\w*",
    DIASTOLIC: r"diastolic\b.*|blutdruck diastolisch|rr dia\w*",
    EGFR: r"e?gfr",
    "2160-0": r"creatinine?|kreatinin",
    "2345-7": r"glucose|glukose",
    "18262-6": r"ldl(?:[- ]c\w*)?",
    "6298-4": r"potassium|kalium",
}
"""LOINC codes of what tables without codes name in words."""
_PROBLEMS: Final = {
    "hypertension": ("38341003 59621000 I10", r"^(?:essential |arteri\w+ )?hypert(?:ension|onie)"),
    "prediabetes": ("15777000 714628002 R73.03", r"pr(?:e|ä)-?diabetes"),
    "diabetes": (
        "44054006 46635009 73211009 E10.9 E11.9",
        r"^diabetes\b(?! insipidus)|diabetes mellitus|due to (?:type [12] )?diabetes",
    ),
    "obesity": ("414916001 414915002 162864005 408512008 E66.9", r"\bobes|adipositas"),
    "ckd": ("709044004 431856006 433144002 N18.9", r"chronic kidney disease|niereninsuffizienz"),
}
"""How the problem of a flag is coded, or named where its code is another one."""
_NOT_IT: Final = r"\b(?:history of|family|screening|suspected|risk|gestational|without)\b"
LABS_OF: Final = {
    "hypertension": (SYSTOLIC, DIASTOLIC), "prediabetes": (A1C,), "diabetes": (A1C, EGFR),
    "obesity": (BMI,), "ckd": (EGFR, "2160-0", "38483-4"),
}  # fmt: skip
NO_KNOWN_ALLERGY: Final = frozenset(("716186003", "409137002", "428607008", "429625007"))


def known_problem(codes: list[str], display: str) -> str:
    """The name of the flag that this is, by its code, else by its words; empty if it is none."""
    excluded = re.search(_NOT_IT, display, re.IGNORECASE)
    for name, (known, words) in _PROBLEMS.items():
        named = not excluded and re.search(words, display, re.IGNORECASE)
        if named or set(known.split()) & set(codes):
            return name
    return ""


def analyte(name: str) -> str | None:
    """The LOINC code of what a table calls `name`."""
    wanted = (code for code, words in _ANALYTES.items() if re.fullmatch(f"(?i:{words})", name))
    return next(wanted, None)
