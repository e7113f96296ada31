"""Events about a run as a whole: its plan, its people, its answer."""

from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from leadhand.contracts.answer import Answer, Conflict, CritiquePoint
from leadhand.contracts.budget import Budget
from leadhand.contracts.event_fields import RunEvent
from leadhand.contracts.people import Verdict
from leadhand.contracts.task import Plan, Task


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(RunEvent):
    type: Literal["run_started"] = "run_started"
    team: str
    request: str
    engine: str
    deadline_s: float | None
    """Seconds from the start at which the answer is due."""
    models: dict[str, str] = field(default_factory=dict[str, str])
    """Which model each role and worker would use, by its name; empty without a model."""
    budget: Budget | None = None
    """What the run may spend in all."""
    inputs: tuple[str, ...] = ()
    """Absolute paths of what was handed in."""
    nonce: str = ""
    """What marks untrusted text in this run; the same after it was resumed."""
    origin: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """What the program that began the run needs in order to set it up again; its own business."""
    amend: bool = True
    """Whether the plan may be amended; false for a plan that was handed in without `amend`."""
    prompts: str = ""
    """A digest of leadhand's prompts and the team's; empty in journals of older releases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStopped(RunEvent):
    """The run was told to stop: what is in flight now does not count as lost in a crash."""

    type: Literal["run_stopped"] = "run_stopped"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed(RunEvent):
    """The run goes on in another process, or after it was over."""

    type: Literal["run_resumed"] = "run_resumed"
    deadline_s: float | None
    """Seconds from now at which the answer is due."""
    budget: Budget | None = None
    """What the run may spend in all, with what it has spent already."""
    goes_on: tuple[str, ...] = ()
    """Tasks that had been stopped, or were in flight, and are done now."""
    again: tuple[str, ...] = ()
    """Tasks that are done from the beginning, whatever they gave before."""
    crashes: dict[str, int] = field(default_factory=dict[str, int])
    """By task, as in `legal/t1` for one of a nested team: how many times in a row the process died
    while the task was in flight, with nothing new committed by it."""
    prompts: str = ""
    """A digest of the prompts from now on, as in `RunStarted`."""
    prompts_changed: bool = False
    """Whether answers of models to unfinished work are no longer used, because the prompts are
    others than when they were asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanProposed(RunEvent):
    type: Literal["plan_proposed"] = "plan_proposed"
    plan: Plan
    by: str
    task_id: str | None = None
    """The task because of which an approved plan is to change; none for the first plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRejected(RunEvent):
    type: Literal["plan_rejected"] = "plan_rejected"
    problems: tuple[str, ...]
    task_id: str | None = None
    """The task whose result asked for another plan; none for the first plan of the run."""
    missing: str | None = None
    """What the answer lacks because the plan is binding and was not amended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAccepted(RunEvent):
    """The plan that was proposed last is the plan of the run."""

    type: Literal["plan_accepted"] = "plan_accepted"
    warnings: tuple[str, ...] = ()
    approved: bool = False
    """Whether a person approved it: then they are asked before it is amended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequested(RunEvent):
    """A person is asked something."""

    type: Literal["approval_requested"] = "approval_requested"
    task_id: str | None = None
    """The task that was handed back; none where the plan is to be approved."""
    question: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalGiven(RunEvent):
    """What a person said to a question that was open."""

    type: Literal["approval_given"] = "approval_given"
    task_id: str | None = None
    verdict: Verdict
    text: str = ""
    plan: Plan | None = None
    """The plan as the person changed it; none where it is approved as it is."""
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerOpened(RunEvent):
    """A worker failed too often in a row: for now its tasks go to its fallback."""

    type: Literal["breaker_opened"] = "breaker_opened"
    worker: str
    failures: int
    """In a row."""
    pause_s: float
    """After which one task is given to the worker again, to see whether it works."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerClosed(RunEvent):
    """A worker whose breaker was open works again."""

    type: Literal["breaker_closed"] = "breaker_closed"
    worker: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAmended(RunEvent):
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
class SynthesisStarted(RunEvent):
    type: Literal["synthesis_started"] = "synthesis_started"
    strategy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictFound(RunEvent):
    """Results that contradict each other."""

    type: Literal["conflict_found"] = "conflict_found"
    conflict: Conflict


@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictJudged(RunEvent):
    """A conflict that was found before, as the judge sees it."""

    type: Literal["conflict_judged"] = "conflict_judged"
    conflict: Conflict
    holds: bool = True
    """False: the results can all be right, and the answer does not name it."""
    confidence: int | None = None
    """Of the judge, 0 to 100; none where it did not say, or nobody could judge."""


CritiqueVerdict = Literal["approved", "sent_back", "objected", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CritiqueGiven(RunEvent):
    """What the critic says of a draft of the answer. The last one is its last word."""

    type: Literal["critique_given"] = "critique_given"
    round: int
    """Which draft it is about, from 1."""
    verdict: CritiqueVerdict
    """`objected`: the answer is given as it is, with what the critic holds against it as a gap."""
    points: tuple[CritiquePoint, ...] = ()
    why: str | None = None
    """Why the critic was not heard, or the draft not mended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished(RunEvent):
    type: Literal["run_finished"] = "run_finished"
    answer: Answer
