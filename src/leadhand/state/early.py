"""Tasks that start while their plan is still being written. Pure."""

from leadhand.contracts import events
from leadhand.contracts.task import Plan, Task
from leadhand.state.run_state import RunState, TaskState


def add_early(state: RunState, event: events.TaskPlanned) -> None:
    """Add a task that may start before there is a plan."""
    planning_s = state.calls.worked_s(event.elapsed_s - state.started_s - state.asking_s)
    state.early[event.task_id] = event.task
    state.tasks[event.task_id] = TaskState(event.task, event.task.worker, planned_s=planning_s)


def kept(state: RunState, plan: Plan) -> frozenset[str]:
    """The tasks planned early that `plan` has unchanged, with all that they depend on. O(tasks)"""
    same = {task.id for task in plan.tasks if state.early.get(task.id) == task}
    found: set[str] = set()
    for id, task in state.early.items():  # each was planned after those that it depends on
        if id in same and found.issuperset(task.depends_on):
            found.add(id)
    return frozenset(found)


def take_over(state: RunState, plan: Plan) -> None:
    """Make the tasks of an accepted plan those of the run. Early ones that it has go on."""
    before, going_on = state.tasks, kept(state, plan)
    state.tasks = {
        task.id: before[task.id] if task.id in going_on else _new(task, before, state.round)
        for task in plan.tasks
    }
    for id in going_on:
        task = state.tasks[id]
        task.planned_s = min(task.planned_s or 0.0, state.planning_s)
    if not before:
        return
    gone = before.keys() - going_on
    state.retired |= {id: one for id, one in before.items() if id not in state.tasks}
    state.early = {id: task for id, task in state.early.items() if id in going_on}
    state.questions = {id: asked for id, asked in state.questions.items() if id not in gone}
    state.impacts = tuple(id for id in state.impacts if id not in gone)


def _new(task: Task, before: dict[str, TaskState], round: int) -> TaskState:
    """A task of the plan; if one of that id began early, its attempts are counted on, as its calls
    and their keys are known by their numbers."""
    known = before.get(task.id)
    if known is None or not known.attempts:
        return TaskState(task, task.worker, round=round)
    return TaskState(
        task,
        task.worker,
        attempts=known.attempts,
        uncounted=known.attempts,
        tried=known.tried,
        busy_s=known.busy_s,
        worked_s=known.worked_s,
        worked_high_s=known.worked_high_s,
        usage=known.usage,
        round=round,
    )
