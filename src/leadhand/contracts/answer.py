"""The answer document: what every run returns, whether it succeeded or not."""

from collections.abc import Mapping
from typing import Any, Generic, Literal, overload

from pydantic import Field, JsonValue, SkipValidation, ValidationError
from typing_extensions import TypeVar

from leadhand.contracts.data import Record, read_as, type_name
from leadhand.contracts.people import Question
from leadhand.contracts.tools import Out_co
from leadhand.errors import InputError

Severity = Literal["critical", "warning", "info"]
FindingSource = Literal["analyser", "model"]
Basis = Literal["fact", "measured", "model"]


class Place(Record):
    """Lines of a file of the change."""

    id: str = ""
    """The fingerprint of the finding if it were found only here, the same across line shifts and
    pushes; baselines hide by it. Set by the synthesizer."""
    path: str
    """Path in the new tree (in the old one if the file was deleted), with `/` as separator."""
    line: int = Field(ge=1)
    """First line, from 1, in the new file; for removed code, the line that now stands there."""
    end_line: int = Field(ge=1)
    """Last line, inclusive."""


class Finding(Place):
    """One problem in one place of a change, with the words of the change that show it."""

    severity: Severity
    category: str
    """What kind of problem: `security`, `bugs`, `performance`, ..."""
    rule: str
    """`lens/name` of the rule that fired, for example `security/yaml-load`."""
    message: str
    """What is wrong here and why it matters; one or two sentences, naming the symbols involved."""
    suggestion: str = ""
    """What to do about it; one sentence or a line of code."""
    evidence: str
    """Verbatim quote of one or more whole or partial lines that the change adds or removes."""
    source: FindingSource = "analyser"
    """Whether code or a model found it."""
    confidence: int = Field(default=0, ge=0, le=100)
    """0 to 100, measured for an analyser's rule, scored by an independent model for a model's
    finding."""
    basis: Basis = "measured"
    """A `fact` needs no judgement (100), `measured` are labelled hits of the rule, `model` is a
    score."""
    why: str = ""
    """The reason for the confidence: labelled hits, or the words of the model that scored it."""
    places: tuple[Place, ...] = ()
    """Further places of the same problem; set by the synthesizer."""
    lenses: tuple[str, ...] = ()
    """The workers that reported it; set by the synthesizer."""


class NotAssessed(Record):
    """Something a lens did not look at, and why."""

    lens: str
    path: str | None = None
    """The file; None if the lens could not assess anything."""
    why: str
    idle: bool = False
    """Whether the lens had nothing to work on, as in a project without tests. Only JSON says so."""


class LensReport(Record):
    """What one lens returns for one task."""

    findings: tuple[Finding, ...] = ()
    not_assessed: tuple[NotAssessed, ...] = ()


Status = Literal["complete", "partial", "failed", "cancelled", "waiting"]
TaskStatus = Literal["completed", "escalated", "failed", "timed_out", "cancelled", "skipped"]
MISSING_HEADING = "## What is missing"
"""The heading above the list of gaps, which comes first in an answer's text."""
FOUND_HEADING = "## What was found"
DOUBT = "*In doubt: "
"""What the text says of a result with doubts begins so, and ends with its line."""
"""The heading above the rest of the text, if there are gaps."""
JOURNAL_GAP = "journal"
"""The `task_id` of the gap that says that the answer could not be stored."""
CONTEXT_GAP = "context"
"""The same of the one that says why the run's context could not be restored."""
REQUEST_GAP = "request"
"""The same of the one that says what is wrong with the request, so that no plan was made. All who
may see the run may read why."""
Engine = Literal["model", "deterministic"]
EndedBy = Literal["person", "budget", "deadline"]
ConflictKind = Literal["contradiction", "difference"]
MAX_REPORTED_BYTES = 100_000
"""How large the output of a task may be as JSON to be reported with the task."""

T = TypeVar("T")


class Gap(Record):
    """Something that the answer should cover but does not."""

    task_id: str
    why: str
    what: str = ""
    """What the task was to do, in one line; empty if the gap is not about a task."""


class Conflict(Record):
    """Results that disagree."""

    task_ids: tuple[str, ...]
    """Of nested runs with their path, such as `net/a`. One alone: it got a second opinion."""
    kind: ConflictKind = "difference"
    """`contradiction`: the tasks ask the same; unresolved, it is a gap. `difference`: they need not
    agree, because they are about different things, or it is not known that they ask the same."""
    about: str
    resolution: str | None = None
    """What was decided to be right; None if the conflict is unresolved."""
    why: str = ""
    taken: tuple[str, ...] = ()
    """The tasks whose results were decided to be right, if any."""
    misrouted: tuple[str, ...] = ()
    """The tasks that a judge found to be outside of what their workers are for: the conflict's
    cause."""


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
    # Not validated again: outputs were validated when made, and copying them costs.
    output: SkipValidation[JsonValue] = None
    """What the task gave, as JSON data: all of it, or what there is if it did not complete. None
    also if it is larger than `MAX_REPORTED_BYTES`; the run's trace has it."""
    output_bytes: int | None = None
    """The size of an output that is too large to be reported; else None."""
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
    """From the start of the run to its end, without what it only waited for a person."""
    sequential_s: float = 0.0
    """What planning, all attempts and synthesis would take one after the other, without waiting
    for slots, rates, the event loop or the interpreter. A lower bound if it is not known exactly.
    """
    critical_path_s: float = 0.0
    """The longest chain of planning, dependent tasks, a stepwise planner's decisions and synthesis,
    waits for retries included."""
    speedup: float | None = 0.0
    """`sequential_s / makespan_s`; 0 if nothing ran, None if waiting can't be told from work."""
    speedup_high: float | None = None
    """The upper bound of a speedup that is None; None if it is known."""
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


class Answer(Record, Generic[Out_co]):
    """What the user receives."""

    __slots__ = ("_kind",)  # no part of the data: a stored answer is equal without it

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
    """Data of the type that `Team.output` declares, and None if there is none of that type. Of a
    team without a declared type: the outputs of its tasks by id, of a single task just its output,
    or None if a model wrote the answer."""
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

    @overload
    def output_as(self) -> Out_co | None: ...
    @overload
    def output_as(self, kind: type[T]) -> T | None: ...
    def output_as(self, kind: type[object] | None = None) -> object:
        """`output` as an instance of `kind`, a pydantic model or any type that pydantic knows.

        Without `kind`, of the type that the team declares, in the answers of `Supervisor` and
        `Run`. None if there is no output. Raises `InputError` if it is of another type.
        """
        kind = getattr(self, "_kind", None) if kind is None else kind
        if self.output is None or kind is None:
            return self.output
        try:
            return read_as(kind, self.output)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(["output", *map(str, first["loc"])])
            raise InputError(
                f"the output of run {self.run_id!r} is no {type_name(kind)}: {place}: "
                f"{first['msg']}"
            ) from error


def of_kind(answer: Answer, kind: object) -> Answer[Any]:
    object.__setattr__(answer, "_kind", None if isinstance(kind, Mapping) else kind)
    return answer


class Synthesis(Record):
    """What a synthesizer returns; the supervisor adds status, metrics and the gaps of tasks."""

    answer: str
    output: JsonValue = None
    confidence: int | None = Field(default=None, ge=0, le=100)
    conflicts: tuple[Conflict, ...] = ()
    sources: tuple[Source, ...] = ()
    gaps: tuple[Gap, ...] = ()
    """What the synthesis itself lacks: results that it dropped, a critic who still objects."""
