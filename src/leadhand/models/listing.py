"""Asks a model server what it has: `GET {base}/models`, and llama.cpp's `GET /props`.

Everything but a list of models is an error. Follows no redirects, so that the key is not sent
elsewhere.
"""

import asyncio
import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import httpx2

from leadhand.errors import LeadhandError

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from leadhand.models.habits import Habits

MAX_BYTES = 4_000_000
"""A longer response is not a list of models. The largest catalogues have about a tenth of this."""
LOOPBACK = ("127.0.0.1", "::1", "localhost")
CONTEXT_TIMEOUT_S = 1.0

_CONTEXT_FIELDS = ("context_length", "max_model_len", "context_window", "max_context_length")


class ListingError(LeadhandError):
    """The endpoint did not return a list of models; the message says what it returned."""


@dataclass(frozen=True, slots=True)
class ListedModel:
    id: str
    context_tokens: int | None = None
    kind: str = ""
    """The `object` field, which is `model` in OpenAI's format."""


async def list_models(
    base_url: str, *, key: str | None = None, timeout_s: float
) -> list[ListedModel]:
    """The models at `base_url`, usually `.../v1`, in its order. Raises `ListingError`."""
    rows = (await _answer(f"{base_url.rstrip('/')}/models", key, timeout_s)).get("data")
    if not isinstance(rows, list):
        raise ListingError("its answer is not a list of models")
    return [
        ListedModel(id, _context_tokens(row), str(row.get("object", "")))
        for row in map(_fields, cast("list[object]", rows))
        if isinstance(id := row.get("id"), str) and id
    ]


async def learn_context(model: "Model", habits: "Habits") -> None:
    """Ask the server of `model`, once, what context it gives to one request, if it is on this
    machine or the model is not known."""
    url = model.base_url
    is_local = urlsplit(url or "").hostname in LOOPBACK
    if not url or habits.asked_server or not (is_local or model.context_window is None):
        return
    habits.asked_server = True
    key: object = getattr(getattr(model.provider, "client", None), "api_key", None)
    with contextlib.suppress(ListingError):
        habits.context_tokens = await _context_of(
            url, model.model_name, key if isinstance(key, str) else None
        )


async def _context_of(base_url: str, model: str, key: str | None) -> int | None:
    # llama.cpp shares its context among its slots: only `/props` says what one of them has.
    with contextlib.suppress(ListingError):
        root = base_url.rstrip("/").removesuffix("/v1")
        props = await _answer(f"{root}/props", key, CONTEXT_TIMEOUT_S)
        slot = _fields(props.get("default_generation_settings")).get("n_ctx")
        if type(slot) is int and slot > 0:
            return slot
    listed = await list_models(base_url, key=key, timeout_s=CONTEXT_TIMEOUT_S)
    return next((one.context_tokens for one in listed if one.id == model), None)


async def _answer(url: str, key: str | None, timeout_s: float) -> Mapping[str, object]:
    """The JSON object at `url`. Raises `ListingError`."""
    try:
        parts = urlsplit(url)
        async with (
            httpx2.AsyncClient(
                headers={"Authorization": f"Bearer {key.strip()}"} if key else {},
                timeout=None,  # the whole request has one, which also covers slow responses
                # Reading the certificates takes longer than a request on this machine.
                verify=parts.scheme != "http",
                # Requests on this machine must not go through a proxy.
                trust_env=parts.hostname not in LOOPBACK,
            ) as client,
            asyncio.timeout(timeout_s),
            client.stream("GET", url) as response,
        ):
            return _fields(json.loads(await _body(response)))
    except TimeoutError as error:
        raise ListingError(f"no answer within {timeout_s:g} s") from error
    except (json.JSONDecodeError, RecursionError) as error:
        raise ListingError("its answer is not JSON") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        # An error about an invalid header quotes it, and this header contains the key.
        raise ListingError("the key can't be sent" if "Bearer" in said else said) from None


async def _body(response: httpx2.Response) -> bytes:
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


def _context_tokens(row: Mapping[str, object]) -> int | None:
    # llama.cpp reports the context of a slot as `meta.n_ctx`, older versions only in `/props`.
    told = [row.get(field) for field in _CONTEXT_FIELDS] + [_fields(row.get("meta")).get("n_ctx")]
    return next((n for n in told if isinstance(n, int) and n > 0), None)


def _fields(data: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", data) if isinstance(data, dict) else {}
