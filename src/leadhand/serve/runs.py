"""Runs over HTTP: start, list, show, cancel, resume, follow up and delete them; their parts."""

import asyncio
import datetime as dt
import mimetypes
import re
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import BaseModel, Field, JsonValue
from pydantic_core import to_json

from leadhand.errors import InputError, RunInterrupted
from leadhand.page.report import REPORT, report_files
from leadhand.run.erasing import DELETED
from leadhand.run.stored import StoredRun
from leadhand.serve.new_runs import (
    BODY,
    AcceptedRun,
    Deadline,
    Key,
    NewRun,
    RequestText,
    accepted,
    read_body,
    start,
)
from leadhand.serve.principals import check_every_tenant, check_role, is_own
from leadhand.serve.problems import HttpProblem
from leadhand.serve.retention import erase_soon, erase_unkept
from leadhand.serve.run_list import MAX_LISTED, WantedRuns, listed
from leadhand.serve.run_views import RunDocument, RunList, TaskEntry, public_answer, run_document
from leadhand.serve.service import (
    UNKEPT,
    Calling,
    Operating,
    ServiceCaller,
    VisibleRun,
    no_such_run,
)
from leadhand.serve.task_views import blob_place, shortened, task_document, value_at

router = APIRouter(prefix="/api/v1", tags=["runs"])

MAX_WAIT_S = 60.0
Prefer = Annotated[str | None, Header(description="`wait=30`: the answer, if it is there by then")]
STARTS: dict[str, Any] = {
    "status_code": 202,
    "response_model": AcceptedRun,
    "responses": {200: {"model": RunDocument, "description": "It ended within the time to wait."}},
}
"""Of routes that start a run."""
_BODY = {"requestBody": {"required": True, "content": BODY}}
_SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""A report is a file of its own: it has no part in the service's origin."""


class CancelledRun(BaseModel, extra="forbid"):
    reason: Annotated[str, Field(max_length=1_000)] = "cancelled"


class ResumedRun(BaseModel, extra="forbid"):
    from_task: str | None = None
    """It and all tasks that depend on it are done again from the beginning."""
    deadline_s: Deadline | None = None
    """Seconds to the answer, from now."""


class RequestAlone(BaseModel, extra="forbid"):
    request: RequestText
    store: bool = True
    """False: the run is erased once its answer was read."""


class DeletedRun(BaseModel):
    """What stays of a run, for audits."""

    run_id: str
    team: str
    status: str
    at: dt.datetime
    by: str
    """The principal, or `retention`, `store: false`, `runs prune`."""


@router.post("/runs", **STARTS, openapi_extra=_BODY)
async def start_run(
    request: Request, caller: Calling, key: Key = None, prefer: Prefer = None
) -> Response:
    """Start a run. 202 once it is stored: it goes on, whether its client stays or not."""
    new, uploads = await read_body(request, caller.service.settings)
    run = await start(caller, new, uploads=uploads, key=key)
    return await started(caller, run.id, new.team, prefer)


@router.post("/runs/{run_id}/followups", **STARTS)
async def follow_up(
    run_id: str, body: RequestAlone, caller: Calling, key: Key = None, prefer: Prefer = None
) -> Response:
    """Start a run that follows another one, which has an answer: it may use what that one found."""
    known = await caller.visible(run_id)
    new = NewRun(team=known.team, after=run_id, **body.model_dump())
    run = await start(caller, new, key=key)
    return await started(caller, run.id, known.team, prefer)


async def started(caller: ServiceCaller, run_id: str, team: str, prefer: str | None) -> Response:
    """The response to a request that has started a run: its answer, if the client waits for it."""
    wait = re.search(r"(?:^|[,;\s])wait=(\d{1,9})(?!\d)", prefer or "")
    headers = {"location": f"/api/v1/runs/{run_id}"}
    if wait is not None:
        headers["preference-applied"] = wait[0].strip(" ,;")
        try:
            async with asyncio.timeout(min(int(wait[1]), MAX_WAIT_S)):
                await caller.service.supervisor(team).handle(run_id).answer()
            response = await _shown(caller, run_id)
            response.headers.update(headers)
            await erase_unkept(caller.service, run_id)
            return response
        except (TimeoutError, RunInterrupted):
            pass  # it goes on, here or in another process
    return json_response(accepted(run_id, team), status=202, headers=headers)


@router.get("/runs")
async def list_runs(caller: Calling, wanted: Annotated[WantedRuns, Query()]) -> RunList:
    """The runs that the caller may see, the latest first.

    A search looks at a limited number of runs; `searched` says at how many, and `complete` whether
    there may be more on the `next` page.
    """
    return await listed(caller, wanted)


