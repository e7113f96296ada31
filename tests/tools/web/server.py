"""A web server on loopback whose paths misbehave in different ways."""

import functools
import gzip
import json
import ssl
import threading
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

PAGE = """<!doctype html><html><head><title>Prices &amp; terms</title><style>p {}</style></head>
<body><h1>Prices</h1><p>One <b>two</b><script>alert('no')</script></p>
<div hidden>hidden one</div><p style="display: none">hidden two</p><!-- a remark -->
<table><tr><th>plan</th><td>12</td></tr></table></body></html>"""


@functools.cache
def bomb() -> bytes:
    """A hundred megabytes of blanks, packed without ever being in memory."""
    packer = zlib.compressobj(wbits=31)
    blanks = b" " * 100_000
    return b"".join(packer.compress(blanks) for _ in range(1_000)) + packer.flush()


class Site(ThreadingHTTPServer):
    """Serves until the block ends; `seen` is each request's path and Host."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.seen: list[tuple[str, str]] = []
        self.results: object = {"results": []}
        self.released = threading.Event()
        """Set when the block ends, so that no answer that never ends outlives it."""

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"


@contextmanager
def serving(tls: ssl.SSLContext | None = None) -> Generator[Site]:
    """A site on a port of its own."""
    site = Site()
    if tls is not None:
        site.socket = tls.wrap_socket(site.socket, server_side=True)
    thread = threading.Thread(target=site.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.released.set()
        site.shutdown()
        site.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: Site  # pyright: ignore[reportIncompatibleVariableOverride]

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.server.seen.append((self.path, self.headers.get("Host", "")))
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        try:
            self._answer(parts.path, query)
        except OSError:
            # The reader has seen enough and hung up.
            self.close_connection = True

    def _answer(self, path: str, query: dict[str, str]) -> None:
        match path:
            case "/page":
                self._send(PAGE.encode(), "text/html; charset=utf-8")
            case "/latin":
                page = "<html><meta charset=utf-8><p>Köln</p></html>"
                self._send(page.encode("latin-1"), "text/html; charset=iso-8859-1")
            case "/text":
                self._send(("line\n" * 4_000).encode(), "text/plain")
            case "/escapes":
                self._send(b"a\x1b[2Jb\x1b]52;c;eA==\x07", "text/plain")
            case "/to":
                self._send(b"", "text/html", 302, Location=query["url"])
            case "/round":
                turn = int(query["n"])
                self._send(b"", "text/html", 302, Location=f"/round?n={turn + 1}")
            case "/image":
                self._send(b"\x89PNG", "image/png")
            case "/binary":
                self._send(b"a\0b", "text/plain")
            case "/gone":
                self._send(b"gone", "text/html", 404)
            case "/large":
                self._send(b"x" * 3_000_000, "text/plain")
            case "/bomb":
                self._send(bomb(), "text/html", Content_Encoding="gzip")
            case "/double-bomb":
                self._send(gzip.compress(bomb()), "text/html", Content_Encoding="gzip, gzip")
            case "/torn":
                self._send(zlib.compress(b"x" * 1000)[:-8], "text/html", Content_Encoding="gzip")
            case "/slow-head":
                self._trickle(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x")
            case "/slow-body":
                head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
                self._trickle(head, b"x")
            case "/rude":
                self.wfile.write(b"\x00\x01 nonsense\r\n\r\n")
                self.close_connection = True
            case "/search" | "/custom":
                body = self.server.results
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                self._send(data, "application/json")
            case _:
                self._send(b"?", "text/plain", 500)

    def _send(self, body: bytes, kind: str, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def _trickle(self, head: bytes, drop: bytes) -> None:
        """Send a drop at a time until the reader hangs up or the test is over."""
        self.wfile.write(head)
        while not self.server.released.wait(0.05):
            self.wfile.write(drop)
            self.wfile.flush()
        self.close_connection = True
