"""Starts runs for principals: what a client may ask for, and the same request sent twice."""

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from fastapi import Header
from pydantic import BaseModel, Field, FiniteFloat, JsonValue

from leadhand.contracts.budget import Budget, budgets_of
from leadhand.contracts.people import Occasion
from leadhand.contracts.task import EarlierRun, Plan
from leadhand.errors import RunExists
from leadhand.run.handle import Run
from leadhand.run.settings import digest_of
from leadhand.run.uploads import kept_files
from leadhand.serve.principals import Principal, origin_of
from leadhand.serve.problems import HttpProblem
from leadhand.serve.run_views import RunBudget
from leadhand.serve.service import UNKEPT, AnySupervisor, Service, VisibleRun

MAX_DEADLINE_S = 86_400.0
MAX_REQUEST_CHARS = 1_000_000
STORED_S = 10.0
"""How long another request with the same key may take to store its run."""
_LOOK_S = 0.05


Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]
Deadline = Annotated[FiniteFloat, Field(gt=0, le=MAX_DEADLINE_S)]
"""In seconds; never without a limit."""


class NewRun(BaseModel, extra="forbid"):
    """A run to start."""

    team: str
    request: str = Field(max_length=MAX_REQUEST_CHARS, pattern=r"\S")
    plan: Plan | None = None
    """A plan to carry out as it is, in place of one by the team's planner; for operators."""
    after: str | None = None
    """The id of a run with an answer, which this one follows."""
    approve: list[Occasion] | None = None
    """When a person is asked: before a `plan` is carried out, about an `escalation`. None: as the
    service does by default; only operators may leave out what it asks."""
    deadline_s: Deadline | None = None
    """Seconds to the answer."""
    budget: RunBudget | None = None
    store: bool = True
    """False: the run is erased once its answer was read."""


_PLACE = "#/paths/~1api~1v1~1runs/post/requestBody/content/application~1json/schema/$defs/{model}"
_FILES = {"type": "array", "items": {"type": "string", "format": "binary"}}
BODY = {
    "application/json": {"schema": NewRun.model_json_schema(ref_template=_PLACE)},
    "multipart/form-data": {
        "schema": {
            "type": "object",
            "required": ["run"],
            "properties": {
                "run": {"type": "string", "contentMediaType": "application/json"},
                "files": _FILES,
            },
        }
    },
}
"""How OpenAPI describes the body, which may be either."""


class RunLinks(BaseModel):
    self: str
    events: str


class AcceptedRun(BaseModel):
    """A run that is stored and under way, or waits for its turn."""

    run_id: str
    team: str
    status: str
    links: RunLinks


def accepted(run_id: str, team: str, status: str = "running") -> AcceptedRun:
    url = f"/api/v1/runs/{run_id}"
    links = RunLinks.model_validate({"self": url, "events": f"{url}/events"})
    return AcceptedRun(run_id=run_id, team=team, status=status, links=links)


async def start(
    service: Service,
    principal: Principal,
    new: NewRun,
    *,
    uploads: Mapping[str, bytes] | None = None,
    inputs: tuple[Path, ...] = (),
    key: str | None = None,
    earlier: Sequence[EarlierRun] = (),
    kept: Mapping[str, JsonValue] | None = None,
) -> Run[Any, object]:
    """The run, once it is stored; the same one for the same `key` of a principal.

    The files of the run that it follows are handed in again, unless `uploads` has one of the name.
    `inputs` are files of the service itself, `earlier` is what a client knows of a conversation,
    and `kept` is stored with the origin. Raises `HttpProblem`, and what `Supervisor.start` raises.
    """
    supervisor = service.supervisor(new.team)
    if new.plan is not None and not principal.has("operator"):
        raise HttpProblem(403, "a plan of your own is for the role operator")
    files = dict(uploads or {})
    if new.after is not None:
        known = await service.visible(principal, new.after)
        if known.uploads:
            files = await kept_files(service.journal, new.after) | files
    origin, digest, run_id = {**(kept or {}), **origin_of(principal)}, "", None
    if not new.store:
        origin[UNKEPT] = True
    if key is not None:
        hashes = {name: hashlib.sha256(data).hexdigest() for name, data in (uploads or {}).items()}
        said = [one.model_dump(mode="json") for one in earlier]
        digest = digest_of([new.model_dump(mode="json"), hashes, *said, kept])
        origin["idempotency"] = digest
        told = "\0".join((principal.tenant, principal.name, key))
        run_id = f"key-{hashlib.sha256(told.encode()).hexdigest()[:32]}"
    try:
        return await supervisor.start(
            new.request,
            run_id=run_id,
            plan=new.plan,
            after=new.after,
            earlier=earlier,
            approve=_occasions(new.approve, principal, supervisor),
            inputs=inputs,
            uploads=files,
            deadline_s=new.deadline_s,
            budget=_budget(new.budget, principal, supervisor),
            origin=origin,
            context=principal.context,
        )
    except RunExists:
        if key is None or run_id is None:
            raise
        known = await _started(service, run_id)
        if known is None or known.origin.get("idempotency") != digest:
            why = "this Idempotency-Key was sent with another request"
            raise HttpProblem(422, why) from None
        return service.supervisor(known.team).handle(run_id)


async def _started(service: Service, run_id: str) -> VisibleRun | None:
    """A run that another request is starting, once it is stored."""
    for _ in range(round(STORED_S / _LOOK_S)):
        if (known := await service.stored(run_id)) is not None:
            return known
        await asyncio.sleep(_LOOK_S)
    return None


def _occasions(
    given: list[Occasion] | None, principal: Principal, supervisor: AnySupervisor
) -> list[Occasion] | None:
    """When a person is asked: an operator decides it, others may only add to the service's."""
    if given is None or principal.has("operator"):
        return given
    return [*given, *supervisor.approve]


def _budget(
    given: RunBudget | None, principal: Principal, supervisor: AnySupervisor
) -> list[Budget] | None:
    """What the run may spend: nothing more than the caller and the team may.

    Raises `HttpProblem` if more was asked for.
    """
    own, shared = budgets_of(principal.budget)
    if given is None and own is None:
        return [*shared] or None
    limits = [one for one in (own, supervisor.budget) if one is not None]
    found: dict[str, Any] = {}
    for name in ("usd", "tokens", "requests"):
        values = [value for one in limits if (value := getattr(one, name)) is not None]
        asked, most = getattr(given, name, None), min(values, default=None)
        if asked is not None and most is not None and asked > most:
            raise HttpProblem(422, f"budget: {name} is {asked:g}, and may be {most:g} at most")
        found[name] = most if asked is None else asked
    return [Budget(**found), *shared]
