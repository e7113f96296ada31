"""What a stored run says about its team: its plan, and a table of facts. Pure. A nested team is
judged by the runs in which it is the team."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Literal, NamedTuple

from leadhand.contracts import events
from leadhand.contracts.events.fields import TaskEvent
from leadhand.contracts.task import Plan, Task
from leadhand.plans import graph
from leadhand.state.fold import RunState, apply

OTHER_DEFINITION = "with another definition of the team, or by another release of leadhand"


Kind = Literal["result", "error", "model", "tool"]


class Fact(NamedTuple):
    """A row of the table: an attempt that ended or called a model, or a tool that was called."""

    kind: Kind
    worker: str
    run_id: str
    attempt: str
    what: str = ""
    """The message of an error, or the name of a tool."""


@dataclass(slots=True)
class RunFacts:
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
    given: list[Task] = field(default_factory=list[Task])
    """The planned tasks, with those of later rounds and amendments."""
    planner_calls: list[int] = field(default_factory=list[int])
    """The tokens of each model call before the plan was accepted."""
    facts: set[Fact] = field(default_factory=set[Fact])

    @property
    def tasks(self) -> Sequence[Task]:
        return self.plan.tasks if self.plan is not None else ()

    @property
    def chosen(self) -> Sequence[Task]:
        """The tasks whose workers were chosen: a template or a person assigns them by rule."""
        by_rule = self.planned_by == "router" and len(self.tasks) > 1
        return () if self.planned_by in ("template", "person") or by_rule else self.given

    @property
    def workers(self) -> set[str]:
        """The workers that were given a task or made an attempt."""
        return {task.worker for task in self.given} | {fact.worker for fact in self.facts}


def facts(log: Iterable[events.Event], *, prompts: str) -> RunFacts | str:
    """Returns why if the run does not count. `prompts` is the digest of the team's definition
    now."""
    found, state = RunFacts(), RunState()
    for event in log:
        apply(state, event)
        if event.within:
            continue
        if isinstance(event, events.RunStarted | events.RunResumed) and event.prompts != prompts:
            return OTHER_DEFINITION
        _add(found, state, event)
    if state.answer is None or state.answer.waiting:
        return "not finished"
    if state.answer.status == "cancelled":
        return "cancelled"
    found.run_id, found.request, found.rounds = state.run_id, state.request, state.round
    return found if found.plan is not None else "without a plan"


def _add(found: RunFacts, state: RunState, event: events.Event) -> None:
    def row(kind: Kind, event: TaskEvent | events.ModelCalled, what: str = "") -> None:
        if event.attempt and (task := state.tasks.get(event.task_id or "")) is not None:
            attempt = f"{event.run_id} {event.task_id} {event.attempt}"
            found.facts.add(Fact(kind, task.worker, event.run_id, attempt, what))

    match event:
        case events.RunStarted():
            found.started_at = event.at
        case events.PlanAccepted() if found.plan is None and state.plan is not None:
            found.plan, found.planned_by = state.plan, state.proposed_by
            found.given += state.plan.tasks
        case events.RoundDecided() if not event.needs_approval:
            found.given += event.tasks
        case events.PlanAmended():
            found.amendments += 1
            found.given += event.added
        case events.ModelCalled(role="planner", task_id=None) if found.plan is None:
            found.planner_calls.append(event.input_tokens + event.output_tokens)
        case events.ModelCalled(role="worker"):
            row("model", event)
        case events.ToolCalled():
            row("tool", event, event.tool)
        case events.TaskCompleted():
            row("result", event)
        case events.TaskEscalated():
            row("error", event, event.message)
        case events.TaskFailed() if event.kind not in ("budget", "cancelled"):
            row("error", event, event.message)
        case _:
            pass


def shapes(tasks: Sequence[Task]) -> dict[str, str]:
    """Of each task a digest of its worker and of the shapes of those that it depends on; names,
    words and order don't count."""
    by_id = {task.id: task for task in tasks}
    found: dict[str, str] = {}
    for id in graph.order(tasks):
        before = sorted(found[needed] for needed in by_id[id].depends_on)
        text = f"{by_id[id].worker}\0{by_id[id].tolerates_missing}\0{before}"
        found[id] = sha256(text.encode()).hexdigest()
    return found


def shape(plan: Plan) -> tuple[str, ...]:
    """Equal for plans whose tasks have the same workers and depend on each other alike."""
    return (plan.synthesis, *sorted(shapes(plan.tasks).values()))
