"""Plans and teams that engine tests share."""

from collections.abc import Iterable, Mapping, Sequence

from hypothesis import strategies as st

from leadhand.contracts.events import PlanAccepted, PlanProposed, RunStarted
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Team, Worker
from tests.recorders import LogRecorder


def nothing(handoff: Handoff) -> str:
    return handoff.task_id


def task(
    id: str, *depends_on: str, worker: str = "worker", tolerates_missing: bool = False
) -> Task:
    return Task(
        id=id,
        worker=worker,
        intent=f"work on part {id}",
        depends_on=depends_on,
        tolerates_missing=tolerates_missing,
    )


def plan(*tasks: Task) -> Plan:
    return Plan(goal="get it all done", tasks=tasks)


def team(*names: str, **fields: object) -> Team:
    """A team whose workers, `worker` by default, return the task's id."""
    workers = tuple(Worker(name, f"does {name}", run=nothing) for name in names or ("worker",))
    return Team("team", workers=workers, **fields)  # pyright: ignore[reportArgumentType]


def accepted(the_plan: Plan, *, approved: bool = False, amend: bool = True) -> LogRecorder:
    """The recorder of a run whose plan has just been accepted. Needs a running event loop."""
    recorder = LogRecorder()
    recorder.record(
        RunStarted(
            **recorder.stamp(),
            team="team",
            request="do",
            engine="deterministic",
            deadline_s=None,
            amend=amend,
        )
    )
    recorder.record(PlanProposed(**recorder.stamp(), plan=the_plan, by="test"))
    recorder.record(PlanAccepted(**recorder.stamp(), approved=approved))
    return recorder


@st.composite
def plans(draw: st.DrawFn, *, max_tasks: int = 12) -> Plan:
    """Any acyclic plan: each task depends on any of the earlier ones and may tolerate gaps."""
    count = draw(st.integers(1, max_tasks))
    tasks: list[Task] = []
    for number in range(count):
        earlier = [one.id for one in tasks]
        needs = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=4)) if earlier else []
        tasks.append(task(f"t{number}", *needs, tolerates_missing=draw(st.booleans())))
    order = draw(st.permutations(tasks))
    return plan(*order)


def edges(tasks: Iterable[Task]) -> Mapping[str, Sequence[str]]:
    """Task id -> what it depends on."""
    return {one.id: one.depends_on for one in tasks}
