"""Runs over HTTP: start, list, show, cancel, resume, follow up and delete them; their parts."""

import asyncio
import json
import mimetypes
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import quote, unquote

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import AwareDatetime, BaseModel, Field, JsonValue
from pydantic_core import to_json

from leadhand.contracts import events
from leadhand.contracts.events import Event
from leadhand.contracts.summary import RunStatus, RunSummary
from leadhand.errors import InputError, RunInterrupted
from leadhand.evals.trials import ORIGIN
from leadhand.events import public
from leadhand.page.report import REPORT, report_files
from leadhand.run.handle import Run
from leadhand.run.stored import is_over
from leadhand.serve import documents
from leadhand.serve.lifespan import erase_unkept
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
from leadhand.serve.problems import SHOWN, HttpProblem, problem_of
from leadhand.serve.run_records import RunRecord, within
from leadhand.serve.service import Calling, ServiceCaller
from leadhand.serve.task_documents import shortened, task_document

router = APIRouter(prefix="/api/v1", tags=["runs"])

MAX_WAIT_S = 60
Prefer = Annotated[str | None, Header(description="`wait=30`: the answer, if it is there by then")]
STARTS: dict[str, Any] = {
    "status_code": 202,
    "response_model": AcceptedRun,
    "responses": {
        200: {"model": documents.RunDocument, "description": "It ended within the time to wait."}
    },
}
"""Of routes that start a run."""
MAX_LISTED = 200
_SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
"""A report is a file of its own: it has no part in the service's origin."""


class WantedRuns(BaseModel):
    """Which runs a list has."""

    status: RunStatus | None = None
    team: str | None = None
    after: str | None = Field(None, description="Runs that follow this one.")
    q: str = Field("", max_length=200, description="Words of request, answer or error.")
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None
    limit: int = Field(50, ge=1, le=MAX_LISTED)
    cursor: str | None = None

    def fits(self, run: RunSummary) -> bool:
        return (
            self.status in (None, run.status)
            and self.team in (None, run.team)
            and self.after in (None, run.after)
            and (self.since is None or run.started_at >= self.since)
            and (self.until is None or run.started_at < self.until)
        )


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
    """False: the run is erased once its answer was given."""


@router.post("/runs", **STARTS, openapi_extra=BODY)
async def start_run(
    request: Request, caller: Calling, key: Key = None, prefer: Prefer = None
) -> Response:
    """Start a run. 202 once it is stored: it goes on, whether its client stays or not."""
    new, uploads = await read_body(request, caller.service.settings)
    run = await start(caller, new, uploads=uploads, key=key)
    return await started(caller, run, new.team, prefer)


@router.post("/runs/{run_id}/followups", **STARTS)
async def follow_up(
    run_id: str, body: RequestAlone, caller: Calling, key: Key = None, prefer: Prefer = None
) -> Response:
    """Start a run that follows another one, which has an answer: it may use what that one found."""
    team = (await caller.visible(run_id)).state.team
    run = await start(caller, NewRun(team=team, after=run_id, **body.model_dump()), key=key)
    return await started(caller, run, team, prefer)


async def started(caller: ServiceCaller, run: Run, team: str, prefer: str | None) -> Response:
    """The response to a request that has started a run: its answer, if the client waits for it."""
    wait = re.search(r"(?:^|[,;\s])wait=(\d{1,9})(?!\d)", prefer or "", re.IGNORECASE)
    headers = {"location": f"/api/v1/runs/{run.id}"}
    if wait is not None and caller.has_stream:
        wait_s = min(int(wait[1]), MAX_WAIT_S)
        headers["preference-applied"] = f"wait={wait_s}"
        try:
            async with asyncio.timeout(wait_s):
                await caller.while_counting(run.answer())
            response = await read_run(run.id, caller)
            response.headers.update(headers)
            await erase_unkept(caller.service, run.id)
            return response
        except (TimeoutError, RunInterrupted):
            pass  # it goes on, here or in another process
        except SHOWN as error:  # a run of that id stays, with no answer
            problem = problem_of(error)
            problem.headers = {**(problem.headers or {}), **headers}
            problem.extra = {**problem.extra, "run_id": run.id}
            raise problem from None
    content = (await accepted(caller, run.id, team)).model_dump_json()
    return Response(content, 202, headers, media_type="application/json")


@router.get("/runs")
async def list_runs(caller: Calling, wanted: Annotated[WantedRuns, Query()]) -> documents.RunList:
    """The runs that the caller may see, the latest first. A search looks at as many as `limit`."""
    if wanted.cursor is not None:
        await caller.visible(wanted.cursor)

    def where(run: RunSummary) -> bool:
        # An operator finds what the command line did in the same home, too, but no trials.
        served = run.team in caller.service.supervisors or caller.is_operator
        shown = served and run.origin.get("command") != ORIGIN["command"]
        return shown and caller.principal.may_see(run.origin) and wanted.fits(run)

    limit, journal, operator = wanted.limit, caller.service.journal, caller.is_operator
    found = await journal.runs(limit=limit + 1, cursor=wanted.cursor, where=where)
    page, words = found[:limit], wanted.q.lower().split()
    if words:
        logs = {run.run_id: await journal.events(run.run_id) for run in page}
        page = [run for run in page if _has(words, logs[run.run_id], operator=operator)]
    runs = tuple(documents.run_entry(run, operator=operator) for run in page)
    return documents.RunList(runs=runs, next=found[limit - 1].run_id if found[limit:] else None)


