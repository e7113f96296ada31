"""The context of a run: a value that its tools and function workers receive and no model sees.

It is never stored, logged or shown.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, cast

from pydantic import JsonValue
from typing_extensions import TypeVar

from leadhand.errors import InputError

C = TypeVar("C", default=object)
"""The type of a run's context."""
C_co = TypeVar("C_co", default=object, covariant=True)
"""The same, for what only hands it out."""

Restore = Callable[[Mapping[str, JsonValue]], C | Awaitable[C]]
"""Makes the context of a resumed run from the `origin` that the run was started with."""


@dataclass(frozen=True, kw_only=True)  # no slots: `ToolContext[C](...)` would fail
class ToolContext(Generic[C_co]):
    """What a tool call knows of its run. A tool takes it as its first parameter.

    In the tools and toolsets of pydantic-ai it is `ctx.deps` of a `RunContext[ToolContext[C]]`.
    """

    context: C_co = field(repr=False, compare=False)
    """The `context` that the run was started or resumed with; None if there is none."""
    run_id: str
    task_id: str
    attempt: int
    """Counts from 1."""
    idempotency_key: str
    """The call's: the same in every attempt, and after the run was resumed. Outside of a call, in
    the instructions of a toolset for example, it is the task's."""
    approved: bool = False
    """Whether a person has approved this call."""


def check_contexts(of: str, tools: Iterable[object]) -> None:
    """Raises `InputError` if a model would fill the `ctx` of one of the tools `of` a worker."""
    untyped = next((name for tool in tools for name in _untyped_contexts(tool)), None)
    if untyped is not None:
        raise InputError(
            f"{of}: the model would fill `ctx` of the tool {untyped!r}, which has no type: write "
            "`ctx: ToolContext`, or give it another name"
        )


def _untyped_contexts(tool: object) -> Iterator[str]:
    """The functions of a tool or toolset whose `ctx` has no type: the model would fill it."""
    tools, several = getattr(tool, "tools", None), getattr(tool, "toolsets", None)
    for one in (
        getattr(tool, "wrapped", None),
        *(cast("Sequence[object]", several) if isinstance(several, Sequence) else ()),
        *(cast("Mapping[str, object]", tools).values() if isinstance(tools, Mapping) else ()),
    ):
        if one is not None:
            yield from _untyped_contexts(one)
    function = getattr(tool, "function", tool)
    if not callable(function) or getattr(tool, "takes_ctx", False):
        return
    with suppress(TypeError, ValueError):  # it has no known signature
        first = next(iter(inspect.signature(function).parameters.values()), None)
        if first is not None and first.name == "ctx" and first.annotation is first.empty:
            yield getattr(function, "__name__", type(function).__name__)
