"""What one stored run says about its team: who was given what, and how it ended. Pure.

Only the outermost run counts: a nested team is judged by the runs in which it is the team.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from pydantic import JsonValue

from leadhand.contracts import events
from leadhand.contracts.task import Plan, Task
from leadhand.plans import graph
from leadhand.state.fold import RunState, apply

MODEL = "planner"
"""The planner whose plans a model writes, as the log names it."""
OTHER_DEFINITION = "with another definition of the team, or by another release of leadhand"


class GivenTask(NamedTuple):
    """A task as its worker received it."""

    run_id: str
    worker: str
    intent: str
    text: str
    """The intent, and the texts and numbers of its payload."""


@dataclass(slots=True)
class RunFacts:
    """A finished run."""

    run_id: str = ""
    request: str = ""
    started_at: datetime = datetime.min
    planned_by: str = ""
    """`planner` for a model, `template`, `router`, `person`, or a planner of the user's own."""
    plan: Plan | None = None
    """As it was accepted first: without amendments, splits, refinements and later rounds."""
    rounds: int = 0
    """Decisions of a stepwise planner; 0 for other kinds."""
    amendments: int = 0
    given: list[GivenTask] = field(default_factory=list[GivenTask])
    """The tasks that the planner gave to workers, those of later rounds and amendments included."""
    ends: list[tuple[str, str | None]] = field(default_factory=list[tuple[str, str | None]])
    """The worker and the error of each attempt that ended by itself; None: it gave a result."""
    tool_calls: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """By worker and tool."""
    model_attempts: set[tuple[str, str, int]] = field(default_factory=set[tuple[str, str, int]])
    """Worker, task and number of each attempt that called a model."""
    planner_calls: int = 0
    """Model calls before the plan was accepted."""
    planner_tokens: int = 0

    @property
    def tasks(self) -> Sequence[Task]:
        """Those of the plan."""
        return self.plan.tasks if self.plan is not None else ()

    @property
    def by_model(self) -> bool:
        """Whether a model wrote the plan ahead of all work."""
        return self.planned_by == MODEL and not self.rounds

    @property
    def workers(self) -> set[str]:
        """The workers that were given a task or made an attempt."""
        tried = (*self.ends, *self.model_attempts)
        return {task.worker for task in self.given} | {attempt[0] for attempt in tried}

    def attempts(self, worker: str) -> int:
        """Attempts of a worker in which it called a model."""
        return sum(attempt[0] == worker for attempt in self.model_attempts)


def facts(log: Iterable[events.Event], *, prompts: str) -> RunFacts | str:
    """The facts of the run with these events; a text says why it does not count.

    `prompts` is the digest of the team's present definition, as runs record it.
    """
    found, state = RunFacts(), RunState()
    for event in log:
        apply(state, event)
        if event.within:
            continue
        if isinstance(event, events.RunStarted | events.RunResumed) and event.prompts != prompts:
            return OTHER_DEFINITION
        _add(found, state, event)
    answer = state.answer
    if answer is None or answer.waiting:
        return "not finished"
    if answer.status == "cancelled":
        return "cancelled"
    found.run_id, found.request, found.rounds = state.run_id, state.request, state.round
    return found if found.plan is not None else "without a plan"


def _add(found: RunFacts, state: RunState, event: events.Event) -> None:
    match event:
        case events.RunStarted():
            found.started_at = event.at
        case events.PlanAccepted() if found.plan is None and state.plan is not None:
            found.plan, found.planned_by = state.plan, state.proposed_by
            _give(found, event.run_id, state.plan.tasks)
        case events.RoundDecided() if not event.needs_approval:
            _give(found, event.run_id, event.tasks)
        case events.PlanAmended():
            found.amendments += 1
            _give(found, event.run_id, event.added)
        case events.ModelCalled(task_id=None, role="planner") if found.plan is None:
            found.planner_calls += 1
            found.planner_tokens += event.input_tokens + event.output_tokens
        case events.ModelCalled(task_id=str(id), role="worker") if id in state.tasks:
            found.model_attempts.add((state.tasks[id].worker, id, event.attempt or 0))
        case events.ToolCalled():
            found.tool_calls.add((event.worker, event.tool))
        case events.TaskCompleted():
            _end(found, state, event, None)
        case events.TaskEscalated():
            _end(found, state, event, f"{event.reason}: {event.message}")
        case events.TaskFailed() if event.kind not in ("budget", "cancelled"):
            _end(found, state, event, event.message)
        case _:
            pass


def _end(
    found: RunFacts,
    state: RunState,
    event: events.TaskCompleted | events.TaskEscalated | events.TaskFailed,
    error: str | None,
) -> None:
    tried = state.tasks[event.task_id].tried
    if event.attempt and tried:
        found.ends.append((tried[-1], error))


def _give(found: RunFacts, run_id: str, tasks: Iterable[Task]) -> None:
    for task in tasks:
        text = " ".join([task.intent, *_texts(task.payload)])
        found.given.append(GivenTask(run_id, task.worker, task.intent, text))


def _texts(payload: JsonValue) -> Iterator[str]:
    """The texts and numbers in a payload, without its keys, which its worker's input declares."""
    if isinstance(payload, dict):
        payload = [*payload.values()]
    if isinstance(payload, list):
        for value in payload:
            yield from _texts(value)
    elif payload is not None:
        yield str(payload)


def ordered(plan: Plan) -> list[Task]:
    """The tasks in an order that depends on workers and dependencies, not on names."""
    by_id = {task.id: task for task in plan.tasks}
    keys: dict[str, tuple[int, str]] = {}
    for id in graph.order(plan.tasks):
        task, before = by_id[id], sorted(keys[needed] for needed in by_id[id].depends_on)
        text = f"{task.worker}\0{task.tolerates_missing}\0{before}"
        keys[id] = (max((n + 1 for n, _ in before), default=0), sha256(text.encode()).hexdigest())
    return sorted(plan.tasks, key=lambda task: keys[task.id])


def shape(plan: Plan) -> tuple[object, ...]:
    """Equal for plans that differ only in names, words and the order in which tasks are listed.

    Two such plans may still differ if tasks of one worker can't be told apart by what they depend
    on; plans of different shapes are never taken for the same.
    """
    tasks = ordered(plan)
    place = {task.id: number for number, task in enumerate(tasks)}
    rows = [
        (task.worker, *sorted(place[id] for id in task.depends_on), task.tolerates_missing)
        for task in tasks
    ]
    return (plan.synthesis, *rows)


def in_sequence(run: RunFacts) -> set[tuple[str, str]]:
    """The pairs of workers of which the second continues what the first did."""
    after = graph.dependants(run.tasks)
    worker = {task.id: task.worker for task in run.tasks}
    return {(worker[id], worker[later]) for id in worker for later in graph.descendants(after, id)}
