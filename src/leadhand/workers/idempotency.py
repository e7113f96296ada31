"""Idempotency keys: by them a tool with side effects knows a call that it has seen before.

A tool asks for its key with a parameter of that name, which no model ever sees. The key is the same
in every attempt at a task, and after the run was resumed.
"""

import functools
import hashlib
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import cast

from pydantic import JsonValue

PARAMETER = "idempotency_key"

key_of_call: ContextVar[str] = ContextVar("key_of_call")
"""The key of the call that is being made."""


def key(task: str, tool: str, arguments: Mapping[str, JsonValue], *, occurrence: int) -> str:
    """The key of a call: 32 hexadecimal digits.

    `task` is the key of its task; `occurrence` counts the calls with the same arguments from 1.
    """
    called = json.dumps([task, tool, arguments, occurrence], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(called.encode()).hexdigest()[:32]


def asks_for_key(function: Callable[..., object]) -> bool:
    """Whether a tool wants to know the key of each call."""
    try:
        return PARAMETER in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def with_key(function: Callable[..., object]) -> Callable[..., object]:
    """`function` without the parameter, which is given the key of the call under way."""

    keyed: Callable[..., object]
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def keyed_async(*args: object, **kwargs: object) -> object:
            work = function(*args, **kwargs, **{PARAMETER: key_of_call.get()})
            return await cast("Awaitable[object]", work)

        keyed = keyed_async
    else:

        @functools.wraps(function)
        def keyed_sync(*args: object, **kwargs: object) -> object:
            return function(*args, **kwargs, **{PARAMETER: key_of_call.get()})

        keyed = keyed_sync
    signature = inspect.signature(function, eval_str=True)
    shown = [one for name, one in signature.parameters.items() if name != PARAMETER]
    vars(keyed)["__signature__"] = signature.replace(parameters=shown)
    hints = inspect.get_annotations(function, eval_str=True)
    keyed.__annotations__ = {name: hint for name, hint in hints.items() if name != PARAMETER}
    return keyed
