"""Events about a run as a whole: its plan, its people, its answer."""

import datetime as dt
from dataclasses import dataclass, field
from typing import Literal

from pydantic import JsonValue

from leadhand.contracts.answer import Answer, Conflict, CritiquePoint
from leadhand.contracts.budget import Budget, LimitName
from leadhand.contracts.events.fields import RunEvent
from leadhand.contracts.people import CallReply, Occasion, ToolCall, Verdict
from leadhand.contracts.planner_kinds import AsksAfter, RoundsEnd
from leadhand.contracts.task import EarlierRun, Plan, Task

__all__ = [
    "ApprovalGiven",
    "ApprovalRequested",
    "BreakerClosed",
    "BreakerOpened",
    "ConflictFound",
    "ConflictJudged",
    "CritiqueGiven",
    "CritiqueVerdict",
    "PlanAccepted",
    "PlanAmended",
    "PlanProposed",
    "PlanRejected",
    "RoundDecided",
    "RunFinished",
    "RunLevelEvent",
    "RunQueued",
    "RunResumed",
    "RunStarted",
    "RunStopped",
    "RunWaiting",
    "SynthesisStarted",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginningEvent(RunEvent):
    """What a run has from its start or resumption on."""

    deadline_s: float | None
    """Seconds from now until the answer is due."""
    budget: Budget | None = None
    """What the whole run may spend, including what it has spent already."""
    accounts: dict[str, Budget] = field(default_factory=dict[str, Budget])
    """The shared budgets from which it has reserved, by the keys of their notes."""
    own_limits: tuple[LimitName, ...] = ()
    """Which limits the run was given itself: it keeps them when another supervisor resumes it."""
    prompts: str = ""
    """A digest of leadhand's prompts and the team's; empty if the run asks no model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(BeginningEvent):
    type: Literal["run_started"] = "run_started"
    team: str
    request: str
    engine: str
    models: dict[str, str] = field(default_factory=dict[str, str])
    """The model of each role and worker, by its name; empty without a model."""
    inputs: tuple[str, ...] = ()
    """Absolute paths of the input files."""
    uploads: tuple[str, ...] = ()
    """Names of the uploaded files, which the journal keeps beside the events."""
    nonce: str = ""
    """Marks untrusted text in this run; the same after a resume."""
    origin: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """Data with which the calling program can set the run up again; leadhand does not read it."""
    amend: bool = True
    """Whether the plan may be amended; false for a plan passed in without `amend`."""
    has_context: bool = False
    """Whether the run was given a context, which itself is never stored."""
    fingerprint: str = ""
    """A digest of what was asked for: two runs with the same one do the same. Empty in journals of
    older releases, which did not record `RunWaiting` either."""
    after: tuple[EarlierRun, ...] = ()
    """The runs that this one follows, the latest first: what its planner and tasks may use."""
    approve: tuple[Occasion, ...] | None = None
    """When a person is asked; None: the run was not given that itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunQueued(RunEvent):
    """The run waits for its turn, at which `RunResumed` follows; no time of its own passes."""

    type: Literal["run_queued"] = "run_queued"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStopped(RunEvent):
    """The run was told to stop: tasks in flight do not count as lost in a crash."""

    type: Literal["run_stopped"] = "run_stopped"
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed(BeginningEvent):
    """The run continues in another process, or after it had ended."""

    type: Literal["run_resumed"] = "run_resumed"
    goes_on: tuple[str, ...] = ()
    """Tasks that were stopped or in flight, and are resumed now."""
    again: tuple[str, ...] = ()
    """Tasks that start from the beginning, even if they have a result."""
    crashes: dict[str, int] = field(default_factory=dict[str, int])
    """By task (`legal/t1` for one of a nested team): how many times in a row the process died while
    the task was in flight and had committed nothing new."""
    prompts_changed: bool = False
    """Whether the prompts have changed, so that model calls of unfinished work are made again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanProposed(RunEvent):
    type: Literal["plan_proposed"] = "plan_proposed"
    plan: Plan
    by: str
    task_id: str | None = None
    """The task whose result asks for an amendment of an approved plan; None for the first plan."""
    why: str = ""
    """Which step of a router chose the workers, and why; empty: no router did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRejected(RunEvent):
    type: Literal["plan_rejected"] = "plan_rejected"
    problems: tuple[str, ...]
    task_id: str | None = None
    """The task whose result asked for an amendment; None for the first plan of the run."""
    missing: str | None = None
    """What the answer lacks because the plan is binding and was not amended."""
    by: str = ""
    """Who had no plan to propose; empty: a proposal has these problems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAccepted(RunEvent):
    """The plan proposed last becomes the plan of the run."""

    type: Literal["plan_accepted"] = "plan_accepted"
    warnings: tuple[str, ...] = ()
    approved: bool = False
    """Whether a person approved it; if so, amendments need approval too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequested(RunEvent):
    """A question to a person is open."""

    type: Literal["approval_requested"] = "approval_requested"
    task_id: str | None = None
    """The task that was handed back; None if the plan needs approval."""
    question: str
    calls: tuple[ToolCall, ...] = ()
    """The tool calls that the task's worker wants to make. The attempt pauses until the reply."""
    attempt: int | None = None
    """The attempt that pauses, if it does."""
    conversation: JsonValue = None
    """What the attempt needs to continue, also in another process."""
    worked_s: float | None = None
    """How long the attempt worked until now, as in `AttemptEvent`."""
    worked_high_s: float | None = None
    path_s: float | None = None
    expires_s: float | None = None
    """Seconds until it is refused or declined by itself; None: it never is."""

    @property
    def expires_at(self) -> dt.datetime | None:
        return self.at + dt.timedelta(seconds=self.expires_s) if self.expires_s else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalGiven(RunEvent):
    """A person replied to an open question."""

    type: Literal["approval_given"] = "approval_given"
    task_id: str | None = None
    verdict: Verdict
    text: str = ""
    plan: Plan | None = None
    """The plan as the person changed it; None if it is approved unchanged."""
    by: str
    calls: dict[str, CallReply] = field(default_factory=dict[str, CallReply])
    """The reply about each tool call of the question, by its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerOpened(RunEvent):
    """A worker failed too often in a row: for a while its tasks go to its fallback."""

    type: Literal["breaker_opened"] = "breaker_opened"
    worker: str
    failures: int
    """In a row."""
    pause_s: float
    """Seconds until the worker receives a probe."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakerClosed(RunEvent):
    """A worker whose breaker was open works again."""

    type: Literal["breaker_closed"] = "breaker_closed"
    worker: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanAmended(RunEvent):
    """Tasks that had not started were planned again, because a result no longer fits the plan."""

    type: Literal["plan_amended"] = "plan_amended"
    task_id: str
    """The task with that result."""
    reason: str
    """As its worker stated it."""
    revision: int
    """The plan's new revision number."""
    by: str
    added: tuple[Task, ...] = ()
    changed: tuple[Task, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundDecided(RunEvent):
    """A stepwise planner decided what is next; or it is not asked any more, and why."""

    type: Literal["round_decided"] = "round_decided"
    round: int
    """The number of the decision, from 1; without a decision, that of the round it would be."""
    reason: str
    """As the planner states it; why it is not asked any more, if `end` is not `done`."""
    by: str
    tasks: tuple[Task, ...] = ()
    """The tasks that start now; empty in round 1, whose tasks are the first plan."""
    asks_after: AsksAfter = "all"
    end: RoundsEnd | None = None
    """Why the planner is not asked again; None: it is."""
    needs_approval: bool = False
    """Whether a person has to approve the tasks first; then `PlanAmended` adds them."""
    seen: tuple[str, ...] = ()
    """The tasks whose results were new to the planner."""
    took_s: float | None = None
    """How long the planner took; None in round 1, which is part of planning, and if it was not
    asked."""


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
    """The judge's decision about a conflict."""

    type: Literal["conflict_judged"] = "conflict_judged"
    conflict: Conflict
    holds: bool = True
    """False: the results do not contradict each other, and the answer does not mention it."""
    confidence: int | None = None
    """The judge's, 0 to 100; None if it gave none, or there was no judge."""


CritiqueVerdict = Literal["approved", "sent_back", "objected", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CritiqueGiven(RunEvent):
    """The critic's verdict on a draft of the answer; the last event of a run is final."""

    type: Literal["critique_given"] = "critique_given"
    round: int
    """The number of the draft, from 1."""
    verdict: CritiqueVerdict
    """`objected`: the answer keeps the draft, and the critic's objections become a gap."""
    points: tuple[CritiquePoint, ...] = ()
    why: str | None = None
    """Why the critic was skipped, or the draft not revised."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunWaiting(RunEvent):
    """The run stopped to wait for a person. It has not ended: `RunResumed` follows the reply."""

    type: Literal["run_waiting"] = "run_waiting"
    answer: Answer
    """What there is so far, with the open questions in `waiting`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished(RunEvent):
    type: Literal["run_finished"] = "run_finished"
    answer: Answer


RunLevelEvent = (
    RunStarted
    | RunQueued
    | RunStopped
    | RunResumed
    | PlanProposed
    | PlanRejected
    | PlanAccepted
    | ApprovalRequested
    | ApprovalGiven
    | PlanAmended
    | RoundDecided
    | SynthesisStarted
    | ConflictFound
    | ConflictJudged
    | CritiqueGiven
    | RunWaiting
    | RunFinished
)
"""What changes the state of the run as a whole."""
