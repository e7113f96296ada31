"""Events about calls: each request to a model and each call of a tool."""

from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from leadhand.contracts.event_fields import RunEvent, TaskEvent
from leadhand.contracts.outcome import Usage


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
    """None if the price is unknown; never a guess."""
    duration_s: float
    """From sending the request to its response."""
    queued_s: float = 0.0
    """How long it waited before that: for the budget, for the model's rates, after a refusal."""
    error: str | None = None
    """Why there is no usable response."""
    retry_in_s: float | None = None
    """Seconds until the model is called again; None if it is not."""
    request: str = ""
    """A hash of the request: calls with the same hash sent the same request."""
    response: JsonValue = None
    """The response as pydantic-ai serializes it; None if there was no usable one."""

    @property
    def usage(self) -> Usage:
        """What the request used."""
        return Usage(
            model=self.model,
            requests=1,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost_usd=self.cost_usd,
            duration_s=self.duration_s,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled(TaskEvent):
    """One call of a tool, as the model made it."""

    type: Literal["tool_called"] = "tool_called"
    worker: str
    tool: str
    arguments: str
    """JSON, cut at 2,000 characters."""
    output: str
    """The part of the tool's output that the model was shown, cut at 2,000 characters."""
    output_chars: int
    """The length of the tool's whole output."""
    sha256: str
    """The hash of the whole output as UTF-8."""
    error: str | None = None
    duration_s: float
