"""Idempotency keys, by which a tool with side effects recognises a call that it has seen before.

A tool receives its key in a parameter of that name, which the model does not see. The key is the
same in every attempt at a task, and after the run was resumed.
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

current_key: ContextVar[str] = ContextVar("current_key")
"""The key of the tool call that is running."""


def key(task: str, tool: str, arguments: Mapping[str, JsonValue], *, occurrence: int) -> str:
    """The key of a call: 32 hexadecimal digits.

    `task` is the key of its task; `occurrence` counts the calls with the same arguments from 1.
    """
    called = json.dumps([task, tool, arguments, occurrence], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(called.encode()).hexdigest()[:32]


def wants_key(function: Callable[..., object]) -> bool:
    """Whether a tool has a parameter for the key."""
    try:
        return PARAMETER in inspect.signature(function).parameters
    except (TypeError, ValueError):
        return False


def with_key(function: Callable[..., object]) -> Callable[..., object]:
    """`function` without the parameter, which is filled with the current key."""

    keyed: Callable[..., object]
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def keyed_async(*args: object, **kwargs: object) -> object:
            work = function(*args, **kwargs, **{PARAMETER: current_key.get()})
            return await cast("Awaitable[object]", work)

        keyed = keyed_async
    else:

        @functools.wraps(function)
        def keyed_sync(*args: object, **kwargs: object) -> object:
            return function(*args, **kwargs, **{PARAMETER: current_key.get()})

        keyed = keyed_sync
    signature = inspect.signature(function, eval_str=True)
    shown = [one for name, one in signature.parameters.items() if name != PARAMETER]
    vars(keyed)["__signature__"] = signature.replace(parameters=shown)
    hints = inspect.get_annotations(function, eval_str=True)
    keyed.__annotations__ = {name: hint for name, hint in hints.items() if name != PARAMETER}
    return keyed
