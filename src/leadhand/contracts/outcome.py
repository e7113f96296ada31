"""Handoffs and outcomes: what a worker receives, and returns: values, never exceptions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import GenericAlias
from typing import TYPE_CHECKING, Annotated, Generic, Literal, TypeAlias, TypeVar, cast, get_args

from pydantic import BeforeValidator, Field, JsonValue, SkipValidation

from leadhand.contracts.data import Many, Record, read_as
from leadhand.contracts.people import CallReply, ToolCall
from leadhand.contracts.task import NO_LIMITS, Limits, Task
from leadhand.contracts.tools import C_co, ToolContext

T = TypeVar("T")
JsonData: TypeAlias = (
    "bool | int | float | str | Sequence[JsonData] | Mapping[str, JsonData] | None"
)
"""What type checkers accept where plain JSON data is made."""
EscalationReason = Literal["out_of_scope", "ambiguous_input", "low_confidence", "timeout"]
FailureKind = Literal[
    "error",
    "invalid_output",
    "timeout",
    "tool_error",
    "step_limit",
    "budget",
    "crashed",
    "cancelled",
]


class Usage(Record):
    """The model calls, tokens, cost and time that a piece of work used."""

    model: str | None = None
    """`provider:model`; None if no model was called."""
    requests: int = Field(default=0, ge=0)
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cost_usd: float | None = None
    """None if the price is unknown or nothing was spent; never a guess."""
    duration_s: float = Field(default=0.0, ge=0)

    def plus(self, other: "Usage") -> "Usage":
        """The sum of both. With an unknown price, the sum's cost is unknown, never too low."""
        if self is NO_USAGE:
            return other  # most tasks make one call
        return Usage(
            model=other.model or self.model,
            requests=self.requests + other.requests,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cost_usd=_sum(self, other),
            duration_s=self.duration_s + other.duration_s,
        )


def _sum(one: Usage, other: Usage) -> float | None:
    if not one.requests or not other.requests:
        return one.cost_usd if one.requests else other.cost_usd
    if one.cost_usd is None or other.cost_usd is None:
        return None
    return one.cost_usd + other.cost_usd


NO_USAGE = Usage.model_construct()


ImpactKind = Literal["blocks", "adds"]
IMPACT_KINDS: tuple[ImpactKind, ...] = get_args(ImpactKind)


class PlanImpact(Record):
    """A worker's statement that the plan no longer fits: the only way a result can change it."""

    kind: ImpactKind = "blocks"
    """`blocks`: planned work is pointless or can't be done; `adds`: more work is needed."""
    reason: str
    """Never empty in a `Result`."""
    task_ids: Many[str] = ()
    """The planned tasks concerned; empty if unknown, because models don't see the plan's ids."""


def _valid_impact(value: object) -> object:
    """`value` if it has a known kind and a reason, else None: no impact."""
    if isinstance(value, PlanImpact):
        return value if value.reason.strip() else None
    if not isinstance(value, Mapping):
        return None
    given = cast("Mapping[str, object]", value)
    reason, kind = given.get("reason"), given.get("kind", "blocks")
    return given if isinstance(reason, str) and reason.strip() and kind in IMPACT_KINDS else None


class Result(Record):
    """What a task produced."""

    output: JsonValue = None
    """The worker's declared type as plain JSON data."""
    summary: str = ""
    """One or two sentences; what other roles see first."""
    confidence: int | None = Field(default=None, ge=0, le=100)
    evidence: Many[str] = ()
    """References or quotes that back the output."""
    usage: Usage = NO_USAGE
    plan_impact: Annotated[PlanImpact | None, BeforeValidator(_valid_impact)] = None
    """How the result changes the rest of the plan; None: not at all."""
    without_model: str | None = None
    """Why offline code did the work of a model; None if it did not."""
    draft_only: str | None = None
    """Why no model added anything to the draft of its worker; None if one did, or has no draft."""
    missing: Many[str] = ()
    """The parts of the task that were not done, one line each: an input that was not read, a table
    that was cut. Each becomes a gap of the answer, which is then partial; the task is completed."""

    if TYPE_CHECKING:  # `list[str]` is no `list[JsonValue]`, and is an output all the same

        def __init__(
            self,
            *,
            output: "JsonData" = None,
            summary: str = "",
            confidence: int | None = None,
            evidence: Sequence[str] = (),
            usage: Usage = NO_USAGE,
            plan_impact: PlanImpact | None = None,
            without_model: str | None = None,
            draft_only: str | None = None,
            missing: Sequence[str] = (),
        ) -> None: ...


class Completed(Record):
    """The worker did the task."""

    type: Literal["completed"] = "completed"
    result: Result


class PausedAttempt(Record):
    """An attempt that waits until a person has replied about tool calls, and then continues."""

    calls: tuple[ToolCall, ...]
    # Not validated again: only its worker reads it, and it may be long.
    conversation: SkipValidation[JsonValue] = None
    """What its worker needs to continue: the messages and full tool results so far."""
    replies: dict[str, CallReply] | None = None
    """The reply about each call, by its id; None until there is one."""


