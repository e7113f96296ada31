"""Combines all tools of a worker into one toolset: typed functions, toolsets, MCP servers."""

import functools
import inspect
import types
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import cast, get_origin, get_type_hints
from weakref import WeakKeyDictionary

from pydantic_ai.tools import RunContext, Tool
from pydantic_ai.toolsets import AbstractToolset, CombinedToolset, FunctionToolset

from leadhand.contracts.tools import ToolContext, unwrapped
from leadhand.errors import InputError
from leadhand.threads import DaemonThreads
from leadhand.workers.open_toolsets import RunToolsets

Toolset = CombinedToolset[ToolContext]


def toolset_of(tools: Sequence[object], threads: DaemonThreads) -> Toolset:
    """Functions that block run in `threads`. Raises `InputError` for a function that takes the
    `ToolContext` as a model's argument."""
    for tool in tools:
        if isinstance(tool, Tool | AbstractToolset):
            _check_contexts(cast("object", tool))
    functions = [tool for tool in tools if not isinstance(tool, AbstractToolset)]
    toolsets = [
        cast("AbstractToolset[ToolContext]", tool)
        for tool in tools
        if isinstance(tool, AbstractToolset)
    ]
    if functions:
        own: FunctionToolset[ToolContext] = FunctionToolset(
            [_as_tool(function, threads) for function in functions], max_retries=0
        )
        toolsets.insert(0, own)
    # Combined even if there is only one: pydantic-ai then reports two tools of the same name.
    return CombinedToolset(toolsets)


async def opened(
    toolset: AbstractToolset[ToolContext],
    run: RunToolsets,
    context: RunContext[ToolContext],
    stack: AsyncExitStack,
    *,
    by: str,
) -> Toolset:
    """`toolset` for one attempt. Parts that are new for each attempt are open until `stack`
    closes. Raises `ToolsNotStarted`."""
    parts = cast("Toolset", toolset).toolsets
    shared = [one for one in parts if type(one).__aenter__ is not AbstractToolset.__aenter__]
    await stack.enter_async_context(run.use(shared, by))
    own = [await one.for_run(context) for one in parts]
    new = [one for one, shared in zip(own, parts, strict=True) if one is not shared]
    mine = RunToolsets()
    stack.push_async_callback(mine.close)
    await stack.enter_async_context(mine.use(new, by))
    return CombinedToolset(own)


@dataclass(frozen=True, slots=True)
class _Form:
    """What pydantic-ai makes of a function. That takes longer than the rest of a run."""

    tool: Tool[ToolContext]
    """Its schema. It calls nothing, because each run wraps the function anew."""
    context: str | None
    """The first parameter if it takes the `ToolContext`."""


_forms = WeakKeyDictionary[object, _Form]()
_forms_of_methods = WeakKeyDictionary[object, _Form]()
"""By function: a method is a new object each time that it is accessed."""


def _as_tool(function: object, threads: DaemonThreads) -> Tool[ToolContext]:
    if isinstance(function, Tool):
        return cast("Tool[ToolContext]", function)
    work = cast("Callable[..., object]", function)
    is_async, form = inspect.iscoroutinefunction(work), _form_of(work)

    @functools.wraps(work)
    async def called(*args: object, **kwargs: object) -> object:
        if form.context is not None:
            context, *rest = args
            args = (cast("RunContext[ToolContext]", context).deps, *rest)
        if is_async:
            value = work(*args, **kwargs)
        else:
            name = f"tool {getattr(work, '__name__', work)!r}"
            value = await threads.call(lambda _: work(*args, **kwargs), None, name=name)
        return await cast("Awaitable[object]", value) if inspect.isawaitable(value) else value

    return Tool(called, function_schema=replace(form.tool.function_schema, function=called))


def _form_of(work: Callable[..., object]) -> _Form:
    function: object = getattr(work, "__func__", work)
    if not isinstance(function, types.FunctionType):
        return _new_form(work)
    known = _forms if function is work else _forms_of_methods
    if (form := known.get(function)) is None:
        form = known[function] = _new_form(work)
    return form


def _new_form(work: Callable[..., object]) -> _Form:
    _check_contexts(work)

    @functools.wraps(work)
    async def called() -> None: ...

    context = next(iter(_contexts(work)), None)
    if context is not None:
        # pydantic-ai passes its own context, and hides that parameter from the model.
        called.__annotations__ = {**called.__annotations__, context: RunContext[ToolContext]}
    # Without `called`, which would keep the function alive.
    schema = replace(Tool(called).function_schema, function=_nothing)
    return _Form(Tool(_nothing, function_schema=schema), context)


async def _nothing() -> None: ...


def _check_contexts(tool: object) -> None:
    for one in unwrapped(tool):
        found = _contexts(one.thing)
        if one.thing is tool and next(iter(_parameters(tool)), None) in found:
            found = found[1:]
        if found:
            raise InputError(
                f"{one.label} takes {found[0]!r} as an argument from the model, but it is a "
                "ToolContext: take `ctx: ToolContext[...]` as the first parameter of a plain "
                "function, and `ctx: RunContext[ToolContext[...]]` in a pydantic-ai tool, where "
                "`ctx.deps` is the ToolContext"
            )


def _contexts(function: object) -> list[str]:
    """The names of the parameters that are annotated with `ToolContext`."""
    try:
        hints = get_type_hints(getattr(function, "func", function))  # of a `functools.partial`
    except (TypeError, NameError):
        return []  # pydantic-ai says what is wrong with it
    return [
        name
        for name in _parameters(function)
        if (hint := hints.get(name)) is ToolContext or get_origin(hint) is ToolContext
    ]


def _parameters(function: object) -> list[str]:
    try:
        return [*inspect.signature(cast("Callable[..., object]", function)).parameters]
    except (TypeError, ValueError):
        return []
