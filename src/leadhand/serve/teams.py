"""Teams over HTTP: what they are for, who is in them, how they do, and their samples."""

import datetime as dt
from collections.abc import Sequence
from typing import Annotated, Any, Self

from fastapi import APIRouter, Response
from pydantic import BaseModel, BeforeValidator

from leadhand.contracts.people import Occasion
from leadhand.contracts.summary import RunSummary, WorkerHealth
from leadhand.contracts.tools import tool_name
from leadhand.errors import InputError
from leadhand.evals.trials import ORIGIN
from leadhand.models.choice import models_by_role
from leadhand.plans.payloads import DeclaredType
from leadhand.serve.documents import run_entry
from leadhand.serve.new_runs import NewRun, start
from leadhand.serve.problems import HttpProblem
from leadhand.serve.runs import STARTS, Prefer, started
from leadhand.serve.service import Calling
from leadhand.supervisor import Supervisor
from leadhand.teams.loader import ready_made
from leadhand.teams.samples import sample_names, sample_of

router = APIRouter(prefix="/api/v1", tags=["teams"])

_RUNS = 10
_TRIALS = 1_000
"""Runs of the last evaluation that are counted."""


def _schema(declared: object) -> dict[str, Any] | None:
    return None if declared is None else {**DeclaredType(declared).schema}


def _names(tools: Sequence[object]) -> list[str]:
    return [tool_name(one) or type(one).__name__ for one in tools]


class WorkerEntry(BaseModel, from_attributes=True):
    name: str
    description: str
    tools: Annotated[list[str], BeforeValidator(_names)]
    output: Annotated[dict[str, Any] | None, BeforeValidator(_schema)]
    """The JSON Schema of what it returns; None: text."""
    fallback: str | None
    tier: str | None
    health: WorkerHealth | None = None


class EvaluationEntry(BaseModel):
    """The last evaluation of a team that is in this journal; `leadhand eval` prints its scores."""

    id: str
    started_at: dt.datetime
    runs: int
    complete: int
    """How many of the runs ended `complete`; that is no score."""


class TeamDocument(BaseModel):
    name: str
    description: str
    needs: str
    """What has to be handed in."""
    gives: str
    """What the answer has."""
    confidential: bool
    workers: list[WorkerEntry]
    output: Annotated[dict[str, Any] | None, BeforeValidator(_schema)]
    """The JSON Schema of the answer's output; None: any."""
    model: str | None = None
    """What it asks; None: it works without a model."""
    samples: list[str] = []
    approve: list[Occasion] = []
    """When the service asks a person in its runs."""
    runs: list[RunSummary] = []
    """The latest that the caller may see, without those of evaluations; only of one team."""
    evaluation: EvaluationEntry | None = None

    @classmethod
    def of(cls, supervisor: Supervisor[Any, object]) -> Self:
        team, folder = supervisor.team, ready_made().get(supervisor.team.name)
        facts = {name: getattr(team, name) for name in cls.model_fields if hasattr(team, name)}
        facts["model"] = ", ".join(dict.fromkeys(models_by_role(team).values())) or None
        facts["approve"] = [*supervisor.approve]
        facts["samples"] = [] if folder is None else sample_names(folder)
        return cls.model_validate(facts)


class WantedSample(BaseModel, extra="forbid"):
    sample: str | None = None


@router.get("/teams")
async def list_teams(caller: Calling) -> list[TeamDocument]:
    """The teams that can be asked here."""
    return [TeamDocument.of(one) for one in caller.service.supervisors.values()]


@router.get("/teams/{name}")
async def read_team(name: str, caller: Calling) -> TeamDocument:
    """A team with its workers, how they do now, and its latest runs."""
    supervisor, journal = caller.service.supervisor(name), caller.service.journal
    shown = TeamDocument.of(supervisor)
    health = {one.worker: one for one in supervisor.health().workers}
    for worker in shown.workers:
        worker.health = health.get(worker.name)

    def seen(run: RunSummary, *, trial: bool) -> bool:
        is_trial = run.origin.get("command") == ORIGIN["command"]
        return run.team == name and is_trial == trial and caller.principal.may_see(run.origin)

    runs = await journal.runs(limit=_RUNS, where=lambda run: seen(run, trial=False))
    shown.runs = [run_entry(run, operator=caller.is_operator) for run in runs]
    trials = await journal.runs(limit=_TRIALS, where=lambda run: seen(run, trial=True))
    shown.evaluation = _last_evaluation(trials)
    return shown


@router.post("/teams/{name}/sample", **STARTS)
async def run_sample(
    name: str, caller: Calling, body: WantedSample | None = None, prefer: Prefer = None
) -> Response:
    """Start a run of a sample that came with the team."""
    caller.service.supervisor(name)
    sample = body.sample if body is not None else None
    folder = ready_made().get(name)
    if folder is None:
        raise HttpProblem(404, f"team {name!r} has no sample")
    try:
        request, inputs = sample_of(folder, None if sample == "default" else sample)
    except InputError as error:
        raise HttpProblem(404, str(error)) from None
    run = await start(caller, NewRun(team=name, request=request), inputs=tuple(inputs))
    return await started(caller, run, name, prefer)


def _last_evaluation(trials: Sequence[RunSummary]) -> EvaluationEntry | None:
    """Of the runs of evaluations, the latest first: their ids begin with that of the evaluation."""
    if not trials:
        return None
    id = "-".join(trials[0].run_id.split("-")[:4])
    own = [one for one in trials if one.run_id.startswith(f"{id}-")]
    complete = sum(one.status == "complete" for one in own)
    began = min(one.started_at for one in own)
    return EvaluationEntry(id=id, started_at=began, runs=len(own), complete=complete)