@router.get("/runs/{run_id}", response_model=RunDocument, responses={304: {}})
async def read_run(
    run_id: str,
    caller: Calling,
    since_seq: Annotated[
        int, Query(ge=0, description="Only tasks with a later event; `partial` is then true.")
    ] = 0,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """A run with its tasks, its questions and its answer. An unchanged `ETag` is a 304."""
    known = await caller.visible(run_id)
    response = await _shown(caller, run_id, since_seq, if_none_match)
    if UNKEPT in known.origin:
        erase_soon(caller, run_id)
    return response


async def _shown(
    caller: ServiceCaller, run_id: str, since_seq: int = 0, if_none_match: str | None = None
) -> Response:
    service, operator = caller.service, caller.is_operator
    held = await service.journal.holder(run_id) is not None
    last = await service.journal.last_seq(run_id)
    etag = f'W/"{last}-{int(held)}{int(operator)}-{since_seq}"'
    headers = {"etag": etag, "cache-control": "private, no-cache"}
    if if_none_match is not None and etag in if_none_match.split(", "):
        return Response(status_code=304, headers=headers)
    record, known = await service.records.read(run_id), await service.stored(run_id)
    if record is None or known is None:
        raise no_such_run(run_id)
    replies = caller.may_reply(known)

    def body() -> bytes:
        return to_json(
            run_document(record, held=held, operator=operator, replies=replies, since_seq=since_seq)
        )

    async with record.reading:  # events that come meanwhile are for the next request
        return json_response(await asyncio.to_thread(body), headers=headers)


@router.post("/runs/{run_id}/cancel", status_code=202)
async def cancel_run(run_id: str, caller: Calling, body: CancelledRun | None = None) -> AcceptedRun:
    """Stop a run, whichever process works on it. It gives an answer, and may be resumed."""
    known = await caller.visible(run_id)
    try:
        await caller.service.handle(known).cancel((body or CancelledRun()).reason)
    except InputError as error:
        raise HttpProblem(409, str(error)) from None
    return accepted(run_id, known.team)


@router.post("/runs/{run_id}/resume", status_code=202)
async def resume_run(run_id: str, caller: Calling, body: ResumedRun | None = None) -> AcceptedRun:
    """Continue a run that was stopped, or do a task of it and what depends on it again."""
    known, given = await caller.visible(run_id), body or ResumedRun()
    own = is_own(caller.principal, known.origin)
    await caller.service.handle(known).resume(
        from_task=given.from_task,
        deadline_s=given.deadline_s,
        context=caller.principal.context if own else None,
    )
    return accepted(run_id, known.team)


@router.delete("/runs/{run_id}", status_code=204)
async def delete_run(run_id: str, caller: Calling) -> Response:
    """Erase a run that no process works on. A line without its content stays, for audits."""
    supervisor = caller.service.supervisor((await caller.visible(run_id)).team)
    await supervisor.delete(run_id, by=caller.principal.name)
    caller.service.records.forget(run_id)
    return Response(status_code=204)


@router.get("/deleted")
async def list_deleted(
    caller: Operating, limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = 50
) -> list[DeletedRun]:
    """The runs that were deleted, the latest first, for operators of all tenants."""
    check_every_tenant(caller.principal)
    notes = await caller.service.journal.notes(DELETED)
    return [DeletedRun.model_validate_json(notes[key]) for key in sorted(notes)[: -limit - 1 : -1]]


@router.get("/runs/{run_id}/tasks/{path:path}", response_model=TaskEntry)
async def read_task(run_id: str, path: str, caller: Calling) -> Response:
    """A task by its path. Operators also get its result, why each step was taken, and for each
    attempt what it was given and called; of long texts the beginning and the id of a blob."""
    document = await _task(caller, await caller.visible(run_id), path)
    return json_response(await asyncio.to_thread(shortened, document, path))


@router.get("/runs/{run_id}/blobs/{blob_id}", response_class=Response)
async def read_blob(run_id: str, blob_id: str, caller: Calling) -> Response:
    """A long text of a task, whole; for operators."""
    known = await caller.visible(run_id)
    check_role(caller.principal, "operator")
    path, place = blob_place(blob_id)
    found = value_at(await _task(caller, known, path), place)
    if not isinstance(found, str):
        raise HttpProblem(404, "there is no such text")
    return Response(found, media_type="text/plain; charset=utf-8")


async def _task(caller: ServiceCaller, known: VisibleRun, path: str) -> JsonValue:
    service, run_id = caller.service, known.run_id
    record, log = await service.records.read(run_id), await service.journal.events(run_id)
    if record is None:
        raise no_such_run(run_id)
    supervisor = service.supervisors.get(known.team)
    team = None if supervisor is None else supervisor.team
    async with record.reading:
        document = await asyncio.to_thread(
            task_document, record.history, log, team, path, operator=caller.is_operator
        )
    if document is None:
        raise HttpProblem(404, f"run {run_id!r} has no task {path!r:.200}")
    return document


@router.get("/runs/{run_id}/report", response_class=Response)
async def read_report(
    run_id: str,
    caller: Calling,
    format: Literal["html", "md"] = "html",
    file: Annotated[str | None, Query(description="Another file of the team's report.")] = None,
) -> Response:
    """The report that the team makes of the answer, or the answer as a page."""
    known = await caller.visible(run_id)
    log = await caller.service.journal.events(run_id)
    if (answer := StoredRun.of(run_id, log).state.answer) is None:
        raise HttpProblem(409, f"run {run_id!r} has no answer yet")
    team = caller.service.supervisor(known.team).team
    if not caller.is_operator:
        answer = public_answer(answer)
    files = await asyncio.to_thread(report_files, answer, team, answer.answer)
    name = file or (REPORT if format == "html" else "report.md")
    if name not in files:
        raise HttpProblem(404, f"there is no {name!r:.200}", extra={"files": [*files]})
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    kind = {"report.md": "text/markdown", "report.html": "text/html"}.get(name, kind)
    headers = {"content-security-policy": _SANDBOX}
    if file is not None:
        headers["content-disposition"] = "attachment"
    return Response(files[name], media_type=kind, headers=headers)


def json_response(
    content: object, *, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """A response of JSON data, or of bytes that are JSON."""
    body = content if isinstance(content, bytes) else to_json(content)
    return Response(body, status, headers, media_type="application/json")
