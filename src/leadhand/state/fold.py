"""The state of a run as the fold of its events; only `apply` changes it. Pure."""

from collections.abc import Iterable

from leadhand.contracts import events
from leadhand.contracts.answer import TaskStatus
from leadhand.contracts.events.fields import AttemptEvent
from leadhand.contracts.events.task import CALL_CANCELLED
from leadhand.contracts.outcome import Escalated, Failed, PausedAttempt, Result, Usage
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import Task
from leadhand.state.run_events import add_early, apply_to_run, decided, shown_call
from leadhand.state.run_state import RunState, TaskState, find_task

__all__ = ["RunState", "TaskState", "apply", "find_task", "fold", "rewired"]


def apply(state: RunState, event: events.Event) -> None:
    """Change `state` by one event, in place; O(1), but O(tasks) for a plan or after a pause."""
    state.seq = event.seq
    times = state.person_time
    if times.asked:
        times.add(state, event)
    times.asked = times.asked or isinstance(event, events.ApprovalRequested)
    times.last_s = event.elapsed_s
    if event.within:
        _within(state, event)
        return
    match event:
        case events.TaskPlanned():
            add_early(state, event)
        case events.TaskDispatched():
            _dispatched(state, state.tasks[event.task_id], event)
        case events.TaskCompleted():
            _completed(state, state.tasks[event.task_id], event)
        case events.TaskFailed() | events.TaskEscalated():
            _unsuccessful(state, state.tasks[event.task_id], event)
        case events.ModelCalled():
            _model_called(state, event)
        case events.ToolCalled():
            if (task := state.tasks.get(event.task_id)) is not None:
                _tool_called(task, event)
        case events.TaskSkipped():
            _end(state.tasks[event.task_id], "skipped", event.elapsed_s, event.reason)
        case events.TaskCancelled():
            task = state.tasks[event.task_id]
            task.result = event.partial or task.result
            task.interrupted = task.interrupted or task.status == "running"
            _worked(task, event)
            _end(task, "cancelled", event.elapsed_s, event.reason)
        case events.WorkerStuck():
            state.stuck = (*state.stuck, event.message)
        case events.ApprovalRequested() if event.task_id is not None and event.calls:
            _paused(state.tasks[event.task_id], event)
            apply_to_run(state, event)
        case events.BreakerOpened() | events.BreakerClosed():
            pass  # breakers belong to the supervisor; a run only records their changes
        case _:
            if isinstance(event, events.TaskDecision):
                _decided(state, state.tasks[event.task_id], event)
            else:
                apply_to_run(state, event)


def _tool_called(task: TaskState, event: events.ToolCalled) -> None:
    # Only the worker knows what the tool returned.
    task.crashes = 0
    if event.approved is None:
        return
    call = shown_call(event.tool, event.arguments)
    if not event.made:
        line = f"not done: the call {call} was approved, but {event.error}"
        task.unmade = (*task.unmade, (event.tool, line))
        return
    # The model made it again, with arguments that may differ.
    others = [one for one in task.unmade if one[0] == event.tool]
    same = [one for one in others if one[1].startswith(f"not done: the call {call} ")]
    for replaced in (same or others)[:1]:
        task.unmade = tuple(one for one in task.unmade if one is not replaced)


def fold(log: Iterable[events.Event]) -> RunState:
    state = RunState()
    for event in log:
        apply(state, event)
    return state


def _within(state: RunState, event: events.Event) -> None:
    """Change the nested run of the event. Its usage counts for the task that it does, too."""
    task = state.tasks[event.within[0]]
    inner_event = events.unnested(event)
    if isinstance(event, events.RunStarted | events.RunResumed) and not inner_event.within:
        task.called = True  # from here on, usage is counted call by call
    if task.nested is None or (isinstance(event, events.RunStarted) and not inner_event.within):
        task.nested, task.nested_path_s = RunState(), 0.0
    usage = _used(task.nested, inner_event)
    apply(task.nested, inner_event)
    if usage is not None:
        task.usage = task.usage.plus(usage)
        state.usage = state.usage.plus(usage)


