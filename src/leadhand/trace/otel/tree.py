"""The tree of one run's spans.

A position in it is a path of task ids: `()` is the run, `("legal", "t1")` a task of the nested run
of `legal`. Times are the wall clock at the run's start, plus monotonic seconds.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    NonRecordingSpan,
    Span,
    SpanContext,
    SpanKind,
    StatusCode,
    Tracer,
    set_span_in_context,
)

from leadhand.contracts import events
from leadhand.contracts.answer import Answer
from leadhand.contracts.task import Task
from leadhand.state.fold import rewired
from leadhand.trace.otel import attributes as names
from leadhand.trace.otel.attributes import Attributes, ContentFilter

Path = tuple[str, ...]

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_UNFINISHED = "unfinished"
"""The error of a span whose end was not reported."""


@dataclass(slots=True)
class _Team:
    span: Span
    phase: Span | None = None
    """Planning or synthesis, while it runs."""
    error: str | None = None
    tasks: dict[str, Task] = field(default_factory=dict[str, Task])
    """Its present tasks; of a resumed run, those planned since."""


@dataclass(slots=True)
class _Attempt:
    span: Span
    ended_ns: int | None = None
    """When it ended without success: it is open until the decision."""


class SpanTree:
    def __init__(
        self,
        tracer: Tracer,
        first: events.RunStarted | events.RunResumed,
        *,
        content: ContentFilter,
    ) -> None:
        """The first span is a child of the current one, if any."""
        self._tracer = tracer
        self._content = content
        at_ns = (first.at - _EPOCH) // dt.timedelta(microseconds=1) * 1_000
        self._zero_ns = at_ns - _ns(first.elapsed_s)
        self._now_ns = at_ns
        self._run: Attributes = {"leadhand.run.id": first.run_id}
        self._teams: dict[Path, _Team] = {}
        self._open: dict[Path, _Attempt] = {}
        self._contexts: dict[tuple[Path, int], SpanContext] = {}
        self._last: dict[Path, SpanContext] = {}
        self._start_team(first)

    def add(self, event: events.Event) -> None:
        self._now_ns = self._zero_ns + _ns(event.elapsed_s)
        match event:
            case events.RunStarted() | events.RunResumed():
                self._start_team(event)
            case events.RunFinished() | events.RunWaiting():
                self._finish_team(event.within, event.answer)
            case events.TaskDispatched():
                self._dispatched(event)
            case _ if isinstance(event, events.AttemptEnd):
                self._ended(event)
            case events.ModelCalled():
                self._model_called(event)
            case events.ToolCalled():
                self._tool_called(event)
            case (
                events.PlanProposed()
                | events.PlanAccepted()
                | events.PlanRejected()
                | events.SynthesisStarted()
            ):
                self._phase(event)
            case events.ApprovalRequested() if event.calls:
                self._noted(event)
                self._end_attempt(_path(event))  # another span continues it
            case _:
                self._noted(event)

    def close(self) -> None:
        self._finish_team((), None)

    # Runs

    def _start_team(self, event: events.RunStarted | events.RunResumed) -> None:
        known: Attributes = {names.OPERATION: "invoke_workflow"}
        name = "invoke_workflow"
        if isinstance(event, events.RunStarted):
            name = f"{name} {event.team}"
            known |= {names.WORKFLOW: event.team, "leadhand.engine": event.engine}
            known |= {"leadhand.run.after": event.after[0].run_id} if event.after else {}
            known |= self._content.message(names.INPUT, "user", event.request)
        else:
            known["leadhand.run.resumed"] = True
        self._finish_team(event.within, None)
        team = _Team(self._start(name, known, self._last.get(event.within)))
        self._teams[event.within] = team
        if isinstance(event, events.RunStarted):
            parent = team.span.get_span_context()
            team.phase = self._start("plan", {names.OPERATION: "plan"}, parent)

    def _finish_team(self, path: Path, answer: Answer | None) -> None:
        """End a run and everything in it; without an answer it counts as unfinished."""
        team = self._teams.pop(path, None)
        if team is None:
            return
        inner = [other for other in self._teams if other[: len(path)] == path]
        for other in sorted(inner, key=len, reverse=True):
            self._finish_team(other, None)
        for other in [key for key in self._open if key[: len(path)] == path and key != path]:
            self._end_attempt(other, error=_UNFINISHED)
        error = team.error
        if answer is None:
            error = error or _UNFINISHED
        elif answer.status in ("failed", "cancelled"):
            error = error or answer.ended_by or answer.status
        else:
            error = None
        if team.phase is not None:
            self._end(team.phase, error)
        if answer is not None:
            # For a resumed run, only the answer names the team.
            team.span.update_name(f"invoke_workflow {answer.team}")
            team.span.set_attribute(names.WORKFLOW, answer.team)
            team.span.set_attribute("leadhand.run.status", answer.status)
            if answer.metrics.speedup is not None:
                team.span.set_attribute("leadhand.run.speedup", answer.metrics.speedup)
            if answer.metrics.speedup_high is not None:
                team.span.set_attribute("leadhand.run.speedup_high", answer.metrics.speedup_high)
            said = self._content.message(names.OUTPUT, "assistant", answer.answer)
            team.span.set_attributes(said)
        self._end(team.span, error)

    def _phase(
        self,
        event: events.PlanProposed
        | events.PlanAccepted
        | events.PlanRejected
        | events.SynthesisStarted,
    ) -> None:
        team = self._teams.get(event.within)
        if team is None:
            return
        match event:
            case events.PlanProposed() if event.task_id is not None:
                pass  # an amendment that a person is asked about, which has its own events
            case events.PlanProposed():
                team.tasks = {task.id: task for task in event.plan.tasks}
                if team.phase is not None:
                    team.phase.set_attribute("leadhand.plan.by", event.by)
                    team.phase.set_attribute("leadhand.plan.tasks", len(team.tasks))
            case events.PlanAccepted():
                team.error = None
                self._end_phase(team)
            case events.PlanRejected():
                if event.task_id is None:
                    team.error = "plan_rejected"
                self._noted(event)
            case events.SynthesisStarted():
                self._end_phase(team)
                known: Attributes = {names.OPERATION: "synthesize"}
                parent = team.span.get_span_context()
                team.phase = self._start(f"synthesize {event.strategy}", known, parent)

    def _end_phase(self, team: _Team) -> None:
        if team.phase is not None:
            self._end(team.phase)
            team.phase = None

    # Attempts

    def _dispatched(self, event: events.TaskDispatched) -> None:
        path = _path(event)
        self._end_attempt(path, error=_UNFINISHED)
        team = self._teams.get(event.within)
        task = team.tasks.get(path[-1]) if team is not None else None
        known: Attributes = {
            names.OPERATION: "invoke_agent",
            names.AGENT: event.worker,
            "leadhand.task.id": event.task_id,
            "leadhand.task.attempt": event.attempt,
        }
        links: list[Link] = []
        if task is not None:
            needs = [self._last.get((*event.within, id)) for id in task.depends_on]
            links = [Link(context) for context in needs if context is not None]
            known |= self._content.message(names.INPUT, "user", task.intent)
        parent = self._home(event.within)
        span = self._start(f"invoke_agent {event.worker}", known, parent, links=links)
        self._open[path] = _Attempt(span)
        self._last[path] = self._contexts[path, event.attempt] = span.get_span_context()

    def _ended(self, event: events.AttemptEnd) -> None:
        path = _path(event)
        attempt = self._open.get(path)
        decided = attempt is not None and attempt.ended_ns is not None
        if attempt is None or (decided and not isinstance(event, events.TaskCompleted)):
            self._noted(event)
            self._end_attempt(path)
            return
        self._finish_team(path, None)
        span = attempt.span
        match event:
            case events.TaskCompleted():
                output = event.result.output
                span.set_attributes(self._content.message(names.OUTPUT, "assistant", output))
                self._end_attempt(path)
                return
            case events.TaskFailed():
                self._fail(span, event.kind, event.message)
                if event.raised is not None:
                    known = self._content.exception(event.raised, event.message)
                    span.add_event("exception", known, self._now_ns)
            case events.TaskEscalated():
                self._fail(span, event.reason, event.message)
            case events.TaskCancelled():
                self._fail(span, "cancelled", event.reason)
        attempt.ended_ns = self._now_ns
        if isinstance(event, events.TaskCancelled) or event.final:
            self._end_attempt(path)

    def _end_attempt(self, path: Path, *, error: str | None = None) -> None:
        attempt = self._open.pop(path, None)
        if attempt is None:
            return
        if attempt.ended_ns is not None:
            attempt.span.end(attempt.ended_ns)
        else:
            self._end(attempt.span, error)

    def _fail(self, span: Span, kind: str, message: str) -> None:
        span.set_attribute(names.ERROR_TYPE, kind)
        shown = self._content.text(message) if self._content.shown else None
        span.set_status(StatusCode.ERROR, shown)

    def _noted(self, event: events.Event) -> None:
        team = self._teams.get(event.within)
        path = _path(event)
        attempt = self._open.get(path) if path != event.within else None
        span = None if team is None else team.phase or team.span
        if attempt is not None:
            span = attempt.span
        if span is not None:
            span.add_event(event.type, names.facts(event, self._content), self._now_ns)
        if team is not None:
            self._replan(team, event)
        if isinstance(event, events.TaskSplit | events.TaskSkipped):
            self._end_attempt(path)

    def _replan(self, team: _Team, event: events.Event) -> None:
        match event:
            case events.ApprovalGiven() if event.plan is not None:
                team.tasks = {task.id: task for task in event.plan.tasks}
            case events.PlanAmended():
                team.tasks |= {task.id: task for task in (*event.added, *event.changed)}
            case events.RoundDecided():
                team.tasks |= {task.id: task for task in event.tasks}
            case events.TaskPlanned():
                team.tasks[event.task.id] = event.task
            case events.TaskSplit():
                whole = _path(event)[-1]
                team.tasks |= {part.id: part for part in event.parts}
                for id in event.rewired:
                    if id in team.tasks:
                        team.tasks[id] = rewired(team.tasks[id], whole, event.parts)
            case _:
                pass

    # Calls

    def _model_called(self, event: events.ModelCalled) -> None:
        model = event.model.partition(":")[2] or event.model
        known = names.chat(event, self._content)
        span = self._call(f"chat {model}", known, event, kind=SpanKind.CLIENT)
        if event.error is not None:
            shown = self._content.text(event.error) if self._content.shown else None
            span.set_status(StatusCode.ERROR, shown or names.model_error(event.error))
        span.end(self._now_ns)

    def _tool_called(self, event: events.ToolCalled) -> None:
        known = names.tool(event, self._content)
        span = self._call(f"execute_tool {event.tool}", known, event)
        if event.error is not None:
            self._fail(span, "tool_error", event.error)
        span.end(self._now_ns)

    def _call(
        self,
        name: str,
        known: Attributes,
        event: events.ModelCalled | events.ToolCalled,
        *,
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> Span:
        parent = self._contexts.get((_path(event), event.attempt or 0)) or self._home(event.within)
        start_ns = self._now_ns - _ns(event.duration_s)
        return self._start(name, known, parent, kind=kind, start_ns=start_ns)

    # Spans

    def _home(self, path: Path) -> SpanContext | None:
        """The parent of spans that belong to no attempt."""
        team = self._teams.get(path)
        if team is None:
            return self._last.get(path)
        return (team.phase or team.span).get_span_context()

    def _start(
        self,
        name: str,
        known: Attributes,
        parent: SpanContext | None,
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        links: Sequence[Link] = (),
        start_ns: int | None = None,
    ) -> Span:
        context = None
        if parent is not None:
            context = set_span_in_context(NonRecordingSpan(parent), Context())
        return self._tracer.start_span(
            name,
            context,
            kind=kind,
            attributes={**self._run, **known},
            links=links,
            start_time=self._now_ns if start_ns is None else start_ns,
        )

    def _end(self, span: Span, error: str | None = None) -> None:
        if error is not None:
            span.set_attribute(names.ERROR_TYPE, error)
            span.set_status(StatusCode.ERROR)
        span.end(self._now_ns)


def _path(event: events.Event) -> Path:
    if not isinstance(
        event,
        events.TaskEvent | events.ModelCalled | events.ApprovalRequested | events.ApprovalGiven,
    ):
        return event.within
    outer = "/".join(event.within)
    if event.task_id is None or event.task_id == outer:
        return event.within
    return (*event.within, event.task_id[len(outer) + 1 :] if outer else event.task_id)


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)
