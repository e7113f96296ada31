"""The state of a run as the fold of its events. `apply` is the only way it changes. Pure."""

from collections.abc import Iterable
from typing import assert_never

from leadhand.breaker import Breaker
from leadhand.contracts.answer import TaskStatus
from leadhand.contracts.event import (
    BreakerClosed,
    BreakerOpened,
    Event,
    ModelCalled,
    OpinionJudged,
    RunResumed,
    RunStarted,
    TaskCancelled,
    TaskCompleted,
    TaskDispatched,
    TaskEscalated,
    TaskFailed,
    TaskReassigned,
    TaskRefined,
    TaskRetried,
    TaskSkipped,
    TaskSplit,
    TierRaised,
    ToolCalled,
    WorkerStuck,
)
from leadhand.contracts.outcome import Escalated, Failed, Result, Usage
from leadhand.contracts.task import Task
from leadhand.nesting import unnested
from leadhand.run_fold import apply_to_run
from leadhand.run_state import RunState, TaskState

__all__ = ["RunState", "TaskState", "apply", "find", "fold", "rewired"]


def apply(state: RunState, event: Event) -> None:
    """Change `state` by one event, in place; O(1), but O(tasks) for a plan, O(parts) for parts."""
    state.seq = event.seq
    if event.within:
        _within(state, event)
        return
    match event:
        case TaskDispatched():
            _dispatched(state, state.tasks[event.task_id], event)
        case TaskCompleted():
            _completed(state, state.tasks[event.task_id], event)
        case TaskFailed() | TaskEscalated():
            _unsuccessful(state, state.tasks[event.task_id], event)
        case ModelCalled():
            _model_called(state, event)
        case ToolCalled():
            pass  # what a tool gave is known to the worker alone
        case TaskRetried():
            state.tasks[event.task_id].doubt = None
        case TaskReassigned() | TaskRefined() | TierRaised() | TaskSplit() | OpinionJudged():
            _decided(state, state.tasks[event.task_id], event)
        case TaskSkipped():
            _end(state.tasks[event.task_id], "skipped", event.elapsed_s, event.reason)
        case TaskCancelled():
            task = state.tasks[event.task_id]
            task.result = event.partial or task.result
            task.interrupted = task.interrupted or task.status == "running"
            _end(task, "cancelled", event.elapsed_s, event.reason)
        case WorkerStuck():
            state.stuck = (*state.stuck, event.message)
        case BreakerOpened():
            breaker = state.breakers.setdefault(event.worker, Breaker())
            breaker.open(event.elapsed_s, event.pause_s)
        case BreakerClosed():
            state.breakers.pop(event.worker, None)
        case _:
            apply_to_run(state, event)


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
    if isinstance(event, RunStarted | RunResumed) and not inner_event.within:
        task.called = True  # from here on all that is used is seen as it is used
    if task.nested is None or (isinstance(event, RunStarted) and not inner_event.within):
        task.nested = RunState()
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
            task = state.tasks[event.task_id]
            return _unseen(task, event.result) if task.first is None else None
        case OpinionJudged():
            return _unseen(state.tasks[event.task_id], event.second)
        case TaskFailed() | TaskEscalated():
            return _unseen(state.tasks[event.task_id], event.partial)
        case _:
            return None


def _dispatched(state: RunState, task: TaskState, event: TaskDispatched) -> None:
    task.status = "running"
    task.worker = event.worker
    task.attempts = event.attempt
    task.tried = (*task.tried, event.worker)
    task.dispatched_s = event.elapsed_s
    task.doubt = task.heard = None
    # Where the same attempt is made once more, what was seen of it counts.
    task.called = task.called and task.goes_on
    if task.started_s is None:
        task.started_s = event.elapsed_s
        state.dispatched += 1
    breaker = state.breakers.get(event.worker)
    if breaker is not None and breaker.openings and breaker.admits(event.elapsed_s):
        breaker.probe = event.task_id


def _completed(state: RunState, task: TaskState, event: TaskCompleted) -> None:
    if task.first is None:  # else it was counted when the two were judged
        _count(state, task, event.result)
    if state.breakers and task.status == "running":
        _fared(state, task, failed=False)
    task.result = event.result
    _end(task, "completed", event.elapsed_s, event.flag)
    if event.result.plan_impact is not None:
        state.impacts = (*state.impacts, event.task_id)


