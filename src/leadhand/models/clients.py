"""HTTP clients for model endpoints: they read responses up to a limit and refuse most redirects.

Hooks of the client do both, for every transport. The limit applies to the bytes on the wire and
decompressed, of streams and error bodies too.
"""

import functools
import json
import os
import re
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from typing import cast

import httpx2
from openai import DefaultAioHttpClient
from pydantic_ai import models

from leadhand.engine.turns import turn
from leadhand.errors import InputError, LeadhandError
from leadhand.models.streams import as_stream, wants_stream

MAX_RESPONSE = "LEADHAND_MAX_RESPONSE"
"""The environment variable with the limit: bytes, or a number with kB, MB or GB."""
DEFAULT_MAX_BYTES = 16_000_000
MAX_REDIRECTS = 3
"""Redirects within one endpoint that one request follows."""

_NO_COUNT = re.compile(
    rb'("(?:prompt|completion|total)_tokens"\s*:\s*)'
    rb'(?:-?NaN|-?Infinity|"(?:[^"\\]|\\.)*"|null|-?\d+(?=[.eE])[\d.eE+-]+|\d{12,}|\[\s*\]|\{\s*\})'
)
"""Invalid token counts, for which the SDK would refuse the whole response. Only a completion's
usage has such a key: quotes in arguments of tools are escaped."""
_CREATED = re.compile(
    rb'("created(?:_at)?"\s*:\s*)'
    rb'(?:"(?:[^"\\]|\\.)*"|-?NaN|-?Infinity|-?[\d.eE+-]+|true|false|null|\[\s*\]|\{\s*\})'
)
"""When an answer was made; the SDK may refuse a response because of it."""
_CHOICE = re.compile(rb'"choices"\s*:\s*\[\s*\{')
_SIZE = re.compile(r"(\d{1,12})\s*(|k|m|g|kb|mb|gb|b)", re.IGNORECASE)
_FACTORS = {"": 1, "b": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


class ResponseTooLarge(LeadhandError):
    """An endpoint's response is longer than `max_bytes`; the rest was not read."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        super().__init__(
            f"the model's answer is longer than {max_bytes:,} bytes and was not read to its end "
            f"({MAX_RESPONSE} sets the limit)"
        )


class NoAnswer(LeadhandError):
    """An endpoint's successful response has an error, or nothing, in the place of an answer."""

    def __init__(self, body: bytes) -> None:
        try:
            said = cast("object", json.loads(body))
        except (ValueError, RecursionError):
            said = None
        self.body: Mapping[str, object] = (
            cast("Mapping[str, object]", said) if isinstance(said, dict) else {}
        )
        self.text = body.decode(errors="replace") if said is None else ""
        """Text that is no JSON: the page of a proxy, for example."""
        super().__init__("the model's endpoint answered without a choice")


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
    """Raises `InputError` if the variable is not a size."""
    given = os.environ.get(MAX_RESPONSE, "").strip()
    if not given:
        return DEFAULT_MAX_BYTES
    size = _SIZE.fullmatch(given)
    count = int(size[1]) * _FACTORS[size[2].lower().removesuffix("b")] if size else 0
    if not count:
        raise InputError(f"{MAX_RESPONSE} is {given!r}: write a size such as 16MB")
    return count


def model_client() -> httpx2.AsyncClient:
    """A client for the SDKs over aiohttp, which saves a quarter to a half of a call's CPU time."""
    return _guarded(DefaultAioHttpClient(verify=_certificates()))


def httpx_client() -> httpx2.AsyncClient:
    """The same with httpx, which some SDKs require instead of httpx2."""
    return _guarded(cast("Callable[[], httpx2.AsyncClient]", models.create_async_http_client)())


def _guarded(client: httpx2.AsyncClient) -> httpx2.AsyncClient:
    limit = max_bytes()
    client.max_redirects = MAX_REDIRECTS

    async def hook(response: httpx2.Response) -> None:
        check_redirect(response)
        response.stream = _bounded(type(response).__module__)(response, limit)

    client.event_hooks["response"].append(hook)
    return client


def check_redirect(response: httpx2.Response) -> None:
    """Raises `RedirectRefused` for a redirect to another host, port or scheme."""
    if not response.has_redirect_location:
        return
    asked = response.request.url
    try:
        target = asked.join(response.headers["location"])
    except Exception as error:  # the location may be anything
        raise RedirectRefused(_origin(asked), "an invalid address") from error
    if (asked.scheme, asked.host, asked.port) != (target.scheme, target.host, target.port):
        raise RedirectRefused(_origin(asked), _origin(target))


def _origin(url: httpx2.URL) -> str:
    """Scheme, host and port, without the path, which may contain a key."""
    return f"{url.scheme}://{url.netloc.decode('ascii', 'replace').rpartition('@')[2]}"


class _Bounded(httpx2.AsyncByteStream):
    """A response's decompressed body; raises `ResponseTooLarge` beyond a limit."""

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
        streams = response.is_success and wants_stream(response.request.content)
        complete = whole or (response.is_success and not streams)
        self._is_completion = complete and self._path.endswith("/chat/completions")
        self._is_event_stream = "event-stream" in response.headers.get("content-type", "")
        self._is_no_stream = whole and streams
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
                    yield _CREATED.sub(rb"\g<1>1", chunk) if self._is_event_stream else chunk
        finally:
            if inflated is not None:
                await inflated.aclose()
        if body:
            await turn()  # what follows, the SDK's parsing and ours, takes milliseconds
            whole = b"".join(body)
            if self._is_completion:
                whole = _CREATED.sub(rb"\g<1>1", _NO_COUNT.sub(rb"\1-1", whole))
                error = None if _CHOICE.search(whole) else NoAnswer(whole)
                if error is not None and (error.body or error.text):
                    raise error
            yield as_stream(self._path, whole) if self._is_no_stream else whole

    async def aclose(self) -> None:
        await self._raw.aclose()


@functools.cache
def _bounded(module: str) -> type[_Bounded]:
    """`_Bounded` for the library of `module`: httpx and httpx2 accept only their own streams."""
    kind: type[object] = sys.modules[module.partition(".")[0]].AsyncByteStream
    return _Bounded if issubclass(_Bounded, kind) else type("_Bounded", (_Bounded, kind), {})


class _Counted(httpx2.AsyncByteStream):
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
    # Reading them takes as long as the CPU work of twenty calls, so it is done once per process.
    return httpx2.create_ssl_context()