def _used(state: RunState, event: events.Event) -> Usage | None:
    """What an event will add to the usage of a run; to be called before it is applied."""
    if event.within:
        inner = state.tasks[event.within[0]].nested
        return None if inner is None else _used(inner, events.unnested(event))
    match event:
        case events.ModelCalled():
            return event.usage
        case events.TaskCompleted():
            task = state.tasks[event.task_id]
            return _unseen(task, event.result) if task.first is None else None
        case events.OpinionJudged():
            return _unseen(state.tasks[event.task_id], event.second)
        case events.TaskFailed() | events.TaskEscalated():
            return _unseen(state.tasks[event.task_id], event.partial)
        case _:
            return None


def _dispatched(state: RunState, task: TaskState, event: events.TaskDispatched) -> None:
    task.status = "running"
    task.worker = event.worker
    task.attempts = event.attempt
    if task.paused is None:
        task.tried = (*task.tried, event.worker)
    task.dispatched_s = event.elapsed_s
    task.path_s += min(task.retry_in_s, event.elapsed_s - task.failed_s)
    task.retry_in_s = 0.0
    task.unresolved = task.reply = None
    # If the same attempt is made again or continues, its calls so far count.
    task.called = task.called and (task.resumable or task.paused is not None)
    if task.started_s is None:
        task.started_s = event.elapsed_s
        state.dispatched += 1


def _paused(task: TaskState, event: events.ApprovalRequested) -> None:
    _worked(task, event)
    task.status = "pending"
    task.crashes = 0
    task.paused = PausedAttempt(calls=event.calls, conversation=event.conversation)


def _completed(state: RunState, task: TaskState, event: events.TaskCompleted) -> None:
    if task.first is None:  # a second opinion was counted when it was judged
        _count(state, task, event.result)
    task.result = event.result
    task.crashes = 0
    task.paused = None
    _worked(task, event)
    _end(task, "completed", event.elapsed_s, event.flag)
    if event.result.plan_impact is not None:
        state.impacts = (*state.impacts, event.task_id)


def _unsuccessful(
    state: RunState, task: TaskState, event: events.TaskFailed | events.TaskEscalated
) -> None:
    failed = isinstance(event, events.TaskFailed)
    _count(state, task, event.partial)
    if task.status == "running":
        state.repeated += failed and not event.final
    task.result = event.partial or task.result
    task.resumable = False
    if getattr(event, "kind", "") != "budget":  # with a larger budget, the attempt continues
        task.paused = None
    task.attempts = max(task.attempts, event.attempt)  # more if attempts were lost with the process
    task.crashes = 0
    _worked(task, event)
    if not event.final:
        task.status = "pending"
        task.error, task.where = event.message, _where(event)
        task.unresolved = _outcome(event)
        task.timeouts += isinstance(event, events.TaskFailed) and event.kind == "timeout"
        return
    task.unresolved = None  # a resumed run may try it again, and has nothing left to decide
    if isinstance(event, events.TaskEscalated):
        _end(task, "escalated", event.elapsed_s, f"{event.reason}: {event.message}")
    else:
        status = "timed_out" if event.kind == "timeout" else "failed"
        # The run stopped the attempt: with a larger budget, or more time, it can be resumed.
        stopped = ("budget", "timeout") if task.worker == SUBPLANNER else ("budget",)
        task.interrupted = event.kind in stopped
        task.retryable = task.interrupted or event.transient
        _end(task, status, event.elapsed_s, event.message)
        task.where = event.where


def _outcome(event: events.TaskFailed | events.TaskEscalated) -> Failed | Escalated:
    if isinstance(event, events.TaskEscalated):
        return Escalated(
            reason=event.reason, message=event.message, partial=event.partial, call=event.call
        )
    return Failed(
        kind=event.kind,
        message=event.message,
        partial=event.partial,
        transient=event.transient,
        raised=event.raised,
    )


