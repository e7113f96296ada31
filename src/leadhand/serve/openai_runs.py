"""Runs for clients of OpenAI's protocols: started, waited for, and stopped if the client leaves."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import Request
from pydantic import JsonValue

from leadhand.contracts.answer import Answer
from leadhand.errors import InputError
from leadhand.run.handle import Run
from leadhand.serve.openai_requests import GivenRequest
from leadhand.serve.principals import Principal, check_role, origin_of
from leadhand.serve.problems import HttpProblem
from leadhand.serve.service import Service

AnyRun = Run[Any, object]


async def begin(
    service: Service,
    principal: Principal,
    team: str,
    asked: GivenRequest,
    *,
    after: str | None = None,
    run_id: str | None = None,
    origin: Mapping[str, JsonValue] | None = None,
    key: str | None = None,
    store: bool = True,
) -> AnyRun:
    check_role(principal, "requester")
    if key is not None or asked.files or not store:
        raise HttpProblem(400, "Idempotency-Key, files and store=false are not supported yet")
    supervisor = service.supervisor(team)
    return await supervisor.start(
        asked.request,
        earlier=asked.earlier,
        after=after,
        run_id=run_id,
        origin={**origin_of(principal), **(origin or {})},
        context=principal.context,
        budget=principal.budget,
    )


@asynccontextmanager
async def stopped_if_left(service: Service, run: AnyRun, *, stays: bool) -> AsyncGenerator[None]:
    """Cancels the run if its caller is cancelled in the block, as clients expect of what they wait
    for, unless it `stays`."""
    try:
        yield
    except (asyncio.CancelledError, GeneratorExit):
        if not stays and not service.draining.is_set():
            await asyncio.shield(_stop(run))
        raise


async def answer_while_connected(
    request: Request, service: Service, run: AnyRun, *, stays: bool
) -> Answer | None:
    """The answer; None if the client has left before."""
    answering = asyncio.create_task(run.answer())
    leaving = asyncio.create_task(_left(request))
    try:
        async with stopped_if_left(service, run, stays=stays):
            await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                return answering.result()
        if not stays:
            await _stop(run)
        return None
    finally:
        for task in (answering, leaving):
            task.cancel()
        await asyncio.wait((answering, leaving))


async def _stop(run: AnyRun) -> None:
    with suppress(InputError):  # it has ended
        await run.cancel("its client left")


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
