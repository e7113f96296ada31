"""What tests do with the handle of a run, in one call."""

import asyncio
from collections.abc import AsyncGenerator

from typing_extensions import Unpack

from leadhand import Answer, Event, Reply, Run, Supervisor, events
from leadhand.contracts.tools import C
from leadhand.run.handle import owned_answer
from leadhand.run.settings import RunArguments, StartArguments
from leadhand.run.stored import StoredRun


async def resumed(
    supervisor: Supervisor[C],
    run_id: str,
    *,
    from_task: str | None = None,
    stored: StoredRun | None = None,
    **arguments: Unpack[RunArguments[C]],
) -> Answer:
    """The answer of a run that is resumed. Cancelling this interrupts the run."""
    run = supervisor.handle(run_id)
    await run.resume(from_task=from_task, stored=stored, **arguments)
    return await owned_answer(run)


async def replied(
    supervisor: Supervisor[C], run_id: str, *replies: Reply, **arguments: Unpack[RunArguments[C]]
) -> Answer:
    """The answer of a run that is given replies."""
    run = supervisor.handle(run_id)
    await run.reply(*replies, **arguments)
    return await run.answer()


async def streamed(
    supervisor: Supervisor[C],
    request: str | None = None,
    **arguments: Unpack[StartArguments[C]],
) -> AsyncGenerator[Event]:
    """The events of a run that is started, until it ends or waits."""
    run = await supervisor.start(request, **arguments)
    async for event in until_rest(run):
        yield event
    await run.answer()


async def interrupted(
    supervisor: Supervisor[C],
    request: str | None = None,
    *,
    at: str,
    **arguments: Unpack[StartArguments[C]],
) -> None:
    """Start a run, and cancel its caller at the first event of type `at`."""
    reached = asyncio.Event()

    def listener(event: Event) -> None:
        if event.type == at:
            reached.set()

    arguments["listener"] = listener
    running = asyncio.create_task(supervisor.run(request, **arguments))
    await reached.wait()
    running.cancel()
    await asyncio.wait([running])


async def until_rest(run: Run[C], *, after_seq: int = 0) -> AsyncGenerator[Event]:
    """The events of a run, until it ends or waits for a person."""
    async for event in run.events(after_seq=after_seq):
        yield event
        if isinstance(event, events.RunFinished | events.RunWaiting) and not event.within:
            return
