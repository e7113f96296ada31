"""Events about calls: each request to a model, and each use of a tool."""

from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from leadhand.contracts.event_fields import RunEvent, TaskEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCalled(RunEvent):
    """One request to a model, answered or not."""

    type: Literal["model_called"] = "model_called"
    role: str
    """Who asked: `planner`, `worker`, `synthesizer`, ..."""
    model: str
    """`provider:model`."""
    task_id: str | None = None
    attempt: int | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    """None where the price is unknown; never a guess."""
    duration_s: float
    """From sending the request to its answer."""
    queued_s: float = 0.0
    """How long it waited before that: for the budget, for the model's rates, after a refusal."""
    error: str | None = None
    """Why there is no answer that could be used."""
    retry_in_s: float | None = None
    """When it is asked again; none: it is not."""
    request: str = ""
    """A hash of what was asked: two calls with the same one asked the same."""
    response: JsonValue = None
    """The answer, as pydantic-ai writes a model's response; none where none could be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled(TaskEvent):
    """One call of a tool, as the model made it."""

    type: Literal["tool_called"] = "tool_called"
    worker: str
    tool: str
    arguments: str
    """JSON, cut at 2,000 characters."""
    output: str
    """What the model was shown of what the tool gave, cut at 2,000 characters."""
    output_chars: int
    """Characters the tool gave in all."""
    sha256: str
    """Of all that the tool gave, as UTF-8."""
    error: str | None = None
    duration_s: float
