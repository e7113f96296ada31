"""One line for an event while a run is under way: who, what and why.

The texts are as they came, so the code that prints them has to make them safe.
"""

from collections.abc import Sequence
from typing import NamedTuple

from leadhand.contracts import events
from leadhand.contracts.answer import Conflict
from leadhand.contracts.outcome import with_location
from leadhand.tools.text import counted
from leadhand.trace.steps import decision

_SHOWN = 5
"""Names that are listed one by one; of more, the number is shown."""


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
            case events.TaskRetried():
                said = f"again in {event.delay_s:g} s"
            case events.TaskRefined():
                said = "refined"
            case events.TierRaised():
                said = f"tier raised to {event.new_tier}"
            case events.TaskReassigned() if event.second_opinion:
                said = f"second opinion by {event.worker}"
            case events.TaskReassigned():
                said = f"to {event.worker}"
            case events.TaskSplit():
                said = f"split into {_listed([part.id for part in event.parts])}"
            case events.OpinionJudged():
                taken, other = event.workers[:: 1 if event.taken == "first" else -1]
                self._why.pop(event.task_id, None)
                return Notice(
                    event.task_id, f"{taken}'s result is taken, not {other}'s", event.reason
                )
            case _:
                return None
        why = self._why.pop(event.task_id, event.reason)
        return Notice(event.task_id, said, why)

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
        return notice._replace(about="/".join((*event.within, notice.about)))


def _of_run(event: events.Event) -> Notice | None:
    match event:
        case events.RunResumed():
            said = [f"continues {_listed(event.goes_on)}"] if event.goes_on else []
            said += [f"does {_listed(event.again)} again"] if event.again else []
            if event.prompts_changed:
                said = ["unfinished model calls are made again, finished work is kept", *said]
                return Notice("run", "resumed with changed prompts", "; ".join(said))
            return Notice("run", "resumed", "; ".join(said))
        case events.PlanRejected() if event.by:
            return Notice(event.by, _first(event.problems))
        case events.PlanRejected() if event.problems:
            return Notice("plan", "sent back", _first(event.problems))
        case events.PlanAmended():
            return Notice(
                "plan", f"revision {event.revision} after {event.task_id}", _amended(event)
            )
        case events.RoundDecided():
            return Notice("plan", decision(event), event.reason)
        case events.ApprovalGiven():
            about = event.task_id or "plan"
            replies = event.calls.values()
            if len(replies) > 1:
                approved = sum(one.approved for one in replies)
                said = f"{approved} of {len(replies)} calls approved by {event.by}"
                return Notice(about, said, "; ".join(one.reason for one in replies if one.reason))
            why = event.text or "".join(one.reason for one in replies)
            return Notice(about, f"{event.verdict} by {event.by}", why)
        case events.BreakerOpened():
            said = f"breaker open for {event.pause_s:g} s"
            return Notice(event.worker, said, f"{event.failures} failures in a row")
        case events.BreakerClosed():
            return Notice(event.worker, "breaker closed", "it works again")
        case events.ConflictFound():
            if event.conflict.resolution is not None:
                return _judged(event.conflict)
            return Notice(_between(event.conflict), event.conflict.kind, event.conflict.about)
        case events.ConflictJudged():
            if event.holds:
                return _judged(event.conflict)
            return Notice(_between(event.conflict), "no contradiction", event.conflict.why)
        case events.CritiqueGiven():
            return _critique(event)
        case events.WorkerStuck():
            return Notice("", event.message)
        case _:
            return None


def _amended(event: events.PlanAmended) -> str:
    changes = {
        "added": [task.id for task in event.added],
        "changed": [task.id for task in event.changed],
        "dropped": event.dropped,
    }
    said = [f"{_listed(ids)} {what}" for what, ids in changes.items() if ids]
    return f"{event.reason} ({'; '.join(said) or 'nothing changed'})"


def _judged(conflict: Conflict) -> Notice:
    if conflict.resolution is None:
        return Notice(_between(conflict), f"{conflict.kind} left open", conflict.why)
    return Notice(_between(conflict), f"taken as right: {conflict.resolution}", conflict.why)


def _critique(event: events.CritiqueGiven) -> Notice:
    points = [point.point for point in event.points]
    match event.verdict:
        case "approved":
            said = f"draft {event.round} is approved"
        case "sent_back":
            said = f"draft {event.round} is sent back"
        case "objected":
            said = "the answer is given as it is, with objections"
        case "skipped":
            said = "gave no review"
    return Notice("critic", said, _first(points) if points else event.why or "")


def _between(conflict: Conflict) -> str:
    return ", ".join(conflict.task_ids)


def _first(texts: Sequence[str]) -> str:
    more = len(texts) - 1
    return texts[0] + (f" (and {more} more)" if more else "")


def _listed(ids: Sequence[str]) -> str:
    if len(ids) > _SHOWN:
        return counted(len(ids), "task")
    return ", ".join(ids)
