"""Starts runs: what a client may ask for, with files, and the same request sent twice."""

import contextlib
import hashlib
import os.path
import re
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Annotated, Any

from fastapi import Header, Request
from fastapi.exceptions import RequestValidationError
from pydantic import AfterValidator, BaseModel, Field, FiniteFloat, JsonValue, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from leadhand.contracts.budget import Budget, budgets_of
from leadhand.contracts.people import Occasion
from leadhand.contracts.task import EarlierRun, Plan, PlanRequest, Task
from leadhand.errors import PlanError, RunExists
from leadhand.plans.checks import Problem
from leadhand.run.admission import check_own_plan
from leadhand.run.handle import Run
from leadhand.run.settings import digest_of
from leadhand.run.stored import earlier_runs
from leadhand.run.uploads import digests, fit, kept_files
from leadhand.serve.documents import RunBudget
from leadhand.serve.principals import EVERY_TENANT, Principal, origin_of
from leadhand.serve.problems import HttpProblem, stopping
from leadhand.serve.service import (
    UNKEPT,
    AnySupervisor,
    ServiceCaller,
    ServiceSettings,
    no_such_run,
)
from leadhand.state.fold import RunState

MAX_DEADLINE_S = 86_400.0
_FILE = re.compile(r"(?!\w+://)\S*[./]\S*")
MAX_REQUEST_CHARS = 1_000_000


def _asking(request: str) -> str:
    if not request.strip():
        raise ValueError("the request is empty")
    return request


RequestText = Annotated[
    str,
    Field(max_length=MAX_REQUEST_CHARS, json_schema_extra={"pattern": r"\S"}),
    AfterValidator(_asking),
]

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
_ASKED = f"Give the run as {_FIELD!r}, and each file as {_FILES!r} with a filename"
_FORM = {
    _FIELD: {"type": "string", "contentMediaType": "application/json"},
    _FILES: {"type": "array", "items": {"type": "string", "format": "binary"}},
}
_BODIES = {
    "application/json": NewRun.model_json_schema(ref_template=_PLACE),
    "multipart/form-data": {"type": "object", "required": [_FIELD], "properties": _FORM},
}
BODY = {
    "requestBody": {
        "required": True,
        "content": {kind: {"schema": schema} for kind, schema in _BODIES.items()},
    }
}
"""How OpenAPI describes the body, which may be either."""


class AcceptedRun(BaseModel):
    """A run that is stored."""

    run_id: str
    team: str
    status: str
    """As in a list; `running` while it waits for its turn."""
    links: dict[str, str]
    """Of the run, and of its events."""


