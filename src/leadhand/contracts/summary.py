"""What a program sees of runs and workers: lists, one run, whether it is damaged, health."""

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pydantic import Field, JsonValue

from leadhand.contracts.answer import Answer, Status, TaskStatus
from leadhand.contracts.budget import Rate
from leadhand.contracts.data import Record
from leadhand.contracts.people import Question

if TYPE_CHECKING:
    from leadhand.contracts.events import Event

MAX_REQUEST_CHARS = 200
RunStatus = Literal[Status, "running", "interrupted"]
"""`waiting`: for a person. `interrupted`: it has no answer, and no process works on it."""


class RunHeader(Record):
    """What lists of runs and a view of one have of a run."""

    run_id: str
    team: str
    request: str
    """In a list its first `MAX_REQUEST_CHARS` characters."""
    started_at: dt.datetime
    updated_at: dt.datetime
    """When the last event was stored."""
    origin: dict[str, JsonValue] = Field(default_factory=dict)
    """What the run was given as `origin`; empty if an older release stored the run."""
    after: str | None = None
    """The id of the run that it follows."""
    queued: bool = False
    """Whether it waits for its turn; while a process has it, it counts as running."""


class RunSummary(RunHeader):
    """A stored run as a list of runs shows it."""

    status: RunStatus | Literal["damaged"]
    """`damaged`: nothing else is known about it."""
    tasks: int = 0
    completed: int = 0
    makespan_s: float | None = None
    """None until there is an answer; so is the cost."""
    cost_usd: float | None = None
    input_tokens: int = 0
    """Of all calls to models, as soon as there is an answer; 0 if an older release stored it."""
    output_tokens: int = 0
    engine: str = ""
    """`model` or `deterministic`; empty if an older release stored the run."""
    questions: int = 0
    """Open questions to people."""
    asked_at: dt.datetime | None = None
    """When the first of them was asked; None if there is none, or it is not known."""
    expires_at: dt.datetime | None = None
    """When the first of them expires; None if none does."""


RunFilter = Callable[[RunSummary], bool]
"""Whether a run belongs in a list."""


class TaskView(Record):
    """A task of a run, whether it has ended or not."""

    id: str
    worker: str
    """The worker of the current or last attempt."""
    intent: str
    status: TaskStatus | Literal["pending", "running"]
    attempts: int = 0
    """Attempts that were started."""
    depends_on: tuple[str, ...] = ()
    output: JsonValue = None
    """Of a completed task."""
    error: str | None = None
    """Why it is not completed, or why its result was accepted although doubtful."""


class RunView(RunHeader):
    """A run as it is now."""

    status: RunStatus
    answer: Answer | None = None
    """Of a run that waits: what there is so far. None while there is no answer."""
    questions: tuple[Question, ...] = ()
    """What a person has to answer before the run can continue."""
    tasks: tuple[TaskView, ...] = ()
    """In the order of the plan."""


InspectionVerdict = Literal["sound", "damaged", "not verifiable"]


@dataclass(frozen=True, slots=True)
class Inspection:
    """A stored run, up to its first damaged event."""

    run_id: str
    events: "tuple[Event, ...]" = ()
    """All events before the damage, or all of them."""
    damage: str = ""
    """What is wrong, and where; empty if nothing is."""
    unread: str = ""
    """Why an undamaged run could not be read to its end; empty if it was."""
    unverified: int = 0
    """Events without a checksum, written by leadhand 0.1."""

    @property
    def verdict(self) -> InspectionVerdict:
        """`not verifiable`: all events can be read, but some have no checksum."""
        return "damaged" if self.damage else "not verifiable" if self.unverified else "sound"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerHealth:
    """One worker, over all runs of the supervisor."""

    worker: str
    """Its name; for a worker of a nested team a path such as `legal/clerk`."""
    running: int
    """Attempts that are running."""
    waiting: int
    """Tasks that are ready and wait for this worker."""
    concurrency: int | None
    """How many tasks it may work on at once; None: as many as the runs allow."""
    latency_s: float | None
    """How long an attempt took recently; None before the first."""
    breaker: Literal["closed", "open", "half_open"]
    """`open`: it receives no tasks. `half_open`: it works on a probe."""
    breaker_until: dt.datetime | None
    """When it receives a probe, UTC; None while the breaker is not open."""
    failures: int
    """Tasks that failed in a row; permanent failures do not count."""
    reason: str | None
    """Why the breaker is open; None if it is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelHealth:
    """One model, over all runs of this process in the same event loop."""

    model: str
    """Its name at its provider."""
    rate: Rate
    running: int
    """Requests in flight."""
    requests: int | None
    """Requests of the last minute; None if no rate limits them, so that they are not counted."""
    tokens: int | None
    """Tokens of the last minute, including those reserved; None if no rate limits them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """All that a supervisor keeps between its runs; its size depends only on the team."""

    runs: tuple[str, ...]
    """The ids of the running runs."""
    workers: tuple[WorkerHealth, ...]
    """In the team's order; a nested team's workers follow the worker that stands for the team."""
    models: tuple[ModelHealth, ...]
    """The models called in the running event loop; empty outside of one."""

    def worker(self, name: str) -> WorkerHealth:
        """The worker of that name. Raises `KeyError` if there is none."""
        return {one.worker: one for one in self.workers}[name]
