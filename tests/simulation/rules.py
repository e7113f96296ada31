"""The rules of a log: each event must be allowed by the state that the events before it fold to.

What the engine decides, such as who tries again and when, is not derived here a second time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from leadhand.contracts.events import (
    Event,
    RunFinished,
    RunResumed,
    RunStarted,
    TaskDispatched,
    TaskEvent,
    TaskPlanned,
    WorkerStuck,
    unnested,
)
from leadhand.contracts.team import Team, Worker
from leadhand.plans.planned_workers import with_planned_workers
from leadhand.state.fold import apply
from leadhand.state.run_state import RunState, TaskState


@dataclass(slots=True)
class _Begun:
    """The attempts of a log so far, counted without the state's own numbers."""

    attempts: dict[str, int] = field(default_factory=dict[str, int])
    """By the path of a task: the number of its last attempt."""
    open: set[str] = field(default_factory=set[str])
    """Tasks that had ended and go on, whose last attempt may be made again under its number."""
    nested: dict[str, tuple[TaskState, int, str]] = field(
        default_factory=dict[str, tuple[TaskState, int, str]]
    )
    """Which attempt of a task began the nested run that does it."""


def rules(events: Sequence[Event], team: Team) -> Iterator[str]:
    """Every rule that an event breaks, in the run and in each nested one."""
    state, begun = RunState(), _Begun()
    for event in events:
        named = f"{event.type} {event.task_id}" if isinstance(event, TaskEvent) else event.type
        lines = [*_broken_by(state, team, event, begun)]
        yield from (f"event {event.seq}, {named}: {line}" for line in lines)
        if any("not in the plan" in line for line in lines):
            return  # nothing can follow from it
        apply(state, event)


def _broken_by(state: RunState, team: Team, event: Event, begun: _Begun) -> Iterator[str]:
    run, own = state, event
    path = "".join(f"{id}/" for id in event.within)
    for at, id in enumerate(event.within):
        own = unnested(own)
        around = _level(state, team, event.within[:at])[0].tasks.get(id)
        if around is None or around.status != "running":
            yield "the task around it does not run, or is not in the plan"
            return
        if isinstance(own, RunStarted) and not own.within:
            this = (around, around.attempts, around.worker)
            if begun.nested.get(path) == this:
                yield "the team begins anew what it had begun already"
            begun.nested[path] = this
            begun.attempts = {
                id: last for id, last in begun.attempts.items() if not id.startswith(path)
            }
    run, team = _level(state, team, event.within)
    if isinstance(own, RunStarted) and not path and run.seq:
        yield "the run begins for a second time"
    if run.answer is not None and not isinstance(own, (RunResumed, RunStarted)):
        yield "something happened after the run was finished"
    if isinstance(own, TaskEvent):
        yield from _of_task(run, team, own, path, begun)
    else:
        yield from _of_run(run, own, path, begun)


def worker_of(state: RunState, team: Team, event: TaskDispatched) -> Worker | None:
    """The worker that gets a task, which may be one of a nested team."""
    run, team = _level(state, team, event.within)
    return _worker(team, run, event.worker)


def _level(state: RunState, team: Team, within: Sequence[str]) -> tuple[RunState, Team]:
    """The nested run within some tasks, and its team."""
    for id in within:
        around = state.tasks[id]
        worker = _worker(team, state, around.worker)
        # What is broken down has the workers of the run around it.
        team = worker.team if worker is not None and worker.team is not None else team
        state = around.nested or RunState()
    return state, team


def _worker(team: Team, run: RunState, name: str) -> Worker | None:
    planned = run.plan if run.plan is not None else run.proposed
    return (team if planned is None else with_planned_workers(team, planned)).worker(name)


def _of_run(run: RunState, event: Event, path: str, begun: _Begun) -> Iterator[str]:
    if isinstance(event, RunResumed):
        done = [id for id in event.goes_on if run.tasks[id].status == "completed"]
        lost = {id for id, one in run.tasks.items() if one.status in ("running", "cancelled")}
        if done or lost - {*event.goes_on, *event.again}:
            yield f"{sorted(event.goes_on)} go on, {done} were done and {sorted(lost)} were not"
        for id in event.goes_on:
            if run.tasks[id].status == "running":  # it was lost, and keeps its number
                begun.attempts[path + id] -= 1
            else:
                begun.open.add(path + id)
        for id in event.again:
            begun.attempts.pop(path + id, None)
    elif isinstance(event, RunFinished):
        for id, task in run.tasks.items():
            if not task.ended:
                yield f"{id} had not ended when the run was finished"


def _of_task(
    run: RunState, team: Team, event: TaskEvent, path: str, begun: _Begun
) -> Iterator[str]:
    task = run.tasks.get(event.task_id)
    if isinstance(event, WorkerStuck | TaskPlanned):
        return
    if task is None:
        yield "it is about a task that is not in the plan"
    elif task.ended:
        yield f"the task had ended as {task.status} before"
    elif isinstance(event, TaskDispatched):
        yield from _dispatched(run, team, task, event)
        number, last = path + event.task_id, begun.attempts.get(path + event.task_id, 0)
        again = event.attempt == last and number in begun.open
        if event.attempt != last + 1 and not again:
            yield f"attempt {event.attempt} followed attempt {last}"
        begun.attempts[number] = event.attempt
        begun.open.discard(number)


def _dispatched(run: RunState, team: Team, task: TaskState, event: TaskDispatched) -> Iterator[str]:
    if _worker(team, run, event.worker) is None:
        yield f"{event.worker} is not in the team"
    if task.status == "running":
        yield "it was started while it ran"
    if run.plan is not None and any(one.status == "cancelled" for one in run.tasks.values()):
        yield "it was started after the run was stopped"
    counted = task.attempts_before + event.attempt - task.uncounted
    if counted > team.retry.max_attempts:
        yield f"attempt {counted} of {team.retry.max_attempts}"
    for id in task.task.depends_on:
        if not run.tasks[id].ended:
            yield f"it was started before {id} had ended"
        elif run.tasks[id].status != "completed" and not task.task.tolerates_missing:
            yield f"it was started without the result of {id}, which it needs"
