"""Runs over HTTP: start, list, show, cancel, resume, follow up and delete them; their parts."""

import asyncio
import json
import mimetypes
import re
import time
from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import quote, unquote

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import AwareDatetime, BaseModel, Field, JsonValue
from pydantic_core import to_json

from leadhand.contracts import events
from leadhand.contracts.events import Event
from leadhand.contracts.summary import RunFilter, RunStatus, RunSummary
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
from leadhand.serve.run_records import within
from leadhand.serve.service import Calling, ServiceCaller
from leadhand.serve.task_documents import shortened, task_document, value_at

router = APIRouter(prefix="/api/v1", tags=["runs"])

MAX_WAIT_S = 60.0
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
MAX_SEARCHED = 2_000
SEARCH_S = 3.0
"""How many runs one request searches at most, and how long."""
_PAGE = 50
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
    team = (await caller.visible(run_id)).team
    run = await start(caller, NewRun(team=team, after=run_id, **body.model_dump()), key=key)
    return await started(caller, run, team, prefer)


async def started(caller: ServiceCaller, run: Run, team: str, prefer: str | None) -> Response:
    """The response to a request that has started a run: its answer, if the client waits for it."""
    wait = re.search(r"(?:^|[,;\s])wait=(\d{1,9})(?!\d)", prefer or "")
    headers = {"location": f"/api/v1/runs/{run.id}"}
    if wait is not None:
        headers["preference-applied"] = f"wait={wait[1]}"
        try:
            async with asyncio.timeout(min(int(wait[1]), MAX_WAIT_S)):
                await run.answer()
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
    """The runs that the caller may see, the latest first.

    A search looks at a limited number of runs; `searched` says at how many, and `complete` whether
    there may be more on the `next` page.
    """
    if wanted.cursor is not None:
        await caller.visible(wanted.cursor)

    def where(run: RunSummary) -> bool:
        # An operator finds what the command line did in the same home, too, but no trials.
        served = run.team in caller.service.supervisors or caller.is_operator
        shown = served and run.origin.get("command") != ORIGIN["command"]
        return shown and caller.principal.may_see(run.origin) and wanted.fits(run)

    if words := wanted.q.lower().split():
        return await _searched(caller, wanted, words, where)
    limit, journal = wanted.limit, caller.service.journal
    found = await journal.runs(limit=limit + 1, cursor=wanted.cursor, where=where)
    page = tuple(documents.run_entry(run, operator=caller.is_operator) for run in found[:limit])
    return documents.RunList(runs=page, next=page[-1].run_id if len(found) > limit else None)


async def _searched(
    caller: ServiceCaller, wanted: WantedRuns, words: Sequence[str], where: RunFilter
) -> documents.RunList:
    journal, operator = caller.service.journal, caller.is_operator
    found: list[documents.RunEntry] = []
    searched, cursor, ends_s = 0, wanted.cursor, time.monotonic() + SEARCH_S
    while True:
        page = await journal.runs(limit=_PAGE, cursor=cursor, where=where)
        for run in page:
            cut_off = searched >= MAX_SEARCHED or time.monotonic() > ends_s
            if cut_off or len(found) == wanted.limit:
                return documents.RunList(
                    runs=tuple(found), next=cursor, searched=searched, complete=not cut_off
                )
            searched, cursor = searched + 1, run.run_id
            if place := place_of(words, await journal.events(run.run_id), operator=operator):
                found.append(documents.run_entry(run, operator=operator, found_in=place))
        if len(page) < _PAGE:
            return documents.RunList(runs=tuple(found), next=None, searched=searched)


def place_of(words: Sequence[str], log: Sequence[Event], *, operator: bool) -> str | None:
    """Where the first of `words`, in lower case, is, if all of them are in the run; pure."""
    texts = {"request": "", "answer": "", "error": ""}
    for event in log:
        match event:
            case events.RunStarted(within=()):
                texts["request"] = event.request.lower()
            case (
                events.RunFinished(within=(), answer=answer)
                | events.RunWaiting(within=(), answer=answer)
            ):
                shown = [answer.answer, answer.output] if operator else public(event)["answer"]
                texts["answer"] = json.dumps(shown, ensure_ascii=False).lower()
            case events.TaskFailed(within=()) | events.TaskEscalated(within=()) if operator:
                texts["error"] += f"{event.message.lower()}\n"
            case _:
                pass
    if not all(any(word in text for text in texts.values()) for word in words):
        return None
    return next(place for place, text in texts.items() if words[0] in text)


