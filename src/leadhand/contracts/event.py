"""Events: frozen records of what happened in a run. The log of them is the run.

Every event is small, typed and plain JSON. `parse` and `dump` are each other's inverse. They are
slotted dataclasses, not models: a run of 100,000 tasks keeps some 200,000 of them, and what the
garbage collector must walk is most of what they cost. `parse` validates; our own code is typed.
"""

import datetime as dt
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from leadhand.contracts.answer import Answer, Conflict, CritiquePoint
from leadhand.contracts.outcome import EscalationReason, FailureKind, Result
from leadhand.contracts.task import Plan, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """What every event carries."""

    seq: int
    """Position in the log, from 1, without holes."""
    at: dt.datetime
    """UTC wall clock."""
    elapsed_s: float
    """Seconds since the run started, by a clock that never goes back."""
    run_id: str
    within: tuple[str, ...] = ()
    """The tasks that it happened within, the outermost first, where a nested team does them. Then
    `task_id` is the whole way, as in `legal/t1`; other ids are those of the nested plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Stamp):
    type: Literal["run_started"] = "run_started"
    team: str
    request: str
    engine: str
    deadline_s: float | None
    """Seconds from the start at which the answer is due."""
    models: dict[str, str] = field(default_factory=dict[str, str])
    """Which model each role and worker would use, by its name; empty without a model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanProposed(Stamp):
    type: Literal["plan_proposed"] = "plan_proposed"
    plan: Plan
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRejected(Stamp):
    type: Literal["plan_rejected"] = "plan_rejected"
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAccepted(Stamp):
    """The plan that was proposed last is the plan of the run."""

    type: Literal["plan_accepted"] = "plan_accepted"
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEvent(Stamp):
    """What every event about one task carries."""

    task_id: str
    attempt: int
    """The attempt it is about, from 1; 0 where none was started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDispatched(TaskEvent):
    type: Literal["task_dispatched"] = "task_dispatched"
    worker: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled(Stamp):
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
    """None where the price is unknown; never a guess."""
    duration_s: float
    error: str | None = None
    """Why there is no answer that could be used."""
    retry_in_s: float | None = None
    """When it is asked again; none: it is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled(TaskEvent):
    """One call of a tool, as the model made it."""

    type: Literal["tool_called"] = "tool_called"
    worker: str
    tool: str
    arguments: str
    """JSON, cut at 2,000 characters."""
    output: str
    """What the model was shown of what the tool gave, cut at 2,000 characters."""
    output_chars: int
    """Characters the tool gave in all."""
    sha256: str
    """Of all that the tool gave, as UTF-8."""
    error: str | None = None
    duration_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCompleted(TaskEvent):
    type: Literal["task_completed"] = "task_completed"
    result: Result
    flag: str | None = None
    """Why the result was accepted although its worker had doubts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskEscalated(TaskEvent):
    type: Literal["task_escalated"] = "task_escalated"
    reason: EscalationReason
    message: str
    partial: Result | None = None
    final: bool
    """True: nobody else will try, and the task ends here; `decision` says why."""
    decision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFailed(TaskEvent):
    type: Literal["task_failed"] = "task_failed"
    kind: FailureKind
    message: str
    partial: Result | None = None
    final: bool
    """True: nobody else will try, and the task ends here; `decision` says why."""
    decision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRetried(TaskEvent):
    """The same worker tries again, after `delay_s`. `attempt` is the one that failed."""

    type: Literal["task_retried"] = "task_retried"
    delay_s: float
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskReassigned(TaskEvent):
    """Another worker tries. `attempt` is the one that failed, 0 where there was none."""

    type: Literal["task_reassigned"] = "task_reassigned"
    worker: str
    reason: str
    second_opinion: bool = False
    """True: what there is stands, and the better of the two results is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRefined(TaskEvent):
    """The next attempt is told in other words. `attempt` is the one that failed."""

    type: Literal["task_refined"] = "task_refined"
    old_intent: str
    new_intent: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TierRaised(TaskEvent):
    """The same worker tries with a stronger model. `attempt` is the one that failed."""

    type: Literal["tier_raised"] = "tier_raised"
    old_tier: str
    new_tier: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSplit(TaskEvent):
    """Smaller tasks take the place of one that was too much. `attempt` is the one that failed."""

    type: Literal["task_split"] = "task_split"
    parts: tuple[Task, ...]
    rewired: tuple[str, ...]
    """The tasks that waited for it, and wait for all its parts now."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionJudged(TaskEvent):
    """Of two results of one task, one was taken. `attempt` is that of the second."""

    type: Literal["opinion_judged"] = "opinion_judged"
    workers: tuple[str, str]
    """Who gave the first and the second."""
    taken: Literal["first", "second"]
    second: Result
    """The first is the partial result of the attempt before."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSkipped(TaskEvent):
    """A task that can't run because one that it needs gave no result."""

    type: Literal["task_skipped"] = "task_skipped"
    blame: str
    """The task whose end is to blame; not itself a skipped one."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskCancelled(TaskEvent):
    """A task that was stopped, or never started, because the run ended first."""

    type: Literal["task_cancelled"] = "task_cancelled"
    reason: str
    partial: Result | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStuck(TaskEvent):
    """A worker that blocks the event loop, or that goes on after it was told to stop."""

    type: Literal["worker_stuck"] = "worker_stuck"
    worker: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerOpened(Stamp):
    """A worker failed too often in a row: for now its tasks go to its fallback."""

    type: Literal["breaker_opened"] = "breaker_opened"
    worker: str
    failures: int
    """In a row."""
    pause_s: float
    """After which one task is given to the worker again, to see whether it works."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerClosed(Stamp):
    """A worker whose breaker was open works again."""

    type: Literal["breaker_closed"] = "breaker_closed"
    worker: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAmended(Stamp):
    """What had not started was planned anew, because a result said that the plan no longer fits."""

    type: Literal["plan_amended"] = "plan_amended"
    task_id: str
    """The task whose result said so."""
    reason: str
    """In its words."""
    revision: int
    """Of the plan from now on."""
    by: str
    added: tuple[Task, ...] = ()
    changed: tuple[Task, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisStarted(Stamp):
    type: Literal["synthesis_started"] = "synthesis_started"
    strategy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictFound(Stamp):
    """Results that contradict each other."""

    type: Literal["conflict_found"] = "conflict_found"
    conflict: Conflict


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictJudged(Stamp):
    """A conflict that was found before, as the judge sees it."""

    type: Literal["conflict_judged"] = "conflict_judged"
    conflict: Conflict
    holds: bool = True
    """False: the results can all be right, and the answer does not name it."""
    confidence: int | None = None
    """Of the judge, 0 to 100; none where it did not say, or nobody could judge."""


CritiqueVerdict = Literal["approved", "sent_back", "objected", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CritiqueGiven(Stamp):
    """What the critic says of a draft of the answer. The last one is its last word."""

    type: Literal["critique_given"] = "critique_given"
    round: int
    """Which draft it is about, from 1."""
    verdict: CritiqueVerdict
    """`objected`: the answer is given as it is, and says what the critic holds against it."""
    points: tuple[CritiquePoint, ...] = ()
    why: str | None = None
    """Why the critic was not heard, or the draft not mended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished(Stamp):
    type: Literal["run_finished"] = "run_finished"
    answer: Answer


Event = (
    RunStarted
    | PlanProposed
    | PlanRejected
    | PlanAccepted
    | TaskDispatched
    | ModelCalled
    | ToolCalled
    | TaskCompleted
    | TaskEscalated
    | TaskFailed
    | TaskRetried
    | TaskReassigned
    | TaskRefined
    | TierRaised
    | TaskSplit
    | OpinionJudged
    | TaskSkipped
    | TaskCancelled
    | WorkerStuck
    | BreakerOpened
    | BreakerClosed
    | PlanAmended
    | SynthesisStarted
    | ConflictFound
    | ConflictJudged
    | CritiqueGiven
    | RunFinished
)

_ADAPTER: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="type")])


def parse(line: str | bytes) -> Event:
    """The event that `dump` wrote. Raises `pydantic.ValidationError` for anything else."""
    return _ADAPTER.validate_json(line)


def dump(event: Event) -> str:
    """The event as one line of JSON."""
    return _ADAPTER.dump_json(event).decode()
