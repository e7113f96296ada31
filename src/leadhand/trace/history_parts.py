"""The parts of a run's history: steps, plan versions, questions, usage. Pure."""

from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from leadhand.contracts import events
from leadhand.contracts.outcome import Usage
from leadhand.contracts.people import CallReply, ToolCall, Verdict
from leadhand.tools.text import counted

What = Literal[
    "retried",
    "reassigned",
    "second opinion",
    "refined",
    "tier raised",
    "split",
    "judged",
    "accepted",
    "given up",
    "again",
    "stopped",
    "waiting",
    "resumed",
    "critique",
    "round",
    "breaker",
    "stuck",
]
End = Literal["running", "completed", "escalated", "failed", "cancelled", "interrupted", "paused"]
"""`paused`: until a person had replied about tool calls; then the attempt continued."""


@dataclass(frozen=True, slots=True)
class Step:
    """A decision, or something that happened to the run."""

    at_s: float
    what: What
    said: str
    """In a few words, as in `tier raised from fast to strong`."""
    why: str = ""
    changed: tuple[str, str] | None = None
    """The intent before and after it was refined."""

    @property
    def words(self) -> str:
        """The decision and its reason in one sentence, without repetition."""
        if not self.why or self.why.startswith(self.said):
            return self.why or self.said
        return f"{self.said}: {self.why}"


@dataclass(frozen=True, slots=True)
class PlanVersion:
    """A plan, or a change of it, and what became of it."""

    at_s: float
    what: Literal["proposed", "accepted", "rejected", "amended"]
    revision: int
    tasks: int
    """How many the plan has in this version."""
    by: str = ""
    said: str = ""
    """Why the plan was amended or rejected, or which step of a router chose its workers."""
    notes: tuple[str, ...] = ()
    """Warnings, problems, or what was added, changed and dropped, each in one line."""

    @property
    def title(self) -> str:
        """What it is, who wrote it, and what became of it."""
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
    """The tool calls that it is about."""
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
