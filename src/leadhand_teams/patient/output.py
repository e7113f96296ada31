"""The typed answer of the team."""

from typing import Literal

from pydantic import BaseModel, Field

from leadhand_teams.shared.statements import Statement

ItemKind = Literal["problem", "medication", "allergy", "procedure", "encounter", "immunization"]


class PatientSubject(BaseModel):
    """Who the records are about, without the name; `deceased` is the date if it is known."""

    sex: str | None = None
    birth_date: str | None = None
    deceased: str | bool | None = None
    family: str | None = Field(default=None, exclude=True)
    file: str = Field(default="", exclude=True)
    ref: str = Field(default="", exclude=True)


class ClinicalItem(BaseModel):
    """An entry of the records; the same entry of two sources is one, with both ids in `refs`.

    `reasons` are ids and codes of what it is for. Dates stay as the source writes them.
    """

    kind: ItemKind
    code: str | None = None
    system: str | None = None
    display: str
    status: str | None = None
    onset: str | None = None
    end: str | None = None
    ref: str
    refs: list[str]
    file: str
    codes: list[str] = []
    reasons: list[str] = []
    resource: dict[str, object] = Field(default={}, exclude=True, repr=False)


class LabPoint(BaseModel):
    """A measured value and its range: as the source gives it, or in the unit of its series."""

    date: str | None
    value: float
    ref: str
    low: float | None = None
    high: float | None = None
    as_given: str | None = None
    """If it was converted."""
    left_out: bool = False
    """Of change, slope and plot: the source of the latest value, or two others, contradict it."""
    code: str = Field(default="", exclude=True)
    display: str = Field(default="", exclude=True)
    unit: str | None = Field(default=None, exclude=True)
    file: str = Field(default="", exclude=True)
    said: str = Field(default="", exclude=True)
    """Its words, if it is no plain number."""
    sign: str = Field(default="", exclude=True)
    """`<` or `>`, if it is only known to be below or above."""

    @property
    def side(self) -> Literal["low", "high"] | None:
        """On which side of its own reference range it is for sure."""
        low = float("-inf") if self.low is None else self.low
        high = float("inf") if self.high is None else self.high
        match self.sign[:1]:
            case ">" | "≥":
                return "high" if self.value >= high else None
            case "<" | "≤":
                return "low" if self.value <= low else None
            case _:
                return "low" if self.value < low else "high" if self.value > high else None


class LabSeries(BaseModel):
    """The measurements of one code; the slope is that of least squares over a month or more.

    `change` is from the value before; without a given range, `out_of_range` is null.
    """

    code: str
    display: str
    unit: str | None = None
    series: list[LabPoint]
    latest: float
    latest_date: str | None = None
    change: float | None = None
    slope_per_year: float | None = None
    out_of_range: bool | None = None
    newly_out_of_range: bool = False


class ClinicalFlag(BaseModel):
    """What the records say that the patient has, and what that rests on."""

    name: str
    since: str | None
    why: str
    basis: Literal["coded", "values"]
    refs: list[str]

    @property
    def words(self) -> str:
        """The name in words."""
        return "chronic kidney disease" if self.name == "ckd" else self.name


class ClinicalLine(BaseModel):
    """A line with its ids, those of a contradiction as `file#id`.

    `safety` has kinds, and findings that are out of their given range for sure.
    """

    text: str
    refs: list[str]
    kind: Literal["allergy", "duplicate_therapy", "overdue", "out_of_range"] | None = None


class PatientSummary(BaseModel):
    """The records of one patient; `timeline` are encounters and immunizations, `files` the sources.

    `findings` are observations in words, `notes` say what was not read, converted or checked.
    """

    subject: PatientSubject = PatientSubject()
    problems: list[ClinicalItem] = []
    medications: list[ClinicalItem] = []
    allergies: list[ClinicalItem] = []
    procedures: list[ClinicalItem] = []
    timeline: list[ClinicalItem] = []
    labs: list[LabSeries] = []
    findings: list[ClinicalLine] = []
    flags: list[ClinicalFlag] = []
    contradictions: list[ClinicalLine] = []
    duplicates: list[str] = []
    safety: list[ClinicalLine] = []
    summaries: dict[str, list[ClinicalLine]] = {}
    statements: list[Statement] = []
    removed_statements: int = 0
    notes: list[str] = []
    files: list[str] = []
