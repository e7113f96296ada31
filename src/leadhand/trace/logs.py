"""A listener that writes a run's events to the standard library's log, each as one line.

The logger is `leadhand.run`. Runs, plans and the ends of tasks are INFO, dispatches and calls
DEBUG, failures, breakers and stuck workers WARNING. The program configures logging.
"""

import logging
from collections.abc import Callable

from leadhand.contracts import events
from leadhand.redaction.logs import one_line
from leadhand.tools.text import counted
from leadhand.trace.steps import notice, step

_LEVELS = {
    "task_dispatched": logging.DEBUG,
    "model_called": logging.DEBUG,
    "tool_called": logging.DEBUG,
    "plan_rejected": logging.WARNING,
    "task_failed": logging.WARNING,
    "task_escalated": logging.WARNING,
    "worker_stuck": logging.WARNING,
    "breaker_opened": logging.WARNING,
}
"""The others are INFO."""
_FIELDS = ("task_id", "attempt", "worker", "model", "tool", "duration_s")
_TEXTS = ("error", "message", "question", "reason", "text", "why")
"""Fields with content of people, models or tools, or quotes of it."""


# Without this, a program that does not configure logging would get warnings on stderr.
logging.getLogger("leadhand.run").addHandler(logging.NullHandler())


class Logs:
    """Logs every event of a run; events below the logger's level cost next to nothing."""

    def __init__(
        self,
        *,
        content: bool = False,
        redact: Callable[[str], str] = str,
        logger: logging.Logger | None = None,
    ) -> None:
        """`content`: texts of people, models and tools too. `redact` applies to all texts."""
        self._content = content
        self._redact = redact
        self._logger = logger or logging.getLogger("leadhand.run")

    def __call__(self, event: events.Event) -> None:
        level = _level(event)
        if self._logger.isEnabledFor(level):
            self._logger.log(level, self._shown(self._line(event)), extra=self._extra(event))

    def _line(self, event: events.Event) -> str:
        line = f"{event.run_id}: {_about(event)}"
        if self._content:
            texts = (getattr(event, name, None) for name in _TEXTS)
            line = ": ".join([line, *(str(text) for text in texts if text)])
        return line

    def _extra(self, event: events.Event) -> dict[str, object]:
        """The record's extra attributes; none may hide one of its own."""
        found: dict[str, object] = {
            "run_id": event.run_id,
            "seq": event.seq,
            "type": event.type,
            "elapsed_s": event.elapsed_s,
        }
        for name in _FIELDS:
            value: object = getattr(event, name, None)
            if value is not None:
                found[name] = self._shown(value) if isinstance(value, str) else value
        return found

    def _shown(self, text: str) -> str:
        """`text` redacted and on one line, so that it cannot forge another record."""
        return one_line(self._redact(text))


def _level(event: events.Event) -> int:
    level = _LEVELS.get(event.type, logging.INFO)
    if isinstance(event, events.ModelCalled | events.ToolCalled) and event.error is not None:
        return logging.WARNING
    if isinstance(event, events.RunFinished) and event.answer.status == "failed":
        return logging.WARNING
    return level


def _about(event: events.Event) -> str:
    if isinstance(event, events.ModelCalled | events.ToolCalled):
        return _call(event)
    if isinstance(event, events.TaskEvent):
        return f"task {event.task_id} {_task(event)}"
    where = f"in task {'/'.join(event.within)}, " if event.within else ""
    return where + _run(event)


def _call(event: events.ModelCalled | events.ToolCalled) -> str:
    took = f"{event.duration_s:.3f} s"
    if isinstance(event, events.ToolCalled):
        how = f"called tool {event.tool}"
        what = (
            "gave no result"
            if event.error is not None
            else f"gave {event.output_chars:,} characters"
        )
        return f"task {event.task_id} {how}, which {what} after {took}"
    who = event.role if event.task_id is None else f"task {event.task_id} ({event.role})"
    if event.error is None:
        tokens = f"{event.input_tokens:,} tokens in, {event.output_tokens:,} out"
        return f"{who} asked {event.model}: {tokens}, {took}"
    # The part after the colon is the provider's text.
    why = event.error.partition(":")[0]
    when = f"in {event.retry_in_s:.1f} s" if event.retry_in_s else "in another way"
    again = f"; asked again {when}" if event.retry_in_s is not None else ""
    return f"{who} asked {event.model}, no answer after {took}: {why}{again}"


def _task(
    event: events.TaskPlanned
    | events.TaskDispatched
    | events.AttemptEnd
    | events.TaskDecision
    | events.TaskSkipped
    | events.WorkerStuck,
) -> str:
    match event:
        case events.TaskPlanned():
            return f"planned for {event.task.worker}, before the plan is complete"
        case events.TaskDispatched():
            return f"given to {event.worker}, attempt {event.attempt}"
        case events.TaskCompleted():
            return f"completed at attempt {event.attempt}" + (", flagged" if event.flag else "")
        case events.TaskFailed():
            return f"failed at attempt {event.attempt} ({event.kind}){_finality(event)}"
        case events.TaskEscalated():
            return f"escalated at attempt {event.attempt} ({event.reason}){_finality(event)}"
        case events.TaskSkipped():
            return f"skipped, because of task {event.blame}"
        case events.TaskCancelled():
            return "cancelled"
        case events.WorkerStuck():
            return f"has worker {event.worker} stuck"
        case _:
            return step(event).said


def _finality(event: events.TaskFailed | events.TaskEscalated) -> str:
    return ": given up" if event.final else ""


def _run(event: events.RunLevelEvent | events.BreakerOpened | events.BreakerClosed) -> str:
    match event:
        case events.RunStarted():
            after = (
                f", following {event.after[0].run_id or 'a conversation'}" if event.after else ""
            )
            return f"team {event.team} started, {event.engine}{after}"
        case events.PlanProposed():
            return f"plan of {len(event.plan.tasks):,} tasks proposed by {event.by}"
        case events.PlanRejected() if event.by:
            return f"no plan by {event.by}: {'; '.join(event.problems)}"
        case events.PlanRejected():
            return f"plan rejected, {counted(len(event.problems), 'problem')}"
        case events.PlanAccepted():
            return f"plan accepted, {counted(len(event.warnings), 'warning')}"
        case events.PlanAmended():
            added, changed, dropped = len(event.added), len(event.changed), len(event.dropped)
            changes = f"{counted(added, 'task')} added, {changed} changed, {dropped} dropped"
            return f"plan amended to revision {event.revision} after {event.task_id}: {changes}"
        case events.ApprovalRequested():
            return f"a person is asked about {_subject(event)}"
        case events.ApprovalGiven():
            return f"{event.by} said {event.verdict} to {_subject(event)}"
        case events.SynthesisStarted():
            return f"synthesis by {event.strategy} started"
        case events.ConflictFound():
            return f"{event.conflict.kind} between {', '.join(event.conflict.task_ids)}"
        case events.ConflictJudged():
            settled = "stands" if event.holds else "is none"
            return f"{event.conflict.kind} between {', '.join(event.conflict.task_ids)} {settled}"
        case events.RunFinished():
            gaps, took = counted(len(event.answer.gaps), "gap"), event.answer.metrics.makespan_s
            return f"finished {event.answer.status} with {gaps} in {took:.2f} s"
        case _:
            return notice(event).said


def _subject(event: events.ApprovalRequested | events.ApprovalGiven) -> str:
    return "the plan" if event.task_id is None else f"task {event.task_id}"
