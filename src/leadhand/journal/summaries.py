"""Stored summaries: what a list shows of a run, kept beside its events and updated with each.
They cover the outermost run, and all questions to people."""

import datetime as dt
import functools
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import JsonValue, TypeAdapter, ValidationError

from leadhand.contracts.answer import Status
from leadhand.contracts.summary import MAX_REQUEST_CHARS, RunSummary
from leadhand.errors import JournalError
from leadhand.journal.codec import Redact, to_json

if TYPE_CHECKING:
    from leadhand.contracts.events import ApprovalGiven, ApprovalRequested, Event


@dataclass(slots=True)
class StoredSummary:
    """The column `digest` of a database's runs; the digest that a planner sees is another thing."""

    started_at: dt.datetime
    updated_at: dt.datetime
    team: str = ""
    request: str = ""
    proposed: int = 0
    """Tasks of the last proposed plan."""
    tasks: int = 0
    completed: int = 0
    questions: tuple[str, ...] = ()
    """Open questions, by where they were asked."""
    asked_at: dict[str, dt.datetime] = field(default_factory=dict[str, dt.datetime])
    """When each was asked; empty if an older release wrote this."""
    expires_at: dict[str, dt.datetime] = field(default_factory=dict[str, dt.datetime])
    """When each expires that does."""
    engine: str = ""
    status: Status | None = None
    """`None` until there is an answer, also one so far of a run that waits."""
    says_when_it_waits: bool = False
    """False if a release without `run_waiting` started it: then it waits if a question is open."""
    makespan_s: float | None = None
    cost_usd: float | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    origin: dict[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    """Empty if a release that did not keep it here wrote this."""
    after: str | None = None
    queued: bool = False
    """Whether its last event says so."""
    seq: int = 0
    """Of the last event; 0 if leadhand 0.1 wrote it."""

    @classmethod
    def before(cls, first: "Event") -> "StoredSummary":
        return cls(started_at=first.at, updated_at=first.at)

    @classmethod
    def read(cls, text: str) -> "StoredSummary":
        """Raises `JournalError` for other texts."""
        try:
            return _adapter().validate_json(text)
        except ValidationError as error:
            raise JournalError(f"the summary of a run can't be read: {error}") from None

    @classmethod
    def of(cls, events: "Sequence[Event]") -> "StoredSummary":
        digest = cls.before(events[0])
        digest.add_all(events)
        return digest

    @classmethod
    def read_or_of(cls, text: str, kept: "Callable[[], Sequence[Event]]") -> "StoredSummary":
        """If it can't be read, that of the `kept` events."""
        try:
            return cls.read(text)
        except JournalError:
            return cls.of(kept())

    def write(self) -> str:
        return to_json(_adapter(), self, what="the summary of a run")

    def add_all(
        self,
        events: "Sequence[Event]",
        *,
        kept: "Callable[[], Iterable[Event]]" = tuple,
        redact: Redact | None = None,
    ) -> None:
        """`kept` reads the events before them, if tasks are done again or dropped."""
        for position, event in enumerate(events):
            self.add(event, before=lambda end=position: [*kept(), *events[:end]], redact=redact)

    def add(
        self,
        event: "Event",
        *,
        before: "Callable[[], Iterable[Event]]",
        redact: Redact | None = None,
    ) -> None:
        """Add an event. `before` reads the events before it, if tasks are done again or dropped."""
        self.updated_at = event.at
        self.seq = event.seq
        self.queued = event.type == "run_queued"
        self._add_to_questions(event)
        # By type name: listing runs imports this module, but not the events.
        match event.type:
            case _ if event.within:
                pass
            case "run_started":
                self.team, self.engine = event.team, event.engine
                request = event.request if redact is None else redact(event.request)
                self.request = request[:MAX_REQUEST_CHARS]
                self.origin = _redacted(event.origin, redact)
                self.says_when_it_waits = bool(event.fingerprint)
                self.after = (event.after[0].run_id or None) if event.after else None
            case "run_waiting":
                self.status = "waiting"
            case "run_resumed":
                self.status = self.makespan_s = self.cost_usd = None
                if event.again:
                    self.completed = _completed([*before(), event])
            case "plan_proposed":
                self.proposed = len(event.plan.tasks)
            case "task_planned":
                self.tasks += 1
            case "plan_accepted":
                self.tasks = self.proposed
                if self.completed:  # before there was a plan, which may not have these tasks
                    self.completed = _completed([*before(), event])
            case "plan_amended":
                self.tasks += len(event.added) - len(event.dropped)
            case "round_decided" if not event.needs_approval:
                self.tasks += len(event.tasks)
            case "task_split":
                self.tasks += len(event.parts) - 1
            case "task_completed":
                self.completed += 1
            case "run_finished":
                self.status, self.engine = event.answer.status, event.answer.engine
                metrics = event.answer.metrics
                self.makespan_s, self.cost_usd = metrics.makespan_s, metrics.cost_usd
                self.input_tokens = metrics.input_tokens
                self.output_tokens = metrics.output_tokens
            case _:
                pass

    def _add_to_questions(self, event: "Event") -> None:
        match event.type:
            case "approval_requested":
                self._asked(event)
            case "approval_given":
                self._closed(_place(event))
            case "run_finished":
                level = "/".join(event.within) + ":"
                self._closed(*(place for place in self.questions if place.startswith(level)))
            case "run_resumed" if not event.within:
                self._closed(*(f":{id}" for id in event.again))
            case _:
                pass

    def _asked(self, event: "ApprovalRequested") -> None:
        self._closed(place := _place(event))  # if it is asked again
        self.questions = (*self.questions, place)
        self.asked_at[place] = event.at
        self.expires_at.pop(place, None)
        if event.expires_at is not None:
            self.expires_at[place] = event.expires_at

    def _closed(self, *places: str) -> None:
        self.questions = tuple(other for other in self.questions if other not in places)
        for place in places:
            self.asked_at.pop(place, None)
            self.expires_at.pop(place, None)

    def run_summary(self, run_id: str, *, held: Callable[[], bool]) -> RunSummary:
        """The run as a list shows it. `held` is called only if there is no answer."""
        status = self.status
        if status is None:
            waits = bool(self.questions) and not self.says_when_it_waits
            status = "running" if held() else "waiting" if waits else "interrupted"
        asks = status in ("running", "waiting")
        return RunSummary(
            run_id=run_id,
            team=self.team,
            request=self.request,
            status=status,
            started_at=self.started_at,
            updated_at=self.updated_at,
            tasks=self.tasks,
            completed=self.completed,
            makespan_s=self.makespan_s,
            cost_usd=self.cost_usd,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            origin=self.origin,
            after=self.after,
            queued=self.queued,
            engine=self.engine,
            questions=len(self.questions) if asks else 0,
            asked_at=min(self.asked_at.values(), default=None) if asks else None,
            expires_at=min(self.expires_at.values(), default=None) if asks else None,
        )


@functools.cache
def _adapter() -> TypeAdapter[StoredSummary]:
    return TypeAdapter(StoredSummary)


def run_summary(
    run_id: str, updated_at: str, digest: str, *, held: Callable[[str], bool]
) -> RunSummary:
    """The run as a list shows it, even if its `digest` can't be read."""
    try:
        return StoredSummary.read(digest).run_summary(run_id, held=lambda: held(run_id))
    except JournalError:
        pass
    try:
        at = dt.datetime.fromisoformat(updated_at)
    except ValueError:
        at = dt.datetime.min.replace(tzinfo=dt.UTC)
    return RunSummary(
        run_id=run_id, team="", request="", status="damaged", started_at=at, updated_at=at
    )


def _redacted(origin: dict[str, JsonValue], redact: Redact | None) -> dict[str, JsonValue]:
    return origin if redact is None or not origin else json.loads(redact(json.dumps(origin)))


def _place(event: "ApprovalRequested | ApprovalGiven") -> str:
    """Where a question was asked: the nested run, if any, and the task."""
    return ":".join(("/".join(event.within), event.task_id or ""))


def _completed(events: "Iterable[Event]") -> int:
    from leadhand.state.fold import fold

    return sum(task.status == "completed" for task in fold(events).tasks.values())
