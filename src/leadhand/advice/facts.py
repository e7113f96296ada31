"""What stored runs say about their team: a row for each run. Pure. A nested team is judged by the
runs in which it is the team."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from leadhand.contracts import events
from leadhand.contracts.outcome import Usage
from leadhand.contracts.task import Plan, Task
from leadhand.plans import graph
from leadhand.trace.document import accepted_plan
from leadhand.trace.run_history import AttemptHistory, RunHistory

OTHER_DEFINITION = "with another definition of the team, or by another release of leadhand"


@dataclass(frozen=True, slots=True)
class RunFacts:
    run_id: str
    request: str
    planned_by: str
    """`planner` for a model, `template`, `router`, `person`, or a planner of the user's own."""
    plan: Plan
    """As it was accepted first: without amendments, splits, refinements and later rounds."""
    tasks: Sequence[Task] = ()
    """The planned tasks, with those of later rounds and amendments."""
    attempts: Sequence[AttemptHistory] = ()
    planning: Sequence[Usage] = ()
    """Of each model call before the plan was accepted."""
    rounds: int = 0
    """Decisions of a stepwise planner; 0 for other kinds."""
    amended: bool = False
    started_at: dt.datetime | None = None

    @property
    def chosen(self) -> Sequence[Task]:
        """The tasks whose workers were chosen: a template or a person assigns them by rule."""
        by_rule = self.planned_by == "router" and len(self.plan.tasks) > 1
        return () if self.planned_by in ("template", "person") or by_rule else self.tasks


def facts(log: Sequence[events.Event], *, prompts: str) -> RunFacts | str:
    """Returns why if the run does not count. `prompts` is the digest of the team's definition
    now."""
    own = [event for event in log if not event.within]
    starts = (events.RunStarted, events.RunResumed)
    if any(event.prompts != prompts for event in own if isinstance(event, starts)):
        return OTHER_DEFINITION
    history, plan = RunHistory.of(log), accepted_plan(log)
    state = history.state
    if state.answer is None or state.answer.waiting:
        return "not finished"
    if state.answer.status == "cancelled":
        return "cancelled"
    if plan is None:
        return "without a plan"
    accepted = min(event.seq for event in own if isinstance(event, events.PlanAccepted))
    planning = [
        event.usage
        for event in own
        if isinstance(event, events.ModelCalled) and event.seq < accepted
        if event.role == "planner" and event.task_id is None
    ]
    tasks = [
        history.task_state(task.id).task for task in history.tasks.values() if not task.part_of
    ]
    return RunFacts(
        run_id=history.run_id,
        request=state.request,
        planned_by=state.planned_by,
        plan=plan,
        tasks=tasks,
        attempts=[attempt for task in history.tasks.values() for attempt in task.attempts],
        planning=planning,
        rounds=state.round,
        amended=any(version.what == "amended" for version in history.plans),
        started_at=history.started_at,
    )


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
