"""A small HTTP/1.1 server, with as much of the protocol as clients of a model need.

A connection handles one request at a time and sends the `Response` as it says: late, byte by byte,
or not at all.
"""

import asyncio
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import cast

from leadhand.testing.exchange import Response

MAX_HEAD_BYTES = 64 * 1024
MAX_BODY_BYTES = 256 * 1024 * 1024

_RESET_AFTER_S = 0.02
"""Pause between the last byte and the reset, so that the client receives all bytes."""


@dataclass(frozen=True, slots=True)
class ConnectionHandlers:
    answer: Callable[[str, str, bytes], Response]
    """From method, path and body to the response."""
    connected: Callable[[], None]
    started: Callable[[], None]
    ended: Callable[[int], None]
    """Called once for each started request with its status, 0 if the connection was lost."""


class HttpConnection(asyncio.Protocol):
    def __init__(self, handlers: ConnectionHandlers) -> None:
        self._handlers = handlers
        self._received = bytearray()
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.Handle | None = None
        self._busy = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._handlers.connected()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._timer is not None:
            self._timer.cancel()
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
        self._handlers.started()
        answer = self._handlers.answer
        response = request if isinstance(request, Response) else answer(request, path, body)
        loop = asyncio.get_running_loop()
        # Never immediately: requests that arrive together are in flight together.
        self._timer = loop.call_later(response.delay_s, self._send, response)

    def _send(self, response: Response) -> None:
        transport = self._transport
        if transport is None:
            return
        if response.reset_after == -1:
            self._reset()
            return
        transport.write(_head(response))
        if response.reset_after is not None:
            transport.write(response.body[: response.reset_after])
            self._later(_RESET_AFTER_S, self._reset)
        elif response.byte_every_s > 0:
            self._drip([bytes([one]) for one in response.body], response, response.byte_every_s)
        elif response.event_every_s > 0:
            self._drip(response.events, response, response.event_every_s)
        else:
            transport.write(response.body)
            self._done(response.status)

    def _drip(self, parts: list[bytes], response: Response, every_s: float) -> None:
        loop = asyncio.get_running_loop()
        began_s = loop.time()

        def send(sent: int) -> None:
            if self._transport is None:
                return
            self._transport.write(b"".join(parts[sent : sent + 1]))
            if sent + 1 >= len(parts):
                self._done(response.status)
            else:  # by the clock, as late timers would add up
                self._timer = loop.call_at(began_s + (sent + 1) * every_s, send, sent + 1)

        send(0)

    def _later(self, seconds: float, action: Callable[[], None]) -> None:
        self._timer = asyncio.get_running_loop().call_later(seconds, action)

    def _done(self, status: int) -> None:
        if self._busy:
            self._busy = False
            self._handlers.ended(status)
            if self._received:
                asyncio.get_running_loop().call_soon(self._next)

    def _reset(self) -> None:
        if self._transport is not None:
            plug = cast("socket.socket", self._transport.get_extra_info("socket"))
            plug.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._transport.abort()


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
    """Remove and return the first complete request; None if there is none. Raises `ValueError`."""
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
