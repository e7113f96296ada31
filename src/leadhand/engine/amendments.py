"""Amendments: proposed changes of tasks that have not started, checked and made exact. Pure."""

import itertools
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Team
from leadhand.plans.checks import MAX_TASKS, check, errors_in, too_many_tasks
from leadhand.policies.rungs import MAX_PARTS
from leadhand.state.fold import RunState, TaskState, rewired


@dataclass(frozen=True, slots=True)
class Amendment:
    """Changes of the tasks that have not started."""

    added: tuple[Task, ...] = ()
    changed: tuple[Task, ...] = ()
    dropped: tuple[str, ...] = ()


def parts_of(
    whole: Task, proposed: Sequence[Task], team: Team, *, earlier: Collection[str] = ()
) -> tuple[Task, ...] | str:
    """The parts that replace `whole`, or why the proposed ones cannot.

    Code makes their ids: `t1.1`, `t1.2`. What the proposal leaves open is taken from the whole.
    """
    if not 2 <= len(proposed) <= MAX_PARTS:
        return f"a task is split into 2 to {MAX_PARTS} parts, not into {len(proposed)}"
    proposed = [
        part.model_copy(update={"payload": whole.payload})
        if part.payload is None and part.worker == whole.worker
        else part
        for part in proposed
    ]
    plan = Plan(goal=whole.intent, tasks=tuple(proposed))
    problems = errors_in(check(plan, team, author="model", earlier=earlier))
    if problems:
        return "; ".join(problem.message for problem in problems)
    ids = {part.id: f"{whole.id}.{n}" for n, part in enumerate(proposed, start=1)}
    return tuple(
        part.model_copy(
            update={
                "id": ids[part.id],
                "depends_on": (*whole.depends_on, *(ids[needed] for needed in part.depends_on)),
                "artifacts": part.artifacts or whole.artifacts,
                "limits": whole.limits,
                "tolerates_missing": whole.tolerates_missing,
            }
        )
        for part in proposed
    )


def amendment(state: RunState, proposed: Sequence[Task], team: Team) -> Amendment | tuple[str, ...]:
    """The changes in `proposed`, which is all tasks still to start; or everything wrong with it."""
    waiting = {
        id: one.task
        for id, one in state.tasks.items()
        if one.status == "pending" and not one.attempts
    }
    added: list[Task] = []
    changed: list[Task] = []
    wrong: list[str] = []
    for task in proposed:
        old = waiting.get(task.id)
        if old is not None:
            if task != old:
                changed.append(task)
        elif (known := state.tasks.get(task.id)) is not None:
            # Models like to repeat the whole plan; only a change of what is under way is wrong.
            if (task.worker, task.intent) != (known.task.worker, known.task.intent):
                wrong.append(f"task {task.id!r} has started: leave it out, or give another id")
        elif task.id in state.retired:
            wrong.append(f"task {task.id!r} was in the plan before: give another id")
        else:
            added.append(task)
    wanted = {task.id for task in proposed}
    if len(wanted) < len(proposed):
        wrong.append("more than one task has the same id: give each its own")
    dropped = tuple(id for id in waiting if id not in wanted)
    if not (added or changed or dropped):
        return tuple(wrong) or Amendment()
    wrong += _problems(state, added, changed, dropped, team)
    return tuple(wrong) or Amendment(tuple(added), tuple(changed), dropped)


def added(state: RunState, proposed: Sequence[Task], team: Team) -> Amendment | tuple[str, ...]:
    """The new tasks in `proposed`, or everything wrong with them.

    An id that is taken gets a number, and the other proposed tasks then depend on the new id.
    """
    taken = {*state.tasks, *state.retired}
    ids: dict[str, str] = {}
    for task in proposed:
        numbers = itertools.count(2)
        new = task.id
        while new in taken:
            new = f"{task.id}-{next(numbers)}"
        ids[task.id] = new
    if len(ids) < len(proposed):
        return ("more than one task has the same id: give each its own",)
    tasks = tuple(
        task.model_copy(
            update={
                "id": ids[task.id],
                "depends_on": tuple(
                    needed if needed == task.id and needed in taken else ids.get(needed, needed)
                    for needed in task.depends_on
                ),
            }
        )
        for task in proposed
    )
    wrong = [
        f"{task.id!r} depends on {needed!r}, which gave no result"
        for task in tasks
        for needed in task.depends_on
        if needed in state.tasks and not task.tolerates_missing and _gave_none(state.tasks[needed])
    ]
    wrong += _problems(state, tasks, (), (), team)
    whole = len(state.tasks) + len(tasks)
    if whole > MAX_TASKS["model"]:
        wrong.append(too_many_tasks(whole, "model").message)
    return tuple(wrong) or Amendment(tasks)


def _gave_none(task: TaskState) -> bool:
    return task.ended and task.status != "completed"


def asks_approval(state: RunState, found: Amendment) -> bool:
    """Whether the person who approved the plan must approve `found`: not to drop or to wait."""
    return bool(found.added) or any(
        now.model_copy(update={"depends_on": ()}) != was.model_copy(update={"depends_on": ()})
        or not {*was.depends_on} <= {*now.depends_on}
        for now in found.changed
        for was in [state.tasks[now.id].task]
    )


def amended(state: RunState, found: Amendment) -> Plan:
    now = {task.id: task for task in found.changed}
    dropped = {*found.dropped}
    kept = [now.get(id, one.task) for id, one in state.tasks.items() if id not in dropped]
    return _next_plan(state, (*kept, *found.added))


def split_up(state: RunState, id: str, parts: tuple[Task, ...]) -> Plan:
    return _next_plan(
        state,
        tuple(
            task
            for one in state.tasks.values()
            for task in (parts if one.task.id == id else [rewired(one.task, id, parts)])
        ),
    )


def _next_plan(state: RunState, tasks: tuple[Task, ...]) -> Plan:
    plan = state.plan or Plan(goal=state.request, tasks=())
    return plan.model_copy(update={"tasks": tasks, "revision": plan.revision + 1})


def _problems(
    state: RunState,
    added: Sequence[Task],
    changed: Sequence[Task],
    dropped: Collection[str],
    team: Team,
) -> list[str]:
    """Errors of the amended plan; intents are checked in new and changed tasks only."""
    goal = state.plan.goal if state.plan is not None else state.request
    now = {task.id: task for task in changed}
    kept = [now.get(id, one.task) for id, one in state.tasks.items() if id not in {*dropped}]
    whole = check(Plan(goal=goal, tasks=(*kept, *added)), team, earlier=state.earlier)
    new = Plan(goal=goal, tasks=(*added, *changed))
    vague = (
        problem
        for problem in (check(new, team, author="model") if new.tasks else ())
        if problem.code in ("vague_intent", "too_many_tasks")
    )
    errors = errors_in((*whole, *vague))
    return [problem.message for problem in errors]
