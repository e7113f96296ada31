"""Attributes of spans: those of the conventions for generative AI, and leadhand's own, which start
with `leadhand.`.

The conventions are https://github.com/open-telemetry/semantic-conventions-genai, all of it in
development.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from opentelemetry.util.types import AttributeValue
from pydantic import JsonValue

from leadhand.contracts import events
from leadhand.contracts.outcome import Raised

Attributes = dict[str, AttributeValue]

ERROR_TYPE = "error.type"
OPERATION = "gen_ai.operation.name"
WORKFLOW = "gen_ai.workflow.name"
AGENT = "gen_ai.agent.name"
INPUT = "gen_ai.input.messages"
OUTPUT = "gen_ai.output.messages"

_PROVIDERS = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "google": "gcp.gemini",
    "google-cloud": "gcp.vertex_ai",
    "google-gla": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "grok": "x_ai",
    "mistral": "mistral_ai",
    "moonshotai": "moonshot_ai",
    "openai-chat": "openai",
    "openai-responses": "openai",
    "xai": "x_ai",
}
"""The conventions' names of providers that have another name in pydantic-ai."""

_FACTS = (
    "asks_after", "attempt", "blame", "by", "delay_s", "dropped", "end", "failures", "final",
    "holds", "new_tier",
    "old_tier", "pause_s", "revision", "rewired", "round", "second_opinion", "taken", "task_id",
    "verdict", "worker", "workers",
)  # fmt: skip
_OF_TASK = {"task_id": "task.id", "attempt": "task.attempt"}
_TEXTS = ("message", "new_intent", "problems", "question", "reason", "text", "why")

_STATUS = re.compile(r"\bHTTP (\d{3})\b")


@dataclass(frozen=True, slots=True)
class ContentFilter:
    shown: bool
    redact: Callable[[str], str]

    def text(self, text: str) -> str:
        """`text` without secrets, and valid in UTF-8."""
        return self.redact(text).encode("utf-8", "replace").decode()

    def message(self, key: str, role: str, value: JsonValue) -> Attributes:
        """`value` as the text of one message; empty if content is not shown."""
        if not self.shown or value is None or value == "":
            return {}
        said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        message: dict[str, JsonValue] = {
            "role": role,
            "parts": [{"type": "text", "content": self.text(said)}],
        }
        if key == OUTPUT:
            message["finish_reason"] = "stop"
        return {key: json.dumps([message], ensure_ascii=False)}

    def exception(self, raised: Raised, message: str) -> Attributes:
        """The message only if content is shown."""
        found: Attributes = {"exception.type": raised.type}
        if self.shown:
            found["exception.message"] = self.text(message)
            found["exception.stacktrace"] = self.text(raised.traceback)
        return found


def facts(event: events.Event, content: ContentFilter) -> Attributes:
    found: Attributes = {}
    for name in _FACTS:
        value = cast("AttributeValue | None", getattr(event, name, None))
        if value is not None and value != ():
            found[f"leadhand.{_OF_TASK.get(name, name)}"] = value
    if isinstance(event, events.TaskSplit):
        found["leadhand.parts"] = [part.id for part in event.parts]
    if isinstance(event, events.RoundDecided):
        found["leadhand.started"] = [task.id for task in event.tasks]
    for name in _TEXTS if content.shown else ():
        value = cast("str | Sequence[str] | None", getattr(event, name, None))
        if value:
            said = value if isinstance(value, str) else "; ".join(value)
            found[f"leadhand.{name}"] = content.text(said)
    return found


def chat(event: events.ModelCalled, content: ContentFilter) -> Attributes:
    provider, _, model = event.model.partition(":")
    found: Attributes = {
        OPERATION: "chat",
        "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
        "gen_ai.request.model": model or provider,
        "gen_ai.usage.input_tokens": event.input_tokens,
        "gen_ai.usage.output_tokens": event.output_tokens,
        "leadhand.role": event.role,
    }
    if event.cost_usd is not None:
        found["leadhand.cost_usd"] = event.cost_usd
    if event.retry_in_s is not None:
        found["leadhand.retry_in_s"] = event.retry_in_s
    if event.error is not None:
        found[ERROR_TYPE] = model_error_type(event.error)
    if content.shown and isinstance(event.response, dict):
        found[OUTPUT] = _answer(event.response, content)
    return found


def tool(event: events.ToolCalled, content: ContentFilter) -> Attributes:
    found: Attributes = {
        OPERATION: "execute_tool",
        "gen_ai.tool.name": event.tool,
        "gen_ai.tool.type": "function",
        "leadhand.output_chars": event.output_chars,
    }
    if event.error is not None:
        found[ERROR_TYPE] = "tool_error"
    if content.shown:
        found["gen_ai.tool.call.arguments"] = content.text(event.arguments)
        found["gen_ai.tool.call.result"] = content.text(event.output)
    return found


def model_error_type(error: str) -> str:
    status = _STATUS.search(error)
    return status[1] if status else "model_error"


def model_error(error: str) -> str:
    """The error without the provider's text, which may quote anything."""
    return error.partition(":")[0]


def _answer(response: Mapping[str, JsonValue], content: ContentFilter) -> str:
    """Converts pydantic-ai's form to that of the conventions."""
    parts = response.get("parts")
    message: JsonValue = {
        "role": "assistant",
        "parts": [
            _part(part, content)
            for part in (parts if isinstance(parts, list) else ())
            if isinstance(part, dict)
        ],
        "finish_reason": response.get("finish_reason") or "stop",
    }
    return json.dumps([message], ensure_ascii=False)


def _part(part: Mapping[str, JsonValue], content: ContentFilter) -> JsonValue:
    kind = part.get("part_kind")
    if kind == "tool-call":
        args = part.get("args")
        said = args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
        return {
            "type": "tool_call",
            "id": part.get("tool_call_id"),
            "name": part.get("tool_name"),
            "arguments": content.text(said),
        }
    return {
        "type": "reasoning" if kind == "thinking" else "text",
        "content": content.text(str(part.get("content") or "")),
    }
