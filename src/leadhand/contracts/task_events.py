"""Events about one task: its attempts, how they ended, and what was decided then."""

from dataclasses import dataclass
from typing import Literal

from leadhand.contracts.event_fields import AttemptEvent, TaskEvent
from leadhand.contracts.outcome import EscalationReason, FailureKind, Raised, Result
from leadhand.contracts.task import Task


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
class TaskEscalated(AttemptEvent):
    type: Literal["task_escalated"] = "task_escalated"
    reason: EscalationReason
    message: str
    partial: Result | None = None
    call: str | None = None
    """The key of the tool call that a person has to allow first."""
    final: bool
    """True: nobody else will try, and the task ends here; `decision` says why."""
    decision: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFailed(AttemptEvent):
    type: Literal["task_failed"] = "task_failed"
    kind: FailureKind
    message: str
    partial: Result | None = None
    transient: bool = False
    """True: the same attempt may well succeed later, once a model can be reached again say."""
    raised: Raised | None = None
    """The exception behind it; its traceback is in the first event about that attempt."""
    final: bool
    """True: nobody else will try, and the task ends here; `decision` says why."""
    decision: str

    @property
    def where(self) -> str | None:
        """`file:line` of the exception behind it, if that is known."""
        return self.raised.where if self.raised is not None else None


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
class TaskCancelled(AttemptEvent):
    """A task that was stopped, or never started, because the run ended first."""

    type: Literal["task_cancelled"] = "task_cancelled"
    reason: str
    partial: Result | None = None


def stuck_message(worker: str, task_id: str) -> str:
    """What users are told of a worker that is no longer waited for."""
    return (
        f"worker {worker!r} did not stop when told to: its code for task {task_id!r} runs on until "
        "it returns or the program ends, and its result is ignored"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStuck(TaskEvent):
    """A worker that blocks the event loop, or that goes on after it was told to stop."""

    type: Literal["worker_stuck"] = "worker_stuck"
    worker: str
    message: str