class Escalated(Record):
    """The worker hands the task back: another worker, or another intent, is needed."""

    type: Literal["escalated"] = "escalated"
    reason: EscalationReason
    message: str
    """What would help: what is missing, what to do instead, whom to ask."""
    partial: Result | None = None
    call: str | None = None
    """A key that a person has to allow first: once they did, it is in `Handoff.allowed`."""
    paused: PausedAttempt | None = None
    """The attempt, if it can continue once a person has replied about tool calls: then nothing is
    escalated, and it is not over."""


class Raised(Record):
    """An exception that a worker raised."""

    type: str
    """The name of its class."""
    where: str | None = None
    """`file:line` of the last frame in user code, relative to the current folder if inside it."""
    traceback: str = ""
    """As Python prints it, shortened."""


class Failed(Record):
    """The worker could not do the task."""

    type: Literal["failed"] = "failed"
    kind: FailureKind
    message: str
    partial: Result | None = None
    transient: bool = False
    """Whether the same attempt may succeed a moment later."""
    raised: Raised | None = None
    """The exception that caused it; None if the worker raised none."""

    @property
    def where(self) -> str | None:
        """`file:line` of the exception that caused it, if known."""
        return self.raised.where if self.raised is not None else None


def with_location(message: str, where: str | None) -> str:
    return message if where is None else f"{message} (at {where})"


Outcome = Annotated[Completed | Escalated | Failed, Field(discriminator="type")]


class Digest(Record):
    """What a task sees of the result of another one: the summary and a bounded excerpt."""

    task_id: str
    status: str
    summary: str = ""
    excerpt: str = ""
    why_missing: str | None = None
    """Why the task has no result; None if it has one."""
    missing: tuple[str, ...] = ()
    """`Result.missing` of a completed task."""


class Handoff(Record, Generic[C_co]):
    """Everything a worker receives for one attempt at one task.

    `Handoff[Customer]` is a handoff of a run whose context is a `Customer`.
    """

    run_id: str
    task_id: str
    attempt: int = Field(ge=1)
    """Counts from 1 over all workers of the task."""
    from_agent: str
    to_agent: str
    intent: str
    payload: object = None
    """The task's data besides the intent: JSON, or for a function in this process an instance of
    the type that its worker declares as `input`."""
    context: tuple[Digest, ...] = ()
    """Digests of the dependencies, in the order of `depends_on`, and of the earlier results that
    the task names as artifacts (`previous/TASK`)."""
    # Not validated again: outputs were validated when made, and copying them per dependant costs.
    inputs: SkipValidation[dict[str, JsonValue]] = Field(default_factory=dict)
    """Full outputs of those that completed, by task id or artifact."""
    artifacts: tuple[str, ...] = ()
    done_when: str = ""
    """How to tell that the task is finished."""
    limits: Limits = NO_LIMITS
    allowed: tuple[str, ...] = ()
    """The keys of the tool calls that a person has approved, in this attempt or an earlier one."""
    refused: Mapping[str, str] = Field(default_factory=dict)
    """The keys of the tool calls that a person has refused, each with its reason."""
    paused: PausedAttempt | None = Field(default=None, repr=False)
    """The attempt that continues now; None if it starts."""
    return_to: str
    key: str = ""
    """The task's idempotency key, unique among all runs and the same in every attempt. Pass it to
    systems that must not act twice, such as a payment service."""
    origin: SkipValidation[dict[str, JsonValue]] = Field(default_factory=dict)
    """What `Supervisor.run` was given as `origin`."""
    run_context: SkipValidation[C_co] = Field(default=cast("C_co", None), exclude=True, repr=False)
    """What `Supervisor.run` was given as `context`, which no model sees; None if nothing."""

    def __eq__(self, other: object) -> bool:
        """Whether all fields but the context are the same: it may be anything."""
        if not isinstance(other, Handoff):
            return NotImplemented
        return {**vars(self), "run_context": None} == {**vars(other), "run_context": None}

    def __class_getitem__(cls, context: object) -> GenericAlias:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The same class, so that a context may be of a type that pydantic does not know."""
        return GenericAlias(cls, context)

    def inputs_as(self, kind: type[T]) -> dict[str, T]:
        """`inputs` as instances of `kind`, if all of them are of one type.

        Raises `ValidationError` if one is of another type: the task then fails, without a retry.
        """
        return {id: read_as(kind, output) for id, output in self.inputs.items()}


def tool_context(handoff: Handoff) -> ToolContext:
    return ToolContext(
        context=handoff.run_context,
        run_id=handoff.run_id,
        task_id=handoff.task_id,
        attempt=handoff.attempt,
        idempotency_key=handoff.key,
    )


@dataclass(frozen=True, slots=True)
class TaskResult:
    """A task as a synthesizer sees it: the task and its result, but not how it was dispatched."""

    task: Task
    worker: str
    """The worker that gave the result."""
    status: str
    result: Result | None
    why: str | None
    """Why there is no result, or only a partial or flagged one."""
    ends: tuple[JsonValue, ...] = ()
    """What the last tasks of a nested run returned, if its text is the result."""


@dataclass(frozen=True, slots=True)
class JudgedChoice:
    """The candidate that a judge chose."""

    index: int
    """Its position among the candidates, from 0."""
    why: str
    confidence: int | None = None
    """The judge's, 0 to 100."""
