"""The conditions of a run: what each of its steps works with, and where it comes from."""

from dataclasses import dataclass, field

from pydantic import JsonValue

from leadhand.contracts.budget import Budget
from leadhand.contracts.team import Team
from leadhand.engine.recorder import Recorder
from leadhand.run.cancellation import ActiveRun
from leadhand.run.people import People
from leadhand.run.roles import Roles
from leadhand.run.term import Term


@dataclass(frozen=True, slots=True)
class Setting:
    """What is written down of a run at its start, so that another process can go on with it."""

    budget: Budget | None = None
    inputs: tuple[str, ...] = ()
    """Absolute paths."""
    origin: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """What the program that began it needs to set it up again."""
    amend: bool = True
    """Whether the plan may be amended; false for one that was handed in without `amend`."""


@dataclass(slots=True)
class Conditions:
    """What every step of one run works with."""

    team: Team
    recorder: Recorder
    roles: Roles
    active: ActiveRun
    people: People | None
    term: Term
    unplanned: str | None = None
    """Why there is no plan, where time, budget or a person did not let it be."""
    late: bool = False
    """Whether planning or synthesis was given up at its deadline."""
