"""What stands before every route: hosts, origins, callers, the size of bodies, and headers of
responses."""

import asyncio
import ipaddress
import logging
import re
from collections.abc import Collection
from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leadhand.serve.principals import CALLER, authenticated
from leadhand.serve.problems import HttpProblem, path_of, problem_response
from leadhand.serve.service import ServiceSettings

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Of every response, unless a route sets its own."""
WITH_FILES = "/api/v1/runs"
"""The route that takes files."""
FOR_ALL = "/api/v1/session"
"""The route for callers who are not known yet; it reads no body."""

_log = logging.getLogger("leadhand")


class Guards:
    """Middleware: what it refuses reaches no route, and what fails is a problem too."""

    def __init__(
        self, app: ASGIApp, *, allow_hosts: Collection[str], settings: ServiceSettings
    ) -> None:
        self._app = app
        self._allowed = frozenset(one.lower() for one in allow_hosts)
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers, path = Headers(scope=scope), path_of(scope)
        # Only the route that takes files reads a larger body: others have it in memory.
        is_form = headers.get("content-type", "").lower().startswith("multipart/form-data")
        takes_files = is_form and path == WITH_FILES
        most = self._settings.max_upload_bytes if takes_files else self._settings.max_body_bytes
        try:
            self._check(scope, headers, most)
            if scope["method"] not in ("GET", "HEAD", "OPTIONS") and path != FOR_ALL:
                # Before the body is read, which a route does before it asks who calls.
                scope[CALLER] = await authenticated(Request(scope))
            await self._app(scope, self._limited(receive, most), send_guarded)
        except HTTPException as refused:
            if not started:
                await problem_response(Request(scope), refused)(scope, receive, send_guarded)
        except Exception as error:
            _log.exception("%s %s failed", scope["method"], scope["path"])
            if not started:
                await problem_response(Request(scope), error)(scope, receive, send_guarded)

    def _check(self, scope: Scope, headers: Headers, limit: int) -> None:
        """Raises `HttpProblem`."""
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        if not self._is_own(host, scope):
            why = f"host {host!r:.200} is not served here; --allow-host allows another one"
            raise HttpProblem(403, why)
        if origin is not None and not self._is_same(origin, host):
            raise HttpProblem(403, f"requests from pages of {origin!r:.200} are refused")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > limit:
            raise HttpProblem(413, f"the body is over {limit:,} bytes")

    def _is_own(self, host: str, scope: Scope) -> bool:
        """Whether it names the listener: its address, a name of this machine alone if it is on
        loopback, or an allowed one. Any other name may lead here by a foreign DNS entry."""
        name = re.sub(r":[0-9]*\Z", "", host)
        if host in self._allowed or name in self._allowed:
            return True
        own = str((scope.get("server") or ("",))[0])
        try:
            address = ipaddress.ip_address(own)
        except ValueError:
            return bool(own) and name == own  # a test client
        if address.is_loopback and name in ("localhost", "127.0.0.1", "[::1]"):
            return True
        return name == (f"[{own}]" if address.version == 6 else own)

    def _is_same(self, origin: str, host: str) -> bool:
        try:
            parts = urlsplit(origin.lower())
        except ValueError:
            return False
        return bool(parts.netloc) and (
            parts.netloc == host or parts.netloc in self._allowed or parts.hostname in self._allowed
        )

    def _limited(self, receive: Receive, limit: int) -> Receive:
        """`receive`, which raises `HttpProblem` for a body that is too long, or does not come."""
        settings = self._settings
        read, ended, patience_s = 0, False, settings.body_s
        # As a whole so long for each 4 MB that it may have.
        until_s = asyncio.get_running_loop().time() + patience_s * limit / settings.max_body_bytes

        async def limited() -> Message:
            nonlocal read, ended
            if ended:  # what comes now is the end of the connection, whenever that is
                return await receive()
            try:
                async with asyncio.timeout_at(until_s), asyncio.timeout(patience_s):
                    message = await receive()
            except TimeoutError:
                raise HttpProblem(408, "the body did not come in time") from None
            read += len(message.get("body", b""))
            ended = not message.get("more_body", False)
            if read > limit:
                raise HttpProblem(413, f"the body is over {limit:,} bytes")
            return message

        return limited
