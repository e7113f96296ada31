"""What a stored run says about its team: its history, and its plan as it was accepted first. Pure.
A nested team is judged by the runs in which it is the team."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from hashlib import sha256

from leadhand.contracts import events
from leadhand.contracts.task import Plan, Task
from leadhand.plans import graph
from leadhand.trace.document import accepted_plan
from leadhand.trace.run_history import AttemptHistory, RunHistory

OTHER_DEFINITION = "with another definition of the team, or by another release of leadhand"


@dataclass(frozen=True, slots=True)
class RunFacts:
    history: RunHistory
    plan: Plan
    """As it was accepted first: without amendments, splits, refinements and later rounds."""
    planner_calls: Sequence[int] = ()
    """The tokens of each model call before the plan was accepted."""

    @property
    def run_id(self) -> str:
        return self.history.run_id

    @property
    def request(self) -> str:
        return self.history.state.request

    @property
    def planned_by(self) -> str:
        """`planner` for a model, `template`, `router`, `person`, or a planner of the user's own."""
        return self.history.state.planned_by

    @property
    def rounds(self) -> int:
        """Decisions of a stepwise planner; 0 for other kinds."""
        return self.history.state.round

    @property
    def given(self) -> list[Task]:
        """The planned tasks, with those of later rounds and amendments."""
        tasks = self.history.tasks.values()
        return [self.history.task_state(one.id).task for one in tasks if one.part_of is None]

    @property
    def chosen(self) -> Sequence[Task]:
        """The tasks whose workers were chosen: a template or a person assigns them by rule."""
        by_rule = self.planned_by == "router" and len(self.plan.tasks) > 1
        return () if self.planned_by in ("template", "person") or by_rule else self.given

    @property
    def attempts(self) -> Iterator[AttemptHistory]:
        for task in self.history.tasks.values():
            yield from task.attempts

    @property
    def workers(self) -> Set[str]:
        """The workers that were given a task or made an attempt."""
        return {task.worker for task in self.given} | {one.worker for one in self.attempts}


def facts(log: Sequence[events.Event], *, prompts: str) -> RunFacts | str:
    """Returns why if the run does not count. `prompts` is the digest of the team's definition
    now."""
    plan, own = accepted_plan(log), [event for event in log if not event.within]
    calls, accepted = list[int](), False
    for event in own:
        match event:
            case events.RunStarted() | events.RunResumed() if event.prompts != prompts:
                return OTHER_DEFINITION
            case events.PlanAccepted():
                accepted = True
            case events.ModelCalled(role="planner", task_id=None) if not accepted:
                calls.append(event.input_tokens + event.output_tokens)
            case _:
                pass
    history = RunHistory.of(log)
    answer = history.state.answer
    if answer is None or answer.waiting:
        return "not finished"
    if answer.status == "cancelled":
        return "cancelled"
    return "without a plan" if plan is None else RunFacts(history, plan, calls)


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
