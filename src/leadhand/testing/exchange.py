"""Requests to a model and its replies, independent of the protocol."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from leadhand.models.streams import as_stream
from leadhand.testing.json_data import Json, Object, compact, wire

Role = Literal[
    "planner", "router", "worker", "synthesizer", "scorer", "judge", "critic", "structured", "plain"
]
"""The role that a request is for, judged by the tools and schema in it."""
Protocol = Literal["openai", "anthropic"]
Speaker = Literal["system", "user", "assistant", "tool"]
Finish = Literal["stop", "tool_calls", "length"]

_LATENCY = re.compile(r"\blat_ms=(\d{1,7})\b")


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    name: str
    arguments: Object | str
    """A string is sent unchanged, even if it is not valid JSON."""

    @property
    def argument_text(self) -> str:
        return self.arguments if isinstance(self.arguments, str) else compact(self.arguments)


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    description: str
    parameters: Object
    """The JSON Schema of its arguments."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request, its parts joined."""

    speaker: Speaker
    text: str = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
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
    """The JSON Schema for the answer's text, if one was sent."""
    must_call: bool = False
    stream: bool = False
    stream_usage: bool = True
    max_tokens: int | None = None
    prompt_tokens: int = 0
    """Characters of messages, tools and schema, divided by four."""

    @cached_property
    def last_user(self) -> str:
        said = (message.text for message in reversed(self.messages) if message.speaker == "user")
        return next(said, "")

    @cached_property
    def system(self) -> str:
        return "\n".join(message.text for message in self.messages if message.speaker == "system")

    @cached_property
    def calls(self) -> tuple[ScriptedCall, ...]:
        return tuple(call for message in self.messages for call in message.tool_calls)

    @property
    def step(self) -> int:
        """1 for the first request of a conversation; each answer of the model adds one."""
        return 1 + sum(message.speaker == "assistant" for message in self.messages)

    @property
    def latency_ms(self) -> float | None:
        """The value of a marker `lat_ms=NNN` in the last user message."""
        marker = _LATENCY.search(self.last_user)
        return float(marker[1]) if marker else None


@dataclass(frozen=True, slots=True)
class ModelReply:
    """Without text, tool calls and JSON, the role generates the answer."""

    text: str | None = None
    tool_calls: tuple[ScriptedCall, ...] = ()
    json: Json = None
    """Sent as the output tool's arguments if the request offers one, else as text."""
    misbehave: Mapping[str, Json] = field(default_factory=dict[str, Json])
    """Misbehaviours by name, with their parameters; true means the default."""


@dataclass(frozen=True, slots=True)
class Completion:
    text: str = ""
    tool_calls: tuple[ScriptedCall, ...] = ()
    finish: Finish = "stop"
    usage: Json = None
    """Sent instead of the real usage unless it is None."""
    piece_chars: int = 0
    """How many characters a piece of a stream has; 0: 40, or more, so that there are at most 50."""


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP response, with delays and faults of its transmission."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()
    delay_s: float = 0.0
    byte_every_s: float = 0.0
    """Above 0: the body is sent one byte at a time, with this pause between them."""
    event_every_s: float = 0.0
    """Above 0: the body is a stream, and its events are sent with this pause between them."""
    reset_after: int | None = None
    """Reset the connection after this many bytes of the body; -1: before the status line."""

    @property
    def events(self) -> list[bytes]:
        return re.split(rb"(?<=\n\n)", self.body)


def tokens_in(messages: Sequence[Message], *parts: Json) -> int:
    """Their characters, divided by four."""
    calls = [call for message in messages for call in message.tool_calls]
    chars = sum(len(message.text) for message in messages)
    chars += sum(len(call.name) + len(call.argument_text) for call in calls)
    return (chars + sum(len(compact(part)) for part in parts if part)) // 4


def streamed(path: str, body: Object, completion: Completion) -> Response:
    """A whole reply of the API at `path` as a stream."""

    def pieces(text: str) -> list[str]:
        size = completion.piece_chars or max(40, -(-len(text) // 50))
        return [text[start : start + size] for start in range(0, len(text), size)]

    stream = as_stream(path, wire(body), pieces)
    return Response(body=stream, content_type="text/event-stream")
