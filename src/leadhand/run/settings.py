"""What a supervisor's runs are given, checked: contexts, limits, requests."""

import asyncio
import functools
import hashlib
import inspect
import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, get_origin

from pydantic import ConfigDict, JsonValue, TypeAdapter
from typing_extensions import TypedDict

from leadhand.contracts.answer import Answer
from leadhand.contracts.budget import Budget, Budgets, LimitName, budgets_of
from leadhand.contracts.context import C, Restore, context_types
from leadhand.contracts.people import Occasion, occasions
from leadhand.contracts.task import Batch, EarlierRun, Plan, PlanRequest
from leadhand.errors import InputError, TeamError
from leadhand.plans.nesting import all_teams
from leadhand.run.uploads import check_uploads, digests

if TYPE_CHECKING:
    from leadhand.contracts.team import Team
    from leadhand.engine.recorder import Listener
    from leadhand.state.run_state import RunState
    from leadhand.tools.files.inputs import Inputs

Batches = Mapping[str, Sequence[Batch]]
MAX_DEADLINE_S = 1e18
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
    shared: tuple[Budget, ...] = ()
    """Budgets that it shares with other runs."""
    accounts: Mapping[str, Budget] = field(default_factory=dict[str, Budget])
    """These, by the keys of the notes from which it has reserved."""
    own_limits: tuple[LimitName, ...] = ()
    """Which of these two the run was given itself: the others are its supervisor's."""
    inputs: tuple[str, ...] = ()
    uploads: tuple[str, ...] = ()
    """The names of uploaded files."""
    origin: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """What the program that started the run needs to set it up again."""
    amend: bool = True
    """Whether the plan may be amended; false for a plan of the caller's own without `amend`."""
    has_context: bool = False
    """Whether the run has a context, which itself is not kept."""
    fingerprint: str = ""
    """A digest of what was asked for."""
    approve: tuple[Occasion, ...] | None = None
    """When a person is asked; None: as the supervisor says."""

    def kept(self, state: "RunState") -> "RunSettings":
        """Those of a recorded run's own, and these limits for the others."""
        own = state.own_limits
        return RunSettings(
            state.deadline_s if "deadline_s" in own else self.deadline_s,
            state.budget if "budget" in own else self.budget,
            (*self.shared, *state.accounts.values()),
            own_limits=own,
            inputs=state.inputs,
            origin=state.origin,
            approve=state.approve,
        )

    @property
    def opening_s(self) -> float | None:
        """How long the journal may take to open the run."""
        return None if self.deadline_s is None else max(self.deadline_s, MIN_OPENING_S)


class RunArguments(TypedDict, Generic[C], total=False):
    """What a run may be given each time that it is started or resumed."""

    deadline_s: float | None
    """Seconds to the answer, from now; `math.inf`: no limit."""
    budget: Budgets
    """What the whole run may spend, including what it has spent; and budgets that it shares."""
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
    uploads: Mapping[str, bytes]
    """Files by name, kept in the journal, so that any process can resume the run; further inputs.
    """
    origin: Mapping[str, JsonValue] | None
    """Stored with the run, for the program that resumes it."""
    after: str | None
    """The id of the run that this one follows."""
    approve: Collection[Occasion] | None
    """When a person is asked, instead of when the supervisor says."""
    earlier: Sequence[EarlierRun]
    """A conversation that it follows, before `after`, the latest exchange first; a long one is cut.
    """


