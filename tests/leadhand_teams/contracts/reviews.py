"""Runs the team on files of a test, without a model."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from leadhand import Answer, Plan, Supervisor
from leadhand.contracts.task import Batch, PlanRequest
from leadhand.errors import LeadhandError
from leadhand.teams.loader import load, ready_made
from leadhand_teams.contracts.output import ContractReview
from leadhand_teams.contracts.planning import plan

FOLDER = ready_made()["contracts"]
SAMPLES = FOLDER / "samples"


def reviewed(request: str, *paths: Path) -> tuple[Answer, ContractReview]:
    """The answer of a run, and its output."""
    answer = Supervisor(load("contracts")).run_sync(request, inputs=list(paths))
    return answer, ContractReview.model_validate(answer.output or {})


def planned(request: str, *paths: Path) -> Plan:
    """The plan for a request."""
    batches: Mapping[str, Sequence[Batch]] = {"inputs": [Batch(tuple(map(str, paths)))]}
    return plan(PlanRequest(request, batches), load("contracts"))


def refused(request: str, *paths: Path) -> str:
    """Why there is no plan for a request."""
    try:
        return repr(planned(request, *paths))
    except LeadhandError as error:
        return str(error)
