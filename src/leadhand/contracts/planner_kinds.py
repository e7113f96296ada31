"""The kinds of planners: a class each, with all that the rest of leadhand asks about a kind. Pure.

A new kind is a class here, an entry in `KINDS` and its name in `PlannerKind`; what its `maker`
names makes its planner. `Round` and `Decision` are what stepwise planners see and decide.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from leadhand.contracts.outcome import TaskResult
from leadhand.contracts.task import EarlierRun, Task

PlannerKind = Literal["ahead", "stepwise", "recursive", "routed", "template"]


class Unnamed:
    """Routes if the team has any that match, else a model, else the template."""

    settings: tuple[str, ...] = ()
    """The fields of its role that no other kind has."""
    by_model = True
    """Whether a model plans, if there is one."""
    routes_first = True
    """Whether the team's routes and routers decide before its planner does."""
    must_route = False
    """Whether a request that no route or router places gets no other planner's plan."""
    writes_whole_plans = True
    """Whether plans are written at once: they may describe workers, and tasks may start early."""
    breaks_down = False
    """Whether tasks may get a plan of their own, one level deeper."""
    maker = "leadhand.planners.ahead:ahead"
    """The module and the function that makes its planner, see `run.roles.PlannerOfKind`."""
    plan_words = "without a template every worker gets one task, all at once"
    """What the plan of a team without a template is; `{max_rounds}` is filled in."""


class Ahead(Unnamed):
    """A model plans the whole request."""

    routes_first = False


class Recursive(Ahead):
    """Like `ahead`, and tasks that are too large get a plan of their own."""

    settings = ("max_levels",)
    breaks_down = True


class Stepwise(Unnamed):
    """A model decides after each result, or after several, what is next."""

    settings = ("max_rounds",)
    routes_first = False
    writes_whole_plans = False
    maker = "leadhand.planners.rounds:stepwise"
    plan_words = "decided in at most {max_rounds}; without a model every worker gets one task"


class Routed(Unnamed):
    """Routes, then a model, choose one worker."""

    must_route = True
    writes_whole_plans = False
    plan_words = "one task for each worker to which the request is routed, all at once"


class Template(Unnamed):
    """The team's template is the plan, without a model."""

    by_model = False
    routes_first = False
    writes_whole_plans = False


KINDS: Mapping[PlannerKind | None, type[Unnamed]] = {
    None: Unnamed,
    "ahead": Ahead,
    "stepwise": Stepwise,
    "recursive": Recursive,
    "routed": Routed,
    "template": Template,
}
"""`Role.kind` -> what it says about itself."""


AsksAfter = Literal["first", "all"]
RoundsEnd = Literal["done", "limit", "failed", "refused"]
"""Why a planner is not asked any more: it is done, or what keeps it from going on."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What a stepwise planner decides in one round."""

    tasks: tuple[Task, ...] = ()
    """The tasks that start now. They may depend on each other, and on earlier tasks by id."""
    reason: str = ""
    """Why, in a sentence."""
    asks_after: AsksAfter = "all"
    """Whether the planner is asked again after the first or after all of these tasks have ended. A
    decision without tasks waits for those that have not ended."""
    done: bool = False
    """Whether the answer can be written once all tasks have ended, without another decision."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What a stepwise planner sees: the request, the results so far, and what is left."""

    number: int
    """Of the round that it decides now, from 1."""
    max_rounds: int
    request: str
    inputs: str = ""
    """A description of the inputs, as in `PlanRequest`."""
    after: tuple[EarlierRun, ...] = ()
    """The runs that the request follows, the latest first."""
    tasks: tuple[TaskResult, ...] = ()
    """All tasks so far. Those that have not ended have the status `pending` or `running`."""
    new: frozenset[str] = frozenset()
    """The ids of the tasks that ended since the last decision."""
    tokens_left: int | None = None
    """None without a limit."""
    usd_left: float | None = None
