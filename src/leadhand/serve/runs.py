"""Runs over HTTP: start, list, show, cancel, resume, follow up and delete them."""

import asyncio
import datetime as dt
import re
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import AwareDatetime, BaseModel, Field
from pydantic_core import to_json

from leadhand.contracts.summary import RunStatus
from leadhand.errors import InputError, RunInterrupted
from leadhand.run.erasing import DELETED
from leadhand.serve.new_runs import (
    BODY,
    MAX_REQUEST_CHARS,
    AcceptedRun,
    Deadline,
    Key,
    NewRun,
    accepted,
    start,
)
from leadhand.serve.principals import Current, Operator, Principal, check_every_tenant, is_own
from leadhand.serve.problems import HttpProblem
from leadhand.serve.retention import erase_soon, erase_unkept
from leadhand.serve.run_list import WantedRuns, listed
from leadhand.serve.run_views import RunDocument, RunList, run_document
from leadhand.serve.service import UNKEPT, Service, Serving, no_such_run
from leadhand.serve.uploads import read_body

router = APIRouter(prefix="/api/v1", tags=["runs"])

MAX_WAIT_S = 60.0
MAX_LISTED = 200
Prefer = Annotated[str | None, Header(description="`wait=30`: the answer, if it is there by then")]
_DONE: dict[int | str, dict[str, Any]] = {
    200: {"model": RunDocument, "description": "It ended within the time to wait for it."}
}


class CancelledRun(BaseModel, extra="forbid"):
    reason: Annotated[str, Field(max_length=1_000)] = "cancelled"


class ResumedRun(BaseModel, extra="forbid"):
    from_task: str | None = None
    """It and all tasks that depend on it are done again from the beginning."""
    deadline_s: Deadline | None = None
    """Seconds to the answer, from now."""


class FollowUp(BaseModel, extra="forbid"):
    request: str = Field(max_length=MAX_REQUEST_CHARS)


class DeletedRun(BaseModel):
    """What stays of a run, for audits."""

    run_id: str
    team: str
    status: str
    at: dt.datetime
    by: str
    """The principal, or `retention`, `store: false`, `runs prune`."""


@router.post(
    "/runs", status_code=202, response_model=AcceptedRun, responses=_DONE,
    openapi_extra={"requestBody": {"required": True, "content": BODY}},
)  # fmt: skip
async def start_run(
    request: Request,
    principal: Current,
    service: Serving,
    idempotency_key: Key = None,
    prefer: Prefer = None,
) -> Response:
    """Start a run. 202 once it is stored: it goes on, whether its client stays or not."""
    new, uploads = await read_body(request, NewRun, service.settings)
    run = await start(service, principal, new, uploads=uploads, key=idempotency_key)
    return await started(service, principal, run.id, new.team, prefer)


@router.post(
    "/runs/{run_id}/followups", status_code=202, response_model=AcceptedRun, responses=_DONE
)
async def follow_up(
    run_id: str,
    body: FollowUp,
    principal: Current,
    service: Serving,
    idempotency_key: Key = None,
    prefer: Prefer = None,
) -> Response:
    """Start a run that follows another one, which has an answer: it may use what that one found."""
    known = await service.visible(principal, run_id)
    new = NewRun(team=known.team, request=body.request, after=run_id)
    run = await start(service, principal, new, key=idempotency_key)
    return await started(service, principal, run.id, known.team, prefer)


async def started(
    service: Service, principal: Principal, run_id: str, team: str, prefer: str | None
) -> Response:
    """The response to a request that has started a run: its answer, if the client waits for it."""
    wait = re.search(r"(?:^|[,;\s])wait=(\d{1,9})(?!\d)", prefer or "")
    headers = {"location": f"/api/v1/runs/{run_id}"}
    if wait is not None:
        headers["preference-applied"] = wait[0].strip(" ,;")
        try:
            async with asyncio.timeout(min(int(wait[1]), MAX_WAIT_S)):
                await service.supervisor(team).handle(run_id).answer()
            response = await _shown(service, principal, run_id)
            response.headers.update(headers)
            await erase_unkept(service, run_id)
            return response
        except (TimeoutError, RunInterrupted):
            pass  # it goes on, here or in another process
    return json_response(accepted(run_id, team), status=202, headers=headers)


