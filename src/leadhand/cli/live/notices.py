"""What a view of a run under way keeps: the state, and a line, not safe to print, a notice."""

import shlex
from collections.abc import Iterator

from leadhand.contracts import events
from leadhand.contracts.outcome import Usage, with_location
from leadhand.planners.routing import ROUTER
from leadhand.run.questions import in_a_line, open_questions
from leadhand.state.fold import RunState, apply
from leadhand.tools.text import counted
from leadhand.trace import steps


class WatchedRun:
    def __init__(self, how_to_answer: str | None = None) -> None:
        """`how_to_answer` is the command; None: `leadhand answer` and the run's id."""
        self.state = RunState()
        self._how_to_answer = how_to_answer
        self._why: dict[str, str] = {}
        """By task: why its attempt failed, until something is decided about that."""
        self._stuck: set[str] = set()
        """The messages about stuck workers so far: each is given once."""
        self._refused = False
        """Whether the last event was a person's refusal."""

    @property
    def _given(self) -> bool:
        """Whether the first plan of the run comes from the user."""
        return self.state.plan is None and self.state.proposed_by == "person"

    @property
    def how_to_answer(self) -> str:
        command = self._how_to_answer or f"leadhand answer {shlex.quote(self.state.run_id)}"
        return f"  to answer: {command}"

    def questions(self) -> Iterator[tuple[str | None, str]]:
        for question in open_questions(self.state):
            yield question.task_id, asked(question.task_id, question.text)

    def add(self, event: events.Event) -> str | None:
        """The line about an event that people should know of; a task's begins with its full
        path."""
        apply(self.state, event)
        refused, self._refused = self._refused, getattr(event, "verdict", None) == "refused"
        match event:
            case events.TaskFailed():
                self._why[event.task_id] = with_location(event.message, event.where)
            case events.TaskEscalated():
                reason = event.reason.replace("_", " ")
                self._why[event.task_id] = f"{reason}: {event.message}"
            case events.WorkerStuck() if event.message in self._stuck:
                return None
            case events.PlanRejected() if refused or self._given or event.by not in ("", ROUTER):
                return None  # the refusal was shown, or ends the command with the same words
            case _:
                parts = self._parts(event)
                return ": ".join(filter(None, parts)) if any(parts) else None
        return None

    def _parts(self, event: events.Event) -> tuple[str, str, str]:
        """Who or what the event is about, what happened, and why."""
        if isinstance(event, events.TaskDecision):
            failed = self._why.pop(event.task_id, event.reason)
            why = event.reason if isinstance(event, events.OpinionJudged) else failed
            return event.task_id, steps.step(event).said, why
        if isinstance(event, events.WorkerStuck):
            self._stuck.add(event.message)
        about, said, why = _of_run(event)
        if event.within and (said or why) and not isinstance(event, events.ApprovalGiven):
            about = "/".join(filter(None, (*event.within, about)))
        return about, said, why


def _of_run(event: events.Event) -> tuple[str, str, str]:
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
            return "", step.said, step.why
        case events.PlanRejected() if event.problems:
            more = f" (and {len(event.problems) - 1} more)" if event.problems[1:] else ""
            return event.by or "plan", "" if event.by else "sent back", event.problems[0] + more
        case events.PlanAmended():
            (version,) = steps.plan_versions((), event, tasks=0)
            changes = "; ".join(version.notes) or "nothing changed"
            return "plan", f"revision {event.revision}", f"{version.said} ({changes})"
        case events.ApprovalGiven():
            replies = event.calls.values()
            said = event.verdict
            if len(replies) > 1:
                said = f"{sum(one.approved for one in replies)} of {len(replies)} calls approved"
            why = "; ".join(filter(None, [event.text, *(one.reason for one in replies)]))
            return event.task_id or "plan", f"{said} by {event.by}", why
        case events.ConflictFound() | events.ConflictJudged():
            conflict = event.conflict
            between = ", ".join(conflict.task_ids)
            if conflict.resolution is not None:
                return between, f"taken as right: {conflict.resolution}", conflict.why
            if isinstance(event, events.ConflictFound):
                return between, conflict.kind, conflict.about
            said = f"{conflict.kind} left open" if event.holds else "no contradiction"
            return between, said, conflict.why
        case _:
            return "", "", ""


def asked(id: str | None, question: str) -> str:
    """`id` is its task, None the plan."""
    who = f"{id} waits for a person" if id is not None else "the plan waits for your approval"
    return f"? {who}: {in_a_line(question)}"


def waits(call: events.ModelCalled) -> str | None:
    """Why and when a model is asked again; None if it answered."""
    if call.error is None:
        return None
    if call.retry_in_s is None:
        return f"no answer: {call.error}"
    when = f"in {call.retry_in_s:.1f} s" if call.retry_in_s else "in another way"
    return f"asks again {when}: {call.error}"


def short_usage(usage: Usage) -> str:
    tokens = usage.input_tokens + usage.output_tokens
    shown = f"{tokens / 1000:.1f}k" if tokens >= 1_000 else str(tokens)
    return f"{counted(usage.requests, 'request')}, {shown} tokens"
