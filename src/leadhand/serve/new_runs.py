"""Starts runs: what a client may ask for, with files, and the same request sent twice."""

import asyncio
import hashlib
import os.path
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Annotated, Any

from fastapi import Header, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, FiniteFloat, JsonValue, ValidationError
from starlette.datastructures import FormData, UploadFile

from leadhand.contracts.budget import Budget, budgets_of
from leadhand.contracts.people import Occasion
from leadhand.contracts.task import EarlierRun, Plan, PlanRequest
from leadhand.errors import PlanError, RunExists
from leadhand.plans.checks import Problem
from leadhand.run.admission import check_own_plan
from leadhand.run.handle import Run
from leadhand.run.settings import digest_of
from leadhand.run.stored import StoredRun, earlier_runs
from leadhand.run.uploads import kept_files
from leadhand.serve.principals import EVERY_TENANT, Principal, origin_of
from leadhand.serve.problems import HttpProblem
from leadhand.serve.run_views import RunBudget
from leadhand.serve.service import (
    UNKEPT,
    AnySupervisor,
    Service,
    ServiceCaller,
    ServiceSettings,
    VisibleRun,
)
from leadhand.state.fold import RunState

MAX_DEADLINE_S = 86_400.0
MAX_REQUEST_CHARS = 1_000_000
RequestText = Annotated[str, Field(max_length=MAX_REQUEST_CHARS, pattern=r"\S")]
STORED_S = 10.0
"""How long another request with the same key may take to store its run."""
_LOOK_S = 0.05


Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=200)]
Deadline = Annotated[FiniteFloat, Field(gt=0, le=MAX_DEADLINE_S)]
"""In seconds; never without a limit."""


class NewRun(BaseModel, extra="forbid"):
    """A run to start."""

    team: str
    request: RequestText
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
_FIELD, _FILES = "run", "files"
BODY = {
    "application/json": {"schema": NewRun.model_json_schema(ref_template=_PLACE)},
    "multipart/form-data": {
        "schema": {
            "type": "object",
            "required": [_FIELD],
            "properties": {
                _FIELD: {"type": "string", "contentMediaType": "application/json"},
                _FILES: {"type": "array", "items": {"type": "string", "format": "binary"}},
            },
        }
    },
}
"""How OpenAPI describes the body, which may be either."""


class AcceptedRun(BaseModel):
    """A run that is stored and under way, or waits for its turn."""

    run_id: str
    team: str
    status: str = "running"
    links: dict[str, str]
    """Of the run, and of its events."""


def accepted(run_id: str, team: str) -> AcceptedRun:
    url = f"/api/v1/runs/{run_id}"
    return AcceptedRun(run_id=run_id, team=team, links={"self": url, "events": f"{url}/events"})


