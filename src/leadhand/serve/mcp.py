"""The server of MCP, over HTTP at `/mcp` of the service, and over stdio for `leadhand mcp`.

Its tools start runs, wait for them, answer their questions and cancel them. A run goes on between
calls: `start` returns its id, and `result` waits for it for a while.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Annotated, Any

from fastapi import Request
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, InputRequiredResult
from pydantic import BaseModel, Field, JsonValue, ValidationError
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from leadhand import __version__
from leadhand.contracts.data import in_one_line
from leadhand.contracts.people import Question, Reply, Verdict
from leadhand.contracts.task import Plan
from leadhand.errors import LeadhandError
from leadhand.run.questions import open_questions
from leadhand.serve.documents import seen_answer
from leadhand.serve.new_runs import NewRun, RequestText, start
from leadhand.serve.principals import Principal, authenticated
from leadhand.serve.problems import problem_of
from leadhand.serve.run_records import RunRecord
from leadhand.serve.service import Service, ServiceCaller
from leadhand.serve.turns import ClientTurn, ProgressLine

INSTRUCTIONS = """\
Teams of workers do requests that take a while. `start` a run, then call `result` until its status
is neither `running` nor `waiting`. A run that waits needs a person: show its questions to the user,
and `reply` with what the user says. The teams:
"""
MAX_WAIT_S = 600.0
_CALLER = "leadhand.caller"
"""Where the scope of a request has its caller."""

Call = Context[ServiceCaller | None, Request]
"""Of a tool. Its server has a caller, or else each request has one."""


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
    answer: str = ""
    """Markdown; empty while there is none."""
    output: JsonValue = None
    """The answer as data, where the team has a type for it."""
    sources: list[str] = []
    gaps: list[str] = []
    """What is missing from the answer, and why where you may know."""


class Approval(BaseModel):
    """What the person at the client decides."""

    approve: bool = Field(description="Approve it? Otherwise it is refused.")
    reason: str = Field(default="", description="Why it is refused.")


def _caller(ctx: Call) -> ServiceCaller:
    context = ctx.request_context
    caller = context.lifespan_context or (context.request and context.request.scope[_CALLER])
    if not isinstance(caller, ServiceCaller):
        raise ToolError("the request has no caller")
    return caller


async def _run(run_id: str, ctx: Call) -> RunRecord:
    return await _caller(ctx).visible(run_id)


def _words(question: Question) -> str:
    """What is asked, with all that an approval would allow."""
    calls = [f"{one.tool} {one.arguments}" for one in question.calls]
    tasks = question.plan.tasks if question.plan is not None else ()
    return "\n".join([question.text, *calls, *(f"{one.id}: {one.intent}" for one in tasks)])


async def begin(
    team: str,
    request: RequestText,
    ctx: Call,
    inputs: Sequence[str] = (),
    after: str | None = None,
    store: bool = True,
) -> RunStatus:
    """Start a run of a team for a request; returns at once with the run's id. `inputs` are paths of
    files and folders to work on, where the server runs on your machine. `after` is the id of an
    earlier run, with an answer, that the request follows up on. Without `store` the run is erased
    a minute after its end."""
    if inputs and ctx.request_context.lifespan_context is None:
        raise ToolError("this server can't read your files: it is not on your machine")
    new = NewRun(team=team, request=request, after=after, store=store)
    run = await start(_caller(ctx), new, inputs=tuple(map(Path, inputs)))
    return RunStatus(run_id=run.id, team=team)


async def status(run_id: str, ctx: Call) -> RunStatus:
    """How far a run is, what it waits for, and its answer if it has ended."""
    caller, run = _caller(ctx), await _run(run_id, ctx)
    state, hidden = run.state, "a person of the service has to answer"
    replies, asked = caller.may_reply(state), open_questions(state)
    found = RunStatus(
        run_id=run_id,
        team=state.team,
        status=run.history.run_status(held=await caller.service.is_held(run)),
        tasks=len(state.tasks),
        completed=sum(task.status == "completed" for task in state.tasks.values()),
        questions=[_words(one) if replies else hidden for one in asked],
    )
    if state.answer is not None and found.status == state.answer.status:
        shown = seen_answer(state.answer, operator=caller.is_operator)
        found.answer, found.output = shown.answer, shown.output
        found.gaps = [f"{one.task_id}: {one.why}" for one in shown.gaps]
        found.sources = [one.ref for one in state.answer.sources if one.ref in found.answer]
    return found


async def result(
    run_id: str, ctx: Call, wait_s: Annotated[float, Field(ge=0, le=MAX_WAIT_S)] = 60.0
) -> RunStatus:
    """The answer of a run once it has ended or waits for a person, or what is known after `wait_s`
    seconds. Meanwhile it reports progress."""
    caller, lines = _caller(ctx), 0
    run = caller.service.handle(await _run(run_id, ctx))
    parts = ClientTurn(caller, run, progress=True, erases=False).parts()
    with suppress(TimeoutError):
        async with asyncio.timeout(wait_s), aclosing(parts):
            async for part in parts:
                if isinstance(part, ProgressLine):
                    lines += 1
                    await ctx.report_progress(lines, message=part.line)
    return await status(run_id, ctx)


async def _decision(
    verdict: Verdict, run: Annotated[RunRecord, Resolve(_run)], ctx: Call
) -> Elicit[Approval] | None:
    """Asks the person at the client, if that counts: a model approves nothing, and a person where
    the team lets those who start its runs approve."""
    caller, asked = _caller(ctx), open_questions(run.state)
    able = ctx.client_capabilities and ctx.client_capabilities.elicitation
    counts = caller.may_reply(run.state) and caller.service.supervisor(run.state.team)
    if verdict != "approved" or not (able and asked and counts and counts.team.requester_approves):
        return None
    return Elicit(_words(asked[0]), Approval)


async def reply(
    run_id: str,
    verdict: Verdict,
    ctx: Call,
    run: Annotated[RunRecord, Resolve(_run)],
    decision: Annotated[ElicitationResult[Approval], Resolve(_decision)],
    text: str = "",
) -> RunStatus:
    """Answer the first question of a run, which then continues: `answered` with a text, or
    `declined`, where a worker asks something; `approved`, or `refused` with a reason, for a plan or
    tool calls. `approved` asks the person at the client, where the team lets them decide."""
    caller, asked = _caller(ctx), open_questions(run.state)
    if not asked:
        raise ToolError(f"run {run_id} has no open question")
    if not caller.may_reply(run.state):
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
    name = caller.principal.name
    given = Reply(task_id=asked[0].task_id, verdict=verdict, text=text, by=name)
    await caller.service.handle(run).reply(given, seen=run.last.seq)
    return await status(run_id, ctx)


async def cancel(run_id: str, ctx: Call, reason: str = "cancelled") -> RunStatus:
    """Stop a run. It can be resumed."""
    await _caller(ctx).service.handle(await _run(run_id, ctx)).cancel(reason)
    return await status(run_id, ctx)


async def plan(team: str, request: RequestText, ctx: Call) -> Plan:
    """The plan that a team would follow for a request; no work is done. For operators."""
    caller = _caller(ctx)
    caller.check_role("operator")
    return await caller.service.supervisor(team).plan(request)


class Server(MCPServer[ServiceCaller | None]):
    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Context[ServiceCaller | None, Any] | None = None,
    ) -> CallToolResult | InputRequiredResult:
        schemas = {one.name: one.input_schema for one in await self.list_tools()}
        if unknown := arguments.keys() - schemas.get(name, {}).get("properties", arguments).keys():
            raise ToolError(f"{name}: there is no {', '.join(f'`{one}`' for one in unknown)}")
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError as error:
            if isinstance(error.__cause__, LeadhandError | HTTPException):
                raise ToolError(problem_of(error.__cause__).detail) from error
            raise
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                wrong = in_one_line(error.__cause__).partition(": ")[2]
                raise ToolError(f"{name}: {wrong}") from error
            raise


def server_of(
    service: Service, *more: Callable[..., object], principal: Principal | None = None
) -> Server:
    """The server with its tools, and `more`; without a `principal` each HTTP request has one."""

    @asynccontextmanager
    async def lifespan(_: MCPServer[ServiceCaller | None]) -> AsyncGenerator[ServiceCaller | None]:
        yield principal and ServiceCaller(principal, service)

    teams = [one.team for one in service.supervisors.values()]
    root = logging.getLogger()
    before = [*root.handlers], root.level
    server = Server(
        "leadhand",
        version=__version__,
        instructions=INSTRUCTIONS + "\n".join(f"- {one.name}: {one.description}" for one in teams),
        lifespan=lifespan,
    )
    root.handlers[:], root.level = before  # the SDK takes the root logger for itself
    server.add_tool(begin, name="start")
    for tool in (status, result, reply, cancel, plan, *more):
        server.add_tool(tool)
    return server


class Endpoint:
    """`/mcp`, while `running`. A session belongs to the caller who opened it."""

    def __init__(self, service: Service) -> None:
        self._service, self._server = service, server_of(service)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        # Hosts and origins are checked before.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self._server.streamable_http_app(transport_security=security)
        async with self._server.session_manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        principal = await authenticated(request)
        caller = scope[_CALLER] = ServiceCaller(principal, self._service, request)
        token = AccessToken(token="", client_id=f"{principal.tenant}\0{principal.name}", scopes=[])
        scope["user"] = AuthenticatedUser(token)
        answering = self._server.session_manager.asgi_app(scope, receive, send)
        await caller.while_counting(
            self._until_drained(answering) if scope["method"] == "GET" else answering
        )

    async def _until_drained(self, answering: Coroutine[None, None, None]) -> None:
        """A stream that stays open must not keep the service from stopping."""
        both = [*map(asyncio.create_task, (answering, self._service.draining.wait()))]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for part in both:
                part.cancel()
            await asyncio.wait(both)
