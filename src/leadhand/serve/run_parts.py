"""Parts of a run over HTTP: a task in full, long texts, and the report of its answer."""

import asyncio
import mimetypes
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import JsonValue

from leadhand.page.report import REPORT, report_files
from leadhand.run.stored import StoredRun
from leadhand.serve.principals import Current, Principal, check_role
from leadhand.serve.problems import HttpProblem
from leadhand.serve.run_views import TaskEntry, public_answer
from leadhand.serve.runs import json_response
from leadhand.serve.service import Service, Serving, no_such_run
from leadhand.serve.task_views import blob_place, shortened, task_document, value_at

router = APIRouter(prefix="/api/v1", tags=["runs"])

_SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""A report is a file of its own: it has no part in the service's origin."""


@router.get("/runs/{run_id}/tasks/{path:path}", response_model=TaskEntry)
async def read_task(run_id: str, path: str, principal: Current, service: Serving) -> Response:
    """A task by its path. Operators also get its result, why each step was taken, and for each
    attempt what it was given and called; of long texts the beginning and the id of a blob."""
    document = await _task(service, principal, run_id, path)
    return json_response(await asyncio.to_thread(shortened, document, path))


@router.get("/runs/{run_id}/blobs/{blob_id}", response_class=Response)
async def read_blob(run_id: str, blob_id: str, principal: Current, service: Serving) -> Response:
    """A long text of a task, whole; for operators."""
    await service.visible(principal, run_id)
    check_role(principal, "operator")
    place = blob_place(blob_id)
    document = None if place is None else await _task(service, principal, run_id, place[0])
    found = None if place is None else value_at(document, place[1])
    if not isinstance(found, str):
        raise HttpProblem(404, "there is no such text")
    return Response(found, media_type="text/plain; charset=utf-8")


async def _task(service: Service, principal: Principal, run_id: str, path: str) -> JsonValue:
    known = await service.visible(principal, run_id)
    record, log = await service.records.read(run_id), await service.journal.events(run_id)
    if record is None:
        raise no_such_run(run_id)
    supervisor = service.supervisors.get(known.team)
    team = None if supervisor is None else supervisor.team
    operator = principal.has("operator")
    async with record.reading:
        document = await asyncio.to_thread(
            task_document, record.history, log, team, path, operator=operator
        )
    if document is None:
        raise HttpProblem(404, f"run {run_id!r} has no task {path!r:.200}")
    return document


@router.get("/runs/{run_id}/report", response_class=Response)
async def read_report(
    run_id: str,
    principal: Current,
    service: Serving,
    format: Literal["html", "md"] = "html",
    file: Annotated[str | None, Query(description="Another file of the team's report.")] = None,
) -> Response:
    """The report that the team makes of the answer, or the answer as a page."""
    known = await service.visible(principal, run_id)
    answer = StoredRun.of(run_id, await service.journal.events(run_id)).state.answer
    if answer is None:
        raise HttpProblem(409, f"run {run_id!r} has no answer yet")
    team = service.supervisor(known.team).team
    if not principal.has("operator"):
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
