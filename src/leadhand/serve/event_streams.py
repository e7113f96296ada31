"""A stream of server-sent events to one reader, who may be slow or leave."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import asdict

from fastapi.responses import Response
from pydantic import JsonValue
from pydantic_core import PydanticSerializationError, to_jsonable_python
from starlette.types import Receive, Scope, Send

from leadhand import events
from leadhand.events import Event, RunFinished, TextDelta, public

QUEUED = 64
"""Messages that wait for a reader."""
STALLED_S = 60.0
"""How long a reader may take for one message."""
RETRY_MS = 1_000
"""After which a client connects again."""

Queue = asyncio.Queue[str | None]
"""Messages; None: the stream ends."""


class QueueStream(Response):
    """Sends what `read` puts into the queue, and heartbeats in the pauses, until that ends, the
    reader is gone, or takes nothing for too long."""

    media_type = "text/event-stream"

    def __init__(
        self,
        read: Callable[[Queue], Awaitable[object]],
        *,
        heartbeat_s: float,
        queued: int = QUEUED,
        retry_ms: int | None = RETRY_MS,
        still: Callable[[], Awaitable[bool]] | None = None,
        during: Callable[[], AbstractContextManager[object]] = nullcontext,
    ) -> None:
        """`retry_ms` is for clients that connect again by themselves. `still`, which is asked once
        in `heartbeat_s`, says whether the reader may go on. `during` is entered while it does."""
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._read = read
        self._heartbeat_s = heartbeat_s
        self._queued = queued
        self._still = still
        self._during = during
        self._first = "" if retry_ms is None else f"retry: {retry_ms}\n\n"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = self.raw_headers
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        queue = Queue(self._queued)
        parts = [
            filling := asyncio.create_task(self._fill(queue)),
            writing := asyncio.create_task(self._write(queue, send)),
            leaving := asyncio.create_task(disconnected(receive)),
        ]
        if self._still is not None:
            parts.append(asyncio.create_task(self._end_with(self._still, filling)))
        try:
            with self._during():
                await asyncio.wait((writing, leaving), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for part in parts:
                part.cancel()
            await asyncio.gather(*parts, return_exceptions=True)

    async def _fill(self, queue: Queue) -> None:
        try:
            await self._read(queue)
        finally:
            with suppress(asyncio.CancelledError):
                await queue.put(None)

    async def _end_with(
        self, still: Callable[[], Awaitable[bool]], filling: asyncio.Task[None]
    ) -> None:
        try:
            while True:
                await asyncio.sleep(self._heartbeat_s)
                if not await still():
                    return
        finally:
            filling.cancel()

    async def _write(self, queue: Queue, send: Send) -> None:
        message: str | None = self._first
        while message is not None:
            body = message.encode("utf-8", "replace")
            async with asyncio.timeout(STALLED_S):
                await send({"type": "http.response.body", "body": body, "more_body": True})
            try:
                async with asyncio.timeout(self._heartbeat_s):
                    message = await queue.get()
                queue.task_done()
            except TimeoutError:
                message = ": heartbeat\n\n"
        await send({"type": "http.response.body", "body": b""})


async def disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def message_of(event: Event | TextDelta, *, operator: bool, run_id: str = "") -> str:
    """An event as a message; empty if the reader may see nothing of it. With `run_id`, in a stream
    of many runs, it has no id."""
    data = _data(event) if operator else public(event)
    if not data:
        return ""
    if run_id and isinstance(data, dict):
        data = {**data, "run_id": run_id}
    id = "" if run_id or isinstance(event, TextDelta) else f"id: {event.seq}\n"
    return f"{id}{message(event.type, data)}"


def message(kind: str, data: dict[str, JsonValue] | str) -> str:
    text = data if isinstance(data, str) else json.dumps(data)
    return f"event: {kind}\ndata: {text}\n\n"


def ends(event: Event | TextDelta) -> bool:
    """Whether nothing follows it, unless the run is resumed."""
    return isinstance(event, RunFinished) and not event.within


def _data(event: Event | TextDelta) -> dict[str, JsonValue] | str:
    if isinstance(event, TextDelta):
        return asdict(event)
    try:
        return events.dump(event)
    except PydanticSerializationError:  # half of a character that a model wrote
        return to_jsonable_python(event)
