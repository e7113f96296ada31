"""The service as an ASGI app: its routes, in front of supervisors."""

import inspect
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request

from leadhand import __version__
from leadhand.errors import InputError
from leadhand.serve import me
from leadhand.serve.lifespan import serving
from leadhand.serve.principals import Authenticate, Principal
from leadhand.serve.problems import HttpProblem, add_problem_handlers
from leadhand.serve.service import AnySupervisor, ServiceSettings, service_of

ROUTERS = (me.router,)
"""Every module of routes has one."""


def app(
    supervisors: Sequence[AnySupervisor],
    *,
    auth: Authenticate | None = None,
    home: str | Path | None = None,
    settings: ServiceSettings | None = None,
    allow_memory: bool = False,
) -> FastAPI:
    """The service of these supervisors, which share one journal, for a server or to mount.

    `auth` says who sends a request. The app's lifespan has to run: it takes over interrupted runs,
    and a signal drains it. Raises `InputError`.
    """
    if auth is None:
        raise InputError("who may call the service: give `auth`")
    service = service_of(
        supervisors, settings=settings or ServiceSettings(), home=home, allow_memory=allow_memory
    )

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
        async with serving(service):
            yield

    api = FastAPI(
        title="leadhand",
        version=__version__,
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    api.state.service = service
    api.state.authenticate = _authenticate_by(auth)
    add_problem_handlers(api)
    for router in ROUTERS:
        api.include_router(router)
    return api


def _authenticate_by(auth: Authenticate) -> Callable[[Request], Awaitable[Principal]]:
    async def authenticate(request: Request) -> Principal:
        found = auth(request)
        principal = await found if inspect.isawaitable(found) else found
        if principal is None:
            raise HttpProblem(
                401, "name yourself with a token", headers={"WWW-Authenticate": "Bearer"}
            )
        return principal

    return authenticate
