"""Levels: where a nested plan of a recursive run stands, and what that forbids it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import Plan, PlanRequest, Task
from leadhand.contracts.team import Team
from leadhand.errors import ModelError
from leadhand.models.prompts import joined, prompt
from leadhand.plans.checks import MAX_TASKS, Problem, without_punctuation
from leadhand.state.fold import RunState
from leadhand.untrusted.cutting import cut_line
from leadhand.untrusted.fence import Fence

MAX_REQUEST_CHARS = 2_000
MAX_INTENT_CHARS = 200
MAX_BESIDE = 20
"""How many other tasks of the plan around it a nested planner sees."""


@dataclass(frozen=True, slots=True)
class Level:
    first: RunState
    """With all nested runs."""
    request: str
    """What the first plan is for."""
    above: tuple[Task, ...] = ()
    """The tasks that are broken down, the outermost first; empty for the first plan."""
    beside: tuple[Task, ...] = ()

    def below(self, task_id: str, around: RunState) -> "Level":
        """The level of the plan that breaks down a task of the run `around`."""
        tasks = [one.task for one in around.tasks.values()]
        return replace(
            self,
            above=(*self.above, around.tasks[task_id].task),
            beside=tuple(task for task in tasks if task.id != task_id),
        )

    @property
    def is_nested(self) -> bool:
        return bool(self.above)

    @property
    def tasks_left(self) -> int:
        """All levels count together."""
        return MAX_TASKS["model"] - _planned(self.first)

    def problems(self, plan: Plan) -> Iterator[Problem]:
        """What is wrong with the plan at this level, besides what `check` finds."""
        count, left = len(plan.tasks), max(self.tasks_left, 0)
        if count > left:
            yield Problem("too_many_tasks", f"the plan has {count:,} tasks: {_limit(left)}")
        if count == 1 and plan.tasks[0].worker == SUBPLANNER:
            id = plan.tasks[0].id
            yield Problem(
                "pointless_level",
                f"the plan is task {id!r} alone, which is to be broken down: plan its parts here",
                id,
            )
            return
        asked = [self.request, *(task.intent for task in self.above)]
        known = {without_punctuation(text) for text in asked}
        for task in plan.tasks:
            if task.worker == SUBPLANNER and without_punctuation(task.intent) in known:
                yield Problem(
                    "endless_plan",
                    f"task {task.id!r} is to be broken down and repeats what this plan is for: "
                    "plan its parts instead",
                    task.id,
                )

    def shown(self, fence: Fence) -> str:
        """What the planner of a nested plan sees of the plans around it; bounded."""
        if not self.above:
            return ""
        lines = [f"Request: {cut_line(self.request, MAX_REQUEST_CHARS)}"]
        lines += [f"Part of it, {_line(task)}" for task in self.above[:-1]]
        lines += [f"Beside your part, {_line(task)}" for task in self.beside[:MAX_BESIDE]]
        more = len(self.beside) - MAX_BESIDE
        lines += [f"and {more:,} more tasks beside it"] if more > 0 else []
        return joined(
            prompt("leadhand.planners", "part"),
            f"At most {max(self.tasks_left, 0)} tasks are left for it.",
            fence.explanation,
            fence.around("\n".join(lines), source="the plans around this part"),
        )


class NoSubplanner:
    name = SUBPLANNER

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """Raises `ModelError`."""
        why = "only a model, or a planner in code, can break a task down"
        raise ModelError(why, transient=False)


def _limit(left: int) -> str:
    return (
        f"all plans of a run together may have {MAX_TASKS['model']:,}, of which {left:,} are left"
    )


def no_tasks_left() -> str:
    """Why a nested plan is not made if there is no room for its tasks."""
    return f"it can't be broken down: {_limit(0)}"


def _planned(state: RunState) -> int:
    """The tasks planned in the run and below it. O(tasks)."""
    proposed = state.proposed.tasks if state.proposed is not None else ()
    # Tasks that started early are among those of the plan.
    count = len(proposed) if state.plan is None else len(state.tasks)
    own = 0 if state.proposed_by == "person" else count
    nested = (one.nested for one in state.tasks.values() if one.task.worker == SUBPLANNER)
    return own + sum(_planned(one) for one in nested if one is not None)


def _line(task: Task) -> str:
    return f"`{task.id}`: {cut_line(task.intent, MAX_INTENT_CHARS)}"
