"""A stream of server-sent events to one reader, who may be slow or leave."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from fastapi.responses import Response
from starlette.types import Receive, Scope, Send

QUEUED = 64
"""Messages that wait for a reader."""
STALLED_S = 60.0
"""How long a reader may take for one message."""
RETRY_MS = 1_000
"""After which a client connects again."""

Queue = asyncio.Queue[str | None]
"""Messages; None: the stream ends."""


class EventStream(Response):
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
    ) -> None:
        super().__init__(headers={"cache-control": "no-store", "x-accel-buffering": "no"})
        del self.headers["content-length"]
        self._read = read
        self._heartbeat_s = heartbeat_s
        self._queued = queued
        self._first = "" if retry_ms is None else f"retry: {retry_ms}\n\n"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = self.raw_headers
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        queue = Queue(self._queued)
        parts = [
            asyncio.create_task(self._fill(queue)),
            asyncio.create_task(self._write(queue, send)),
            asyncio.create_task(_disconnected(receive)),
        ]
        try:
            await asyncio.wait(parts[1:], return_when=asyncio.FIRST_COMPLETED)
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


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
