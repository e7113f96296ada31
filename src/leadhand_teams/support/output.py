"""The typed answer of the support team."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Kind = Literal["bug", "feature", "question"]


class Data(BaseModel):
    """Immutable data."""

    model_config = ConfigDict(frozen=True)


class DeskRoute(Data):
    """Who worked on the request."""

    primary: str = "documenter"
    secondary: str | None = None
    confidence: float = Field(default=0.0, ge=0, le=1)
    why: str = ""


class Triage(Data):
    """What kind of request it is, by a model."""

    kind: Kind
    why: str = Field(default="", max_length=500)


class FoundSection(Data):
    ref: str
    title: str
    score: float


class Ticket(Data):
    """What goes to a person."""

    title: str
    need: str
    """What the customer wants to be able to do, in the customer's words."""
    environment: tuple[str, ...]
    steps: tuple[str, ...]
    """To reproduce it, or of the work that the wish is about, in the customer's words."""
    tried: tuple[str, ...]
    """By the customer, and by this desk."""
    missing: tuple[str, ...]
    """What an engineer will ask."""
    why_a_person: str
    severity: Literal["low", "normal", "high", "urgent"] = "normal"
    kind: Kind = "question"


class Sign(Data):
    """An error, a code or a line of a log that was found."""

    text: str
    """As the program wrote it."""
    ref: str
    """`request:line`, or a file's line."""
    place: str = ""
    """Where in the customer's code or when, as the text has it."""
    times: int = 1
    meaning: str = ""
    kind: Literal["traceback", "log", "code"] = "code"


class SupportAnswer(Data):
    reply: str
    """To the customer, in Markdown."""
    route: DeskRoute
    kind: Kind
    sections: tuple[FoundSection, ...]
    """Best first."""
    answered: bool
    """Whether documents or runbooks answer the request."""
    ticket: Ticket | None
    cause: str = ""
    signs: tuple[Sign, ...] = ()
    removed: int = 0
    """Statements of a model whose citation did not hold, and a kind for which nothing speaks."""
    own_knowledge: bool = False
    """Whether only the documents that come with the team were searched."""
