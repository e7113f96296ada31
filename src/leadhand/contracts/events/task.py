"""Events about one task: its attempts and calls, how they ended, and what was decided next."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import JsonValue

from leadhand.contracts.events.fields import AttemptEvent, RunEvent, TaskEvent
from leadhand.contracts.outcome import EscalationReason, FailureKind, Raised, Result, Usage
from leadhand.contracts.task import Task

__all__ = [
    "AttemptEnd",
    "ModelCalled",
    "OpinionJudged",
    "TaskCancelled",
    "TaskCompleted",
    "TaskDecision",
    "TaskDispatched",
    "TaskEscalated",
    "TaskFailed",
    "TaskPlanned",
    "TaskReassigned",
    "TaskRefined",
    "TaskRetried",
    "TaskSkipped",
    "TaskSplit",
    "TierRaised",
    "ToolCalled",
    "WorkerStuck",
]

CALL_CANCELLED = "the call was cancelled before it was answered"
"""The error of a call to a model that the run stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPlanned(TaskEvent):
    """A task of a plan that is still being written: it may start. `attempt` is 0."""

    type: Literal["task_planned"] = "task_planned"
    task: Task
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDispatched(TaskEvent):
    type: Literal["task_dispatched"] = "task_dispatched"
    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCompleted(AttemptEvent):
    type: Literal["task_completed"] = "task_completed"
    result: Result
    flag: str | None = None
    """Why the result was accepted although its worker had doubts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncompleteAttempt(AttemptEvent):
    message: str
    partial: Result | None = None
    final: bool
    """True: there is no further attempt, and the task ends here; `decision` says why."""
    decision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEscalated(IncompleteAttempt):
    type: Literal["task_escalated"] = "task_escalated"
    reason: EscalationReason
    call: str | None = None
    """The key of the tool call that a person has to allow first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFailed(IncompleteAttempt):
    type: Literal["task_failed"] = "task_failed"
    kind: FailureKind
    transient: bool = False
    """Whether the same attempt may succeed later, for example when a model is available again."""
    raised: Raised | None = None
    """The exception that caused it; the first event about the attempt has its traceback."""

    @property
    def where(self) -> str | None:
        """`file:line` of the exception that caused it, if known."""
        return self.raised.where if self.raised is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionEvent(TaskEvent):
    """A decision about a task that did not complete."""

    words: ClassVar[str] = ""
    """The decision in a few words, for views, with fields of the event."""
    reason: str

    @property
    def said(self) -> str:
        return self.words.format(self)

    def changed(self, task: Task) -> Task:
        """The task as the next attempt gets it."""
        return task


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRetried(DecisionEvent):
    """The same worker tries again, after `delay_s`. `attempt` is the one that failed."""

    type: Literal["task_retried"] = "task_retried"
    words = "tried again after {0.delay_s:g} s"
    delay_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReassigned(DecisionEvent):
    """Another worker tries. `attempt` is the one that failed, 0 if there was none."""

    type: Literal["task_reassigned"] = "task_reassigned"
    worker: str
    second_opinion: bool = False
    """True: the first result is kept, and the better of the two is chosen."""

    @property
    def said(self) -> str:
        how = "second opinion of" if self.second_opinion else "reassigned to"
        return f"{how} {self.worker}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRefined(DecisionEvent):
    """The next attempt gets a rewritten intent. `attempt` is the one that failed."""

    type: Literal["task_refined"] = "task_refined"
    words = "intent refined"
    old_intent: str
    new_intent: str

    def changed(self, task: Task) -> Task:
        return task.model_copy(update={"intent": self.new_intent})


