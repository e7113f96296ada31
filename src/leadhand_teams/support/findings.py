"""What the plan hands to the workers, and what they hand to the supervisor."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from leadhand import Handoff
from leadhand_teams.support.output import Data, DeskRoute, FoundSection, Kind, Sign, Ticket
from leadhand_teams.support.runbooks import Walk

T = TypeVar("T", bound=BaseModel)


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
    unread: tuple[str, ...] = ()
    own: bool = False

    @property
    def cause(self) -> str:
        """The likeliest; empty: not known."""
        return next((one.cause for one in self.ways if one.cause), "")

    @property
    def steps(self) -> dict[str, str]:
        """What to do, in order, and the runbook that says so."""
        return {step: way.ref for way in reversed(self.ways) for step in way.steps}

    @property
    def asking(self) -> Walk | None:
        """The way on which a question is open."""
        return next((one for one in self.ways if one.question), None)


class SectionClash(Data):
    """What two sections say otherwise."""

    refs: tuple[str, str]
    texts: tuple[str, str]
    certain: bool = True
    """Whether they are about the same; times of different words may be of different things."""


class Documented(Data):
    """Of the documenter."""

    answered: bool
    sections: tuple[FoundSection, ...]
    """Best first; what follows is about the first."""
    path: tuple[str, ...] = ()
    """The titles above it."""
    text: str = ""
    """What it says, word for word, or the part that says most about the request."""
    code: tuple[str, ...] = ()
    """Code examples of the section that are not in `text`."""
    links: tuple[tuple[str, str], ...] = ()
    """What its addresses are called, and the addresses."""
    contradictions: tuple[SectionClash, ...] = ()
    also: tuple["Documented", ...] = ()
    """What was found for each question in the request, if it is more than one question."""
    searched: int = 0
    """Sections."""
    unread: tuple[str, ...] = ()
    own: bool = False


class Escalation(Data):
    """Of the escalator."""

    ticket: Ticket
    unread: tuple[str, ...] = ()


def brief_of(handoff: Handoff) -> Brief:
    """The brief of a task; of a plan that a person wrote, its intent."""
    return output_as(Brief, handoff.payload) or Brief(request=handoff.intent)


def output_as(kind: type[T], output: object) -> T | None:
    """A worker's output as its type; `None`: it is another's."""
    try:
        return kind.model_validate(output)
    except ValidationError:
        return None
