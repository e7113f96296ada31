"""The server of MCP: over HTTP at `/mcp` of the service, and over stdio for `leadhand mcp`."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Request
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import CallToolResult, InputRequiredResult
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from leadhand import __version__
from leadhand.errors import LeadhandError
from leadhand.serve.mcp_tools import PRINCIPAL, Served, begin, cancel, plan, reply, result, status
from leadhand.serve.problems import problem_of
from leadhand.serve.service import Service

INSTRUCTIONS = """\
Teams of workers do requests that take a while. `start` a run, then call `result` until its status
is neither `running` nor `waiting`. A run that waits needs a person: show its questions to the user,
and `reply` with what the user says. The teams:
"""


class Server(MCPServer[Served]):
    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Served, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError as error:
            if isinstance(error.__cause__, LeadhandError | HTTPException):
                raise ToolError(problem_of(error.__cause__).detail) from error
            raise


def server_of(served: Served, *more: Callable[..., object]) -> Server:
    """The server with its tools, and `more`."""

    @asynccontextmanager
    async def lifespan(_: MCPServer[Served]) -> AsyncGenerator[Served]:
        yield served

    teams = [one.team for one in served.service.supervisors.values()]
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
        self._service = service
        self._server = server_of(Served(service))

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        # Hosts and origins are checked before.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self._server.streamable_http_app(transport_security=security)
        async with self._server.session_manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        principal = await scope["app"].state.authenticate(Request(scope, receive))
        scope[PRINCIPAL] = principal
        token = AccessToken(token="", client_id=f"{principal.tenant}\0{principal.name}", scopes=[])
        scope["user"] = AuthenticatedUser(token)
        answering = self._server.session_manager.asgi_app(scope, receive, send)
        if scope["method"] != "GET":
            await answering
            return
        # A stream that stays open must not keep the service from stopping.
        parts = [
            asyncio.ensure_future(answering),
            asyncio.ensure_future(self._service.draining.wait()),
        ]
        try:
            await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for part in parts:
                part.cancel()
            await asyncio.wait(parts)
