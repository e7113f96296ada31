"""What is kept of each run beside its events, so that a list of many need not read those.

Every journal keeps a `StoredSummary` for each run, adds each event to it when the event is written,
and makes the summary from it. It counts the outermost run alone, except for questions to people.
"""

import datetime as dt
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from leadhand.contracts.answer import Status
from leadhand.contracts.summary import MAX_REQUEST_CHARS, RunSummary
from leadhand.errors import JournalError
from leadhand.journal.codec import Redact, to_json

if TYPE_CHECKING:
    from leadhand.contracts.events import ApprovalGiven, ApprovalRequested, Event


@dataclass(slots=True)
class StoredSummary:
    """A run in a few words, as they follow from its events."""

    started_at: dt.datetime
    updated_at: dt.datetime
    team: str = ""
    request: str = ""
    proposed: int = 0
    """Tasks of the plan that was proposed last."""
    tasks: int = 0
    completed: int = 0
    questions: tuple[str, ...] = ()
    """What is asked and not answered, each by where it was asked."""
    status: Status | None = None
    """None as long as there is no answer."""
    makespan_s: float | None = None
    cost_usd: float | None = None
    seq: int = 0
    """Of the last event; 0: leadhand 0.1 wrote them all."""

    @classmethod
    def of(cls, first: "Event") -> "StoredSummary":
        """Of a run that begins with this event, which is still to be added."""
        return cls(started_at=first.at, updated_at=first.at)

    @classmethod
    def read(cls, text: str) -> "StoredSummary":
        """What `write` gave. Raises `JournalError` for anything else."""
        try:
            return _adapter().validate_json(text)
        except ValidationError as error:
            raise JournalError(f"the summary of a run can't be read: {error}") from None

    @classmethod
    def whole(cls, events: "Sequence[Event]") -> "StoredSummary":
        """Of a run with these events."""
        digest = cls.of(events[0])
        for position, event in enumerate(events):
            digest.add(event, before=lambda end=position: events[:end])
        return digest

    def write(self) -> str:
        """As one line of JSON."""
        return to_json(_adapter(), self, what="the summary of a run")

    def add(
        self,
        event: "Event",
        *,
        before: "Callable[[], Iterable[Event]]",
        redact: Redact | None = None,
    ) -> None:
        """Take an event in. `before` reads those before it; it is used where tasks are redone."""
        self.updated_at = event.at
        self.seq = event.seq
        # By its tag: this module is read for a list of runs, and the events are not.
        match event.type:
            case "approval_requested":
                self.questions = (*self.questions, _place(event))
            case "approval_given":
                place = _place(event)
                self.questions = tuple(other for other in self.questions if other != place)
            case _ if event.within:
                pass
            case "run_started":
                self.team = event.team
                request = event.request if redact is None else redact(event.request)
                self.request = request[:MAX_REQUEST_CHARS]
            case "run_resumed":
                self.status = self.makespan_s = self.cost_usd = None
                if event.again:
                    self.completed = len(_completed(before()) - set(event.again))
            case "plan_proposed":
                self.proposed = len(event.plan.tasks)
            case "plan_accepted":
                self.tasks = self.proposed
            case "plan_amended":
                self.tasks += len(event.added) - len(event.dropped)
            case "task_split":
                self.tasks += len(event.parts) - 1
            case "task_completed":
                self.completed += 1
            case "run_finished":
                self.status = event.answer.status
                self.makespan_s = event.answer.metrics.makespan_s
                self.cost_usd = event.answer.metrics.cost_usd
            case _:
                pass

    def run_summary(self, run_id: str, *, held: Callable[[], bool]) -> RunSummary:
        """The run as a list shows it. `held` is only asked where there is no answer."""
        status = self.status
        return RunSummary(
            run_id=run_id,
            team=self.team,
            request=self.request,
            status=status
            or ("running" if held() else "waiting" if self.questions else "interrupted"),
            started_at=self.started_at,
            updated_at=self.updated_at,
            tasks=self.tasks,
            completed=self.completed,
            makespan_s=self.makespan_s,
            cost_usd=self.cost_usd,
        )


@functools.cache
def _adapter() -> TypeAdapter[StoredSummary]:
    return TypeAdapter(StoredSummary)


def run_summary(
    run_id: str, updated_at: str, digest: str, *, held: Callable[[str], bool]
) -> RunSummary:
    """What a list says of a run, also where its `digest` can't be read."""
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


def _place(event: "ApprovalRequested | ApprovalGiven") -> str:
    """Where something is asked: a nested run asks about its plan, its outer run about the task."""
    return ":".join(("/".join(event.within), event.task_id or ""))


def _completed(events: "Iterable[Event]") -> set[str]:
    """The tasks of the outermost run that are completed after `events`."""
    ids = set[str]()
    for event in events:
        if event.type == "task_completed" and not event.within:
            ids.add(event.task_id)
        elif event.type == "run_resumed" and not event.within:
            ids.difference_update(event.again)
    return ids
