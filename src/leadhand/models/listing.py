"""Lists the models of an OpenAI-compatible endpoint: `GET {base}/models`.

Any program may answer at the address, so everything but a list of models is an error.
"""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast
from urllib.parse import urlsplit

import httpx2

from leadhand.errors import LeadhandError

MAX_BYTES = 4_000_000
"""A longer response is not a list of models. The largest catalogues have about a tenth of this."""

_CONTEXT_FIELDS = ("context_length", "max_model_len", "context_window", "max_context_length")


class ListingError(LeadhandError):
    """The endpoint did not return a list of models; the message says what it returned."""


@dataclass(frozen=True, slots=True)
class ListedModel:
    id: str
    context_tokens: int | None = None
    """Its context window, if the endpoint states it."""
    kind: str = ""
    """The `object` field, which is `model` in OpenAI's format."""


async def list_models(
    base_url: str, *, key: str | None = None, timeout_s: float
) -> list[ListedModel]:
    """The models at `base_url`, which usually ends in `/v1`, in the endpoint's order.

    Follows no redirects, so that the key is not sent elsewhere. Raises `ListingError`.
    """
    try:
        async with _client(base_url, key) as client, asyncio.timeout(timeout_s):
            return _models(await _get(client, f"{base_url.rstrip('/')}/models"))
    except TimeoutError as error:
        raise ListingError(f"no answer within {timeout_s:g} s") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        # An error about an invalid header quotes it, and this header contains the key.
        raise ListingError("the key can't be sent" if "Bearer" in said else said) from None


def _client(base_url: str, key: str | None) -> httpx2.AsyncClient:
    parts = urlsplit(base_url)
    return httpx2.AsyncClient(
        headers={"Authorization": f"Bearer {key.strip()}"} if key else {},
        # The caller's deadline for the whole request also covers slow responses.
        timeout=None,
        # Reading the certificates takes longer than a request on this machine.
        verify=parts.scheme != "http",
        # Requests on this machine must not go through a proxy.
        trust_env=parts.hostname not in ("127.0.0.1", "::1", "localhost"),
    )


async def _get(client: httpx2.AsyncClient, url: str) -> bytes:
    async with client.stream("GET", url) as response:
        if response.has_redirect_location:
            raise ListingError(
                f"it redirects (HTTP {response.status_code}), which is not followed: "
                "give the address that it names"
            )
        if response.status_code != 200:
            raise ListingError(f"HTTP {response.status_code}")
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk
            if len(body) > MAX_BYTES:
                raise ListingError("its answer is too long for a list of models")
        return bytes(body)


def _models(body: bytes) -> list[ListedModel]:
    try:
        data: object = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ListingError("its answer is not JSON") from error
    rows = _fields(data).get("data")
    if not isinstance(rows, list):
        raise ListingError("its answer is not a list of models")
    return [
        ListedModel(id, _context_tokens(row), str(row.get("object", "")))
        for row in map(_fields, cast("list[object]", rows))
        if isinstance(id := row.get("id"), str) and id
    ]


def _context_tokens(row: Mapping[str, object]) -> int | None:
    # llama.cpp reports the context it was started with as `meta.n_ctx`.
    told = [row.get(field) for field in _CONTEXT_FIELDS] + [_fields(row.get("meta")).get("n_ctx")]
    return next((n for n in told if isinstance(n, int) and n > 0), None)


def _fields(data: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", data) if isinstance(data, dict) else {}
