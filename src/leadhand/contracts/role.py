"""Roles: how a team's planner, synthesizer and others use their models, and routes to workers."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Protocol, runtime_checkable

from annotated_types import Interval
from pydantic import JsonValue

from leadhand.contracts.data import Many, argument, check_fields
from leadhand.contracts.planner_kinds import PlannerKind

Tier = Literal["fast", "standard", "strong"]
TIERS: tuple[Tier, ...] = ("fast", "standard", "strong")
Answers = Literal["tool", "native", "prompted"]
"""How a model answers in a structure. `tool`: as the arguments of a tool that it has to call.
`native`: its response has the schema as its format. `prompted`: the schema is in the prompt, and
the answer is JSON in the text."""
MAX_LEVELS = 10
"""The most levels that a recursive planner may be allowed."""
SUBPLANNER = "subplanner"
"""The worker of a task that a recursive team breaks down; no other worker has this name."""
ModelSpec = object
"""`provider:model` as pydantic-ai takes it, or a pydantic-ai `Model`."""


@argument
@dataclasses.dataclass(frozen=True)
class Role:
    """How a team's planner, synthesizer or another of its roles uses its model."""

    _: dataclasses.KW_ONLY
    tier: Tier = "standard"
    model: ModelSpec = None
    """Used instead of the tier's models."""
    settings: Mapping[str, JsonValue] = dataclasses.field(default_factory=dict[str, JsonValue])
    """Model settings such as `temperature`, as pydantic-ai names them."""
    answers: Answers | None = None
    """How its model answers in a structure; None: in the way that works, which is found out."""
    instructions: str = ""
    """The team's instructions for this role, appended to leadhand's own prompt."""
    plain: bool = False
    """True: `instructions` are the whole prompt and the model answers in plain text. The shortest
    prompt, but the answer has no structure."""
    kind: PlannerKind | None = None
    """How a planner supervises. `ahead`: a model plans the whole request. `stepwise`: it decides
    after each result, or after several, what is next. `recursive`: like `ahead`, and tasks that are
    too large get a plan of their own. `routed`: rules, then a model, choose one worker. `template`:
    the team's template is the plan, without a model. None: rules if the team has any that match,
    else a model, else the template."""
    max_rounds: Annotated[int, Interval(ge=1, le=1_000)] = 12
    """How many decisions a stepwise planner may make in a run."""
    max_levels: Annotated[int, Interval(ge=0, le=MAX_LEVELS)] = 3
    """How many levels of plans a recursive planner may make below the first one."""
    run: object = None
    """Code that is the planner or the synthesizer, with or without a model. A planner is a function
    `(PlanRequest, Team) -> Plan`, sync or async, or an object with a `name` and such a `plan`, or
    with a `name` and `decide` (a `Decider`). A synthesizer is a function
    `(Plan, Sequence[TaskResult]) -> Synthesis`, or a `Synthesizer`."""

    __post_init__ = check_fields


def code_name(role: Role) -> str:
    """The name of a role's `run`: `module:function`, or the object's own; empty without code."""
    code = role.run
    if code is None or hasattr(code, "name"):
        return str(getattr(code, "name", ""))
    return f"{code.__module__}:{getattr(code, '__qualname__', type(code).__qualname__)}"


def planner_title(role: Role) -> str:
    """A planner as messages name it."""
    return "the planner" if role.run is None else f"the planner {code_name(role)}"


def as_role(value: object) -> object:
    return {"kind": value} if isinstance(value, str) else value


if TYPE_CHECKING:

    class PlannerRole:
        def __get__(self, team: object, kind: object) -> Role: ...
        def __set__(self, team: object, value: Role | PlannerKind) -> None: ...


@argument
@dataclasses.dataclass(frozen=True)
class Route:
    """A routing rule: requests that meet any of its conditions go to its worker.

    A route without conditions is the default: it matches every request.
    """

    worker: str
    _: dataclasses.KW_ONLY
    words: Many[str] = ()
    """The request contains one of these words or phrases, as whole words in any case."""
    pattern: str | None = None
    """The request matches this regular expression somewhere, in any case. No look-around, no
    back-references."""
    labels: Many[str] = ()
    """The request contains one of these labels, as `[label]` or `#label`."""
    secondary: str | None = None
    """The next worker, if the first hands the request back."""
    also: Many[str] = ()
    """Other workers that get the request too, beside the first; the synthesizer joins the results.
    """

    __post_init__ = check_fields

    @property
    def workers(self) -> tuple[str, ...]:
        """The workers that get the request at once, the first one first."""
        return tuple(dict.fromkeys((self.worker, *self.also)))

    @property
    def is_default(self) -> bool:
        """Whether it has no conditions and so matches every request."""
        return not (self.words or self.pattern or self.labels)


class Guess(NamedTuple):
    """What a classifier says about one text."""

    worker: str | None
    """The likeliest worker; None: none of those that it knows."""
    confidence: float
    """The probability that this worker is right, 0 to 1."""
    accepted: bool
    """False: it abstains, and the next step decides."""


@runtime_checkable
class Classifier(Protocol):
    """Chooses a worker for a text, without a model and without waiting."""

    @property
    def workers(self) -> Sequence[str]:
        """The names of the workers that it may choose."""
        ...

    def guess(self, text: str) -> Guess:
        """The likeliest worker for a text."""
        ...