def _unsuccessful(state: RunState, task: TaskState, event: TaskFailed | TaskEscalated) -> None:
    failed = isinstance(event, TaskFailed)
    _count(state, task, event.partial)
    if task.status == "running":
        _fared(state, task, failed=failed)
        state.repeated += failed and not event.final
    task.result = event.partial or task.result
    task.goes_on = False
    if not event.final:
        task.busy_s += event.elapsed_s - task.dispatched_s
        task.status = "pending"
        task.error = event.message
        task.doubt = _outcome(event)
    elif isinstance(event, TaskEscalated):
        _end(task, "escalated", event.elapsed_s, f"{event.reason}: {event.message}")
    else:
        status = "timed_out" if event.kind == "timeout" else "failed"
        # It is the run that stopped the attempt: with more to spend, that same one goes on.
        task.interrupted = event.kind == "budget"
        task.may_pass = task.interrupted or event.transient
        _end(task, status, event.elapsed_s, event.message)


def _outcome(event: TaskFailed | TaskEscalated) -> Failed | Escalated:
    """The outcome that was written down."""
    if isinstance(event, TaskEscalated):
        return Escalated(
            reason=event.reason, message=event.message, partial=event.partial, call=event.call
        )
    return Failed(
        kind=event.kind, message=event.message, partial=event.partial, transient=event.transient
    )


def _fared(state: RunState, task: TaskState, *, failed: bool) -> None:
    """Take down how the worker of an attempt that has just ended fared."""
    if failed:
        state.breakers.setdefault(task.worker, Breaker()).failed(task.task.id)
    elif (breaker := state.breakers.get(task.worker)) is not None:
        breaker.succeeded()
        if not breaker.openings:
            del state.breakers[task.worker]


def _decided(
    state: RunState,
    task: TaskState,
    event: TaskReassigned | TaskRefined | TierRaised | TaskSplit | OpinionJudged,
) -> None:
    task.doubt = None
    match event:
        case TaskReassigned():
            task.worker = event.worker
            task.goes_on = False
            task.first = task.result if event.second_opinion else None
        case TaskRefined():
            task.task = task.task.model_copy(update={"intent": event.new_intent})
            task.refined = True
        case TierRaised():
            limits = task.task.limits.model_copy(update={"tier": event.new_tier})
            task.task = task.task.model_copy(update={"limits": limits})
        case TaskSplit():
            _split(state, task, event)
        case OpinionJudged():
            _count(state, task, event.second)
        case _:
            assert_never(event)


def _split(state: RunState, whole: TaskState, event: TaskSplit) -> None:
    id = whole.task.id
    state.retired[id] = state.tasks.pop(id)
    for part in event.parts:
        state.tasks[part.id] = TaskState(
            part,
            part.worker,
            splits=whole.splits + 1,
            attempts_before=whole.attempts_before + whole.attempts - whole.uncounted,
        )
    for other in event.rewired:
        task = state.tasks[other]
        task.task = rewired(task.task, id, event.parts)


def rewired(task: Task, id: str, parts: tuple[Task, ...]) -> Task:
    """`task` waiting for all `parts` where it waited for the task `id`."""
    needs = [
        name
        for needed in task.depends_on
        for name in ([part.id for part in parts] if needed == id else [needed])
    ]
    return task.model_copy(update={"depends_on": tuple(needs)})


def _model_called(state: RunState, event: ModelCalled) -> None:
    usage = _usage_of(event)
    state.usage = state.usage.plus(usage)
    if event.task_id is not None:
        task = state.tasks[event.task_id]
        task.usage = task.usage.plus(usage)
        task.called = True


def _usage_of(event: ModelCalled) -> Usage:
    return Usage(
        model=event.model,
        requests=1,
        input_tokens=event.input_tokens,
        output_tokens=event.output_tokens,
        cost_usd=event.cost_usd,
        duration_s=event.duration_s,
    )


def _count(state: RunState, task: TaskState, result: Result | None) -> None:
    """Add what a worker says that it used, where its calls were not seen one by one."""
    usage = _unseen(task, result)
    if usage is not None:
        task.usage = task.usage.plus(usage)
        state.usage = state.usage.plus(usage)


def _unseen(task: TaskState, result: Result | None) -> Usage | None:
    if result is None or task.called or task.status != "running" or not result.usage.requests:
        return None
    return result.usage


def _end(task: TaskState, status: TaskStatus, at_s: float, error: str | None) -> None:
    if task.status == "running":
        task.busy_s += at_s - task.dispatched_s
    task.status = status
    task.finished_s = at_s
    task.error = error
