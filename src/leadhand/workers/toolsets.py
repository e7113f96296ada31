"""Combines all tools of a worker into one toolset: typed functions, toolsets, MCP servers."""

import functools
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import cast

from pydantic_ai.tools import Tool
from pydantic_ai.toolsets import AbstractToolset, CombinedToolset, FunctionToolset

from leadhand.workers.idempotency import wants_key, with_key
from leadhand.workers.threads import DaemonThreads

Toolset = CombinedToolset[None]


def toolset_of(tools: Sequence[object], threads: DaemonThreads) -> Toolset:
    """One toolset of plain functions and toolsets. Functions that block run in `threads`."""
    functions = [tool for tool in tools if not isinstance(tool, AbstractToolset)]
    toolsets = [
        cast("AbstractToolset[None]", tool) for tool in tools if isinstance(tool, AbstractToolset)
    ]
    if functions:
        own: FunctionToolset[None] = FunctionToolset(
            [_as_tool(function, threads) for function in functions], max_retries=0
        )
        toolsets.insert(0, own)
    # Combined even if there is only one: pydantic-ai then reports two tools of the same name.
    return CombinedToolset(toolsets)


def _as_tool(function: object, threads: DaemonThreads) -> Tool[None]:
    if isinstance(function, Tool):
        return cast("Tool[None]", function)
    work = cast("Callable[..., object]", function)
    if wants_key(work):
        work = with_key(work)
    if inspect.iscoroutinefunction(work):
        return Tool(work)

    @functools.wraps(work)
    async def in_thread(*args: object, **kwargs: object) -> object:
        name = f"tool {getattr(work, '__name__', work)!r}"
        value = await threads.call(lambda _: work(*args, **kwargs), None, name=name)
        return await cast("Awaitable[object]", value) if inspect.isawaitable(value) else value

    return Tool(in_thread)
