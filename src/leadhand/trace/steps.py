"""The parts of a run's history: events as steps in a few words, plan versions, questions. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, assert_never

from leadhand.contracts import events
from leadhand.contracts.answer import CONTEXT_GAP
from leadhand.contracts.outcome import Usage
from leadhand.contracts.people import CallReply, ToolCall, Verdict
from leadhand.tools.text import counted

End = Literal["running", "completed", "escalated", "failed", "cancelled", "interrupted", "paused"]
"""`paused`: until a person had replied about tool calls; then the attempt continued."""


@dataclass(frozen=True, slots=True)
class Step:
    at_s: float
    said: str
    """In a few words, as in `tier raised from fast to strong`."""
    why: str = ""
    changed: tuple[str, str] | None = None

    @property
    def words(self) -> str:
        """The decision and its reason in one sentence, without repetition."""
        if not self.why or self.why.startswith(self.said):
            return self.why or self.said
        return f"{self.said}: {self.why}"


@dataclass(frozen=True, slots=True)
class PlanVersion:
    at_s: float
    what: Literal["proposed", "accepted", "rejected", "amended"]
    revision: int
    tasks: int
    by: str = ""
    said: str = ""
    """Why the plan was amended or rejected, or which step of a router chose its workers."""
    notes: tuple[str, ...] = ()
    """Warnings, problems, or what was added, changed and dropped, each in one line."""

    @property
    def title(self) -> str:
        if not self.revision:
            return f"no plan by {self.by}"
        by = f" by {self.by}," if self.by else ""
        return f"revision {self.revision}, {counted(self.tasks, 'task')},{by} {self.what}"


@dataclass(slots=True)
class QuestionHistory:
    at_s: float
    task_id: str | None
    """`None`: it is about the plan."""
    question: str
    verdict: Verdict | None = None
    """`None` until there is a reply."""
    text: str = ""
    by: str = ""
    answered_s: float | None = None
    calls: tuple[ToolCall, ...] = ()
    replies: dict[str, CallReply] = field(default_factory=dict[str, CallReply])
    """The reply about each of them, by its id."""

    def within(self, task_id: str) -> "QuestionHistory":
        """The same question, as the outer run sees it; `task_id` is that run's task."""
        return replace(self, task_id=f"{task_id}/{self.task_id}" if self.task_id else task_id)


class UsageOwner(NamedTuple):
    role: str
    worker: str | None
    """`outer/inner` in a nested team; `None` if no worker used it."""
    model: str | None


def usage_of(event: events.Event) -> Usage | None:
    """The usage in an event; the state knows whether it was counted before."""
    match event:
        case events.ModelCalled():
            return event.usage
        case events.TaskCompleted():
            return event.result.usage
        case events.OpinionJudged():
            return event.second.usage
        case events.TaskFailed() | events.TaskEscalated():
            return event.partial.usage if event.partial is not None else None
        case _:
            return None


Notice = (
    events.RunQueued
    | events.RunStopped
    | events.RunWaiting
    | events.RunResumed
    | events.CritiqueGiven
    | events.RoundDecided
    | events.BreakerOpened
    | events.BreakerClosed
    | events.WorkerStuck
)
PlanEvent = events.PlanProposed | events.PlanRejected | events.PlanAccepted | events.PlanAmended


def step(event: events.AttemptEnd | events.TaskDecision) -> Step:
    at_s = event.elapsed_s
    match event:
        case events.TaskCompleted():
            return Step(at_s, "accepted as it is", event.flag or "")
        case events.TaskFailed() | events.TaskEscalated():
            return Step(at_s, "given up", event.decision or event.message)
        case events.TaskCancelled():
            return Step(at_s, "cancelled", event.reason)
        case _:
            refined = isinstance(event, events.TaskRefined)
            words = (event.old_intent, event.new_intent) if refined else None
            return Step(at_s, event.said, event.reason, words)


