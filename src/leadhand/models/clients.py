"""HTTP clients for model endpoints: an answer is read up to a limit, and redirects stay in place.

Both hold for every transport, since they are hooks of the client: the limit counts what comes over
the wire and what it inflates to, of streams and error bodies too.
"""

import functools
import os
import re
import ssl
import sys
from collections.abc import AsyncIterator, Callable
from typing import cast

import httpx2
from openai import DefaultAioHttpClient
from pydantic_ai import models

from leadhand.errors import InputError, LeadhandError
from leadhand.models.streams import as_stream, wants_stream

MAX_RESPONSE = "LEADHAND_MAX_RESPONSE"
"""The environment variable with the limit: bytes, or a number with kB, MB or GB."""
DEFAULT_MAX_BYTES = 16_000_000
MAX_REDIRECTS = 3
"""Within one endpoint, for one request."""

_NO_COUNT = re.compile(
    rb'("(?:prompt|completion|total)_tokens"\s*:\s*)'
    rb'(?:-?NaN|-?Infinity|"(?:[^"\\]|\\.)*"|null|-?\d+(?=[.eE])[\d.eE+-]+|\d{12,}|\[\s*\]|\{\s*\})'
)
"""A count of tokens that is none. In a completion such a key has no place but its usage: arguments
of tools are strings, whose quotes are escaped. The SDK would refuse the answer because of it."""
_SIZE = re.compile(r"(\d{1,12})\s*(|k|m|g|kb|mb|gb|b)", re.IGNORECASE)
_FACTORS = {"": 1, "b": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


class ResponseTooLarge(LeadhandError):
    """An endpoint's answer is longer than `max_bytes`; the rest was not read."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        super().__init__(
            f"the model's answer is longer than {max_bytes:,} bytes and was not read to its end "
            f"({MAX_RESPONSE} sets the limit)"
        )


class RedirectRefused(LeadhandError):
    """An endpoint redirects to another host, port or scheme; nothing was sent there."""

    def __init__(self, origin: str, target: str) -> None:
        self.origin = origin
        self.target = target
        super().__init__(
            f"{origin} redirects to {target}, where nothing was sent: "
            "if that is the right place, give it as the base URL"
        )


def max_bytes() -> int:
    """How long an endpoint's answer may be. Raises `InputError` where the variable is no size."""
    given = os.environ.get(MAX_RESPONSE, "").strip()
    if not given:
        return DEFAULT_MAX_BYTES
    size = _SIZE.fullmatch(given)
    count = int(size[1]) * _FACTORS[size[2].lower().removesuffix("b")] if size else 0
    if not count:
        raise InputError(f"{MAX_RESPONSE} is {given!r}: write a size such as 16MB")
    return count


def model_client() -> httpx2.AsyncClient:
    """A client for the SDKs, over aiohttp, which takes a quarter to a half off a call's cost."""
    return _guarded(DefaultAioHttpClient(verify=_certificates()))


def httpx_client() -> httpx2.AsyncClient:
    """The same of httpx, which some SDKs want in place of httpx2."""
    return _guarded(cast("Callable[[], httpx2.AsyncClient]", models.create_async_http_client)())


def _guarded(client: httpx2.AsyncClient) -> httpx2.AsyncClient:
    """`client`, held to the limit and to the endpoint that a request is sent to."""
    limit = max_bytes()
    client.max_redirects = MAX_REDIRECTS

    async def hook(response: httpx2.Response) -> None:
        check_redirect(response)
        response.stream = _bounded(type(response).__module__)(response, limit)

    client.event_hooks["response"].append(hook)
    return client


def check_redirect(response: httpx2.Response) -> None:
    """Raises `RedirectRefused` for a response that points to another host, port or scheme."""
    if not response.has_redirect_location:
        return
    asked = response.request.url
    try:
        target = asked.join(response.headers["location"])
    except Exception as error:  # the location may be anything
        raise RedirectRefused(_origin(asked), "what is no address") from error
    if (asked.scheme, asked.host, asked.port) != (target.scheme, target.host, target.port):
        raise RedirectRefused(_origin(asked), _origin(target))


def _origin(url: httpx2.URL) -> str:
    """Scheme, host and port: no path, which may hold a key."""
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace').rpartition('@')[2]}"


class _Bounded(httpx2.AsyncByteStream):
    """A response's body, inflated; raises `ResponseTooLarge` beyond a limit."""

    def __init__(self, response: httpx2.Response, limit: int) -> None:
        self._raw = cast("httpx2.AsyncByteStream", response.stream)
        self._inflating: httpx2.Response | None = None
        if coding := response.headers.get("content-encoding"):
            del response.headers["content-encoding"]
            headers = {"content-encoding": coding}
            self._inflating = httpx2.Response(
                200, headers=headers, stream=_Counted(self._raw, limit)
            )
        self._limit = limit
        self._path = response.request.url.path
        whole = response.is_success and "json" in response.headers.get("content-type", "")
        self._is_completion = whole and self._path.endswith("/chat/completions")
        self._is_no_stream = whole and wants_stream(response.request.content)
        if self._is_no_stream:
            response.headers["content-type"] = "text/event-stream"

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        body: list[bytes] = []
        inflated = None if self._inflating is None else self._inflating.aiter_bytes()
        try:
            async for chunk in inflated or self._raw:
                count += len(chunk)
                if count > self._limit:
                    raise ResponseTooLarge(self._limit)
                if self._is_completion or self._is_no_stream:
                    body.append(chunk)
                else:
                    yield chunk
        finally:
            if inflated is not None:
                await inflated.aclose()
        if body:
            whole = b"".join(body)
            whole = _NO_COUNT.sub(rb"\1-1", whole) if self._is_completion else whole
            yield as_stream(self._path, whole) if self._is_no_stream else whole

    async def aclose(self) -> None:
        await self._raw.aclose()


@functools.cache
def _bounded(module: str) -> type[_Bounded]:
    """The same for the library that `module` is of: each takes streams of its own kind only."""
    kind: type[object] = sys.modules[module.partition(".")[0]].AsyncByteStream
    return _Bounded if issubclass(_Bounded, kind) else type("_Bounded", (_Bounded, kind), {})


class _Counted(httpx2.AsyncByteStream):
    """What comes over the wire, up to the limit."""

    def __init__(self, raw: httpx2.AsyncByteStream, limit: int) -> None:
        self._raw = raw
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        count = 0
        async for chunk in self._raw:
            count += len(chunk)
            if count > self._limit:
                raise ResponseTooLarge(self._limit)
            yield chunk


@functools.cache
def _certificates() -> ssl.SSLContext:
    # Reading them takes as long as twenty calls' own work: once is enough for a process.
    return httpx2.create_ssl_context()