async def accepted(caller: ServiceCaller, run_id: str, team: str) -> AcceptedRun:
    service, url = caller.service, f"/api/v1/runs/{run_id}"
    held = service.supervisor(team).handle(run_id).is_under_way  # before its end is read
    held = held or await service.journal.holder(run_id) is not None
    if (run := await service.records.read(run_id)) is None:
        raise no_such_run(run_id)
    status = "running" if held else run.history.run_status(held=False)
    links = {"self": url, "events": f"{url}/events"}
    return AcceptedRun(run_id=run_id, team=team, status=status, links=links)


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
    before = None if new.after is None else await caller.visible(new.after)
    if service.draining.is_set():
        raise stopping()
    if new.plan is not None:
        kept_names = before.state.uploads if before is not None else ()
        await _check_plan(caller, new.plan, new, {*(uploads or ()), *kept_names})
    files = dict(uploads or {})
    if before is not None and before.state.uploads:
        files = await kept_files(service.journal, before.state.run_id) | files
    origin, run_id = {**(kept or {}), **origin_of(principal)}, None
    if not new.store:
        origin[UNKEPT] = True
    if key is not None:
        origin["idempotency"] = digest_of([new.model_dump(mode="json"), digests(uploads or {})])
        told = "\0".join((principal.tenant, principal.name, key))
        run_id = f"key-{hashlib.sha256(told.encode()).hexdigest()[:32]}"
    approve: Sequence[Occasion] | None = new.approve
    if approve is not None and not caller.is_operator:
        approve = (*approve, *supervisor.approve)  # others only add to what the service asks
    try:
        return await supervisor.start(
            new.request,
            run_id=run_id,
            if_exists="error" if key is None else "join",
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
    except RunExists as error:
        same = await service.records.read(error.run_id)
        if same is not None and same.state.origin.get("idempotency") == origin.get("idempotency"):
            return service.handle(same)  # what the principal's own origin has is no part of a body
        raise HttpProblem(422, "this Idempotency-Key was sent with another request") from error


async def _check_plan(
    caller: ServiceCaller, plan: Plan, new: NewRun, files: Collection[str]
) -> None:
    """Before a run is stored, which a restart would resume. Raises `PlanError`, `HttpProblem`."""
    if not caller.is_operator:
        raise HttpProblem(403, "a plan of your own is for the role operator")
    before: tuple[EarlierRun, ...] = ()
    if new.after is not None:
        before = earlier_runs((await caller.visible(new.after)).state)
    team = caller.service.supervisor(new.team).team
    check_own_plan(plan, team, PlanRequest(new.request, after=before))
    if foreign := [*foreign_files(plan, caller.principal, RunState(), files)]:
        raise PlanError(foreign)


def foreign_files(
    plan: Plan, principal: Principal, state: RunState, files: Collection[str] = ()
) -> Iterator[Problem]:
    """Tasks of a client's plan that are to work on files of this machine which are not their run's.

    Workers read what a plan names with the rights of the service. Operators of every tenant may.
    What looks like a file is refused whether there is one or not, which is not theirs to know.
    """
    if principal.tenant == EVERY_TENANT and principal.has("operator"):
        return
    asked = [one for one in (state.plan, state.proposed) if one is not None]
    own = {text for one in asked for task in one.tasks for text in _references(task)}
    for task in plan.tasks:
        for text in _references(task) - own - {*files}:
            outside = text.lstrip().lower().startswith(("/", "~", "file:", "\\"))
            outside = outside or ".." in PurePath(text).parts
            named = text in task.artifacts and _FILE.fullmatch(text)
            if outside or named or os.path.exists(text):
                why = f"task {task.id!r} is to work on {text!r:.200}, which is no file of the run"
                yield Problem("unknown_artifact", why, task.id)


def _references(task: Task) -> set[str]:
    """What a worker may take for names of files: its artifacts, and all texts in its payload."""
    return {*task.artifacts, *_texts(task.payload)}


def _texts(value: JsonValue) -> Iterator[str]:
    match value:
        case str():
            yield value
        case list() | dict():
            parts = [*value, *value.values()] if isinstance(value, dict) else value
            for one in parts:
                yield from _texts(one)
        case _:
            pass


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
    limits = {"max_files": settings.max_uploads, "max_part_size": settings.max_body_bytes}
    try:
        form = await _FormParser(request.headers, request.stream(), **limits, max_fields=1).parse()
    except MultiPartException as error:
        raise HttpProblem(400, f"{error.message} {_ASKED}") from error
    async with contextlib.AsyncExitStack() as at_the_end:
        at_the_end.push_async_callback(form.close)
        given, files = form.get(_FIELD), dict[str, bytes]()
        if not isinstance(given, str) or {*form} - {_FIELD, _FILES}:
            raise HttpProblem(422, _ASKED)
        for one in form.getlist(_FILES):
            if not isinstance(one, UploadFile) or not one.filename:
                raise HttpProblem(422, f"{_FILES!r} has a part without a filename")
            try:
                name = fit(one.filename)
            except ValueError as error:
                raise HttpProblem(422, f"{_FILES!r} {error}") from None
            if name in files:
                raise HttpProblem(422, f"two files have the name {name!r:.200}")
            files[name] = await one.read()
        return _valid(given.encode()), files


class _FormParser(MultiPartParser):
    """Refuses a form that was cut off, whose last file would be left out."""

    _has_ended = False

    def on_end(self) -> None:
        self._has_ended = True

    async def parse(self) -> FormData:
        self.stream = self._whole(self.stream)
        return await super().parse()

    async def _whole(self, chunks: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        async for chunk in chunks:
            yield chunk
        if not self._has_ended:
            raise MultiPartException("The form is cut off: its last boundary is missing.")


def _valid(text: bytes) -> NewRun:
    try:
        return NewRun.model_validate_json(text)
    except ValidationError as error:
        found = [{**one, "loc": ("body", *one["loc"])} for one in error.errors(include_url=False)]
        raise RequestValidationError(found) from None
