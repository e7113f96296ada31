"""Idempotency keys, by which a tool with side effects recognises a call that it has seen before.

A tool receives its key in a parameter of that name, which the model does not see. The key is the
same in every attempt at a task, and after the run was resumed.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from pydantic import JsonValue
from pydantic_ai.tools import ToolDefinition

PARAMETER = "idempotency_key"


def key(task: str, tool: str, arguments: Mapping[str, JsonValue], *, occurrence: int) -> str:
    """32 hexadecimal digits. `occurrence` counts the calls with the same arguments from 1."""
    called = json.dumps([task, tool, arguments, occurrence], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(called.encode()).hexdigest()[:32]


def takes_key(tool: ToolDefinition) -> bool:
    return PARAMETER in _properties(tool)


def for_model(tool: ToolDefinition) -> ToolDefinition:
    if not takes_key(tool):
        return tool
    schema = tool.parameters_json_schema
    shown = {
        "properties": without_key(_properties(tool)),
        "required": [name for name in schema.get("required", ()) if name != PARAMETER],
    }
    return replace(tool, parameters_json_schema={**schema, **shown})


def without_key(arguments: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The arguments of a call without a key that the model made up."""
    return {name: value for name, value in arguments.items() if name != PARAMETER}


def _properties(tool: ToolDefinition) -> dict[str, JsonValue]:
    return cast("dict[str, JsonValue]", tool.parameters_json_schema.get("properties") or {})
