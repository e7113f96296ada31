"""Connections to models: from `provider:model` to a pydantic-ai `Model`.

Each provider has one HTTP client, with the limits of `clients`. The gate decides when to wait, so
the SDKs' own retries are off. A `Model` object of the user keeps its own client.
"""

import asyncio
import inspect
import os
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from pathlib import Path
from types import TracebackType
from typing import cast
from urllib.parse import urlsplit

import httpx2
from openai import AsyncOpenAI, NotGiven, Omit
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, gateway, infer_provider, infer_provider_class

from leadhand.contracts.budget import Rate
from leadhand.contracts.role import Answers
from leadhand.contracts.team import ModelSpec, model_name
from leadhand.engine.stopwatch import ExcludedTime
from leadhand.errors import InputError
from leadhand.models.clients import httpx_client, model_client
from leadhand.models.forecast import Forecast
from leadhand.models.gate import Gate
from leadhand.models.habits import Habits, habits_of
from leadhand.models.rates import NO_RATE, Limiter, limiter_of
from leadhand.models.schemas import remember_schemas

LOOPBACK_ONLY = "LEADHAND_LOOPBACK_ONLY"
"""The environment variable that, set to 1, forbids every model that is not on this machine."""

_HTTPX = ("cohere", "groq")
"""Providers whose SDKs take a client of httpx; the others take one of httpx2."""
_OWN_CLIENT = ("huggingface",)
"""Providers that refuse a client (those of AWS and xAI have no parameter for one): the limits of
`clients` don't apply to them."""
_OPTIONS = ("model", "stream", "timeout", "extra_headers", "extra_query", "extra_body")
"""Parameters of an API's `create` that are no part of the body, or decide how it is sent."""
_REQUIRED = ("messages", "input")

_Create = Callable[..., Awaitable[object]]


class MissingKey(InputError):
    def __init__(self, what: str) -> None:
        self.what = what
        """The model, and the variable to set."""
        super().__init__(f'{what}, or have leadhand look for a model: `model="auto"`')


@dataclass(frozen=True, slots=True, eq=False)
class Connection:
    name: str
    model: Model
    limiter: Limiter
    """Shared by all runs of this process that call the same model."""
    forecast: Forecast
    habits: Habits
    answers: Answers | None = None
    """As the user or the team says; None: as found."""
    streams: bool = False
    """Whether its responses can be streamed; a `Model` object of the user may not support it."""

    @property
    def can_stream(self) -> bool:
        """Whether it has code that streams, which may still fail."""
        has_code = type(self.model).request_stream is not Model.request_stream
        # A `FunctionModel` has it in vain without such a function.
        return self.streams or (has_code and getattr(self.model, "stream_function", "") is not None)

    @property
    def context_tokens(self) -> int | None:
        """What one request and its answer may take: as its server says, else its maker."""
        return self.habits.context_tokens or self.model.context_window

    @property
    def gate(self) -> Gate:
        return self.limiter.gate


