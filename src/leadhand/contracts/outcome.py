"""Handoffs and outcomes: what goes to a worker and what comes back.

A worker answers in one of three ways: it completed, it escalates, or it failed. All three are
values; nothing a worker does is an exception to the scheduler.
"""

from collections.abc import Mapping
from typing import Annotated, Literal, cast, get_args

from pydantic import BeforeValidator, Field, JsonValue, SkipValidation

from leadhand.contracts.record import Record
from leadhand.contracts.task import NO_LIMITS, Limits

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
    """What a piece of work used."""

    model: str | None = None
    """`provider:model`, or none where no model was called."""
    requests: int = Field(default=0, ge=0)
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cost_usd: float | None = None
    """None where the price is unknown or nothing was bought; never a guess."""
    duration_s: float = Field(default=0.0, ge=0)

    def plus(self, other: "Usage") -> "Usage":
        """Both together. A sum with an unknown price in it is unknown, never too low."""
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
    """A worker's typed word that the plan no longer fits. The only way a result can reach it."""

    kind: ImpactKind = "blocks"
    """`blocks`: planned work is pointless or can't be done; `adds`: more work is needed."""
    reason: str
    """Why; never empty in a `Result`."""
    task_ids: tuple[str, ...] = ()
    """The planned tasks that it is about; empty: not known. Models don't see the plan's ids."""


def _impact(value: object) -> object:
    """`value` if it is an explicit choice with a reason; any other text or kind means no impact."""
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
    evidence: tuple[str, ...] = ()
    """References or quotes that back the output."""
    usage: Usage = NO_USAGE
    plan_impact: Annotated[PlanImpact | None, BeforeValidator(_impact)] = None
    """What the result means for the rest of the plan; None: nothing."""
    without_model: str | None = None
    """Why code did what a model should have done: no model could be asked; none where one did."""
    missing: tuple[str, ...] = ()
    """What of the task was not done, one line each: an input that was not read, a table that was
    cut. Each becomes a gap of the answer, which is then partial; the task stays completed."""


class Completed(Record):
    """The worker did what it was asked."""

    type: Literal["completed"] = "completed"
    result: Result


class Escalated(Record):
    """The worker hands the task back: it is not the one to do it, or not like this."""

    type: Literal["escalated"] = "escalated"
    reason: EscalationReason
    message: str
    """What would help: what is missing, what to do instead, whom to ask."""
    partial: Result | None = None
    call: str | None = None
    """The key of the tool call that a person has to allow first; none where it is not about one."""


class Raised(Record):
    """An exception that a worker raised."""

    type: str
    """The name of its class."""
    where: str | None = None
    """`file:line` of the last frame in user code; below the current folder as seen from there."""
    traceback: str = ""
    """As Python prints it, of bounded length."""


class Failed(Record):
    """The worker could not do it."""

    type: Literal["failed"] = "failed"
    kind: FailureKind
    message: str
    partial: Result | None = None
    transient: bool = False
    """True where the same attempt may well succeed a moment later."""
    raised: Raised | None = None
    """The exception behind it; None if it was not an exception of the worker."""

    @property
    def where(self) -> str | None:
        """`file:line` of the exception behind it, if that is known."""
        return self.raised.where if self.raised is not None else None


def with_location(message: str, where: str | None) -> str:
    """The message of a failure with the place in user code where it happened, if it is known."""
    return message if where is None else f"{message} (at {where})"


Outcome = Annotated[Completed | Escalated | Failed, Field(discriminator="type")]


class Digest(Record):
    """What a task is shown of another task's result: the summary and a bounded excerpt."""

    task_id: str
    status: str
    summary: str = ""
    excerpt: str = ""
    why_missing: str | None = None
    """Set where the task gave no result: what happened instead."""
    missing: tuple[str, ...] = ()
    """What a completed task did not do, one line each."""


class Handoff(Record):
    """Everything a worker gets for one attempt at one task."""

    run_id: str
    task_id: str
    attempt: int = Field(ge=1)
    """Counts from 1 over the life of the task, whoever works on it."""
    from_agent: str
    to_agent: str
    intent: str
    payload: object = None
    """The task's data beside the intent: JSON; for a function in this process an instance of the
    type that its worker declares as `input`."""
    context: tuple[Digest, ...] = ()
    """Digests of the dependencies, in the order of `depends_on`."""
    # Not validated: outputs were when they were made, and copying them for each dependant costs.
    inputs: SkipValidation[dict[str, JsonValue]] = Field(default_factory=dict)
    """Full outputs of the dependencies that completed, by task id."""
    artifacts: tuple[str, ...] = ()
    done_when: str = ""
    """How to tell that the task is finished."""
    limits: Limits = NO_LIMITS
    allowed: tuple[str, ...] = ()
    """The keys of the tool calls that a person has allowed."""
    return_to: str
    key: str = ""
    """Names the task among those of all runs; the same in every attempt. Whoever hands it on to
    another system as an idempotency key is not charged twice."""
