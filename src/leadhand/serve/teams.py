"""Teams over HTTP: what they are for, who is in them, how they do, and their samples."""

import dataclasses
import datetime as dt
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field, JsonValue

from leadhand.contracts.role import Route
from leadhand.contracts.summary import RunSummary, WorkerHealth
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Team, Worker, tool_name
from leadhand.errors import InputError
from leadhand.evals.trials import ORIGIN
from leadhand.models.choice import models_by_role
from leadhand.plans.payloads import DeclaredType
from leadhand.serve.new_runs import MAX_REQUEST_CHARS, AcceptedRun, NewRun, start
from leadhand.serve.principals import Current, Operator, may_see
from leadhand.serve.problems import HttpProblem
from leadhand.serve.run_views import RunEntry, run_entry
from leadhand.serve.runs import Prefer, started
from leadhand.serve.service import Serving
from leadhand.teams.loader import ready_made
from leadhand.teams.samples import sample_names, sample_of

router = APIRouter(prefix="/api/v1", tags=["teams"])

_RUNS = 10
_TRIALS = 1_000
"""Runs of the last evaluation that are counted."""


class TeamFacts(BaseModel):
    name: str
    description: str
    needs: str
    """What has to be handed in."""
    gives: str
    """What the answer has."""
    model: str | None
    """What it asks; None: it works without a model."""
    confidential: bool
    samples: list[str]


class TeamEntry(TeamFacts):
    workers: int


class WorkerEntry(BaseModel):
    name: str
    description: str
    tools: list[str]
    output: dict[str, Any] | None
    """The JSON Schema of what it returns; None: text."""
    fallback: str | None
    tier: str | None
    health: WorkerHealth | None


class EvaluationEntry(BaseModel):
    """The last evaluation of a team that is in this journal; `leadhand eval` prints its scores."""

    id: str
    started_at: dt.datetime
    runs: int
    complete: int
    """How many of the runs ended `complete`; that is no score."""


class TeamDocument(TeamFacts):
    workers: list[WorkerEntry]
    routes: list[dict[str, Any]]
    """Which words of a request lead to which worker."""
    output: dict[str, Any] | None
    """The JSON Schema of the answer's output; None: any."""
    runs: list[RunEntry]
    """The latest that the caller may see, without those of evaluations."""
    evaluation: EvaluationEntry | None


class WantedSample(BaseModel, extra="forbid"):
    sample: str | None = None


class WorkerTrial(BaseModel, extra="forbid"):
    request: str = Field(max_length=MAX_REQUEST_CHARS)


@router.get("/teams")
async def list_teams(principal: Current, service: Serving) -> list[TeamEntry]:
    """The teams that can be asked here."""
    return [
        TeamEntry(**_facts(one.team), workers=len(one.team.workers))
        for one in service.supervisors.values()
    ]


@router.get("/teams/{name}")
async def read_team(name: str, principal: Current, service: Serving) -> TeamDocument:
    """A team with its workers, how they do now, and its latest runs."""
    supervisor = service.supervisor(name)
    team, health = supervisor.team, {one.worker: one for one in supervisor.health().workers}

    def seen(run: RunSummary, *, trial: bool) -> bool:
        is_trial = run.origin.get("command") == ORIGIN["command"]
        return run.team == name and is_trial == trial and may_see(principal, run.origin)

    listed = await service.journal.runs(limit=_RUNS, where=lambda run: seen(run, trial=False))
    trials = await service.journal.runs(limit=_TRIALS, where=lambda run: seen(run, trial=True))
    operator = principal.has("operator")
    return TeamDocument(
        **_facts(team),
        workers=[_worker(one, health.get(one.name)) for one in team.workers],
        routes=[_route(one) for one in team.routes],
        output=_schema(team.output),
        runs=[RunEntry.model_validate(run_entry(run, operator=operator)) for run in listed],
        evaluation=_last_evaluation(trials),
    )


@router.post("/teams/{name}/sample", status_code=202, response_model=AcceptedRun)
async def run_sample(
    name: str,
    principal: Current,
    service: Serving,
    body: WantedSample | None = None,
    prefer: Prefer = None,
) -> Response:
    """Start a run of a sample that came with the team."""
    service.supervisor(name)
    sample = body.sample if body is not None else None
    folder = ready_made().get(name)
    if folder is None:
        raise HttpProblem(404, f"team {name!r} has no sample")
    try:
        request, inputs = sample_of(folder, None if sample == "default" else sample)
    except InputError as error:
        raise HttpProblem(404, str(error)) from None
    new = NewRun(team=name, request=request)
    run = await start(service, principal, new, inputs=tuple(inputs))
    return await started(service, principal, run.id, name, prefer)


@router.post("/teams/{name}/workers/{worker}/try", status_code=202, response_model=AcceptedRun)
async def try_worker(
    name: str, worker: str, body: WorkerTrial, principal: Operator, service: Serving
) -> Response:
    """Start a run with a plan of one task for that worker."""
    if service.supervisor(name).team.worker(worker) is None:
        raise HttpProblem(404, f"team {name!r} has no worker {worker!r:.100}")
    task = Task(id=worker, worker=worker, intent=body.request)
    plan = Plan(goal=body.request, tasks=(task,))
    new = NewRun(team=name, request=body.request, plan=plan)
    run = await start(service, principal, new)
    return await started(service, principal, run.id, name, None)


def _last_evaluation(trials: Sequence[RunSummary]) -> EvaluationEntry | None:
    """Of the runs of evaluations, the latest first: their ids begin with that of the evaluation."""
    if not trials:
        return None
    id = "-".join(trials[0].run_id.split("-")[:4])
    own = [one for one in trials if one.run_id.startswith(f"{id}-")]
    return EvaluationEntry(
        id=id,
        started_at=min(one.started_at for one in own),
        runs=len(own),
        complete=sum(one.status == "complete" for one in own),
    )


def _facts(team: Team) -> dict[str, Any]:
    folder = ready_made().get(team.name)
    return {
        **{key: getattr(team, key) for key in ("name", "description", "needs", "gives")},
        "model": ", ".join(dict.fromkeys(models_by_role(team).values())) or None,
        "confidential": team.confidential,
        "samples": [] if folder is None else sample_names(folder),
    }


def _worker(worker: Worker, health: WorkerHealth | None) -> WorkerEntry:
    return WorkerEntry(
        name=worker.name,
        description=worker.description,
        tools=[tool_name(one) or type(one).__name__ for one in worker.tools],
        output=_schema(worker.output),
        fallback=worker.fallback,
        tier=worker.tier,
        health=health,
    )


def _route(route: Route) -> dict[str, JsonValue]:
    return {key: value for key, value in dataclasses.asdict(route).items() if value}


def _schema(declared: object) -> dict[str, Any] | None:
    return None if declared is None else {**DeclaredType(declared).schema}