class Connections:
    """The models of a run, connected on first use and closed with the `async with` block."""

    def __init__(
        self,
        *,
        rates: Mapping[str, Rate] | None = None,
        answers: Mapping[str, Answers] | None = None,
        home: Path | None = None,
        seed: int | None = None,
    ) -> None:
        """`rates` and `answers` are by model name, `answers` of all others under the empty name.
        `home` keeps what is found out about models. `seed` makes the gates' jitter reproducible."""
        self._rates = rates or {}
        self._answers = answers or {}
        self._home = home
        self._random = random.Random(seed)
        self._found: dict[object, Connection] = {}
        self._providers: dict[str, Provider[object]] = {}
        self._clients: list[httpx2.AsyncClient] = []
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
        for client in self._clients:
            await client.aclose()

    def to(self, spec: ModelSpec) -> Connection:
        """Raises `InputError` if it can't be connected."""
        key: object = spec if isinstance(spec, str) else id(spec)
        found = self._found.get(key)
        if found is None:
            model = _as_model(spec) or self._connect(spec)
            _check_place(model)
            name = model_name(spec)
            rate = self._rates.get(name) or self._rates.get(model_name(model), NO_RATE)
            limiter = limiter_of(model, rate, self._random.random)
            found = Connection(
                name,
                model,
                limiter,
                Forecast(model),
                habits_of(model, self._home),
                self._answers.get(name) or self._answers.get(""),
                streams=isinstance(spec, str),
            )
            self._found[key] = found
        return found

    async def open(self, spec: ModelSpec) -> Connection:
        """The same, with the model's own HTTP client open until the block ends."""
        connection = self.to(spec)
        if connection not in self._open:
            with ExcludedTime():
                await self._opening.acquire()
            try:
                if connection not in self._open:
                    await self._stack.enter_async_context(connection.model)
                    self._open.add(connection)
            finally:
                self._opening.release()
        return connection

    def jitter(self) -> float:
        return self._random.random()

    def _connect(self, spec: ModelSpec) -> Model:
        if not isinstance(spec, str):
            raise InputError(f"a model is `provider:model` or a pydantic-ai Model, not {spec!r}")
        try:
            model = infer_model(_with_provider(spec), self._provider)
        except (UserError, ValueError, ImportError) as error:
            said = " ".join(str(error).split())
            if names := re.findall(r"`([A-Z][A-Z0-9_]+)` environment variable", said):
                raise MissingKey(f"model {spec!r} can't be used: set {names[0]}") from None
            raise InputError(f"model {spec!r} can't be used: {said}") from None
        for provider in self._providers.values():
            send_as_built(provider.client)
        remember_schemas(model)
        return model

    def _provider(self, name: str) -> Provider[object]:
        """Shared by its models, with its own HTTP client, in which some providers store their
        key."""
        if name not in self._providers:
            self._providers[name] = self._new_provider(name)
        return self._providers[name]

    def _new_provider(self, name: str) -> Provider[object]:
        upstream = name.removeprefix("gateway/")
        kind = infer_provider_class(name)
        parameters = inspect.signature(kind.__init__).parameters
        if upstream in _OWN_CLIENT or "http_client" not in parameters:
            provider = infer_provider(name)
        else:
            client = httpx_client() if upstream in _HTTPX else model_client()
            self._clients.append(client)
            make = partial(gateway.gateway_provider, upstream) if upstream != name else kind  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
            provider = cast("Callable[..., Provider[object]]", make)(http_client=client)
        sdk: object = provider.client
        if hasattr(sdk, "max_retries"):
            sdk.max_retries = 0  # pyright: ignore[reportAttributeAccessIssue]
        return provider


def _as_model(spec: ModelSpec) -> Model | None:
    return cast("Model", spec) if isinstance(spec, Model) else None


def _with_provider(spec: str) -> str:
    """`spec`, with `openai-chat:` before a bare name if `OPENAI_BASE_URL` is set."""
    return f"openai-chat:{spec}" if ":" not in spec and os.environ.get("OPENAI_BASE_URL") else spec


def _check_place(model: Model) -> None:
    if os.environ.get(LOOPBACK_ONLY) != "1":
        return
    if model.system in ("test", "function"):
        return  # pydantic-ai's own fakes have no address
    host = urlsplit(model.base_url or "").hostname or ""
    if host != "localhost" and not _is_loopback(host):
        where = host or "an unknown place"
        raise InputError(f"{LOOPBACK_ONLY}=1 bars {model_name(model)!r}, which is at {where}")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def send_as_built(sdk: object) -> None:
    """Make the loaded APIs of an OpenAI client send the request bodies of pydantic-ai unchanged.

    The SDK compares each part of a conversation with each type that it may have, a third of a short
    call's cost, and changes nothing. It does not compare the public parameter `extra_body`.
    """
    if not isinstance(sdk, AsyncOpenAI):
        return
    # Accessing an API as an attribute would load it, which takes a tenth of a second.
    loaded = vars(sdk)
    chat: object = loaded.get("chat")
    for api in (loaded.get("responses"), vars(chat).get("completions") if chat else None):
        if api is not None and "create" not in vars(api):
            vars(api)["create"] = _as_built(api.create)


def _as_built(create: _Create) -> _Create:
    async def call(**given: object) -> object:
        body = {
            name: value
            for name, value in given.items()
            if name not in _OPTIONS and not isinstance(value, Omit | NotGiven)
        }
        extra = cast("dict[str, object]", given.get("extra_body") or {})
        options = {name: value for name, value in given.items() if name in _OPTIONS}
        required: dict[str, object] = {name: [] for name in _REQUIRED if name in body}
        return await create(**options | required | {"extra_body": {**body, **extra}})

    return call