@router.get("/runs/{run_id}", response_model=documents.RunDocument)
async def read_run(
    run_id: str,
    caller: Calling,
    since_seq: Annotated[
        int, Query(ge=0, description="Only tasks with a later event; `partial` is then true.")
    ] = 0,
) -> Response:
    """A run with its tasks, its questions and its answer."""
    known, record = await caller.visible(run_id), await caller.record(run_id)
    held = record.history.state.answer is None
    held = held and await caller.service.journal.holder(run_id) is not None

    def body() -> bytes:
        replies, operator = caller.may_reply(known), caller.is_operator
        return to_json(
            documents.run_document(
                record, held=held, operator=operator, replies=replies, since_seq=since_seq
            )
        )

    async with record.reading:  # events that come meanwhile are for the next request
        return Response(await within(body, size=record.seq), media_type="application/json")


@router.post("/runs/{run_id}/cancel", status_code=202)
async def cancel_run(run_id: str, caller: Calling, body: CancelledRun | None = None) -> AcceptedRun:
    """Stop a run, whichever process works on it. It gives an answer, and may be resumed."""
    known = await caller.visible(run_id)
    try:
        await caller.service.handle(known).cancel((body or CancelledRun()).reason)
    except InputError as error:
        raise HttpProblem(409, str(error)) from None
    return await accepted(caller, run_id, known.team)


@router.post("/runs/{run_id}/resume", status_code=202)
async def resume_run(run_id: str, caller: Calling, body: ResumedRun | None = None) -> AcceptedRun:
    """Continue a run that was stopped, or do a task of it and what depends on it again."""
    known, given = await caller.visible(run_id), body or ResumedRun()
    state = (await caller.record(run_id)).history.state
    if given.from_task is None and is_over(state) and state.answer is not None:
        why = f"run {run_id!r} is {state.answer.status}: there is nothing to resume"
        raise HttpProblem(409, f"{why}; `from_task` does a task and what follows from it again")
    own = caller.principal.owns(known.origin)
    await caller.service.handle(known).resume(
        from_task=given.from_task,
        deadline_s=given.deadline_s,
        context=caller.principal.context if own else None,
    )
    return await accepted(caller, run_id, known.team)


@router.delete("/runs/{run_id}", status_code=204)
async def delete_run(run_id: str, caller: Calling) -> Response:
    """Erase a run that no process works on. A line without its content stays, for audits."""
    supervisor = caller.service.supervisor((await caller.visible(run_id)).team)
    await supervisor.delete(run_id, by=caller.principal.name)
    caller.service.records.forget(run_id)
    return Response(status_code=204)


@router.get("/runs/{run_id}/tasks/{path:path}", response_model=documents.TaskEntry)
async def read_task(run_id: str, path: str, caller: Calling) -> Response:
    """A task by its path. Operators also get its result, why each step was taken, and for each
    attempt what it was given and called; of long texts the beginning and the id of a blob."""
    document = shortened(await _task(caller, run_id, path), quote(path, safe=""))
    return Response(to_json(document), media_type="application/json")


@router.get("/runs/{run_id}/blobs/{blob_id:path}", response_class=Response)
async def read_blob(run_id: str, blob_id: str, caller: Calling) -> Response:
    """A long text of a task, whole; for operators."""
    await caller.visible(run_id)
    caller.check_role("operator")
    path, _, place = blob_id.partition("/")
    found = value_at(await _task(caller, run_id, unquote(path)), place)
    if not isinstance(found, str):
        raise HttpProblem(404, "there is no such text")
    return Response(found, media_type="text/plain; charset=utf-8")


async def _task(caller: ServiceCaller, run_id: str, path: str) -> JsonValue:
    known, service = await caller.visible(run_id), caller.service
    record, log = await caller.record(run_id), await service.journal.events(run_id)
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
    file: Annotated[str, Query(description="Of the team's report; `report.md` is there, too.")] = (
        REPORT
    ),
) -> Response:
    """The report that the team makes of the answer, or the answer as a page."""
    known, record = await caller.visible(run_id), await caller.record(run_id)
    if (answer := record.history.state.answer) is None:
        raise HttpProblem(409, f"run {run_id!r} has no answer yet")
    team = caller.service.supervisor(known.team).team
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
