"""Request bodies of the OpenAI SDK: what pydantic-ai built goes out as it is.

The SDK compares every part of a conversation with every type that it may have, and changes nothing:
it is JSON already. That is a third of what a short call costs, and grows with the conversation. A
body's `extra_body`, which is public, is not compared.
"""

from collections.abc import Awaitable, Callable
from typing import cast

from openai import AsyncOpenAI

_LONG = ("messages", "input", "tools")
"""What grows with a conversation and a team's tools."""

_Create = Callable[..., Awaitable[object]]


def send_as_built(sdk: object) -> None:
    """Have the APIs that `sdk`, a client, has loaded take their bodies as they are."""
    if not isinstance(sdk, AsyncOpenAI):
        return
    # Asking for an API would load it, which takes a tenth of a second.
    loaded = vars(sdk)
    chat: object = loaded.get("chat")
    for api in (loaded.get("responses"), vars(chat).get("completions") if chat else None):
        if api is not None and "create" not in vars(api):
            vars(api)["create"] = _as_built(api.create)


def _as_built(create: _Create) -> _Create:
    async def call(**given: object) -> object:
        lists = {name: given[name] for name in _LONG if isinstance(given.get(name), list)}
        extra = cast("dict[str, object]", given.get("extra_body") or {})
        given |= {name: [] for name in lists}
        return await create(**given | {"extra_body": {**lists, **extra}})

    return call
