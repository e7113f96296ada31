"""The connections of the model server: HTTP/1.1, one request at a time, answered as the `Response`
says."""

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import cast

import h11

from leadhand.testing.counts import Counts
from leadhand.testing.exchange import Response

_RESET_AFTER_S = 0.02
"""Pause between the last byte and the reset, so that the client receives all bytes."""


class HttpConnection(asyncio.Protocol):
    def __init__(self, answer: Callable[[str, str, bytes], Response], counts: Counts) -> None:
        self._answer = answer
        self._counts = counts
        self._http = h11.Connection(h11.SERVER)
        self._request = ("", "")
        self._body = bytearray()
        self._transport: asyncio.Transport | None = None
        self._sending: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._counts.connected()

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        if self._sending is not None:
            self._sending.cancel()
            self._done(0)

    def data_received(self, data: bytes) -> None:
        self._http.receive_data(data)
        self._next()

    def _next(self) -> None:
        """Answer the next request, once it is here as a whole and no other is being answered."""
        while self._sending is None and self._transport is not None:
            try:
                event = self._http.next_event()
            except h11.RemoteProtocolError as error:
                self._begin(lambda why=str(error): Response(400, why.encode(), "text/plain"))
                return
            match event:
                case h11.Request():
                    self._request = (event.method.decode(), event.target.decode())
                    self._body.clear()
                case h11.Data():
                    self._body += event.data
                case h11.EndOfMessage():
                    self._begin(lambda: self._answer(*self._request, bytes(self._body)))
                case _:
                    return

    def _begin(self, answer: Callable[[], Response]) -> None:
        self._counts.started()
        self._sending = asyncio.get_running_loop().create_task(self._send(answer()))

    async def _send(self, response: Response) -> None:
        """Send a response; cancelled if the connection is lost."""
        # Never immediately: requests that arrive together are in flight together.
        await asyncio.sleep(response.delay_s)
        transport = self._transport
        if transport is None:
            return
        headers = [("Content-Type", response.content_type), *response.headers]
        headers.append(("Content-Length", str(len(response.body))))
        head = h11.Response(status_code=response.status, headers=headers)
        if response.reset_after != -1:
            transport.write(self._http.send(head) or b"")
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
            transport.write(self._http.send(h11.Data(data=part)) or b"")
        self._http.send(h11.EndOfMessage())
        self._done(response.status)
        if self._http.our_state is h11.DONE:
            self._http.start_next_cycle()
            self._next()
        else:
            transport.close()

    def _done(self, status: int) -> None:
        self._sending = None
        self._counts.ended(status)
