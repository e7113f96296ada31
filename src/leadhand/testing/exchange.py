"""What a model is asked and what it answers, whatever protocol carries it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from leadhand.testing.json_data import Json, Object

Role = Literal[
    "planner", "worker", "synthesizer", "scorer", "judge", "critic", "structured", "plain"
]
"""Whom a request is for, as far as what it offers tells."""
Protocol = Literal["openai", "anthropic"]
Speaker = Literal["system", "user", "assistant", "tool"]
Finish = Literal["stop", "tool_calls", "length"]

_LATENCY = re.compile(r"\blat_ms=(\d{1,7})\b")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants called."""

    name: str
    arguments: Object | str
    """A string is sent as it is, valid JSON or not."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that a request offers."""

    name: str
    description: str
    parameters: Object
    """Its arguments' JSON Schema."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request, its parts joined."""

    speaker: Speaker
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool: str = ""
    """The tool whose result this is."""


@dataclass(frozen=True)
class Request:
    """One call of the model."""

    protocol: Protocol
    model: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    schema: Object | None = None
    """The JSON Schema that the answer's text has to satisfy, where one was sent."""
    must_call: bool = False
    """A tool has to be called; where `tools` holds one tool only, that one."""
    stream: bool = False
    stream_usage: bool = True
    prompt_tokens: int = 0
    """Characters of messages, tools and schema, divided by four."""

    @cached_property
    def last_user(self) -> str:
        """The text of the last user message."""
        said = (message.text for message in reversed(self.messages) if message.speaker == "user")
        return next(said, "")

    @cached_property
    def system(self) -> str:
        """The system messages, joined."""
        return "\n".join(message.text for message in self.messages if message.speaker == "system")

    @cached_property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls that the model has made so far."""
        return tuple(call for message in self.messages for call in message.tool_calls)

    @property
    def step(self) -> int:
        """1 for the first call of a conversation; each answer of the model adds one."""
        return 1 + sum(message.speaker == "assistant" for message in self.messages)

    @property
    def latency_ms(self) -> float | None:
        """What a marker `lat_ms=NNN` in the last user message asks for."""
        marker = _LATENCY.search(self.last_user)
        return float(marker[1]) if marker else None


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a script answers. With neither text, tool calls nor JSON, the role answers itself."""

    text: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    json: Json = None
    """Sent as the output tool's arguments where the request offers one, else as text."""
    misbehave: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Misbehaviours by name, each with its parameter; true for the usual one."""


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer of the model, ready to be put in a protocol's words."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish: Finish = "stop"
    usage: Json = None
    """Sent in place of the true usage where it is not None."""


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP response, and the ways in which it fails to arrive as it should."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    delay_s: float = 0.0
    byte_every_s: float = 0.0
    """Above 0: the body comes one byte at a time, this far apart."""
    reset_after: int | None = None
    """The connection is reset after so many bytes of the body; -1: before the status line."""
