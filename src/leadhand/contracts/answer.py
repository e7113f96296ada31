"""The answer document: what a run comes back with, whatever happened on the way."""

from typing import Literal

from pydantic import Field, JsonValue

from leadhand.contracts.people import Question
from leadhand.contracts.record import Record

Status = Literal["complete", "partial", "failed", "cancelled", "waiting"]
TaskStatus = Literal["completed", "escalated", "failed", "timed_out", "cancelled", "skipped"]
MISSING_HEADING = "## What is missing"
"""The heading of the part of an answer's text that lists its gaps; it comes first."""
FOUND_HEADING = "## What was found"
"""The heading of all the rest of an answer's text that has gaps."""
JOURNAL_GAP = "journal"
"""The gap of an answer that could not be kept names this in place of a task."""
Engine = Literal["model", "deterministic"]
EndedBy = Literal["person", "budget", "deadline"]


class Gap(Record):
    """Something that the answer should cover and does not."""

    task_id: str
    why: str
    what: str = ""
    """What the task was to do, in a line; nothing where no task is meant."""


class Conflict(Record):
    """Two results that contradict each other."""

    task_ids: tuple[str, ...]
    about: str
    resolution: str | None = None
    """What was taken to be right; none where the conflict is open."""
    why: str = ""
    taken: tuple[str, ...] = ()
    """The tasks whose results were taken to be right, where any were."""


class CritiquePoint(Record):
    """Something that a critic holds against a draft."""

    point: str
    severity: Literal["must", "should"]
    """`must`: the answer is not to be given like this."""
    where: str = ""
    """The passage that it is about."""


class Source(Record):
    """Where a part of the answer comes from."""

    task_id: str
    ref: str


class TaskReport(Record):
    """What became of one task. Seconds count from the start of the run."""

    id: str
    worker: str
    status: TaskStatus
    attempts: int
    """Attempts that were started; 0 where the task never was."""
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
    """What planning, every attempt and synthesis would take one after the other: without waiting
    for slots, rates, the event loop or the interpreter. The least, where that is not known exactly.
    """
    critical_path_s: float = 0.0
    """The longest chain of planning, dependent tasks and synthesis, waits for retries included."""
    speedup: float = 0.0
    """`sequential_s / makespan_s`; 0 where nothing ran."""
    speedup_high: float | None = None
    """Where waiting can't be told from work, `speedup` is the least that it can be, and this the
    most; none where both are the same, or nearly."""
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


class Answer(Record):
    """What the user gets."""

    run_id: str
    status: Status
    ended_by: EndedBy | None = None
    """What ended the run before everything was done; none where nothing did."""
    engine: Engine
    team: str
    request: str
    answer: str = ""
    """Markdown."""
    output: JsonValue = None
    """Typed output where the team has one; for a review its findings."""
    confidence: int | None = Field(default=None, ge=0, le=100)
    gaps: tuple[Gap, ...] = ()
    contact: str | None = None
    """The team's `contact`, if there is something that no worker could answer; `answer` ends with
    it."""
    conflicts: tuple[Conflict, ...] = ()
    sources: tuple[Source, ...] = ()
    tasks: tuple[TaskReport, ...] = ()
    waiting: tuple[Question, ...] = ()
    """What a person has to say before the run can go on; then this is not its last answer."""
    metrics: Metrics = Metrics.model_construct()


class Synthesis(Record):
    """What a synthesizer gives; status, metrics and the gaps of tasks are the supervisor's."""

    answer: str
    output: JsonValue = None
    confidence: int | None = Field(default=None, ge=0, le=100)
    conflicts: tuple[Conflict, ...] = ()
    sources: tuple[Source, ...] = ()
    gaps: tuple[Gap, ...] = ()
    """What the synthesis itself did not do: results that it dropped, a critic who still objects."""