def _has(words: Sequence[str], log: Sequence[Event], *, operator: bool) -> bool:
    """Whether all `words`, in lower case, are in what a run was asked, answered or failed by."""
    texts: list[object] = []
    for event in log:
        match event:
            case events.RunStarted(within=()):
                texts.append(event.request)
            case (
                events.RunFinished(within=(), answer=answer)
                | events.RunWaiting(within=(), answer=answer)
            ):
                shown = [answer.answer, answer.output] if operator else public(event)["answer"]
                texts.append(shown)
            case events.TaskFailed(within=()) | events.TaskEscalated(within=()) if operator:
                texts.append(event.message)
            case _:
                pass
    text = json.dumps(texts, ensure_ascii=False).lower()
    return all(word in text for word in words)


@router.get("/runs/{run_id}", response_model=documents.RunDocument)
async def read_run(run_id: str, caller: Calling) -> Response:
    """A run with its tasks, its questions and its answer."""
    run = await caller.visible(run_id)
    held = await caller.service.is_held(run)
    operator, replies = caller.is_operator, caller.may_reply(run.state)

    def body() -> bytes:
        shown = documents.run_document(run, held=held, operator=operator, replies=replies)
        return to_json(shown)

    async with run.reading:  # events that come meanwhile are for the next request
        return Response(await within(body, size=run.last.seq), media_type="application/json")


@router.post("/runs/{run_id}/cancel", status_code=202)
async def cancel_run(run_id: str, caller: Calling, body: CancelledRun | None = None) -> AcceptedRun:
    """Stop a run, whichever process works on it. It gives an answer, and may be resumed."""
    run = await caller.visible(run_id)
    try:
        await caller.service.handle(run).cancel((body or CancelledRun()).reason)
    except InputError as error:
        raise HttpProblem(409, str(error)) from None
    return await accepted(caller, run_id, run.state.team)


@router.post("/runs/{run_id}/resume", status_code=202)
async def resume_run(run_id: str, caller: Calling, body: ResumedRun | None = None) -> AcceptedRun:
    """Continue a run that was stopped, or do a task of it and what depends on it again."""
    run, given = await caller.visible(run_id), body or ResumedRun()
    state = run.state
    if given.from_task is None and is_over(state) and state.answer is not None:
        why = f"run {run_id!r} is {state.answer.status}: there is nothing to resume"
        raise HttpProblem(409, f"{why}; `from_task` does a task and what follows from it again")
    own = caller.principal.owns(state.origin)
    await caller.service.handle(run).resume(
        from_task=given.from_task,
        deadline_s=given.deadline_s,
        context=caller.principal.context if own else None,
    )
    return await accepted(caller, run_id, state.team)


@router.delete("/runs/{run_id}", status_code=204)
async def delete_run(run_id: str, caller: Calling) -> Response:
    """Erase a run that no process works on. A line without its content stays, for audits."""
    supervisor = caller.service.supervisor((await caller.visible(run_id)).state.team)
    await supervisor.delete(run_id, by=caller.principal.name)
    caller.service.records.forget(run_id)
    return Response(status_code=204)


@router.get("/runs/{run_id}/tasks/{path:path}", response_model=documents.TaskEntry)
async def read_task(run_id: str, path: str, caller: Calling) -> Response:
    """A task by its path. Operators also get its result, why each step was taken, and for each
    attempt what it was given and called; of long texts the beginning and the id of a blob."""
    document, _ = await _task(caller, await caller.visible(run_id), path)
    return Response(to_json(document), media_type="application/json")


@router.get("/runs/{run_id}/blobs/{blob_id:path}", response_class=Response)
async def read_blob(run_id: str, blob_id: str, caller: Calling) -> Response:
    """A long text of a task, whole; for operators."""
    run = await caller.visible(run_id)
    caller.check_role("operator")
    _, texts = await _task(caller, run, unquote(blob_id.partition("/")[0]))
    if blob_id not in texts:
        raise HttpProblem(404, "there is no such text")
    return Response(texts[blob_id], media_type="text/plain; charset=utf-8")


async def _task(
    caller: ServiceCaller, run: RunRecord, path: str
) -> tuple[JsonValue, Mapping[str, str]]:
    """Its document, and the texts that are cut in it by the ids of their blobs."""
    run_id, supervisor = run.state.run_id, caller.service.supervisors.get(run.state.team)
    log, team = await caller.service.journal.events(run_id), supervisor and supervisor.team
    async with run.reading:
        document = await asyncio.to_thread(
            task_document, run.history, log, team, path, operator=caller.is_operator
        )
    if document is None:
        raise HttpProblem(404, f"run {run_id!r} has no task {path!r:.200}")
    whole: dict[str, str] = {}
    return shortened(document, quote(path, safe=""), whole), whole


@router.get("/runs/{run_id}/report", response_class=Response)
async def read_report(
    run_id: str,
    caller: Calling,
    file: Annotated[str, Query(description="Of the team's report; `report.md` is there, too.")] = (
        REPORT
    ),
) -> Response:
    """The report that the team makes of the answer, or the answer as a page."""
    state = (await caller.visible(run_id)).state
    if (answer := state.answer) is None:
        raise HttpProblem(409, f"run {run_id!r} has no answer yet")
    team = caller.service.supervisor(state.team).team
    shown = documents.seen_answer(answer, operator=caller.is_operator)
    text = shown.answer or f"There is no answer: the run is {answer.status}."
    files = await asyncio.to_thread(report_files, shown, team, text)
    if file not in files:
        raise HttpProblem(404, f"there is no {file!r:.200}", extra={"files": [*files]})
    kind = mimetypes.guess_type(file)[0] or "application/octet-stream"
    headers = {"content-security-policy": _SANDBOX}
    if not file.startswith("report."):
        headers["content-disposition"] = "attachment"
    return Response(files[file], media_type=kind, headers=headers)
