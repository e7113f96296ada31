"""Events as they happen, over HTTP: of one run, and of all that a principal may see."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing, suppress
from typing import Annotated

from fastapi import APIRouter, Header, Query
from fastapi.responses import Response

from leadhand.errors import LeadhandError
from leadhand.events import TextDelta
from leadhand.run.handle import Run
from leadhand.serve.event_streams import Queue, QueueStream, ends, message, message_of
from leadhand.serve.principals import Still
from leadhand.serve.retention import erase_soon, is_over, is_released
from leadhand.serve.service import Calling, Service

router = APIRouter(prefix="/api/v1", tags=["events"])

SLOW_S = 1.0
"""After which a reader is slow: what it did not take is dropped, and read again later."""
MAX_UNREAD = 1_000
"""Messages of all runs that wait for a reader."""
_STREAM = {
    "description": "Server-sent events: `id` is the event's `seq`, `event` its type, `data` the "
    "event as JSON; `text_delta`, without id, while a model writes; `end` when the run is over.",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}
_OVER = {"description": "The run is over, and the client has all of it."}


@router.get("/runs/{run_id}/events", response_class=Response, responses={200: _STREAM, 204: _OVER})
async def follow_run(
    run_id: str,
    caller: Calling,
    still: Still,
    after_seq: Annotated[int, Query(ge=0, description="Begin after this event.")] = 0,
    last_event_id: Annotated[int | None, Header(ge=0)] = None,
) -> Response:
    """The events of a run from the beginning, or after a given one, until it is over."""
    service, known = caller.service, await caller.visible(run_id)
    after = after_seq if last_event_id is None else last_event_id
    if await _is_over(service, run_id, after):
        return Response(status_code=204, headers={"cache-control": "no-store"})
    caller.check_streams()
    run, operator = service.handle(known), caller.is_operator

    def over() -> None:
        erase_soon(caller, run_id)

    return QueueStream(
        lambda queue: _read_run(run, after, queue, over, operator=operator),
        heartbeat_s=service.settings.heartbeat_s,
        still=still,
        during=caller.streaming,
    )


async def _is_over(service: Service, run_id: str, after: int) -> bool:
    last = await service.journal.last_seq(run_id)
    if not 0 < last <= after or not await is_over(service, run_id):
        return False
    released = await is_released(service, run_id)  # or it was resumed meanwhile
    return released and await service.journal.last_seq(run_id) == last


async def _read_run(
    run: Run, seq: int, queue: Queue, over: Callable[[], object], *, operator: bool
) -> None:
    """Calls `over` once the reader has the last event. A shutdown ends it, or a journal that can't
    be read: the client connects again."""
    with suppress(LeadhandError):
        while True:
            async with aclosing(run.events(after_seq=seq, deltas=True)) as found:
                async for event in found:
                    text = message_of(event, operator=operator)
                    text += message("end", {"run_id": run.id}) if ends(event) else ""
                    try:
                        async with asyncio.timeout(SLOW_S):
                            await queue.put(text)
                    except TimeoutError:
                        break
                    if ends(event):
                        over()
                    seq = seq if isinstance(event, TextDelta) else event.seq
                else:
                    return
            await queue.join()


@router.get("/events", response_class=Response, responses={200: _STREAM})
async def follow_all(caller: Calling, still: Still) -> Response:
    """What happens from now on in all runs that the caller may see, each event with its `run_id`.

    After `ready` nothing is missed. `run_changed` has a run as in the list, whichever process works
    on it. There are no ids: a client that connects again, or gets `lost`, reads the list again.
    """
    caller.check_streams()
    return QueueStream(
        lambda queue: caller.service.feed.follow(caller.principal, queue),
        heartbeat_s=caller.service.settings.heartbeat_s,
        queued=MAX_UNREAD,
        still=still,
        during=caller.streaming,
    )
