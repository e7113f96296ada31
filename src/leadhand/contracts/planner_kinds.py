"""The kinds of planners, with all that the rest of leadhand asks about a kind. Pure.

A new kind is an entry in `KINDS` and its name in `PlannerKind`; what its `maker` names makes its
planner. That is called only if the team has a model, and gets no runners: a kind can't ask
workers, and without a model each kind uses the template. Its `name` is `planner`, as the role is
with which it asks models: budget, times, live view and resumption go by that word. A kind also
needs a sentence in the docstring of `Role.kind`, a row in `docs/planners.md`, a line in `wanted` of
`tests/planners/test_kinds.py`, and for a prompt of its own a new digest in `models/prompts.py`;
`make reference` writes its name into the schemas of team files. `tests/simulation/planners.py` has
a list of kinds to simulate.

`Round` and `Decision` are what stepwise planners see and decide.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from leadhand.contracts.outcome import TaskResult
from leadhand.contracts.task import EarlierRun, Task

PlannerKind = Literal["ahead", "stepwise", "recursive", "routed", "template"]


@dataclass(frozen=True, slots=True, kw_only=True)
class KindFacts:
    """What the rest of leadhand asks about a kind."""

    maker: str | None
    """The module and the function that makes its planner, see `run.roles.PlannerOfKind`; `None` if
    no model plans."""
    settings: tuple[str, ...] = ()
    """The fields of its role that no other kind has."""
    routes_first: bool = False
    """Whether the team's routes and routers decide before its planner does."""
    must_route: bool = False
    """Whether a request that no route or router places gets no other planner's plan."""
    writes_whole_plans: bool = False
    """Whether plans are written at once: they may describe workers, and tasks may start early."""
    breaks_down: bool = False
    """Whether tasks may get a plan of their own, one level deeper."""
    plan_words: str = "without a template every worker gets one task, all at once"
    """What the plan of a team without a template is; `{max_rounds}` is filled in."""

    @property
    def by_model(self) -> bool:
        """Whether a model plans, if there is one."""
        return self.maker is not None


_AHEAD = "leadhand.planners.ahead:ahead"

KINDS: Mapping[PlannerKind | None, KindFacts] = {
    # Routes if the team has any that match, else a model, else the template.
    None: KindFacts(maker=_AHEAD, routes_first=True, writes_whole_plans=True),
    # A model plans the whole request.
    "ahead": KindFacts(maker=_AHEAD, writes_whole_plans=True),
    # A model decides after each result, or after several, what is next.
    "stepwise": KindFacts(
        maker="leadhand.planners.first_round:stepwise",
        settings=("max_rounds",),
        plan_words="decided in at most {max_rounds}; without a model every worker gets one task",
    ),
    # Like `ahead`, and tasks that are too large get a plan of their own.
    "recursive": KindFacts(
        maker=_AHEAD, settings=("max_levels",), writes_whole_plans=True, breaks_down=True
    ),
    # Routes, then a model, choose one worker.
    "routed": KindFacts(
        maker=_AHEAD,
        routes_first=True,
        must_route=True,
        plan_words="one task for each worker to which the request is routed, all at once",
    ),
    # The team's template is the plan, without a model.
    "template": KindFacts(maker=None),
}
"""`Role.kind` -> the facts about it."""


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
