"""What a supervisor is told: what a new run is to do, how a run is done, and how all runs are."""

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal

from pydantic import JsonValue
from typing_extensions import TypedDict

from leadhand.contracts.answer import Answer
from leadhand.contracts.budget import Budget, LimitName
from leadhand.contracts.context import C
from leadhand.contracts.people import Occasion
from leadhand.contracts.task import Plan
from leadhand.ports import Clock, Decider, Journal, Planner, Remedies, Synthesizer
from leadhand.run.intake import Batches, check_limits, check_listener, origin_of
from leadhand.run.run_context import ContextRules

if TYPE_CHECKING:
    from leadhand.engine.recorder import Listener
    from leadhand.run.people import Ask
    from leadhand.run.roles import PlannerMaker, SynthesizerMaker
    from leadhand.state.run_state import RunState

IfExists = Literal["error", "join", "return"]
"""What `run` does if there is a run with that id: raise `RunExists`, wait for its answer and
continue it if it was interrupted, or return its answer."""
OnFinished = Callable[[Answer], object]
"""Called with the answer of a run; what it returns is awaited if it can be."""
MIN_OPENING_S = 1.0
"""How long the journal has to open a run at least; a shorter deadline counts from then."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may take from its start or resumption on."""

    deadline_s: float | None = None
    """Seconds to its answer; `None`: no limit."""
    budget: Budget | None = None
    own: tuple[LimitName, ...] = ()
    """Which of them the run was given itself: the others are its supervisor's."""

    def kept(self, state: "RunState") -> "Limits":
        """Those of a recorded run's own, and these for the others."""
        own = state.own_limits
        return Limits(
            state.deadline_s if "deadline_s" in own else self.deadline_s,
            state.budget if "budget" in own else self.budget,
            own,
        )

    @property
    def opening_s(self) -> float | None:
        """How long the journal may take to open the run."""
        return None if self.deadline_s is None else max(self.deadline_s, MIN_OPENING_S)


class RunArguments(TypedDict, Generic[C], total=False):
    """What a run may be given each time that it is started or resumed."""

    deadline_s: float | None
    """Seconds to the answer, from now; `math.inf`: no limit."""
    budget: Budget | None
    """What the whole run may spend, including what it has spent."""
    context: C | None
    """For the run's workers and tools; it is not stored."""
    batches: Batches | None
    """What the template makes tasks for, by name."""
    listener: "Listener | None"
    """Called with every event as it happens."""


class StartArguments(RunArguments[C], total=False):
    """What a run may be given when it is started."""

    plan: Plan | None
    """A plan of your own, for which no planner is asked."""
    amend: bool
    """Whether that plan may be amended."""
    run_id: str | None
    """An id of your own, which makes the call repeatable."""
    if_exists: IfExists
    """What happens if there is a run with that id."""
    inputs: Sequence[str | Path]
    """Files and folders that the workers' tools may read."""
    origin: Mapping[str, JsonValue] | None
    """Stored with the run, for the program that resumes it."""
    after: str | None
    """The id of the run that this one follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a run is done, each time that it is started or resumed."""

    deadline_s: float | None = None
    budget: Budget | None = None
    context: object = field(default=None, repr=False)
    batches: Batches | None = None
    listener: "Listener | None" = None
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the run is stored and nothing prevents the work, or that it exists already."""

    def __post_init__(self) -> None:
        """Raises `InputError` for what no run can have."""
        check_listener(self.listener)
        check_limits(None if self.deadline_s == math.inf else self.deadline_s, self.budget)

    def limits(self, default: Limits) -> Limits:
        """Those given, and `default` for the others."""
        limit_s = default.deadline_s if self.deadline_s is None else self.deadline_s
        given: dict[LimitName, object] = {"deadline_s": self.deadline_s, "budget": self.budget}
        own: tuple[LimitName, ...] = tuple(
            name for name in given if given[name] is not None or name in default.own
        )
        return Limits(None if limit_s == math.inf else limit_s, self.budget or default.budget, own)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun(RunOptions):
    """What a new run is to do, and how."""

    request: str | None = None
    plan: Plan | None = None
    amend: bool = False
    run_id: str | None = None
    if_exists: IfExists = "error"
    inputs: Sequence[str | Path] = ()
    origin: Mapping[str, JsonValue] | None = None
    after: str | None = None

    def __post_init__(self) -> None:
        """Raises `InputError` for what no run can have."""
        RunOptions.__post_init__(self)
        object.__setattr__(self, "origin", origin_of(self.origin))


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """What all runs of a supervisor have in common."""

    journal: Journal
    clock: Clock
    limits: Limits
    """Of new runs for which no others are given."""
    concurrency: int
    max_concurrency: int | None = None
    contexts: ContextRules
    occasions: tuple[Occasion, ...] = ()
    person: "Ask | None" = None
    on_finished: OnFinished | None = None
    planner: "Planner | Decider | PlannerMaker | None" = None
    synthesizer: "Synthesizer | SynthesizerMaker | None" = None
    remedies: Remedies | None = None
    listeners: "tuple[Listener, ...]" = ()
    """Called with every event of every run."""
