"""The figures of a run, from its state alone. Pure."""

from leadhand import graph
from leadhand.contracts.answer import Metrics, TaskReport
from leadhand.state import RunState, TaskState


def metrics(state: RunState, now_s: float) -> Metrics:
    """The figures of a run that ends, or stands, `now_s` seconds after its start."""
    started = state.synthesis_started_s
    synthesis_s = now_s - started if started is not None else 0.0
    chain_s, _ = critical_chain(state)
    worked_s = sum(task.busy_s for task in (*state.tasks.values(), *state.retired.values()))
    sequential_s = state.planned_s + worked_s + synthesis_s
    usage = state.usage
    return Metrics(
        makespan_s=now_s,
        sequential_s=sequential_s,
        critical_path_s=state.planned_s + chain_s + synthesis_s,
        speedup=sequential_s / now_s if now_s > 0 else 0.0,
        requests=usage.requests,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost_usd=usage.cost_usd,
    )


def critical_chain(state: RunState) -> tuple[float, tuple[str, ...]]:
    """How long the longest chain of dependent tasks worked, in seconds, and the ids on it."""
    busy = {id: task.busy_s for id, task in state.tasks.items()}
    return graph.critical_path([task.task for task in state.tasks.values()], busy)


def task_report(task: TaskState) -> TaskReport:
    """What the answer document says of one task that has ended."""
    if task.status == "pending" or task.status == "running":
        raise ValueError(f"task {task.task.id!r} has not ended")
    return TaskReport(
        id=task.task.id,
        worker=task.worker,
        status=task.status,
        attempts=task.attempts,
        depends_on=task.task.depends_on,
        started_s=task.started_s,
        finished_s=task.finished_s,
        model=task.usage.model,
        input_tokens=task.usage.input_tokens,
        output_tokens=task.usage.output_tokens,
        cost_usd=task.usage.cost_usd,
        error=task.error,
    )