def check_known(call: str, given: Mapping[str, object], known: type) -> None:
    """Raises `TypeError`, as Python does, for arguments that `call` does not take."""
    for name in given.keys() - known.__annotations__.keys():
        raise TypeError(f"{call}() got an unexpected keyword argument {name!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What a run is given when it is started or resumed; the last fields are for new runs alone."""

    deadline_s: float | None = None
    budget: Budgets = None
    context: object = field(default=None, repr=False)
    batches: Batches | None = None
    listener: "Listener | None" = None
    under_way: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the run is stored and nothing prevents the work, or that it exists already."""
    request: str | None = None
    plan: Plan | None = None
    amend: bool = False
    run_id: str | None = None
    if_exists: IfExists = "error"
    inputs: Sequence[str | Path] = ()
    uploads: Mapping[str, bytes] = field(default_factory=dict[str, bytes], repr=False)
    origin: Mapping[str, JsonValue] | None = None
    after: str | None = None
    approve: Collection[Occasion] | None = None
    earlier: Sequence[EarlierRun] = ()

    def __post_init__(self) -> None:
        """Raises `InputError` for what no run can have."""
        check_listener(self.listener)
        check_limits(None if self.deadline_s == math.inf else self.deadline_s, self.budget)
        object.__setattr__(self, "origin", origin_of(self.origin))

    def settings(self, default: RunSettings) -> RunSettings:
        limit_s = default.deadline_s if self.deadline_s is None else self.deadline_s
        budget, shared = (None, ()) if self.budget is None else budgets_of(self.budget)
        given: dict[LimitName, object] = {"deadline_s": self.deadline_s, "budget": budget}
        own = tuple(name for name in given if given[name] is not None or name in default.own_limits)
        return replace(
            default,
            deadline_s=None if limit_s == math.inf else limit_s,
            budget=budget or default.budget,
            shared=(*default.shared, *shared),
            own_limits=own,
            approve=default.approve if self.approve is None else occasions(self.approve),
        )

    def check(self) -> None:
        """Raises `InputError` for a new run that can't be started."""
        if self.uploads:
            check_uploads(self.uploads)
        if self.approve:
            occasions(self.approve)
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
        """A digest of what a new run is to do, a point, and a digest of its origin if any."""
        batches = {name: [*map(repr, batches)] for name, batches in request.batches.items()}
        plan = self.plan and self.plan.model_dump(mode="json")
        # Without the list, a run of a release before follow-ups is still the same run.
        after = [] if self.after is None else [self.after]
        after += [one.model_dump_json() for one in self.earlier]
        uploads = [digests(self.uploads)] if self.uploads else []
        asked = digest_of([team, request.text, batches, plan, self.amend, *after, *uploads])
        return f"{asked}.{'' if self.origin is None else digest_of(self.origin)}"


def check_limits(deadline_s: float | None, budget: Budgets) -> None:
    """Raises `InputError` for a deadline or budget that no run can have."""
    if budget is not None:
        budgets_of(budget)
    if deadline_s is None:
        return
    if not isinstance(deadline_s, int | float) or not 0 < deadline_s < MAX_DEADLINE_S:  # pyright: ignore[reportUnnecessaryIsInstance]
        why = f"it must be more than 0 and less than {MAX_DEADLINE_S:.0e}, or None"
        raise InputError(f"deadline_s is {deadline_s!r:.200}; {why}")


def check_listener(listener: object) -> None:
    """Raises `InputError` unless `listener` is None or a function that is not async."""
    if listener is None:
        return
    if not callable(listener):
        raise InputError(f"listener is {type(listener).__name__}; it must be a function")
    if inspect.iscoroutinefunction(listener) or inspect.iscoroutinefunction(
        type(listener).__call__
    ):
        raise InputError(
            "listener is an async function, and events are reported without waiting: give a plain "
            "function (`queue.put_nowait` of an asyncio.Queue is one), or use "
            "`async for event in run.events()` of a run that was started"
        )


def origin_of(given: object) -> dict[str, JsonValue] | None:
    """The origin as JSON has it. Raises `InputError` for what JSON has not."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise InputError(f"origin is {type(given).__name__}; it must map names to JSON values")
    try:
        checked = _origin_type().validate_python({**given})
        text = json.dumps(checked, allow_nan=False, ensure_ascii=False)
    except (ValueError, RecursionError):
        raise InputError(
            "origin can't be stored as JSON: its names must be text, and its values text, finite "
            "numbers, true, false, null, or lists and dicts of these"
        ) from None
    # A lone surrogate could not be stored.
    return json.loads(text.encode("utf-8", "replace"))


@functools.cache
def _origin_type() -> TypeAdapter[dict[str, JsonValue]]:
    # Built on first use: most programs give no origin.
    return TypeAdapter(dict[str, JsonValue], config=ConfigDict(strict=True))


def digest_of(known: object) -> str:
    """A digest of what JSON can hold; of anything else, of its `repr`."""
    text = json.dumps(known, sort_keys=True, default=repr)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def request_of(
    text: str,
    inputs: Sequence[str | Path],
    batches: Batches | None,
    after: tuple[EarlierRun, ...] = (),
) -> "tuple[PlanRequest, Inputs | None]":
    """The request as a planner gets it, and its inputs, listed. Raises `InputError`."""
    if isinstance(inputs, str):
        raise InputError("inputs is a text; give a list of paths")
    if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"the request is {type(text).__name__}; it must be text")
    # A lone surrogate, from an argument that is not UTF-8, could not be stored as JSON.
    text = text.encode("utf-8", "replace").decode()
    if not inputs:
        return PlanRequest(text, batches or {}, after=after), None
    # Imported here because most programs have no inputs.
    from leadhand.tools.files.inputs import Inputs

    given = Inputs.of([Path(one) for one in inputs])
    all_batches = {"inputs": [Batch(absolute(inputs))], **(batches or {})}
    return PlanRequest(text, all_batches, given.summary(), after), given


def absolute(inputs: Sequence[str | Path]) -> tuple[str, ...]:
    """The absolute paths of inputs. Whether they exist is checked when they are read."""
    return tuple(str(Path(one).absolute()) for one in inputs)


class NotRestored(InputError):
    """The program's `restore` made no context for a run."""


@dataclass(frozen=True, slots=True)
class ContextRules:
    """What a supervisor was told about the contexts of its runs. Methods raise `InputError`."""

    type: object = None
    """The class of every context; `None`: anything, or no context."""
    restore: Restore[object] | None = None

    def check(self, team: "Team") -> None:
        """Raises `TeamError` naming all tools that take another context."""
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
        for worker in (worker for each in all_teams(team) for worker in each.workers):
            for name, kind in context_types(worker.tools):
                if not _is_kind_of(get_origin(self.type) or self.type, get_origin(kind) or kind):
                    yield (
                        f"worker {worker.name!r}: the context of the tool {name!r} is a "
                        f"{_name(kind)}, and that of this supervisor's runs a {_name(self.type)}"
                    )

    def of_new_run(self, given: object) -> object:
        if given is None and self.type is not None:
            raise InputError(
                f"this supervisor's runs have a context: give `context`, a {_name(self.type)}"
            )
        return self._checked(given, "context")

    def check_resumable(self, given: object, state: "RunState") -> None:
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
        """The given or restored context; an async `restore` may take `limit_s`."""
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
    if not isinstance(kind, type) or not isinstance(wanted, type) or wanted is Any:
        return True
    try:
        return issubclass(kind, wanted)
    except TypeError:  # a protocol
        return True


def _name(kind: object) -> str:
    return getattr(kind, "__name__", None) or repr(kind)
