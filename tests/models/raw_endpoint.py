"""An endpoint made of bytes: for what no HTTP library would send."""

import asyncio
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field


@dataclass
class RawEndpoint:
    """Sends `head` and then `chunk` repeatedly, `times` or for ever, to every client."""

    head: bytes
    chunk: bytes = b""
    times: int | None = 0
    every_s: float = 0.0
    """Between two chunks."""
    port: int = 0
    requests: list[bytes] = field(default_factory=list[bytes])
    """What came first on each connection, up to 64 kB, but for such questions."""
    tells_context: bool = True
    """False once it was asked for `/props`: it refuses questions about itself."""
    sent: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, and close."""
        with closing(writer), suppress(ConnectionError):
            asked = await reader.read(65_536)
            if asked.startswith(b"GET /props"):
                self.tells_context = False
            if asked.startswith(b"GET") and not self.tells_context:
                writer.write(head("404 Not Found"))
                return
            self.requests.append(asked)
            writer.write(self.head)
            count = 0
            while self.times is None or count < self.times:
                writer.write(self.chunk)
                await writer.drain()
                self.sent += len(self.chunk)
                count += 1
                await asyncio.sleep(self.every_s)


@contextmanager
def serving(*endpoints: RawEndpoint) -> Generator[None]:
    """The endpoints, each on its own port in a thread, for the length of the block."""
    loop = asyncio.new_event_loop()
    listening = threading.Event()
    over = asyncio.Event()

    async def serve() -> None:
        servers = [await asyncio.start_server(one.answer, "127.0.0.1", 0) for one in endpoints]
        for endpoint, server in zip(endpoints, servers, strict=True):
            endpoint.port = server.sockets[0].getsockname()[1]
        listening.set()
        await over.wait()
        for server in servers:
            server.close()
        answers = asyncio.all_tasks() - {asyncio.current_task()}
        for answer in answers:
            answer.cancel()
        await asyncio.gather(*answers, return_exceptions=True)
        await asyncio.sleep(0)  # their transports close

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    listening.wait()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()


def head(status: str = "200 OK", **headers: str) -> bytes:
    """A status line and headers; the body ends with the connection."""
    lines = [f"HTTP/1.1 {status}", "connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode()
