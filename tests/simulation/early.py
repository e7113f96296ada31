"""The rules of tasks that start while their plan is still being written."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from leadhand.contracts.events import TaskPlanned
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Team
from leadhand.contracts.tools import may_start_early
from tests.simulation.seen import Seen


@dataclass(slots=True)
class WatchedEarly:
    """What a log has said of the tasks that were planned before there was a plan."""

    planned: dict[str, Task] = field(default_factory=dict[str, Task])
    has_plan: bool = False

    def read(self, event: TaskPlanned, tasks: dict[str, Seen], team: Team) -> Iterator[str]:
        """Every rule that a task breaks that may start early."""
        task, worker = event.task, team.worker(event.task.worker)
        if self.has_plan or not team.early_start:
            yield "it was planned early"
        if task.id != event.task_id or task.id in tasks:
            yield "it is no new id"
        if worker is None or not may_start_early(worker, team):
            yield f"it was planned early, and {task.worker} does more than read"
        if not tasks.keys() >= {*task.depends_on}:
            yield "it was planned before all that it needs"
        self.planned[task.id] = task
        tasks[task.id] = Seen(task, task.worker)

    def accepted(self, plan: Plan, tasks: dict[str, Seen]) -> Iterator[str]:
        """Every rule that a plan breaks by taking over the tasks; it replaces those of `tasks`."""
        kept = self._kept(plan)
        for id, seen in tasks.items():
            if id not in kept and not seen.ended:
                yield f"{id} goes on, and the plan has no such task"
        before, self.has_plan = dict(tasks), True
        tasks.clear()
        for task in plan.tasks:
            id = task.id
            known = before.get(id)
            tasks[id] = Seen(task, task.worker)
            if known is not None and id in kept:
                tasks[id] = known
            elif known is not None:
                tasks[id].attempts = tasks[id].forgiven = known.attempts

    def drops(self, id: str, plan: Plan | None) -> bool:
        """Whether a task is cancelled because the proposed plan lacks it, and not with the run."""
        return not self.has_plan and plan is not None and id not in self._kept(plan)

    def _kept(self, plan: Plan) -> set[str]:
        """The early tasks that a plan has unchanged, with all that they need."""
        now = {task.id: task for task in plan.tasks}
        kept = {id for id, task in self.planned.items() if now.get(id) == task}
        while gone := {id for id in kept if not kept >= {*now[id].depends_on}}:
            kept -= gone
        return kept
