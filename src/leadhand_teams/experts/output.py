"""The typed answer of the team, and what each expert hands to it."""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from leadhand_teams.experts.fields import Expert
from leadhand_teams.shared.statements import Statement


@dataclass(frozen=True)
class Citation:
    """The words of a document: a sentence, a list item, or a row of a table."""

    ref: str
    quote: str
    """Verbatim, on one line; of a table's row its filled cells with their columns."""
    heading: str = ""
    """The headings above it, the nearest last."""


class Disagreement(BaseModel):
    """Two documents that contradict each other."""

    what: str
    one: Citation
    other: Citation
    settled: bool = False
    """Whether the first one holds by the documents' own words."""
    why: str = ""


class ExpertOpinion(BaseModel):
    """What one expert found in the documents."""

    model_config = ConfigDict(extra="ignore")  # `added` is the model's

    field: Expert | None = None
    """`None`: of the moderator."""
    question: str
    """The part of the request that is for this expert."""
    answered: bool = False
    answer: str = ""
    citations: list[Citation] = []
    """The answer's first."""
    checks: list[str] = []
    disagreements: list[Disagreement] = []
    to_reader: list[Citation] = []
    """Instructions to the reader in the documents; they were not followed."""
    lack: str = ""
    """Why there is no answer."""
    notes: list[str] = []
    """How words of the question were read."""
    unread: list[str] = []
    files: int = 0
    ask: str | None = None


class Answered(BaseModel):
    """The answer of the team."""

    expert: Expert | None
    """`None`: the question is for none of the four."""
    secondary: Expert | None = None
    confidence: int = 0
    """In the choice of the expert, 0 to 100."""
    answered: bool = False
    answer: str = ""
    citations: list[Citation] = []
    professional_check: list[str] = []
    question: str | None = None
    opinions: list[ExpertOpinion] = []
    disagreements: list[Disagreement] = []
    added: list[Statement] = []
    """What models added, with citations that hold."""
    removed: int = 0
    """Statements of models that were left out: their citation does not hold."""
