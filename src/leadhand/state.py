"""The state of a run as the fold of its events. `apply` is the only way it changes. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, assert_never

from leadhand.contracts.answer import Answer, TaskStatus
from leadhand.contracts.event import (
    ConflictFound,
    Event,
    ModelCalled,
    PlanAccepted,
    PlanProposed,
    PlanRejected,
    RunFinished,
    RunStarted,
    SynthesisStarted,
    TaskCancelled,
    TaskCompleted,
    TaskDispatched,
    TaskEscalated,
    TaskFailed,
    TaskReassigned,
    TaskRetried,
    TaskSkipped,
    ToolCalled,
    WorkerStuck,
)
from leadhand.contracts.outcome import NO_USAGE, Result, Usage
from leadhand.contracts.task import Plan, Task
from leadhand.nesting import unnested

Phase = Literal["planning", "working", "synthesizing", "finished"]


@dataclass(slots=True)
class TaskState:
    """What is known of one task. Seconds count from the start of the run."""

    task: Task
    worker: str
    """Who works on it now, or did last: the plan's worker unless it was reassigned."""
    status: TaskStatus | Literal["pending", "running"] = "pending"
    attempts: int = 0
    """Attempts that were started."""
    tried: tuple[str, ...] = ()
    """The worker of each attempt, in order."""
    dispatched_s: float = 0.0
    """When the last attempt started."""
    started_s: float | None = None
    finished_s: float | None = None
    busy_s: float = 0.0
    """All its attempts together, without the waiting between them."""
    usage: Usage = NO_USAGE
    """What all its attempts used together."""
    called: bool = False
    """Whether the attempt that runs now, or ran last, called a model that we know of."""
    result: Result | None = None
    """What it gave; of a task that did not complete, the best partial result it left."""
    error: str | None = None
    """Why it is not completed, or why its result was accepted with a doubt."""
    nested: "RunState | None" = None
    """The run of the team that does it, or did last, where a team does."""

    @property
    def ended(self) -> bool:
        """Whether the task is in a final state."""
        return self.status != "pending" and self.status != "running"


@dataclass(slots=True)
class RunState:
    """Everything that is known of a run."""

    run_id: str = ""
    team: str = ""
    request: str = ""
    engine: str = ""
    deadline_s: float | None = None
    phase: Phase = "planning"
    seq: int = 0
    """Of the last event."""
    proposed: Plan | None = None
    plan: Plan | None = None
    """The accepted plan."""
    problems: tuple[str, ...] = ()
    """Of the plan that was rejected last, or the warnings of the accepted one."""
    tasks: dict[str, TaskState] = field(default_factory=dict[str, TaskState])
    """By id, in plan order."""
    planned_s: float = 0.0
    usage: Usage = NO_USAGE
    """What the whole run used: planning, every attempt, synthesis."""
    models: dict[str, str] = field(default_factory=dict[str, str])
    """Which model each role and worker would use."""
    synthesis_started_s: float | None = None
    finished_s: float | None = None
    stuck: tuple[str, ...] = ()
    """Workers that blocked the loop or ignored their cancellation, each in one line."""
    answer: Answer | None = None


def apply(state: RunState, event: Event) -> None:
    """Change `state` by one event, in place; O(1), but for the plan, which is O(tasks)."""
    state.seq = event.seq
    if event.within:
        _within(state, event)
        return
    match event:
        case TaskDispatched():
            _dispatched(state.tasks[event.task_id], event)
        case TaskCompleted():
            task = state.tasks[event.task_id]
            task.result = event.result
            _count(state, task, event.result)
            _end(task, "completed", event.elapsed_s, event.flag)
        case TaskFailed() | TaskEscalated():
            task = state.tasks[event.task_id]
            _count(state, task, event.partial)
            _unsuccessful(task, event)
        case ModelCalled():
            _model_called(state, event)
        case ToolCalled():
            pass  # what a tool gave is known to the worker alone
        case TaskRetried():
            pass  # the wait before the next attempt changes nothing that is known of the task
        case TaskReassigned():
            state.tasks[event.task_id].worker = event.worker
        case TaskSkipped():
            _end(state.tasks[event.task_id], "skipped", event.elapsed_s, event.reason)
        case TaskCancelled():
            task = state.tasks[event.task_id]
            task.result = event.partial or task.result
            _end(task, "cancelled", event.elapsed_s, event.reason)
        case WorkerStuck():
            state.stuck = (*state.stuck, event.message)
        case _:
            _run_event(state, event)


def fold(events: Iterable[Event]) -> RunState:
    """The state after `events`, from the first."""
    state = RunState()
    for event in events:
        apply(state, event)
    return state


