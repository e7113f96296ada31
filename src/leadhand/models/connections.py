"""Connections to models: from `provider:model` to a pydantic-ai `Model` that can be asked.

One HTTP client serves a run's OpenAI-compatible models, over aiohttp, which takes a quarter to a
half off the cost of a call. The SDKs' own retries are off: waiting is the gate's business. A
`Model` that is handed in keeps its own.
"""

import asyncio
import functools
import inspect
import os
import random
import ssl
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from ipaddress import ip_address
from types import TracebackType
from typing import cast
from urllib.parse import urlsplit

import httpx2
from openai import DefaultAioHttpClient
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class

from leadhand.contracts.budget import NO_RATE, Rate
from leadhand.contracts.team import ModelSpec
from leadhand.errors import InputError
from leadhand.models.forecast import Forecast
from leadhand.models.gate import Gate
from leadhand.models.rates import Limiter, limiter_of

LOOPBACK_ONLY = "LEADHAND_LOOPBACK_ONLY"
"""The environment variable that, set to 1, bars every model that is not on this machine."""


@dataclass(frozen=True, slots=True, eq=False)
class Connection:
    """A model that can be asked, and what stands before it."""

    name: str
    """`provider:model`."""
    model: Model
    limiter: Limiter
    """Shared with all other runs of this process that ask the same model."""
    forecast: Forecast

    @property
    def gate(self) -> Gate:
        """Holds calls back while the model is overloaded."""
        return self.limiter.gate


class Connections:
    """The models of a run, connected on first use and closed with the `async with` block."""

    def __init__(self, *, rates: Mapping[str, Rate] | None = None, seed: int | None = None) -> None:
        """`rates` are by model name; `seed` makes the jitter of the gates repeatable."""
        self._rates = rates or {}
        self._random = random.Random(seed)
        self._found: dict[object, Connection] = {}
        self._client: httpx2.AsyncClient | None = None
        self._open: set[Connection] = set()
        self._opening = asyncio.Lock()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> "Connections":
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()
        if self._client is not None:
            await self._client.aclose()

    def to(self, spec: ModelSpec) -> Connection:
        """The connection to a model. Raises `InputError` that says why there can be none."""
        key: object = spec if isinstance(spec, str) else id(spec)
        found = self._found.get(key)
        if found is None:
            model = _as_model(spec) or self._connect(spec)
            _check_place(model)
            name = name_of(spec)
            rate = self._rates.get(name) or self._rates.get(name_of(model), NO_RATE)
            limiter = limiter_of(model, rate, self._random.random)
            found = Connection(name, model, limiter, Forecast(model))
            self._found[key] = found
        return found

    async def open(self, spec: ModelSpec) -> Connection:
        """The same; an HTTP client of the model's own is ready, and closed with the block."""
        connection = self.to(spec)
        if connection not in self._open:
            async with self._opening:
                if connection not in self._open:
                    await self._stack.enter_async_context(connection.model)
                    self._open.add(connection)
        return connection

    def jitter(self) -> float:
        """A number from 0 to 1, another one each time."""
        return self._random.random()

    def _connect(self, spec: ModelSpec) -> Model:
        if not isinstance(spec, str):
            raise InputError(f"a model is `provider:model` or a pydantic-ai Model, not {spec!r}")
        try:
            return infer_model(_with_provider(spec), self._provider)
        except (UserError, ValueError, ImportError) as error:
            said = " ".join(str(error).split())
            raise InputError(f"model {spec!r} can't be used: {said}") from error

    def _provider(self, name: str) -> Provider[object]:
        kind = infer_provider_class(name)
        parameters = inspect.signature(kind.__init__).parameters
        if "openai_client" not in parameters or "/" in name:
            provider = infer_provider(name)
        else:
            if self._client is None:
                self._client = DefaultAioHttpClient(verify=_certificates())
            provider = kind(http_client=self._client)  # pyright: ignore[reportCallIssue]
        client: object = provider.client
        if hasattr(client, "max_retries"):
            client.max_retries = 0  # pyright: ignore[reportAttributeAccessIssue]
        return provider


@functools.cache
def _certificates() -> ssl.SSLContext:
    # Reading them takes as long as twenty calls' own work: once is enough for a process.
    return httpx2.create_ssl_context()


def name_of(spec: ModelSpec) -> str:
    """`provider:model` of a model, as it is shown and written down."""
    model = _as_model(spec)
    return str(spec) if model is None else f"{model.system}:{model.model_name}"


def _as_model(spec: ModelSpec) -> Model | None:
    return cast("Model", spec) if isinstance(spec, Model) else None


def _with_provider(spec: str) -> str:
    """A bare name is a chat-completions model where `OPENAI_BASE_URL` says who speaks it."""
    return f"openai-chat:{spec}" if ":" not in spec and os.environ.get("OPENAI_BASE_URL") else spec


def _check_place(model: Model) -> None:
    if os.environ.get(LOOPBACK_ONLY) != "1":
        return
    if model.system in ("test", "function"):
        return  # they have no place: pydantic-ai's own stand-ins
    host = urlsplit(model.base_url or "").hostname or ""
    if host != "localhost" and not _is_loopback(host):
        where = host or "an unknown place"
        raise InputError(f"{LOOPBACK_ONLY}=1 bars {name_of(model)!r}, which is at {where}")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
