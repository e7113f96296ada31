"""The history of a run: every attempt, the decisions after it, the plans, the questions. Pure.

`RunState` says how things are now, `RunHistory` how they came about.
"""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from leadhand.contracts import events
from leadhand.contracts.answer import Conflict, Metrics
from leadhand.contracts.outcome import NO_USAGE, Usage, with_location
from leadhand.contracts.summary import RunStatus
from leadhand.state.fold import RunState, TaskState, apply
from leadhand.state.times import MOMENT_S, critical_chain, metrics
from leadhand.trace.steps import (
    End,
    Notice,
    PlanEvent,
    PlanVersion,
    QuestionHistory,
    Step,
    UsageOwner,
    notice,
    plan_versions,
    step,
    usage_of,
)

_IN_STATE = (
    events.SynthesisStarted | events.ConflictFound | events.ConflictJudged | events.RunFinished
)
"""Events of which the state has everything."""


@dataclass(slots=True)
class AttemptHistory:
    number: int
    worker: str
    started_s: float
    ended_s: float | None = None
    """`None` while it runs."""
    worked_s: float | None = None
    """Without its waits; `None` if that was not recorded."""
    end: End = "running"
    kind: str = ""
    """The kind of failure or the reason of an escalation."""
    message: str = ""
    """Its worker's message if it did not complete, or the flag with which it was accepted."""
    traceback: str = ""
    """Of the exception that ended it, if any."""
    model: str | None = None
    usage: Usage = NO_USAGE
    tools: Counter[str] = field(default_factory=Counter[str])
    waits: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """When its model calls waited: for rates, for the budget, after a refusal. In order."""
    steps: list[Step] = field(default_factory=list[Step])
    nested: "RunHistory | None" = None

    @property
    def running(self) -> bool:
        return self.ended_s is None

    @property
    def took_s(self) -> float:
        """How long it took; 0 while it runs."""
        return 0.0 if self.ended_s is None else self.ended_s - self.started_s

    @property
    def waited_s(self) -> float | None:
        """How much of it were waits for rates, slots and the event loop; `None` if unknown."""
        return None if self.worked_s is None else max(self.took_s - self.worked_s, 0.0)

    def use(self, used: Usage | None) -> None:
        if used is not None:
            self.usage = self.usage.plus(used)

    def wait(self, call: events.ModelCalled) -> None:
        """Keep the wait before a call, and after it if it is made again."""
        began_s, ended_s = call.elapsed_s - call.duration_s, call.elapsed_s
        for start_s, end_s in (
            (began_s - call.queued_s, began_s),
            (ended_s, ended_s + (call.retry_in_s or 0.0)),
        ):
            if end_s - start_s < MOMENT_S:
                continue
            if self.waits and self.waits[-1][1] >= start_s:
                start_s = min(start_s, self.waits.pop()[0])
            self.waits.append((start_s, end_s))

    def finish(self, event: events.AttemptEnd) -> None:
        self.ended_s, self.worked_s = event.elapsed_s, event.worked_s
        match event:
            case events.TaskCompleted():
                self.end, self.message = "completed", event.flag or event.result.draft_only or ""
            case events.TaskFailed():
                self.end, self.kind = "failed", event.kind
                self.message = with_location(event.message, event.where)
                self.traceback = event.raised.traceback if event.raised is not None else ""
            case events.TaskEscalated():
                self.end, self.kind, self.message = "escalated", event.reason, event.message
            case events.TaskCancelled():
                self.end, self.message = "cancelled", event.reason
        if isinstance(event, events.TaskFailed | events.TaskEscalated) and event.final:
            self.steps.append(Step(event.elapsed_s, "given up", event.decision))


@dataclass(slots=True)
class TaskHistory:
    id: str
    part_of: str | None = None
    """The task that was split into it."""
    parts: tuple[str, ...] = ()
    """The tasks into which it was split."""
    dropped: str = ""
    attempts: list[AttemptHistory] = field(default_factory=list[AttemptHistory])
    before: list[Step] = field(default_factory=list[Step])
    """Decisions before its first attempt."""

    def add(self, step: Step) -> None:
        (self.attempts[-1].steps if self.attempts else self.before).append(step)

    @property
    def is_notable(self) -> bool:
        """Whether there is more to show than that its first attempt completed."""
        one = self.attempts[0] if len(self.attempts) == 1 else None
        return (
            one is None
            or one.end != "completed"
            or bool(one.message or one.steps or self.before or self.part_of)
            or one.nested is not None
        )


