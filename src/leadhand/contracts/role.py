"""Roles: how a team's planner, synthesizer and others use their models."""

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Interval
from pydantic import JsonValue

from leadhand.contracts.arguments import argument, check_fields
from leadhand.contracts.planner_kinds import PlannerKind

Tier = Literal["fast", "standard", "strong"]
TIERS: tuple[Tier, ...] = ("fast", "standard", "strong")
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

    __post_init__ = check_fields


def as_role(value: object) -> object:
    """A kind of planner as the fields of its role; other values as they are."""
    return {"kind": value} if isinstance(value, str) else value


if TYPE_CHECKING:

    class PlannerRole:
        """A field that takes a kind or a role, and keeps a role."""

        def __get__(self, team: object, kind: object) -> Role: ...
        def __set__(self, team: object, value: Role | PlannerKind) -> None: ...
