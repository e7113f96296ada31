"""What the story of a run is told in: tasks, attempts, what followed, plans, people. Data alone."""

from dataclasses import dataclass, replace
from typing import Literal

from leadhand.contracts.people import Verdict

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
class QuestionHistory:
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

    def within(self, task_id: str) -> "QuestionHistory":
        """The same as the run around it sees it, which has the run do `task_id`."""
        return replace(self, task_id=f"{task_id}/{self.task_id}" if self.task_id else task_id)