@dataclass(frozen=True, slots=True, kw_only=True)
class TierRaised(DecisionEvent):
    """The same worker tries with a stronger model. `attempt` is the one that failed."""

    type: Literal["tier_raised"] = "tier_raised"
    words = "tier raised from {0.old_tier} to {0.new_tier}"
    old_tier: str
    new_tier: str

    def changed(self, task: Task) -> Task:
        limits = task.limits.model_copy(update={"tier": self.new_tier})
        return task.model_copy(update={"limits": limits})


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSplit(DecisionEvent):
    """Smaller tasks replace one that was too large. `attempt` is the one that failed."""

    type: Literal["task_split"] = "task_split"
    parts: tuple[Task, ...]
    rewired: tuple[str, ...]
    """The tasks that waited for it and now wait for all its parts."""

    @property
    def said(self) -> str:
        return f"split into {', '.join(part.id for part in self.parts)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionJudged(DecisionEvent):
    """The judge chose one of two results of a task. `attempt` is that of the second."""

    type: Literal["opinion_judged"] = "opinion_judged"
    workers: tuple[str, str]
    """The workers of the first and the second result."""
    taken: Literal["first", "second"]
    second: Result
    """The first result is the partial one of the attempt before."""
    by: Literal["judge", "code"] = "judge"
    """`code`: no judge could be asked. Older releases did not record it."""

    @property
    def said(self) -> str:
        of = self.workers[self.taken == "second"]
        return f"of two results the {self.taken} was taken, of {of}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSkipped(TaskEvent):
    """A task can't run because one that it depends on has no result."""

    type: Literal["task_skipped"] = "task_skipped"
    blame: str
    """The task that caused it; never a skipped one."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCancelled(AttemptEvent):
    """A task was stopped, or never started, because the run ended first."""

    type: Literal["task_cancelled"] = "task_cancelled"
    reason: str
    partial: Result | None = None


def stuck_message(worker: str, task_id: str) -> str:
    """What the user is told about a worker that ignores its cancellation."""
    return f"worker {worker!r} is still busy with task {task_id!r}, whose result is ignored"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStuck(TaskEvent):
    """A worker blocks the event loop, or keeps running after it was told to stop."""

    type: Literal["worker_stuck"] = "worker_stuck"
    worker: str
    message: str


AttemptEnd = TaskCompleted | TaskFailed | TaskEscalated | TaskCancelled
"""Events that end an attempt."""
TaskDecision = TaskRetried | TaskReassigned | TaskRefined | TierRaised | TaskSplit | OpinionJudged
"""Decisions about a task that did not complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled(RunEvent):
    """One request to a model, answered or not."""

    type: Literal["model_called"] = "model_called"
    role: str
    """Who asked: `planner`, `worker`, `synthesizer`, ..."""
    model: str
    """`provider:model`."""
    task_id: str | None = None
    attempt: int | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    """None if the price is unknown; never a guess."""
    duration_s: float
    """From sending the request to its response."""
    queued_s: float = 0.0
    """How long it waited before that: for the budget, for the model's rates, after a refusal."""
    error: str | None = None
    """Why there is no usable response."""
    estimated: bool = False
    """Whether the tokens are an estimate, because the response was cut off before it said them."""
    retry_in_s: float | None = None
    """Seconds until the model is called again; None if it is not."""
    request: str = ""
    """A hash of the request: calls with the same hash sent the same request."""
    response: JsonValue = None
    """The response as pydantic-ai serializes it; None if there was no usable one."""

    @property
    def usage(self) -> Usage:
        """What the request used."""
        return Usage(
            model=self.model,
            requests=1,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost_usd=self.cost_usd,
            duration_s=self.duration_s,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled(TaskEvent):
    """One call of a tool, as the model made it."""

    type: Literal["tool_called"] = "tool_called"
    worker: str
    tool: str
    arguments: str
    """JSON, cut at 2,000 characters."""
    output: str
    """The part of the tool's output that the model was shown, cut at 2,000 characters."""
    output_chars: int
    """The length of the tool's whole output; of `read_more`, that of the page."""
    sha256: str
    """The hash of the whole output as UTF-8."""
    error: str | None = None
    duration_s: float
    approved: str | None = None
    """The key of the call, if a person approved it."""
    made: bool = True
    """False: an approved call could not be made; `error` says why."""
    in_text: bool = False
    """Whether the model wrote the call as text."""
