"""What a supervisor's runs are given, checked: limits, requests, origins."""

import asyncio
import hashlib
import inspect
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Generic, Literal

from annotated_types import Gt, Lt
from pydantic import AfterValidator, InstanceOf, JsonValue
from typing_extensions import TypedDict

from leadhand.contracts.answer import Answer
from leadhand.contracts.budget import Budget, Budgets, LimitName, budgets_of
from leadhand.contracts.data import adapter_of, check_values
from leadhand.contracts.people import Occasion, occasions
from leadhand.contracts.task import Batch, EarlierRun, Plan, PlanRequest
from leadhand.contracts.tools import C
from leadhand.errors import InputError
from leadhand.run.uploads import Uploads, digests

if TYPE_CHECKING:
    from leadhand.engine.recorder import Listener
    from leadhand.models.ledger import Account
    from leadhand.state.run_state import RunState
    from leadhand.tools.files.inputs import Inputs

Batches = Mapping[str, Sequence[Batch]]
Seconds = Annotated[float, Gt(0), Lt(1e18)]
"""How long a run may take."""
IfExists = Literal["error", "join", "return"]
"""What `run` does if there is a run with that id: raise `RunExists`, wait for its answer and
continue it if it was interrupted, or return its answer."""
OnFinished = Callable[[Answer], object]
"""Called with the answer of a run; what it returns is awaited if it can be."""


def _plain(listener: object) -> object:
    if inspect.iscoroutinefunction(listener) or inspect.iscoroutinefunction(
        type(listener).__call__
    ):
        raise ValueError(
            "must not be async, because events are reported without waiting: give a plain function "
            "(`queue.put_nowait` of an asyncio.Queue is one), or use `async for event in "
            "run.events()` of a run that was started"
        )
    return listener


PlainFunction = Annotated[Callable[..., object], AfterValidator(_plain)]
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
    given: "RunOptions | None" = None
    """What its caller gave; `None`: it is a nested run."""
    origin: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """What the program that started the run needs to set it up again."""
    fingerprint: str = ""
    """A digest of what was asked for."""
    approve: tuple[Occasion, ...] | None = None
    """When a person is asked; None: as the supervisor says."""
    account: "Account | None" = None
    """What it may spend, from its admission on; `None`: no limit."""
    uploaded: tuple[str, ...] = ()
    """The paths of its uploaded files, once they are there."""
    turn: asyncio.Event | None = None
    """Set once it may work; `None`: at once."""

    def kept(self, state: "RunState") -> "RunSettings":
        """Those of a recorded run's own, and these limits for the others."""
        own = state.own_limits
        return RunSettings(
            state.deadline_s if "deadline_s" in own else self.deadline_s,
            state.budget if "budget" in own else self.budget,
            (*self.shared, *state.accounts.values()),
            own_limits=own,
            origin=state.origin,
            approve=state.approve,
        )

    @property
    def opening_s(self) -> float | None:
        """How long the journal may take to open the run."""
        return None if self.deadline_s is None else max(self.deadline_s, MIN_OPENING_S)


class RunArguments(TypedDict, Generic[C], total=False):
    """What a run may be given each time that it is started or resumed; see `Supervisor.start`."""

    deadline_s: float | None
    budget: Budgets
    context: C | None
    batches: Batches | None
    listener: "Listener | None"


class StartArguments(RunArguments[C], total=False):
    """What a run may be given when it is started; see `Supervisor.start`."""

    plan: Plan | None
    amend: bool
    run_id: str | None
    if_exists: IfExists
    inputs: Sequence[str | Path]
    uploads: Mapping[str, bytes]
    origin: Mapping[str, JsonValue] | None
    after: str | None
    approve: Collection[Occasion] | None
    earlier: Sequence[EarlierRun]


def check_known(call: str, given: Mapping[str, object], known: type) -> None:
    """Raises `TypeError`, as Python does, for arguments that `call` does not take."""
    for name in given.keys() - known.__annotations__.keys():
        raise TypeError(f"{call}() got an unexpected keyword argument {name!r}")


_KINDS: Mapping[str, object] = {
    "listener": PlainFunction,
    # Not `str`, which has no lone surrogates: they come from arguments that are not UTF-8.
    "request": InstanceOf[str],
    "plan": InstanceOf[Plan],
    "amend": bool,
    "if_exists": IfExists,
    "inputs": Sequence[InstanceOf[str] | Path],
    "uploads": Uploads,
}
"""The types of what is given, if it is."""


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
    uploads: Mapping[str, bytes] | None = field(default=None, repr=False)
    origin: Mapping[str, JsonValue] | None = None
    after: str | None = None
    approve: Collection[Occasion] | None = None
    earlier: Sequence[EarlierRun] = ()

    def __post_init__(self) -> None:
        """Raises `InputError` for what no run can have."""
        given = {name: getattr(self, name) for name in _KINDS}
        given = {name: value for name, value in given.items() if value is not _DEFAULTS[name]}
        check_values(**{name: (value, _KINDS[name]) for name, value in given.items()})
        if self.deadline_s is not None and self.deadline_s != math.inf:
            check_values(deadline_s=(self.deadline_s, Seconds))
        if self.amend and self.plan is None:
            raise InputError("amend is for a plan of your own: give `plan` as well")
        if self.if_exists != "error" and self.run_id is None:
            raise InputError(
                f"if_exists={self.if_exists!r} is for a run_id of your own: give it as well"
            )
        if self.budget is not None:
            budgets_of(self.budget)
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
            given=self,
            origin=default.origin if self.origin is None else self.origin,
            approve=default.approve if self.approve is None else occasions(self.approve),
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


_DEFAULTS = {one.name: one.default for one in fields(RunOptions)}


def origin_of(given: Mapping[str, JsonValue] | None) -> dict[str, JsonValue] | None:
    """The origin as JSON has it. Raises `InputError` for what JSON has not."""
    if given is None:
        return None
    try:
        checked = adapter_of(dict[str, JsonValue]).validate_python({**given}, strict=True)
        text = json.dumps(checked, allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        raise InputError(
            "origin can't be stored as JSON: its names must be text, and its values text, finite "
            "numbers, true, false, null, or lists and dicts of these"
        ) from None
    # A lone surrogate could not be stored.
    return json.loads(text.encode("utf-8", "replace"))


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