async def start(
    caller: ServiceCaller,
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
    principal, service = caller.principal, caller.service
    supervisor = service.supervisor(new.team)
    await _check_plan(caller, new)
    files = dict(uploads or {})
    if new.after is not None and (await caller.visible(new.after)).uploads:
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
    approve: Sequence[Occasion] | None = new.approve
    if approve is not None and not caller.is_operator:
        approve = (*approve, *supervisor.approve)  # others only add to what the service asks
    try:
        return await supervisor.start(
            new.request,
            run_id=run_id,
            plan=new.plan,
            after=new.after,
            earlier=earlier,
            approve=approve,
            inputs=inputs,
            uploads=files,
            deadline_s=new.deadline_s,
            budget=_budget(new.budget, principal.budget, supervisor),
            origin=origin,
            context=principal.context,
        )
    except RunExists:
        if run_id is None:
            raise
        known = await _started(service, run_id)
        if known is None or known.origin.get("idempotency") != digest:
            why = "this Idempotency-Key was sent with another request"
            raise HttpProblem(422, why) from None
        return service.handle(known)


async def _check_plan(caller: ServiceCaller, new: NewRun) -> None:
    """Before a run is stored, which a restart would resume. Raises `PlanError`, `HttpProblem`."""
    if new.plan is None:
        return
    if not caller.is_operator:
        raise HttpProblem(403, "a plan of your own is for the role operator")
    before: tuple[EarlierRun, ...] = ()
    if new.after is not None:
        await caller.visible(new.after)
        log = await caller.service.journal.events(new.after)
        before = earlier_runs(StoredRun.of(new.after, log).state)
    team = caller.service.supervisor(new.team).team
    check_own_plan(new.plan, team, PlanRequest(new.request, after=before))
    if foreign := [*foreign_files(new.plan, caller.principal, RunState())]:
        raise PlanError(foreign)


def foreign_files(plan: Plan, principal: Principal, state: RunState) -> Iterator[Problem]:
    """Tasks of a client's plan that are to work on files of this machine which are not their run's.

    Workers read what a plan names with the rights of the service. Operators of every tenant may.
    """
    if principal.tenant == EVERY_TENANT and principal.has("operator"):
        return
    asked = [one for one in (state.plan, state.proposed) if one is not None]
    own = {name for one in asked for task in one.tasks for name in task.artifacts}
    for task in plan.tasks:
        for name in task.artifacts:
            if name not in own and _may_be_file(name):
                why = f"task {task.id!r} is to work on {name!r:.200}, which is no file of the run"
                yield Problem("unknown_artifact", why, task.id)


def _may_be_file(name: str) -> bool:
    outside = name.startswith(("/", "~")) or ".." in PurePath(name).parts
    return outside or os.path.exists(name)


async def _started(service: Service, run_id: str) -> VisibleRun | None:
    """A run that another request is starting, once it is stored."""
    for _ in range(round(STORED_S / _LOOK_S)):
        if (known := await service.stored(run_id)) is not None:
            return known
        await asyncio.sleep(_LOOK_S)
    return None


def _budget(
    given: RunBudget | None, callers: Budget | None, supervisor: AnySupervisor
) -> list[Budget] | None:
    """What the run may spend: nothing more than the caller and the team may.

    Raises `HttpProblem` if more was asked for.
    """
    own, shared = budgets_of(callers)
    if given is None and own is None:
        return [*shared] or None
    most, asked = own or Budget(), given or RunBudget()
    most = most.tightened(supervisor.budget or Budget())
    for name in ("usd", "tokens"):
        wanted, limit = getattr(asked, name), getattr(most, name)
        if wanted is not None and limit is not None and wanted > limit:
            raise HttpProblem(422, f"budget: {name} is {wanted:g}, and may be {limit:g} at most")
    return [most.tightened(Budget(usd=asked.usd, tokens=asked.tokens)), *shared]


async def read_body(request: Request, settings: ServiceSettings) -> tuple[NewRun, dict[str, bytes]]:
    """What to start, and the files with it by their names. Raises `HttpProblem`."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type != "multipart/form-data":
        if media_type not in ("", "application/json"):
            raise HttpProblem(415, "the body is JSON, or multipart/form-data with files")
        return _valid(await request.body()), {}
    limit = settings.max_body_bytes
    async with request.form(
        max_files=settings.max_uploads + 1, max_fields=1, max_part_size=limit
    ) as form:
        given = form.get(_FIELD)
        if isinstance(given, UploadFile):
            if (given.size or 0) > limit:
                raise HttpProblem(413, f"the field {_FIELD!r} may have {limit:,} bytes")
            given = (await given.read()).decode("utf-8", "replace")
        if given is None or {*form} - {_FIELD, _FILES}:
            raise HttpProblem(422, f"give the run as {_FIELD!r}, and each file as {_FILES!r}")
        return _valid(given.encode()), await _files(form, settings)


async def _files(form: FormData, settings: ServiceSettings) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for one in form.getlist(_FILES):
        if not isinstance(one, UploadFile) or not one.filename:
            raise HttpProblem(422, f"{_FILES!r} has a part without a filename")
        if one.filename in files:
            raise HttpProblem(422, f"two files have the name {one.filename!r:.200}")
        files[one.filename] = await one.read()
    if len(files) > settings.max_uploads:
        raise HttpProblem(413, f"a run may have {settings.max_uploads} files")
    if sum(map(len, files.values())) > settings.max_upload_bytes:
        raise HttpProblem(413, f"its files may have {settings.max_upload_bytes:,} bytes together")
    return files


def _valid(text: bytes) -> NewRun:
    try:
        return NewRun.model_validate_json(text)
    except ValidationError as error:
        found = [{**one, "loc": ("body", *one["loc"])} for one in error.errors(include_url=False)]
        raise RequestValidationError(found) from None
