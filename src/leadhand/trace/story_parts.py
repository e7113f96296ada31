"""What the story of a run is told in: tasks, attempts, what followed, plans, people. Data alone."""

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from leadhand.contracts.event import TaskCancelled, TaskCompleted, TaskEscalated, TaskFailed
from leadhand.contracts.outcome import NO_USAGE, Usage, located
from leadhand.contracts.people import Verdict

if TYPE_CHECKING:
    from leadhand.trace.story import Story

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
    "resumed",
    "critique",
    "breaker",
    "stuck",
]
End = Literal["running", "completed", "escalated", "failed", "cancelled", "interrupted"]


@dataclass(frozen=True, slots=True)
class Step:
    """Something that was decided, or that befell the run."""

    at_s: float
    what: What
    said: str
    """In a few words, as in `tier raised from fast to strong`."""
    why: str = ""
    changed: tuple[str, str] | None = None
    """The intent before and after, where it was put in other words."""

    @property
    def words(self) -> str:
        """What was decided and why, in one sentence that does not say it twice."""
        if not self.why or self.why.startswith(self.said):
            return self.why or self.said
        return f"{self.said}: {self.why}"


@dataclass(slots=True)
class StoryAttempt:
    """One attempt at a task."""

    number: int
    worker: str
    started_s: float
    ended_s: float | None = None
    """None as long as it runs."""
    end: End = "running"
    kind: str = ""
    """The kind of failure or the reason of an escalation."""
    message: str = ""
    """What its worker said where it did not complete, or with what doubt it was accepted."""
    traceback: str = ""
    """Of the exception that it ended with, if it did."""
    model: str | None = None
    usage: Usage = NO_USAGE
    tools: Counter[str] = field(default_factory=Counter[str])
    """Calls of each tool."""
    steps: list[Step] = field(default_factory=list[Step])
    """What was decided when it had ended, in order."""
    inside: "Story | None" = None
    """The story of the nested run, where a team made it."""

    @property
    def running(self) -> bool:
        """Whether nothing is known of its end."""
        return self.ended_s is None

    @property
    def took_s(self) -> float:
        """How long it took; 0 as long as it runs."""
        return 0.0 if self.ended_s is None else self.ended_s - self.started_s

    def use(self, used: Usage | None) -> None:
        """Count what was used."""
        if used is not None:
            self.usage = self.usage.plus(used)

    def finish(self, event: TaskCompleted | TaskFailed | TaskEscalated | TaskCancelled) -> None:
        """It ends as `event` says."""
        self.ended_s = event.elapsed_s
        match event:
            case TaskCompleted():
                self.end, self.message = "completed", event.flag or ""
            case TaskFailed():
                self.end, self.kind = "failed", event.kind
                self.message = located(event.message, event.where)
                self.traceback = event.raised.traceback if event.raised is not None else ""
            case TaskEscalated():
                self.end, self.kind, self.message = "escalated", event.reason, event.message
            case TaskCancelled():
                self.end, self.message = "cancelled", event.reason
        if isinstance(event, TaskFailed | TaskEscalated) and event.final:
            self.steps.append(Step(event.elapsed_s, "given up", "given up", event.decision))


@dataclass(slots=True)
class TaskStory:
    """What became of one task of the plan."""

    id: str
    part_of: str | None = None
    """The task that was split into it and others."""
    parts: tuple[str, ...] = ()
    """The tasks that it was split into."""
    dropped: str = ""
    """Why it is no longer of the plan."""
    attempts: list[StoryAttempt] = field(default_factory=list[StoryAttempt])
    before: list[Step] = field(default_factory=list[Step])
    """What was decided before its first attempt."""

    def add(self, step: Step) -> None:
        """Note what was decided, after the attempt made last."""
        (self.attempts[-1].steps if self.attempts else self.before).append(step)

    @property
    def eventful(self) -> bool:
        """Whether there is more to tell than that it was done at the first attempt."""
        one = self.attempts[0] if len(self.attempts) == 1 else None
        return (
            one is None
            or one.end != "completed"
            or bool(one.message or one.steps or self.before or self.part_of)
            or one.inside is not None
        )


@dataclass(frozen=True, slots=True)
class PlanVersion:
    """A plan, or a change of the plan, and what was said to it."""

    at_s: float
    """When that was said last."""
    what: Literal["proposed", "accepted", "rejected", "amended"]
    revision: int
    tasks: int
    """How many the plan has with it."""
    by: str = ""
    said: str = ""
    """Why the plan was amended, or what was wrong with it, or what it added and dropped."""
    notes: tuple[str, ...] = ()
    """Warnings, problems, or what was added, changed and dropped, each in one line."""


@dataclass(slots=True)
class StoryQuestion:
    """Something that a person was asked."""

    at_s: float
    task_id: str | None
    """None where it is about the plan."""
    question: str
    verdict: Verdict | None = None
    """None as long as there is no answer."""
    text: str = ""
    by: str = ""
    answered_s: float | None = None

    def within(self, task_id: str) -> "StoryQuestion":
        """The same as the run around it sees it, which has the run do `task_id`."""
        return replace(self, task_id=f"{task_id}/{self.task_id}" if self.task_id else task_id)
