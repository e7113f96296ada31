"""Toolsets of pydantic-ai in an evaluation: results that a case gives, and refused calls."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import JsonValue
from pydantic_ai.tools import RunContext, Tool
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset, WrapperToolset
from pydantic_ai.toolsets.abstract import ToolsetTool

from leadhand.contracts.tools import ToolContext
from leadhand.evals.preparation import REFUSED


@dataclass
class GuardedToolset(WrapperToolset[ToolContext]):
    """Calls only tools that only read, and gives the results of those that a case names."""

    given: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])
    reads: bool = False

    @property
    def id(self) -> str | None:
        return self.wrapped.id

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[ToolContext],
        tool: ToolsetTool[ToolContext],
    ) -> object:
        if name in self.given:
            return self.given[name]
        hints = cast("object", (tool.tool_def.metadata or {}).get("annotations"))
        says = hints.get("readOnlyHint") if isinstance(hints, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if not self.reads and says is not True:
            return REFUSED
        return await self.wrapped.call_tool(name, tool_args, ctx, tool)


def guarded_toolset(tool: object, given: Mapping[str, JsonValue], *, reads: bool) -> GuardedToolset:
    if isinstance(tool, Tool):
        toolset: AbstractToolset[ToolContext] = FunctionToolset(
            [cast("Tool[ToolContext]", tool)], max_retries=0, id=tool.name
        )
    else:
        toolset = cast("AbstractToolset[ToolContext]", tool)
    return GuardedToolset(toolset, given=given, reads=reads)
