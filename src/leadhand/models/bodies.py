"""Request bodies of the OpenAI SDK: those of pydantic-ai are sent unchanged.

The SDK compares every part of a conversation with every type that it may have and changes nothing,
because it is JSON already. That is a third of a short call's cost and grows with the conversation.
The SDK does not compare the public parameter `extra_body`.
"""

from collections.abc import Awaitable, Callable
from typing import cast

from openai import AsyncOpenAI

_LONG = ("messages", "input", "tools")
"""The lists that grow with a conversation and a team's tools."""

_Create = Callable[..., Awaitable[object]]


def send_as_built(sdk: object) -> None:
    """Make the loaded APIs of the client `sdk` send request bodies unchanged."""
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
        lists = {name: given[name] for name in _LONG if isinstance(given.get(name), list)}
        extra = cast("dict[str, object]", given.get("extra_body") or {})
        given |= {name: [] for name in lists}
        return await create(**given | {"extra_body": {**lists, **extra}})

    return call
