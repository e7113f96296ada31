"""What a run that was stopped, or lost with its process, goes on with. Pure."""

from leadhand.contracts.task import Task
from leadhand.errors import InputError
from leadhand.plans.graph import dependants, descendants, order
from leadhand.state.fold import RunState, TaskState


def is_over(state: RunState) -> bool:
    """Whether the run has its answer, and nothing kept it from doing all that it could."""
    answer = state.answer
    if answer is None or answer.ended_by is not None or stopped(state):
        return False
    return all(gap.task_id != "synthesis" for gap in answer.gaps)


def stopped(state: RunState) -> tuple[str, ...]:
    """The tasks that were not done because the run ended first, in the order of the plan.

    Those count too that the budget did not reach for or that ended in an outage, and those that
    were skipped for want of one of all these.
    """
    tasks = {id: task.task for id, task in state.tasks.items()}
    found: set[str] = set()
    for id in order([*tasks.values()]):
        task = state.tasks[id]
        if _was_stopped(task) or (
            task.status == "skipped" and _lacks_only(task.task, state, found)
        ):
            found.add(id)
    return tuple(id for id in tasks if id in found)


def lost_for_good(state: RunState) -> tuple[str, ...]:
    """The tasks that were tried in vain and that no resumed run takes up by itself."""
    left = {*stopped(state)}
    return tuple(
        id
        for id, task in state.tasks.items()
        if task.status in ("failed", "timed_out", "escalated") and id not in left
    )


def again(state: RunState, task_id: str) -> tuple[str, ...]:
    """The task and all that depend on it, directly or not, in the order of the plan.

    Raises `InputError` where the run has no such task.
    """
    if task_id not in state.tasks:
        raise InputError(f"run {state.run_id!r} has no task {task_id!r}: {_known(state, task_id)}")
    after = dependants([task.task for task in state.tasks.values()])
    found = {task_id} | descendants(after, task_id)
    return tuple(id for id in state.tasks if id in found)


def _was_stopped(task: TaskState) -> bool:
    return task.status in ("cancelled", "running") or (task.retryable and task.ended)


def _lacks_only(task: Task, state: RunState, found: set[str]) -> bool:
    """Whether every result that the task does without would come from one of `found`."""
    lacking = [id for id in task.depends_on if state.tasks[id].status != "completed"]
    return all(id in found for id in lacking)


def _known(state: RunState, task_id: str) -> str:
    parts = [id for id in state.tasks if id.startswith(f"{task_id}.")]
    if task_id in state.retired and parts:
        return f"it was split into {', '.join(parts)}"
    if task_id in state.retired:
        return "it was dropped from the plan"
    ids = [*state.tasks]
    if not ids:
        return "it has no plan yet"
    shown = ", ".join(ids[:10])
    return f"there are {shown}" + (f" and {len(ids) - 10} more" if len(ids) > 10 else "")
