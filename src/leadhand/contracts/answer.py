"""The answer document: what every run returns, whether it succeeded or not."""

from typing import Literal

from pydantic import Field, JsonValue

from leadhand.contracts.people import Question
from leadhand.contracts.record import Record

Status = Literal["complete", "partial", "failed", "cancelled", "waiting"]
TaskStatus = Literal["completed", "escalated", "failed", "timed_out", "cancelled", "skipped"]
MISSING_HEADING = "## What is missing"
"""The heading above the list of gaps, which comes first in an answer's text."""
FOUND_HEADING = "## What was found"
"""The heading above the rest of the text, if there are gaps."""
JOURNAL_GAP = "journal"
"""The `task_id` of the gap that says that the answer could not be stored."""
Engine = Literal["model", "deterministic"]
EndedBy = Literal["person", "budget", "deadline"]


class Gap(Record):
    """Something that the answer should cover but does not."""

    task_id: str
    why: str
    what: str = ""
    """What the task was to do, in one line; empty if the gap is not about a task."""


class Conflict(Record):
    """Two results that contradict each other."""

    task_ids: tuple[str, ...]
    about: str
    resolution: str | None = None
    """What was decided to be right; None if the conflict is unresolved."""
    why: str = ""
    taken: tuple[str, ...] = ()
    """The tasks whose results were decided to be right, if any."""


class CritiquePoint(Record):
    """One objection of a critic to a draft."""

    point: str
    severity: Literal["must", "should"]
    """`must`: the draft has to be changed before it can be the answer."""
    where: str = ""
    """The passage that the objection is about."""


class Source(Record):
    """Where a part of the answer comes from."""

    task_id: str
    ref: str


class TaskReport(Record):
    """How one task ended. Times are in seconds since the start of the run."""

    id: str
    worker: str
    status: TaskStatus
    attempts: int
    """Attempts that were started; 0 if the task never started."""
    depends_on: tuple[str, ...] = ()
    started_s: float | None = None
    finished_s: float | None = None
    model: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    error: str | None = None


class Metrics(Record):
    """How long the run took and what it used."""

    makespan_s: float = 0.0
    """From the start of the run to its end."""
    sequential_s: float = 0.0
    """What planning, all attempts and synthesis would take one after the other, without waiting
    for slots, rates, the event loop or the interpreter. A lower bound if it is not known exactly.
    """
    critical_path_s: float = 0.0
    """The longest chain of planning, dependent tasks and synthesis, waits for retries included."""
    speedup: float = 0.0
    """`sequential_s / makespan_s`; 0 if nothing ran."""
    speedup_high: float | None = None
    """The upper bound of the speedup, if waiting can't be told from work; `speedup` is then the
    lower bound. None if both are about the same."""
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


class Answer(Record):
    """What the user receives."""

    run_id: str
    status: Status
    ended_by: EndedBy | None = None
    """What ended the run early; None if nothing did."""
    engine: Engine
    team: str
    request: str
    answer: str = ""
    """Markdown."""
    output: JsonValue = None
    """The team's typed output, if it has one; for a review its findings."""
    confidence: int | None = Field(default=None, ge=0, le=100)
    gaps: tuple[Gap, ...] = ()
    contact: str | None = None
    """The team's `contact`, if no worker could answer something; `answer` ends with it."""
    conflicts: tuple[Conflict, ...] = ()
    sources: tuple[Source, ...] = ()
    tasks: tuple[TaskReport, ...] = ()
    waiting: tuple[Question, ...] = ()
    """Questions that a person has to answer before the run can continue; if there are any, this is
    not the run's last answer."""
    metrics: Metrics = Metrics.model_construct()


class Synthesis(Record):
    """What a synthesizer returns; the supervisor adds status, metrics and the gaps of tasks."""

    answer: str
    output: JsonValue = None
    confidence: int | None = Field(default=None, ge=0, le=100)
    conflicts: tuple[Conflict, ...] = ()
    sources: tuple[Source, ...] = ()
    gaps: tuple[Gap, ...] = ()
    """What the synthesis itself lacks: results that it dropped, a critic who still objects."""
