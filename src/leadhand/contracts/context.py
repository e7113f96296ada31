"""The context of a run, which no model sees: never stored, logged or shown."""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Generic, cast, get_args, get_origin, get_type_hints

from pydantic import JsonValue
from typing_extensions import TypeVar

from leadhand.errors import InputError

C = TypeVar("C", default=object)
"""The type of a run's context."""
C_co = TypeVar("C_co", default=object, covariant=True)
"""The same, for what only hands it out."""
Out_co = TypeVar("Out_co", default=object, covariant=True)
"""The type of a team's output."""

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
    for tool, function in _functions(tools):
        if getattr(tool, "takes_ctx", False):
            continue
        with suppress(TypeError, ValueError):  # it has no known signature
            first = next(iter(inspect.signature(function).parameters.values()), None)
            if first is not None and first.name == "ctx" and first.annotation is first.empty:
                name = getattr(function, "__name__", type(function).__name__)
                raise InputError(
                    f"{of}: the model would fill `ctx` of the tool {name!r}, which has no type: "
                    "write `ctx: ToolContext`, or give it another name"
                )


def context_types(tools: Iterable[object]) -> Iterator[tuple[str, object]]:
    """The names of the functions that say which context they take, with its type."""
    for _, function in _functions(tools):
        with suppress(NameError, TypeError, AttributeError):  # some names only type checkers know
            for hint in get_type_hints(function).values():
                for part in (hint, *get_args(hint)):  # of RunContext[ToolContext[C]] the second
                    if get_origin(part) is ToolContext:
                        yield getattr(function, "__name__", repr(function)), get_args(part)[0]


def _functions(tools: Iterable[object]) -> Iterator[tuple[object, Callable[..., object]]]:
    for tool in tools:
        several, named = getattr(tool, "toolsets", ()), getattr(tool, "tools", {})
        if wrapped := getattr(tool, "wrapped", None):
            yield from _functions((wrapped,))
        if isinstance(several, Sequence):
            yield from _functions(cast("Sequence[object]", several))
        if isinstance(named, Mapping):
            yield from _functions(cast("Mapping[str, object]", named).values())
        function = getattr(tool, "function", tool)
        if callable(function):
            yield tool, function
