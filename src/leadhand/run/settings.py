"""What a supervisor and its runs are told: contexts, limits, what is new and how it is done.

`intake` has the checks of single values.
"""

import asyncio
import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, get_origin

from pydantic import JsonValue
from typing_extensions import TypedDict

from leadhand.contracts.answer import Answer
from leadhand.contracts.budget import Budget, LimitName
from leadhand.contracts.context import C, Restore, context_types
from leadhand.contracts.people import Occasion
from leadhand.contracts.task import Plan, PlanRequest
from leadhand.errors import InputError, TeamError
from leadhand.plans.nesting import nested_teams
from leadhand.ports import Clock, Decider, Journal, Planner, Remedies, Synthesizer
from leadhand.run.intake import Batches, check_limits, check_listener, digest_of, origin_of

if TYPE_CHECKING:
    from leadhand.contracts.team import Team
    from leadhand.engine.recorder import Listener
    from leadhand.run.people import Ask
    from leadhand.run.roles import PlannerMaker, SynthesizerMaker
    from leadhand.state.run_state import RunState


class NotRestored(InputError):
    """The program's `restore` made no context for a run."""


@dataclass(frozen=True, slots=True)
class ContextRules:
    """What a supervisor was told about the contexts of its runs. Methods raise `InputError`."""

    type: object = None
    """What every context is an instance of; None: anything, or no context."""
    restore: Restore[object] | None = None

    def check(self, team: "Team") -> None:
        """Check the rules themselves, and the team's tools: raises `TeamError` naming all."""
        if self.type is not None and not isinstance(get_origin(self.type) or self.type, type):
            raise InputError(f"context_type is {self.type!r}; it must be a class")
        if self.restore is not None and not callable(self.restore):  # pyright: ignore[reportUnnecessaryComparison]
            raise InputError(
                f"restore is {type(self.restore).__name__}; it must be a function that makes a "
                "context from the run's origin"
            )

        if problems := [*self._problems(team)]:
            raise TeamError(team.name, problems)

    def _problems(self, team: "Team") -> Iterator[str]:
        """The tools of the team that take another context."""
        teams = (team, *(nested.team for nested in nested_teams(team)))
        for worker in (worker for each in teams for worker in each.workers):
            for name, kind in context_types(worker.tools):
                if not _is_kind_of(get_origin(self.type) or self.type, get_origin(kind) or kind):
                    yield (
                        f"worker {worker.name!r}: the context of the tool {name!r} is a "
                        f"{_name(kind)}, and that of this supervisor's runs a {_name(self.type)}"
                    )

    def of_new_run(self, given: object) -> object:
        """The context of a run that starts."""
        if given is None and self.type is not None:
            raise InputError(
                f"this supervisor's runs have a context: give `context`, a {_name(self.type)}"
            )
        return self._checked(given, "context")

    def check_resumable(self, given: object, state: "RunState") -> None:
        """Check that a run that is resumed has a context, unless it is restored."""
        if given is not None:
            self._checked(given, "context")
        elif self.restore is None and (self.type is not None or state.has_context):
            raise InputError(
                f"run {state.run_id!r} needs a context, and contexts are not stored: resume it "
                "from Python with `context`, or with a Supervisor that has a `restore` function"
            )

    async def of_resumed_run(
        self, given: object, state: "RunState", *, limit_s: float | None
    ) -> object:
        """The context of a run that is resumed: the one given, else the one that is restored.

        An async `restore` has `limit_s` seconds.
        """
        self.check_resumable(given, state)
        if given is not None or self.restore is None:
            return given
        if self.type is None and not state.has_context:
            return None
        try:
            restored = self.restore(state.origin)
            if inspect.isawaitable(restored):
                restored = await asyncio.wait_for(restored, limit_s)
        except Exception as error:
            why = f"restore raised {type(error).__name__}: {error}"
            raise NotRestored(f"run {state.run_id!r} can't be resumed: {why}") from error
        return self._checked(restored, "what restore returned", NotRestored)

    def _checked(
        self, value: object, what: str, error: Callable[[str], InputError] = InputError
    ) -> object:
        kind = get_origin(self.type) or self.type
        if kind is None:
            return value
        try:
            fits = isinstance(value, kind)  # pyright: ignore[reportArgumentType]
        except TypeError:  # a protocol, which can't be checked
            fits = True
        if not fits:
            raise error(f"{what} is a {type(value).__name__}; it must be a {_name(kind)}")
        return value


