"""Plans over HTTP: what a request would do, and what is wrong with a plan that a person edits."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

from fastapi import APIRouter
from pydantic import BaseModel, ValidationError

from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.models.choice import models_by_role
from leadhand.plans import graph
from leadhand.plans.checks import Problem, check, errors_in
from leadhand.plans.planned_workers import with_chosen_tools, with_planned_workers
from leadhand.serve.new_runs import RequestText, foreign_files
from leadhand.serve.principals import Principal, check_role
from leadhand.serve.problems import HttpProblem
from leadhand.serve.service import Calling, Operating
from leadhand.state.fold import RunState

router = APIRouter(prefix="/api/v1", tags=["plans"])

_CODES = {
    "depends_on": "cycle duplicate_dependency self_dependency too_many_edges unknown_dependency",
    "id": "ambiguous_id duplicate_id",
    "payload": "invalid_payload",
    "tools": "tool_out_of_reach",
    "artifacts": "unknown_artifact",
    "worker": "too_deep unknown_worker",
    "workers": "invalid_worker too_many_workers unused_worker",
    "synthesis": "unknown_synthesis",
    "tasks": "empty_plan too_many_tasks",
    "intent": "vague_intent",
}
_FIELDS = {code: field for field, codes in _CODES.items() for code in codes.split()}
"""Where a person corrects a problem, by its code."""


class WantedPlan(BaseModel, extra="forbid"):
    team: str
    request: RequestText
    after: str | None = None


class GivenPlan(BaseModel, extra="forbid"):
    team: str
    plan: dict[str, Any]
    """As far as it is written."""


class PlanGraph(BaseModel):
    order: list[str]
    """The ids of the tasks, each after those that it depends on."""
    edges: list[tuple[str, str]]
    """From a task to one that depends on it."""


class PlanForecast(BaseModel):
    tasks: int
    models: dict[str, str]
    """By role and worker; empty without a model."""
    usd: float | None
    tokens: int | None
    """What a run may spend."""


class PlannedRequest(BaseModel):
    plan: Plan
    graph: PlanGraph
    forecast: PlanForecast


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanProblem(Problem):
    field: str | None
    """Of the task, or without one of the plan."""


class PlanProblems(BaseModel):
    problems: list[PlanProblem]


@router.post("/plans")
async def plan_request(body: WantedPlan, caller: Operating) -> PlannedRequest:
    """The plan for a request. No work is done; the planner may ask its model."""
    if body.after is not None:
        await caller.visible(body.after)
    supervisor = caller.service.supervisor(body.team)
    plan = await supervisor.plan(body.request, after=body.after)
    budget = caller.principal.budget or supervisor.budget
    return PlannedRequest(
        plan=plan,
        graph=PlanGraph(
            order=graph.order(plan.tasks),
            edges=[(before, task.id) for task in plan.tasks for before in task.depends_on],
        ),
        forecast=PlanForecast(
            tasks=len(plan.tasks),
            models=models_by_role(with_planned_workers(supervisor.team, plan)),
            usd=budget and budget.usd,
            tokens=budget and budget.tokens,
        ),
    )


@router.post("/plans/check")
async def check_plan(body: GivenPlan, caller: Calling) -> PlanProblems:
    """What is wrong with a plan, while it is edited. No model is asked."""
    check_role(caller.principal, "approver")
    team = caller.service.supervisor(body.team).team
    try:
        plan = Plan.model_validate(body.plan)
    except ValidationError as error:
        return PlanProblems(problems=[*_invalid(body.plan, error)])
    return PlanProblems(problems=[*map(_shown, _problems(plan, team, RunState()))])


def check_sound(plan: Plan, team: Team, state: RunState, principal: Principal) -> None:
    """Raises `HttpProblem` with all errors of a plan that a person sends for a run."""
    errors = errors_in(_problems(plan, team, state))
    errors += foreign_files(plan, principal, state)
    if errors:
        found = [asdict(_shown(one)) for one in errors]
        raise HttpProblem(422, "the plan can't be carried out", extra={"problems": [*found]})


def _problems(plan: Plan, team: Team, state: RunState) -> Sequence[Problem]:
    return check(
        with_chosen_tools(plan, team), team, request=state.request or None, earlier=state.earlier
    )


def _shown(problem: Problem) -> PlanProblem:
    return PlanProblem(**asdict(problem), field=_FIELDS.get(problem.code))


def _invalid(plan: Mapping[str, Any], error: ValidationError) -> Iterator[PlanProblem]:
    for one in error.errors(include_url=False, include_context=False, include_input=False):
        place, task_id = [*one["loc"]], None
        if place[:1] == ["tasks"] and len(place) > 1 and isinstance(place[1], int):
            task: object = plan["tasks"][place[1]]
            given = cast("Mapping[str, object]", task).get("id") if isinstance(task, dict) else None
            task_id, place = str(given or f"task {place[1] + 1}"), place[2:]
        field = str(place[0]) if place else None
        yield PlanProblem(code=one["type"], message=one["msg"], task_id=task_id, field=field)
