"""The tools of MCP: runs are started, waited for, answered and cancelled.

A run goes on between calls: `start` returns its id, and `result` waits for it for a while.
"""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from fastapi import Request
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel, Field, JsonValue

from leadhand.contracts.people import Question, Reply, Verdict
from leadhand.contracts.summary import RunView
from leadhand.contracts.task import Plan
from leadhand.run.handle import Run
from leadhand.serve.new_runs import MAX_REQUEST_CHARS, NewRun, start
from leadhand.serve.principals import Principal, check_role
from leadhand.serve.run_views import public_answer
from leadhand.serve.service import Service
from leadhand.serve.turns import ProgressLine, Turn

MAX_WAIT_S = 600.0
PRINCIPAL = "leadhand.principal"
"""Where the scope of a request has its caller."""


@dataclass(frozen=True, slots=True)
class Served:
    """What the tools work on."""

    service: Service
    principal: Principal | None = None
    """The caller; None: that of each HTTP request."""


Call = Context[Served, Request]


class RunStatus(BaseModel):
    run_id: str
    team: str
    status: str = "running"
    """`running`, `waiting` for a person, `complete`, `partial`, `failed`, `cancelled` or
    `interrupted`."""
    tasks: int = 0
    completed: int = 0
    questions: list[str] = []
    """What the run waits for, one for each `reply`."""


class RunResult(RunStatus):
    answer: str = ""
    """Markdown; empty while there is none."""
    output: JsonValue = None
    """The answer as data, where the team has a type for it."""
    sources: list[str] = []


class Approval(BaseModel):
    """What the person at the client decides."""

    approve: bool = Field(description="Approve it? Otherwise it is refused.")
    reason: str = Field(default="", description="Why it is refused.")


@dataclass(frozen=True, slots=True)
class Opened:
    """A run as its caller sees it now."""

    run: Run[Any, object]
    view: RunView
    seq: int
    """Of its last event."""
    principal: Principal
    may_reply: bool
    person_approves: bool
    """Whether the team lets the person who started the run approve."""

    @property
    def status(self) -> RunStatus:
        view = self.view
        hidden = "a person of the service has to answer"
        return RunStatus(
            run_id=view.run_id,
            team=view.team,
            status=view.status,
            tasks=len(view.tasks),
            completed=sum(task.status == "completed" for task in view.tasks),
            questions=[_words(one) if self.may_reply else hidden for one in view.questions],
        )


def _caller(ctx: Call) -> tuple[Service, Principal]:
    context = ctx.request_context
    served, request = context.lifespan_context, context.request
    principal = served.principal or (request and request.scope[PRINCIPAL])
    if not isinstance(principal, Principal):
        raise ToolError("the request has no caller")
    return served.service, principal


async def _opened(run_id: str, ctx: Call) -> Opened:
    service, principal = _caller(ctx)
    known = await service.visible(principal, run_id)
    supervisor = service.supervisor(known.team)
    seq = await service.journal.last_seq(run_id)
    return Opened(
        run := supervisor.handle(run_id),
        await run.view(),
        seq,
        principal,
        service.may_reply(principal, known.team, known.origin),
        supervisor.team.requester_approves,
    )


def _words(question: Question) -> str:
    """What is asked, with all that an approval would allow."""
    calls = [f"{one.tool} {one.arguments}" for one in question.calls]
    tasks = question.plan.tasks if question.plan is not None else ()
    return "\n".join([question.text, *calls, *(f"{one.id}: {one.intent}" for one in tasks)])


async def begin(
    team: str,
    request: Annotated[str, Field(max_length=MAX_REQUEST_CHARS)],
    ctx: Call,
    inputs: Sequence[str] = (),
    after: str | None = None,
) -> RunStatus:
    """Start a run of a team for a request; returns at once with the run's id. `inputs` are paths of
    files and folders to work on, where the server runs on your machine. `after` is the id of an
    earlier run, with an answer, that the request follows up on."""
    service, principal = _caller(ctx)
    if inputs and ctx.request_context.lifespan_context.principal is None:
        raise ToolError("this server can't read your files: it is not on your machine")
    new = NewRun(team=team, request=request, after=after)
    run = await start(service, principal, new, inputs=tuple(map(Path, inputs)))
    return RunStatus(run_id=run.id, team=team)