def _where(event: events.TaskFailed | events.TaskEscalated) -> str | None:
    return event.where if isinstance(event, events.TaskFailed) else None


def _decided(state: RunState, task: TaskState, event: events.TaskDecision) -> None:
    task.unresolved = None
    task.task = event.changed(task.task)
    match event:
        case events.TaskRetried():
            task.retry_in_s, task.failed_s = event.delay_s, event.elapsed_s
        case events.TaskReassigned():
            task.worker = event.worker
            task.resumable, task.paused = False, None
            task.first = task.result if event.second_opinion else None
        case events.TaskRefined():
            task.refined = True
        case events.TaskSplit():
            _split(state, task, event)
        case events.OpinionJudged():
            _count(state, task, event.second)
            task.opinions = event
        case _:
            pass  # it changes no more than that


def _split(state: RunState, whole: TaskState, event: events.TaskSplit) -> None:
    id = whole.task.id
    if state.proposed_for == id:
        decided(state)
    state.retired[id] = state.tasks.pop(id)
    for part in event.parts:
        state.tasks[part.id] = TaskState(
            part,
            part.worker,
            splits=whole.splits + 1,
            round=whole.round,
            attempts_before=whole.attempts_before + whole.attempts - whole.uncounted,
        )
    if id in state.awaited:
        at = state.awaited.index(id)
        parts = (part.id for part in event.parts)
        state.awaited = (*state.awaited[:at], *parts, *state.awaited[at + 1 :])
    for other in event.rewired:
        task = state.tasks[other]
        task.task = rewired(task.task, id, event.parts)


def rewired(task: Task, id: str, parts: tuple[Task, ...]) -> Task:
    """`task` with its dependency on `id` replaced by all `parts`."""
    needs = [
        name
        for needed in task.depends_on
        for name in ([part.id for part in parts] if needed == id else [needed])
    ]
    return task.model_copy(update={"depends_on": tuple(needs)})


def _model_called(state: RunState, event: events.ModelCalled) -> None:
    usage = event.usage
    state.usage = state.usage.plus(usage)
    if event.response is not None:
        state.answered |= {event.role}
    if event.error != CALL_CANCELLED:
        state.call_errors[event.task_id] = event.error or ""
    if event.role == "planner":
        state.deciding = state.deciding.plus(usage)
        state.deciding_calls.add(event.elapsed_s, took_s=event.duration_s, queued_s=event.queued_s)
    if event.task_id is None:
        state.calls.add(event.elapsed_s, took_s=event.duration_s, queued_s=event.queued_s)
    else:
        task = state.tasks[event.task_id]
        task.usage = task.usage.plus(usage)
        task.called = True
        if event.response is not None:  # else the next process has to ask again
            task.crashes = 0


def _count(state: RunState, task: TaskState, result: Result | None) -> None:
    """Add the usage that a worker reports, if its calls were not counted one by one."""
    usage = _unseen(task, result)
    if usage is not None:
        task.usage = task.usage.plus(usage)
        state.usage = state.usage.plus(usage)


def _unseen(task: TaskState, result: Result | None) -> Usage | None:
    if result is None or task.called or task.status != "running" or not result.usage.requests:
        return None
    return result.usage


def _end(task: TaskState, status: TaskStatus, at_s: float, error: str | None) -> None:
    task.status = status
    task.finished_s = at_s
    task.error, task.where = error, None


def _worked(task: TaskState, event: AttemptEvent | events.ApprovalRequested) -> None:
    """Count the time of an attempt that ends or pauses with this event, unless it did before."""
    if task.status != "running":
        return
    busy_s = event.elapsed_s - task.dispatched_s
    worked_s = busy_s if event.worked_s is None else event.worked_s
    task.busy_s += busy_s
    task.worked_s += worked_s
    task.worked_high_s += worked_s if event.worked_high_s is None else event.worked_high_s
    path_s = worked_s if event.path_s is None else event.path_s
    task.path_s += path_s
    task.nested_path_s += path_s if task.nested is not None else 0.0
