"""The typed answer of the support team, and what its workers hand to each other."""

from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from leadhand import Handoff
from leadhand.extension.roles import Conflict
from leadhand_teams.shared.statements import Statement

T = TypeVar("T", bound=BaseModel)
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


class DocSection(Data):
    """A section of a document."""

    ref: str
    """`file#section`, `file:line`, `file!page`, or the id of a row."""
    title: str
    path: tuple[str, ...] = ()
    """The titles above it, the highest first."""
    text: str = ""
    """As the document has it; of a section that was found the part that says most, or nothing."""
    score: float = 0.0


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
    is_past: bool = False
    """Whether a log has it no more since another error came."""
    meaning: str = ""
    kind: Literal["traceback", "log", "code"] = "code"


class SupportAnswer(Data):
    reply: str
    """To the customer, in Markdown."""
    route: DeskRoute
    kind: Kind
    sections: tuple[DocSection, ...]
    """Best first."""
    answered: bool
    """Whether documents or runbooks answer the request."""
    ticket: Ticket | None
    cause: str = ""
    signs: tuple[Sign, ...] = ()
    added: tuple[Statement, ...] = ()
    """By a model, with places and quotes that hold."""
    removed: int = 0
    """Statements of a model whose citation did not hold, and a kind for which nothing speaks."""
    own_knowledge: bool = False
    """Whether only the documents that come with the team were searched."""
    unread: tuple[str, ...] = ()
    """What could not be read, a line each."""


class Walk(Data):
    """The way through a runbook."""

    runbook: str
    ref: str
    severity: str = ""
    cause: str = ""
    steps: tuple[str, ...] = ()
    sees: tuple[str, ...] = ()
    """References of the sections to which its last steps link."""
    pitfalls: tuple[str, ...] = ()
    person: str = ""
    question: str = ""
    """What decides between the branches, if nothing that is known does."""
    branches: tuple[str, ...] = ()


class Brief(Data):
    """The payload of every task: the request, and how it was routed."""

    request: str
    kind: Kind = "question"
    route: DeskRoute = DeskRoute()


class Diagnosis(Data):
    """Of the troubleshooter."""

    ways: tuple[Walk, ...] = ()
    """Through the runbooks that fit, the best first."""
    signs: tuple[Sign, ...] = ()

    @property
    def cause(self) -> str:
        """The likeliest; empty: not known."""
        return next((one.cause for one in self.ways if one.cause), "")

    @property
    def steps(self) -> tuple[str, ...]:
        """What to do, in order, each once."""
        return tuple(dict.fromkeys(step for way in self.ways for step in way.steps))

    @property
    def person(self) -> str:
        """Why a person is needed; empty: none is."""
        return next((one.person for one in self.ways if one.person), "")

    @property
    def asking(self) -> Walk | None:
        """The way on which a question is open."""
        return next((one for one in self.ways if one.question), None)


class SectionClash(Conflict):
    """What two sections say otherwise; times of different words may be of different things."""

    texts: tuple[str, str]


class FoundSection(Data):
    """A section that answers a part of a request, or may."""

    section: DocSection
    """With the part of its text that says most."""
    sure: bool
    beside: bool = False
    """Whether it is for a question beside the matter of the request."""
    says: str = ""
    """Its sentence that says that what was asked for is not so."""
    clashes: tuple[SectionClash, ...] = ()


class Documented(Data):
    """Of the documenter."""

    answered: bool = False
    findings: tuple[FoundSection, ...] = ()
    """In the order of the request, each section once."""
    sections: tuple[DocSection, ...] = ()
    """Those that are nearest to the matter of the request, best first, without their texts."""
    open: tuple[str, ...] = ()
    """The questions beside others for which nothing was found."""
    unknown: tuple[str, ...] = ()
    """Names in the request, if no document has any of them."""


def brief_of(handoff: Handoff) -> Brief:
    """The brief of a task; of a plan that a person wrote, its intent."""
    return output_as(Brief, handoff.payload) or Brief(request=handoff.intent)


def output_as(kind: type[T], output: object) -> T | None:
    """A worker's output as its type; `None`: it is another's."""
    try:
        return kind.model_validate(output)
    except ValidationError:
        return None