@router.get("/runs", response_model=RunList)
async def list_runs(
    principal: Current,
    service: Serving,
    status: RunStatus | None = None,
    team: str | None = None,
    after: Annotated[str | None, Query(description="Runs that follow this one.")] = None,
    q: Annotated[
        str | None, Query(max_length=200, description="Words of request, answer or error.")
    ] = None,
    since: AwareDatetime | None = None,
    until: AwareDatetime | None = None,
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = 50,
    cursor: str | None = None,
) -> Response:
    """The runs that the caller may see, the latest first.

    A search looks at a limited number of runs; `searched` says at how many, and `complete` whether
    there may be more on the `next` page.
    """
    wanted = WantedRuns(
        status=status,
        team=team,
        after=after,
        since=since,
        until=until,
        words=tuple((q or "").lower().split()),
    )
    return json_response(await listed(service, principal, wanted, limit=limit, cursor=cursor))


@router.get("/runs/{run_id}", response_model=RunDocument, responses={304: {}})
async def read_run(
    run_id: str,
    principal: Current,
    service: Serving,
    since_seq: Annotated[
        int, Query(ge=0, description="Only tasks with a later event; `partial` is then true.")
    ] = 0,
    if_none_match: Annotated[str | None, Header()] = None,
) -> Response:
    """A run with its tasks, its questions and its answer. An unchanged `ETag` is a 304."""
    known = await service.visible(principal, run_id)
    response = await _shown(service, principal, run_id, since_seq, if_none_match)
    if UNKEPT in known.origin:
        erase_soon(service, principal, run_id)
    return response


async def _shown(
    service: Service,
    principal: Principal,
    run_id: str,
    since_seq: int = 0,
    if_none_match: str | None = None,
) -> Response:
    held = await service.journal.holder(run_id) is not None
    operator = principal.has("operator")
    last = await service.journal.last_seq(run_id)
    etag = f'W/"{last}-{int(held)}{int(operator)}-{since_seq}"'
    headers = {"etag": etag, "cache-control": "private, no-cache"}
    if if_none_match is not None and etag in if_none_match.split(", "):
        return Response(status_code=304, headers=headers)
    record = await service.records.read(run_id)
    if record is None:
        raise no_such_run(run_id)
    state = record.history.state
    replies = service.may_reply(principal, state.team, state.origin)

    def body() -> bytes:
        document = run_document(
            record, held=held, operator=operator, replies=replies, since_seq=since_seq
        )
        return to_json(document)

    async with record.reading:  # events that come meanwhile are for the next request
        return json_response(await asyncio.to_thread(body), headers=headers)


@router.post("/runs/{run_id}/cancel", status_code=202)
async def cancel_run(
    run_id: str, principal: Current, service: Serving, body: CancelledRun | None = None
) -> AcceptedRun:
    """Stop a run, whichever process works on it. It gives an answer, and may be resumed."""
    known = await service.visible(principal, run_id)
    reason = (body or CancelledRun()).reason
    try:
        await service.supervisor(known.team).handle(run_id).cancel(reason)
    except InputError as error:
        raise HttpProblem(409, str(error)) from None
    return accepted(run_id, known.team)


@router.post("/runs/{run_id}/resume", status_code=202)
async def resume_run(
    run_id: str, principal: Current, service: Serving, body: ResumedRun | None = None
) -> AcceptedRun:
    """Continue a run that was stopped, or do a task of it and what depends on it again."""
    known = await service.visible(principal, run_id)
    given = body or ResumedRun()
    await (
        service.supervisor(known.team)
        .handle(run_id)
        .resume(
            from_task=given.from_task,
            deadline_s=given.deadline_s,
            context=principal.context if is_own(principal, known.origin) else None,
        )
    )
    return accepted(run_id, known.team)


@router.delete("/runs/{run_id}", status_code=204)
async def delete_run(run_id: str, principal: Current, service: Serving) -> Response:
    """Erase a run that no process works on. A line without its content stays, for audits."""
    known = await service.visible(principal, run_id)
    await service.supervisor(known.team).delete(run_id, by=principal.name)
    service.records.forget(run_id)
    return Response(status_code=204)


@router.get("/deleted")
async def list_deleted(
    principal: Operator,
    service: Serving,
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = 50,
) -> list[DeletedRun]:
    """The runs that were deleted, the latest first, for operators of all tenants."""
    check_every_tenant(principal)
    notes = await service.journal.notes(DELETED)
    return [DeletedRun.model_validate_json(notes[key]) for key in sorted(notes)[: -limit - 1 : -1]]


def json_response(
    content: object, *, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """A response of JSON data, or of bytes that are JSON."""
    body = content if isinstance(content, bytes) else to_json(content)
    return Response(body, status, headers, media_type="application/json")
