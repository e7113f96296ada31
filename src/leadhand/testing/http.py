"""A small HTTP/1.1 server, with as much of the protocol as clients of a model need: one request
at a time on a connection, answered as the `Response` says."""

import asyncio
import socket
import struct
from collections.abc import Callable
from http import HTTPStatus
from typing import cast

from leadhand.testing.counts import Counts
from leadhand.testing.exchange import Response

MAX_HEAD_BYTES = 64 * 1024
MAX_BODY_BYTES = 256 * 1024 * 1024

_RESET_AFTER_S = 0.02
"""Pause between the last byte and the reset, so that the client receives all bytes."""


class HttpConnection(asyncio.Protocol):
    def __init__(self, answer: Callable[[str, str, bytes], Response], counts: Counts) -> None:
        self._answer = answer
        self._counts = counts
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self._sending: asyncio.Task[None] | None = None
        self._busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._counts.connected()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._sending is not None:
            self._sending.cancel()
        self._done(0)

    def data_received(self, data: bytes) -> None:
        self._received += data
        self._next()

    def _next(self) -> None:
        if self._busy or self._transport is None:
            return
        try:
            request = _take(self._received)
        except ValueError as error:
            self._begin(Response(status=400, body=str(error).encode(), content_type="text/plain"))
            self._received.clear()
            return
        if request is not None:
            self._begin(*request)

    def _begin(self, request: Response | str, path: str = "", body: bytes = b"") -> None:
        self._busy = True
        self._counts.started()
        response = request if isinstance(request, Response) else self._answer(request, path, body)
        self._sending = asyncio.get_running_loop().create_task(self._send(response))

    async def _send(self, response: Response) -> None:
        """Send a response; cancelled if the connection is lost."""
        # Never immediately: requests that arrive together are in flight together.
        await asyncio.sleep(response.delay_s)
        transport = self._transport
        if transport is None:
            return
        if response.reset_after != -1:
            transport.write(_head(response))
        if response.reset_after is not None:
            transport.write(response.body[: max(response.reset_after, 0)])
            await asyncio.sleep(_RESET_AFTER_S)
            plug = cast("socket.socket", transport.get_extra_info("socket"))
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
            return
        every_s, parts = response.event_every_s, response.events
        if response.byte_every_s > 0:
            every_s, parts = response.byte_every_s, [bytes([one]) for one in response.body]
        elif every_s <= 0:
            parts = [response.body]
        loop = asyncio.get_running_loop()
        began_s = loop.time()
        for number, part in enumerate(parts):
            if number:  # by the clock, as late timers would add up
                await asyncio.sleep(began_s + number * every_s - loop.time())
            transport.write(part)
        self._done(response.status)

    def _done(self, status: int) -> None:
        if self._busy:
            self._busy = False
            self._counts.ended(status)
            if self._received:
                asyncio.get_running_loop().call_soon(self._next)


def _head(response: Response) -> bytes:
    try:
        phrase = HTTPStatus(response.status).phrase
    except ValueError:
        phrase = "Overloaded"
    lines = [
        f"HTTP/1.1 {response.status} {phrase}",
        f"Content-Type: {response.content_type}",
        f"Content-Length: {len(response.body)}",
        *(f"{name}: {value}" for name, value in response.headers),
    ]
    return "\r\n".join([*lines, "\r\n"]).encode("latin-1")


def _take(received: bytearray) -> tuple[str, str, bytes] | None:
    """None if there is none. Raises `ValueError`."""
    end = received.find(b"\r\n\r\n")
    if end < 0:
        if len(received) > MAX_HEAD_BYTES:
            raise ValueError("the request's head is too long")
        return None
    first, *lines = bytes(received[:end]).decode("latin-1").split("\r\n")
    method, _, rest = first.partition(" ")
    headers = {name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)}
    if "chunked" in headers.get("transfer-encoding", "").lower():
        found = _chunked(received, end + 4)
    else:
        found = _sized(received, end + 4, headers.get("content-length", "0"))
    if found is None:
        return None
    body, used = found
    del received[:used]
    return method, rest.partition(" ")[0], body


def _sized(received: bytearray, start: int, length: str) -> tuple[bytes, int] | None:
    size = int(length)
    if not 0 <= size <= MAX_BODY_BYTES:
        raise ValueError("the request's body is too long")
    end = start + size
    return (bytes(received[start:end]), end) if len(received) >= end else None


def _chunked(received: bytearray, start: int) -> tuple[bytes, int] | None:
    body = bytearray()
    while (end := received.find(b"\r\n", start)) >= 0:
        size = int(bytes(received[start:end]).partition(b";")[0], 16)
        after = end + 2 + size
        if not 0 <= size <= MAX_BODY_BYTES - len(body):
            raise ValueError("the request's body is too long")
        if len(received) < after + 2:
            return None
        body += received[end + 2 : after]
        start = after + 2
        if size == 0:
            return bytes(body), start
    return None