def notice(event: Notice) -> Step:
    at_s = event.elapsed_s
    match event:
        case events.RunQueued():
            return Step(at_s, "waits for its turn")
        case events.RunStopped():
            return Step(at_s, "told to stop", event.reason)
        case events.RunWaiting():
            why = [one.why for one in event.answer.gaps if one.task_id == CONTEXT_GAP]
            return Step(at_s, "stopped to wait for a person", "".join(why))
        case events.RunResumed():
            resumed = f"continues {_named(event.goes_on)}" if event.goes_on else ""
            again = f"does {_named(event.again)} again" if event.again else ""
            lost = f"running when the process died: {_crashed(event)}" if event.crashes else ""
            changed = " with changed prompts" if event.prompts_changed else ""
            kept = "unfinished model calls are made again, finished work is kept"
            kept = kept if event.prompts_changed else ""
            said = "; ".join(filter(None, [kept, resumed, again, lost]))
            return Step(at_s, f"resumed{changed}", said)
        case events.CritiqueGiven():
            said = f"critic, draft {event.round}: {event.verdict.replace('_', ' ')}"
            points = "; ".join(f"{point.severity}: {point.point}" for point in event.points)
            return Step(at_s, said, "; ".join(filter(None, [points, event.why])))
        case events.RoundDecided():
            return Step(at_s, decision(event), event.reason)
        case events.BreakerOpened():
            said = f"{event.worker} failed {event.failures} times in a row: paused"
            return Step(at_s, f"{said} for {event.pause_s:g} s", event.reason)
        case events.BreakerClosed():
            return Step(at_s, f"{event.worker} works again", event.reason)
        case events.WorkerStuck():
            return Step(at_s, event.message)
        case _:
            assert_never(event)


def decision(event: events.RoundDecided) -> str:
    if event.end not in (None, "done"):
        return f"no round {event.round}"
    said = f"round {event.round}"
    starts = "asks to start" if event.needs_approval else "starts"
    said += f" {starts} {_named(task.id for task in event.tasks)}" if event.tasks else ""
    return f"{said}, and the planner is done" if event.end else said


def plan_versions(
    known: Sequence[PlanVersion], event: PlanEvent, *, tasks: int
) -> list[PlanVersion]:
    """`tasks`: how many the plan has now."""
    at_s = event.elapsed_s
    match event:
        case events.PlanProposed(plan=plan):
            by, said = event.by, event.why
            if by == "template" and said:
                by, said = f"{by}, because {said}", ""
            tasks = len(plan.tasks)
            return [*known, PlanVersion(at_s, "proposed", plan.revision, tasks, by, said)]
        case events.PlanAccepted() if known:
            accepted = replace(known[-1], at_s=at_s, what="accepted", notes=event.warnings)
            return [*known[:-1], accepted]
        case events.PlanRejected() if event.by:
            return [*known, PlanVersion(at_s, "rejected", 0, 0, event.by, notes=event.problems)]
        case events.PlanRejected() if known and (
            event.task_id is None or known[-1].what == "proposed"
        ):
            rejected = replace(known[-1], at_s=at_s, what="rejected", notes=event.problems)
            return [*known[:-1], rejected]
        case events.PlanAccepted():
            return [PlanVersion(at_s, "accepted", 1, tasks, notes=event.warnings)]
        case events.PlanRejected():
            said = f"{event.task_id} asked for another plan" if event.task_id is not None else ""
            revision = (known[-1].revision if known else 0) + 1
            one = PlanVersion(at_s, "rejected", revision, tasks, said=said, notes=event.problems)
            return [*known, one]
        case events.PlanAmended():
            lists = (
                ("added", [task.id for task in event.added]),
                ("changed", [task.id for task in event.changed]),
                ("dropped", event.dropped),
            )
            notes = tuple(f"{what} {_named(ids)}" for what, ids in lists if ids)
            said = f"{event.task_id}: {event.reason}"
            one = PlanVersion(at_s, "amended", event.revision, tasks, event.by, said, notes)
            return [*known, one]
        case _:
            assert_never(event)


def _crashed(event: events.RunResumed) -> str:
    return _named(
        f"{path} ({count} times)" if count > 1 else path for path, count in event.crashes.items()
    )


def _named(ids: Iterable[str]) -> str:
    names = list(ids)
    more = f" and {len(names) - 10:,} more" if len(names) > 10 else ""
    return ", ".join(names[:10]) + more
