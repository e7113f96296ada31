"""One line for an event while a run is under way: who, what and why.

The texts are as they came, so the code that prints them has to make them safe.
"""

from collections.abc import Sequence
from typing import NamedTuple

from leadhand.contracts import events
from leadhand.contracts.answer import Conflict
from leadhand.contracts.outcome import with_location
from leadhand.trace import steps


class Notice(NamedTuple):
    """Something that happened, in a line."""

    about: str
    """A task by its full path, a worker, the plan, ...; empty if `said` names it."""
    said: str
    """What happened, in a few words."""
    why: str = ""

    def __str__(self) -> str:
        return ": ".join(part for part in self if part)


class Notices:
    """Makes the notices of a run, event by event."""

    def __init__(self) -> None:
        self._why: dict[str, str] = {}
        """By task: why its attempt failed, until something is decided about that."""
        self._stuck: set[str] = set()
        """The messages about stuck workers so far: each is given once."""
        self._refused = False
        """Whether the last event was a person's refusal."""

    def of_task(self, event: events.Event) -> Notice | None:
        """The decision about a task whose attempt did not complete."""
        match event:
            case events.TaskFailed():
                self._why[event.task_id] = with_location(event.message, event.where)
                return None
            case events.TaskEscalated():
                reason = event.reason.replace("_", " ")
                self._why[event.task_id] = f"{reason}: {event.message}"
                return None
            case _ if isinstance(event, events.TaskDecision):
                failed = self._why.pop(event.task_id, event.reason)
                why = event.reason if isinstance(event, events.OpinionJudged) else failed
                return Notice(event.task_id, steps.step(event).said, why)
            case _:
                return None

    def of_run(self, event: events.Event) -> Notice | None:
        """What happened to the run as a whole, or to a nested run, whose name comes first."""
        if isinstance(event, events.WorkerStuck):
            if event.message in self._stuck:
                return None
            self._stuck.add(event.message)
        refused, self._refused = self._refused, getattr(event, "verdict", None) == "refused"
        if refused and isinstance(event, events.PlanRejected):
            return None  # the refusal was shown
        notice = _of_run(event)
        if notice is None or not event.within or isinstance(event, events.ApprovalGiven):
            return notice  # an approval has the whole path already
        about = (*event.within, notice.about) if notice.about else event.within
        return notice._replace(about="/".join(about))


def _of_run(event: events.Event) -> Notice | None:
    match event:
        case (
            events.RunResumed()
            | events.RoundDecided()
            | events.BreakerOpened()
            | events.BreakerClosed()
            | events.CritiqueGiven()
            | events.WorkerStuck()
        ):
            step = steps.notice(event)
            return Notice("", step.said, step.why)
        case events.PlanRejected() if event.by:
            return Notice(event.by, _first(event.problems))
        case events.PlanRejected() if event.problems:
            return Notice("plan", "sent back", _first(event.problems))
        case events.PlanAmended():
            return Notice(
                "plan", f"revision {event.revision} after {event.task_id}", _amended(event)
            )
        case events.ApprovalGiven():
            about = event.task_id or "plan"
            replies = event.calls.values()
            if len(replies) > 1:
                approved = sum(one.approved for one in replies)
                said = f"{approved} of {len(replies)} calls approved by {event.by}"
                return Notice(about, said, "; ".join(one.reason for one in replies if one.reason))
            why = event.text or "".join(one.reason for one in replies)
            return Notice(about, f"{event.verdict} by {event.by}", why)
        case events.ConflictFound():
            if event.conflict.resolution is not None:
                return _judged(event.conflict)
            return Notice(_between(event.conflict), event.conflict.kind, event.conflict.about)
        case events.ConflictJudged():
            if event.holds:
                return _judged(event.conflict)
            return Notice(_between(event.conflict), "no contradiction", event.conflict.why)
        case _:
            return None


def _amended(event: events.PlanAmended) -> str:
    changes = {
        "added": [task.id for task in event.added],
        "changed": [task.id for task in event.changed],
        "dropped": event.dropped,
    }
    said = [f"{', '.join(ids)} {what}" for what, ids in changes.items() if ids]
    return f"{event.reason} ({'; '.join(said) or 'nothing changed'})"


def _judged(conflict: Conflict) -> Notice:
    if conflict.resolution is None:
        return Notice(_between(conflict), f"{conflict.kind} left open", conflict.why)
    return Notice(_between(conflict), f"taken as right: {conflict.resolution}", conflict.why)


def _between(conflict: Conflict) -> str:
    return ", ".join(conflict.task_ids)


def _first(texts: Sequence[str]) -> str:
    more = len(texts) - 1
    return texts[0] + (f" (and {more} more)" if more else "")
