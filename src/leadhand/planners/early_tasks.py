"""Which tasks of a plan that is still being written may start. It asks no model."""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic_core import to_json

from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import Plan, PlanRequest, Task
from leadhand.contracts.team import Team
from leadhand.contracts.tools import may_start_early
from leadhand.models.prompts import joined, prompt
from leadhand.plans.checks import MAX_TASKS, check, errors_in
from leadhand.state.fold import RunState


@dataclass
class EarlyTasks:
    state: RunState
    start: Callable[[Task], None] | None = None
    """Starts a task; None while none may start early."""


def told(early: EarlyTasks | None) -> str:
    """What a planner that is asked again is told of the tasks that had started."""
    ids = early.state.early_told if early is not None and early.start is not None else ()
    if early is None or not ids:
        return ""
    tasks = [early.state.early[id].model_dump(exclude_defaults=True) for id in ids]
    lines = "\n".join(to_json(task).decode() for task in tasks)
    return joined(prompt("leadhand.planners", "again"), lines)


class SoundTasks:
    """Chooses the tasks of one plan that may start, as they are written.

    All that a task depends on have started, its worker is read-only, and nothing is wrong with it.
    After the first problem no more tasks start, as the plan will be refused.
    """

    def __init__(self, early: EarlyTasks, request: PlanRequest, team: Team) -> None:
        self._early = early
        self._request = request
        self._team = team
        self._seen: set[str] = set()
        self._waiting: list[Task] = []
        self._started: dict[str, Task] = {}
        self._is_sound = True

    def add(self, task: Task | None) -> None:
        """None: it could not be read."""
        start = self._early.start
        if task is None or task.id in self._seen or len(self._seen) >= MAX_TASKS["model"]:
            self._is_sound = False
        if task is None or start is None or not self._is_sound:
            return
        self._seen.add(task.id)
        self._waiting.append(task)
        while (ready := next(filter(self._is_ready, self._waiting), None)) is not None:
            self._waiting.remove(ready)
            self._take(ready, start)

    def _is_ready(self, task: Task) -> bool:
        return all(needed in self._started for needed in task.depends_on)

    def _take(self, task: Task, start: Callable[[Task], None]) -> None:
        known = self._early.state.early.get(task.id)
        if known is None and self._may_start(task):
            start(task)
            known = self._early.state.early.get(task.id)
        if known == task:
            self._started[task.id] = task

    def _may_start(self, task: Task) -> bool:
        needed = (self._started[id].model_copy(update={"depends_on": ()}) for id in task.depends_on)
        plan = Plan(goal=self._request.text, tasks=(*needed, task))
        request, earlier = self._request.text, self._request.earlier
        found = check(plan, self._team, author="model", request=request, earlier=earlier)
        self._is_sound = self._is_sound and not errors_in(found)
        worker = self._team.worker(task.worker)
        if worker is None or worker.name == SUBPLANNER:  # which has to see the tasks beside it
            return False
        return self._is_sound and may_start_early(worker, self._team)
