"""Runs for clients that wait for an answer: stopped if their client leaves."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from typing import Any

from fastapi import Request

from leadhand.contracts.answer import Answer
from leadhand.errors import InputError
from leadhand.run.handle import Run
from leadhand.serve.service import Service

AnyRun = Run[Any, object]


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