def _is_kind_of(kind: object, wanted: object) -> bool:
    """Whether a `kind` is a `wanted`, as far as that can be checked."""
    if not isinstance(kind, type) or not isinstance(wanted, type) or wanted is Any:
        return True
    try:
        return issubclass(kind, wanted)
    except TypeError:  # a protocol
        return True


def _name(kind: object) -> str:
    return getattr(kind, "__name__", None) or repr(kind)


IfExists = Literal["error", "join", "return"]
"""What `run` does if there is a run with that id: raise `RunExists`, wait for its answer and
continue it if it was interrupted, or return its answer."""
OnFinished = Callable[[Answer], object]
"""Called with the answer of a run; what it returns is awaited if it can be."""
RESERVE = 0.2
"""The share of the time that is kept for a synthesis by a model."""
MIN_OPENING_S = 1.0
"""How long the journal has to open a run at least; a shorter deadline counts from then."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """What a run may take from its start or resumption on, and what else its first event keeps, so
    that another process can resume it."""

    deadline_s: float | None = None
    """Seconds to its answer; `None`: no limit."""
    budget: Budget | None = None
    own_limits: tuple[LimitName, ...] = ()
    """Which of these two the run was given itself: the others are its supervisor's."""
    inputs: tuple[str, ...] = ()
    """Absolute paths."""
    origin: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """What the program that started the run needs to set it up again."""
    amend: bool = True
    """Whether the plan may be amended; false for a plan of the caller's own without `amend`."""
    has_context: bool = False
    """Whether the run has a context, which itself is not kept."""
    fingerprint: str = ""
    """A digest of what was asked for."""

    def kept(self, state: "RunState") -> "RunSettings":
        """Those of a recorded run's own, and these limits for the others."""
        own = state.own_limits
        return RunSettings(
            state.deadline_s if "deadline_s" in own else self.deadline_s,
            state.budget if "budget" in own else self.budget,
            own,
            state.inputs,
            state.origin,
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


def check_known(call: str, given: Mapping[str, object], known: type) -> None:
    """Raises `TypeError`, as Python does, for arguments that `call` does not take."""
    for name in given.keys() - known.__annotations__.keys():
        raise TypeError(f"{call}() got an unexpected keyword argument {name!r}")


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

    def settings(self, default: RunSettings) -> RunSettings:
        """`default` with the limits that are given."""
        limit_s = default.deadline_s if self.deadline_s is None else self.deadline_s
        given: dict[LimitName, object] = {"deadline_s": self.deadline_s, "budget": self.budget}
        own = tuple(name for name in given if given[name] is not None or name in default.own_limits)
        return replace(
            default,
            deadline_s=None if limit_s == math.inf else limit_s,
            budget=self.budget or default.budget,
            own_limits=own,
        )


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

    def check(self) -> None:
        """Raises `InputError` for a new run that can't be started."""
        if self.request is None and self.plan is None:
            raise InputError("nothing to run: give a request or a plan")
        if self.plan is not None and not isinstance(self.plan, Plan):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"plan is {type(self.plan).__name__}; it must be a leadhand.Plan")
        if not isinstance(self.amend, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError(f"amend is {self.amend!r:.60}; it must be True or False")
        if self.amend and self.plan is None:
            raise InputError("amend is for a plan of your own: give `plan` as well")
        if self.if_exists not in ("error", "join", "return"):
            raise InputError(f"if_exists is {self.if_exists!r}; it is error, join or return")
        if self.if_exists != "error" and self.run_id is None:
            raise InputError(
                f"if_exists={self.if_exists!r} is for a run_id of your own: give it as well"
            )

    def fingerprint(self, team: str, request: PlanRequest) -> str:
        """A digest of what a new run is to do, a point, and one of its origin if it is given one.

        A run with the same digests is the same run.
        """
        batches = {name: [*map(repr, batches)] for name, batches in request.batches.items()}
        plan = self.plan and self.plan.model_dump(mode="json")
        # Without the list, a run of a release before follow-ups is still the same run.
        after = [] if self.after is None else [self.after]
        asked = digest_of([team, request.text, batches, plan, self.amend, *after])
        return f"{asked}.{'' if self.origin is None else digest_of(self.origin)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """What all runs of a supervisor have in common."""

    journal: Journal
    clock: Clock
    run: RunSettings
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