async def status(run_id: str, ctx: Call) -> RunStatus:
    """How far a run is, and what it waits for."""
    return (await _opened(run_id, ctx)).status


async def result(
    run_id: str, ctx: Call, wait_s: Annotated[float, Field(ge=0, le=MAX_WAIT_S)] = 60.0
) -> RunResult:
    """The answer of a run once it has ended or waits for a person, or what is known after `wait_s`
    seconds. Meanwhile it reports progress."""
    service, principal = _caller(ctx)
    run, lines = (await _opened(run_id, ctx)).run, 0
    parts = Turn(service, principal, run).parts()
    with suppress(TimeoutError):
        async with asyncio.timeout(wait_s), aclosing(parts):
            async for part in parts:
                if isinstance(part, ProgressLine):
                    lines += 1
                    await ctx.report_progress(lines, message=part.line)
    opened = await _opened(run_id, ctx)
    found, answer = RunResult(**opened.status.model_dump()), opened.view.answer
    if answer is not None and found.status not in ("running", "waiting", "interrupted"):
        shown = answer if principal.has("operator") else public_answer(answer)
        found.answer, found.output = shown.answer, shown.output
        found.sources = [one.ref for one in answer.sources if one.ref in found.answer]
    return found


async def _decision(
    verdict: Verdict, opened: Annotated[Opened, Resolve(_opened)], ctx: Call
) -> Elicit[Approval] | None:
    """Asks the person at the client, if that counts: a model approves nothing."""
    able = ctx.client_capabilities and ctx.client_capabilities.elicitation
    counts = opened.may_reply and opened.person_approves and opened.view.questions
    if verdict != "approved" or not counts or not able:
        return None
    return Elicit(_words(opened.view.questions[0]), Approval)


async def reply(
    run_id: str,
    verdict: Verdict,
    ctx: Call,
    opened: Annotated[Opened, Resolve(_opened)],
    decision: Annotated[ElicitationResult[Approval], Resolve(_decision)],
    text: str = "",
) -> RunStatus:
    """Answer the first question of a run, which then continues: `answered` with a text, or
    `declined`, where a worker asks something; `approved`, or `refused` with a reason, for a plan or
    tool calls. `approved` asks the person at the client, where the team lets them decide."""
    if not opened.view.questions:
        raise ToolError(f"run {run_id} has no open question")
    if not opened.may_reply:
        raise ToolError("another person has to answer the questions of this run")
    if verdict == "approved":
        if not isinstance(decision, AcceptedElicitation):
            raise ToolError("the person did not decide; the question stays open")
        if decision.data is None:  # pyright: ignore[reportUnnecessaryComparison]
            raise ToolError(
                "it can't be approved here: a person approves it on the page of the service, or "
                f"with `leadhand answer {run_id} --approve`"
            )
        verdict = "approved" if decision.data.approve else "refused"
        text = "" if decision.data.approve else decision.data.reason
    given = Reply(
        task_id=opened.view.questions[0].task_id,
        verdict=verdict,
        text=text,
        by=opened.principal.name,
    )
    await opened.run.reply(given, seen=opened.seq)
    return await status(run_id, ctx)


async def cancel(run_id: str, ctx: Call, reason: str = "cancelled") -> RunStatus:
    """Stop a run. It can be resumed."""
    opened = await _opened(run_id, ctx)
    await opened.run.cancel(reason)
    return await status(run_id, ctx)


async def plan(team: str, request: str, ctx: Call) -> Plan:
    """The plan that a team would follow for a request; no work is done. For operators."""
    service, principal = _caller(ctx)
    check_role(principal, "operator")
    return await service.supervisor(team).plan(request)
