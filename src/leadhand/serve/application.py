"""The service as an ASGI app: its routes, in front of supervisors."""

import json
import re
from collections.abc import AsyncGenerator, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import JSONResponse
from pydantic import JsonValue
from starlette.routing import Route

from leadhand import __version__
from leadhand.page import routes as page
from leadhand.plans.payloads import DeclaredType
from leadhand.serve import (
    authentication,
    events,
    figures,
    mcp,
    openai_api,
    questions,
    runs,
    teams,
)
from leadhand.serve.authentication import token_authentication
from leadhand.serve.guards import Guards
from leadhand.serve.lifespan import serving
from leadhand.serve.principals import Authenticate, Current
from leadhand.serve.problems import add_problem_handlers
from leadhand.serve.service import AnySupervisor, Service, ServiceSettings, service_of

PARTS = (events, runs, questions, openai_api, teams, authentication, figures, page)
"""Every module of routes has a router; those come first that are called most."""


def app(
    supervisors: Sequence[AnySupervisor],
    *,
    auth: Authenticate | None = None,
    home: str | Path | None = None,
    allow_hosts: Collection[str] = (),
    settings: ServiceSettings | None = None,
    allow_memory: bool = False,
) -> FastAPI:
    """The service of these supervisors, which share one journal, for a server or to mount.

    `auth` says who sends a request. Without it the tokens in the folder `home` do: the operator's,
    on loopback only, and named ones. `allow_hosts` are names under which the service is reached
    besides its own address. The app's lifespan has to run: it takes over interrupted runs, and a
    signal drains it. Raises `InputError`.
    """
    settings = settings or ServiceSettings()
    service = service_of(supervisors, settings=settings, allow_memory=allow_memory)
    auth = auth or token_authentication(home)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        async with serving(service), tools.running():
            yield

    api = FastAPI(title="leadhand", version=__version__, lifespan=lifespan, openapi_url=None)
    tools = mcp.Endpoint(service)
    api.router.routes.append(Route("/mcp", tools))
    api.state.service, api.state.auth = service, auth
    api.state.metrics, api.state.feed = figures.ServiceMetrics(service), events.Feed(service)
    api.add_middleware(Guards, allow_hosts=allow_hosts, settings=settings)
    add_problem_handlers(api)
    for part in PARTS:
        api.include_router(part.router)

    @api.get("/api/v1/openapi.json", include_in_schema=False)
    async def read_description(_: Current) -> JSONResponse:
        """What there is, for programs that make clients."""
        return JSONResponse(description_of(api, service))

    return api


def description_of(api: FastAPI, service: Service) -> dict[str, JsonValue]:
    """The OpenAPI document, with the schema of the output of each team's answers."""
    document: dict[str, Any] = json.loads(json.dumps(api.openapi()))
    outputs: list[dict[str, str]] = []
    for name, supervisor in service.supervisors.items():
        if supervisor.team.output is not None:
            key = re.sub(r"[^\w.-]", "_", f"output.{name}")
            schema = json.dumps(DeclaredType(supervisor.team.output).schema)
            schema = schema.replace('"#/$defs/', f'"#/components/schemas/{key}/$defs/')
            document["components"]["schemas"][key] = json.loads(schema)
            outputs.append({"$ref": f"#/components/schemas/{key}"})
    answer = document["components"]["schemas"]["AnswerDocument"]["properties"]["output"]
    answer |= {"anyOf": [*outputs, {"description": "Of a team without a type."}]}
    return document