class RunHistory:
    def __init__(self, state: RunState | None = None) -> None:
        """`state`: of a nested run, which the outer run's history changes."""
        self.state = state or RunState()
        self.run_id = self.state.run_id
        """From any event; the state has it only from the run's first one."""
        self.tasks: dict[str, TaskHistory] = {}
        """Every task that was ever in the plan, by id."""
        self.plans: list[PlanVersion] = []
        self.questions: list[QuestionHistory] = []
        self.notices: list[Step] = []
        self.usage_by_owner: dict[UsageOwner, Usage] = {}
        self.started_at: dt.datetime | None = None
        self.started_s = 0.0
        self.last_s = 0.0
        """The last event's time, in seconds since the outermost run started."""

    @classmethod
    def of(cls, log: Iterable[events.Event]) -> "RunHistory":
        history = cls()
        for event in log:
            history.add(event)
        return history

    def add(self, event: events.Event) -> None:
        before = self.state.usage
        self.run_id = event.run_id
        apply(self.state, event)
        used = usage_of(event) if self.state.usage is not before else None
        self._note(event, used)
        if used is not None:
            spender = self._spender(event, used)
            self.usage_by_owner[spender] = self.usage_by_owner.get(spender, NO_USAGE).plus(used)

    @property
    def open_questions(self) -> Sequence[QuestionHistory]:
        if self.state.answer is not None and not self.state.answer.waiting:
            return ()
        return tuple(self._open_questions())

    def run_status(self, *, held: bool) -> RunStatus:
        return self.state.status(held=held, asks=bool(self.open_questions))

    @property
    def metrics(self) -> Metrics:
        answer = self.state.answer
        return answer.metrics if answer is not None else metrics(self.state, self.last_s)

    @property
    def conflicts(self) -> tuple[Conflict, ...]:
        answer = self.state.answer
        return self.state.conflicts if answer is None else answer.conflicts

    @property
    def critical_path(self) -> tuple[str, ...]:
        return tuple(part.task_id for part in critical_chain(self.state) if part.task_id)

    def usage_by(self, field: Literal["role", "worker", "model"]) -> dict[str, Usage]:
        """Usage by role, by worker (`outer/inner` if nested) or by model; the most tokens first."""
        out: dict[str, Usage] = {}
        for spender, usage in self.usage_by_owner.items():
            name = getattr(spender, field)
            if name is not None:
                out[name] = out.get(name, NO_USAGE).plus(usage)
        by_tokens = sorted(out.items(), key=lambda one: -one[1].input_tokens - one[1].output_tokens)
        return dict(by_tokens)

    def ordered_tasks(self) -> Iterator[TaskHistory]:
        """Every task in plan order, parts right after the task that was split."""
        for task in self.tasks.values():
            if task.part_of is None:
                yield from self._with_parts(task)

    def task_state(self, id: str) -> TaskState:
        """A task that is no longer in the plan has its last."""
        return self.state.tasks.get(id) or self.state.retired[id]

    def task_status(self, id: str) -> str:
        """A task that is no longer in the plan has its last."""
        if id in self.state.tasks:
            return self.state.tasks[id].status
        return "split" if self.tasks[id].parts else "dropped"

    def last_attempt(self, task_id: str | None) -> AttemptHistory | None:
        task = self.tasks.get(task_id or "")
        return task.attempts[-1] if task is not None and task.attempts else None

    def _with_parts(self, task: TaskHistory) -> Iterator[TaskHistory]:
        yield task
        for id in task.parts:
            yield from self._with_parts(self.tasks[id])

    def _open_questions(self) -> Iterator[QuestionHistory]:
        yield from (one for one in self.questions if one.verdict is None)
        for task in self.tasks.values():
            inner = task.attempts[-1].nested if task.attempts else None
            if inner is not None and inner.state.answer is None:
                for one in inner._open_questions():
                    yield one.within(task.id)

    def _note(self, event: events.Event, used: Usage | None) -> None:
        before_s, self.last_s = self.last_s, event.elapsed_s
        if event.within:
            self._nested(event, used)
            return
        if isinstance(event, events.RunStarted):
            self.started_at, self.started_s = event.at, event.elapsed_s
        elif isinstance(event, PlanEvent):
            self._planned(event)
        elif isinstance(event, Notice):
            if isinstance(event, events.RunResumed):
                self._resumed(event, before_s)
            self.notices.append(notice(event))
            self._add_tasks()
        elif isinstance(event, events.TaskPlanned):
            self._add_tasks()
        elif isinstance(event, events.ApprovalRequested):
            at_s, id, calls = event.elapsed_s, event.task_id, event.calls
            self.questions.append(QuestionHistory(at_s, id, event.question, calls=calls))
            attempt = self.last_attempt(id) if calls else None
            if attempt is not None and attempt.running:
                attempt.ended_s, attempt.end = at_s, "paused"
        elif isinstance(event, events.ApprovalGiven):
            self._answered(event)
        elif isinstance(event, events.ModelCalled):
            attempt = self.last_attempt(event.task_id)
            if attempt is not None:
                attempt.use(used)
                attempt.wait(event)
                attempt.model = event.model if event.role == "worker" else attempt.model
        elif not isinstance(event, _IN_STATE):
            self._of_task(event, used)

    def _nested(self, event: events.Event, used: Usage | None) -> None:
        id = event.within[0]
        attempt, state = self.last_attempt(id), self.state.tasks[id].nested
        if attempt is None or state is None:
            return
        attempt.use(used)
        if attempt.nested is None or attempt.nested.state is not state:
            attempt.nested = RunHistory(state)
            for before in self.tasks[id].attempts[:-1]:
                if before.nested is not None and before.nested.state is state:
                    # A resumed attempt continues that nested run, and alone has it from then on.
                    attempt.nested, before.nested = before.nested, None
        attempt.nested._note(events.unnested(event), used)

    def _of_task(
        self,
        event: events.TaskDispatched
        | events.ToolCalled
        | events.AttemptEnd
        | events.TaskDecision
        | events.TaskSkipped,
        used: Usage | None,
    ) -> None:
        task = self.tasks[event.task_id]
        attempt = task.attempts[-1] if task.attempts else None
        if attempt is not None:
            attempt.use(used)
        match event:
            case events.TaskDispatched():
                task.attempts.append(AttemptHistory(event.attempt, event.worker, event.elapsed_s))
            case events.ToolCalled():
                if attempt is not None:
                    attempt.tools[event.tool] += 1
            case events.TaskSkipped():
                pass  # it never started; the state says why
            case _ if isinstance(event, events.AttemptEnd) and attempt and attempt.running:
                attempt.finish(event)
            case events.TaskSplit():
                task.add(step(event))
                task.parts = tuple(part.id for part in event.parts)
                self.tasks |= {id: TaskHistory(id, part_of=task.id) for id in task.parts}
            case _:
                task.add(step(event))

    def _planned(self, event: PlanEvent) -> None:
        self.plans = plan_versions(self.plans, event, tasks=len(self.state.tasks))
        if isinstance(event, events.PlanAccepted):
            early = self.tasks
            self.tasks = {id: early.get(id) or TaskHistory(id) for id in self.state.tasks}
            for id in early.keys() - self.tasks.keys():
                self.tasks[id] = early[id]
                self.tasks[id].dropped = "the plan does not have it"
        elif isinstance(event, events.PlanAmended):
            self.tasks |= {task.id: TaskHistory(task.id) for task in event.added}
            for id in event.dropped:
                self.tasks[id].dropped = f"by revision {event.revision}: {event.reason}"

    def _add_tasks(self) -> None:
        for id in self.state.tasks:
            self.tasks.setdefault(id, TaskHistory(id))

    def _answered(self, event: events.ApprovalGiven) -> None:
        for one in self.questions:
            if one.task_id == event.task_id and one.verdict is None:
                one.verdict, one.text, one.by = event.verdict, event.text, event.by
                one.answered_s, one.replies = event.elapsed_s, event.calls

    def _resumed(self, event: events.RunResumed, before_s: float) -> None:
        self._halt(before_s)
        self.questions = [
            one
            for one in self.questions
            if one.verdict is not None or one.task_id not in event.again
        ]
        for id in event.again:
            self.tasks[id].add(Step(event.elapsed_s, "done again from the beginning"))

    def _halt(self, at_s: float) -> None:
        """End running attempts as interrupted, at the time of the process's last event."""
        for task in self.tasks.values():
            attempt = task.attempts[-1] if task.attempts else None
            if attempt is not None and attempt.running:
                attempt.ended_s, attempt.end = at_s, "interrupted"
                if attempt.nested is not None:
                    attempt.nested._halt(at_s)

    def _spender(self, event: events.Event, used: Usage) -> UsageOwner:
        history, names = self, list[str]()
        for id in event.within:
            attempt = history.last_attempt(id)
            if attempt is None or attempt.nested is None:
                break
            names.append(attempt.worker)
            history = attempt.nested
        role = event.role if isinstance(event, events.ModelCalled) else "worker"
        task_id: str | None = getattr(event, "task_id", None)
        if role == "worker" and task_id is not None:
            attempt = history.last_attempt(
                task_id.removeprefix("".join(f"{id}/" for id in event.within))
            )
            names += [attempt.worker] if attempt is not None else []
        return UsageOwner(role, "/".join(names) or None, used.model)