def find(state: RunState, id: str) -> tuple[tuple[str, ...], TaskState | None]:
    """The task of that id, which may be a way such as `legal/t1`, and the tasks it is within."""
    task = state.tasks.get(id)
    if task is not None or "/" not in id:
        return (), task
    for outer, holder in state.tasks.items():
        if holder.nested is not None and id.startswith(f"{outer}/"):
            within, task = find(holder.nested, id.removeprefix(f"{outer}/"))
            if task is not None:
                return (outer, *within), task
    return (), None


def _within(state: RunState, event: Event) -> None:
    """Change the nested run that the event is of. What it used, the task around it has used."""
    task = state.tasks[event.within[0]]
    inner_event = unnested(event)
    if task.nested is None or (isinstance(event, RunStarted) and not inner_event.within):
        task.nested = RunState()
        task.called = True  # from here on all that is used is seen as it is used
    usage = _used(task.nested, inner_event)
    apply(task.nested, inner_event)
    if usage is not None:
        task.usage = task.usage.plus(usage)
        state.usage = state.usage.plus(usage)


def _used(state: RunState, event: Event) -> Usage | None:
    """What an event adds to the usage of a run, as long as it is not applied."""
    if event.within:
        inner = state.tasks[event.within[0]].nested
        return None if inner is None else _used(inner, unnested(event))
    match event:
        case ModelCalled():
            return _usage_of(event)
        case TaskCompleted():
            return _unseen(state.tasks[event.task_id], event.result)
        case TaskFailed() | TaskEscalated():
            return _unseen(state.tasks[event.task_id], event.partial)
        case _:
            return None


def _dispatched(task: TaskState, event: TaskDispatched) -> None:
    task.status = "running"
    task.worker = event.worker
    task.attempts = event.attempt
    task.tried = (*task.tried, event.worker)
    task.dispatched_s = event.elapsed_s
    task.called = False
    if task.started_s is None:
        task.started_s = event.elapsed_s


def _unsuccessful(task: TaskState, event: TaskFailed | TaskEscalated) -> None:
    task.result = event.partial or task.result
    if not event.final:
        task.busy_s += event.elapsed_s - task.dispatched_s
        task.status = "pending"
        task.error = event.message
    elif isinstance(event, TaskEscalated):
        _end(task, "escalated", event.elapsed_s, f"{event.reason}: {event.message}")
    else:
        status = "timed_out" if event.kind == "timeout" else "failed"
        _end(task, status, event.elapsed_s, event.message)


def _model_called(state: RunState, event: ModelCalled) -> None:
    usage = _usage_of(event)
    state.usage = state.usage.plus(usage)
    if event.task_id is not None:
        task = state.tasks[event.task_id]
        task.usage = task.usage.plus(usage)
        task.called = True


def _usage_of(event: ModelCalled) -> Usage:
    usage = Usage(
        model=event.model,
        requests=1,
        input_tokens=event.input_tokens,
        output_tokens=event.output_tokens,
        cost_usd=event.cost_usd,
        duration_s=event.duration_s,
    )
    # A call that got no answer is a request, and is not billed: no price of it can be unknown.
    if event.error is not None and event.cost_usd is None:
        return usage.model_copy(update={"cost_usd": 0.0})
    return usage


def _count(state: RunState, task: TaskState, result: Result | None) -> None:
    """Add what a worker says that it used, where its calls were not seen one by one."""
    usage = _unseen(task, result)
    if usage is not None:
        task.usage = task.usage.plus(usage)
        state.usage = state.usage.plus(usage)


def _unseen(task: TaskState, result: Result | None) -> Usage | None:
    return (
        result.usage if result is not None and not task.called and result.usage.requests else None
    )


def _end(task: TaskState, status: TaskStatus, at_s: float, error: str | None) -> None:
    if task.status == "running":
        task.busy_s += at_s - task.dispatched_s
    task.status = status
    task.finished_s = at_s
    task.error = error


def _run_event(
    state: RunState,
    event: RunStarted
    | PlanProposed
    | PlanRejected
    | PlanAccepted
    | SynthesisStarted
    | ConflictFound
    | RunFinished,
) -> None:
    match event:
        case RunStarted():
            state.run_id = event.run_id
            state.team = event.team
            state.request = event.request
            state.engine = event.engine
            state.deadline_s = event.deadline_s
            state.models = event.models
        case PlanProposed():
            state.proposed = event.plan
        case PlanRejected():
            state.problems = event.problems
        case PlanAccepted():
            state.plan = plan = state.proposed
            state.problems = event.warnings
            state.phase = "working"
            state.planned_s = event.elapsed_s
            if plan is not None:
                state.tasks = {task.id: TaskState(task, task.worker) for task in plan.tasks}
        case SynthesisStarted():
            state.phase = "synthesizing"
            state.synthesis_started_s = event.elapsed_s
        case ConflictFound():
            pass  # the answer holds it
        case RunFinished():
            state.phase = "finished"
            state.finished_s = event.elapsed_s
            state.answer = event.answer
        case _:
            assert_never(event)
