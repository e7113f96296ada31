"""Replays the responses that models gave before a run was resumed, so that they are not paid twice.

The order of concurrent calls may change, so a request is known by its requester and a hash of its
content.
"""

import functools
import hashlib
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import cast

from pydantic import ConfigDict, JsonValue, TypeAdapter
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_core import to_json

from leadhand.contracts import events
from leadhand.contracts.outcome import Usage

_Key = tuple[str, str | None, int | None, str]


class Replay:
    def __init__(self, past: Sequence[events.Event]) -> None:
        """`past` are the run's own events; for a nested run after `unnested`."""
        self._kept: defaultdict[_Key, deque[events.ModelCalled]] = defaultdict(deque)
        for event in past:
            if (
                isinstance(event, events.ModelCalled)
                and event.response is not None
                and not event.within
            ):
                key = (event.role, event.task_id, event.attempt, event.request)
                self._kept[key].append(event)
            elif isinstance(event, events.RunResumed) and event.again and not event.within:
                # A task that is done again needs new answers.
                self._forget({*event.again})

    def take(
        self, role: str, task_id: str | None, attempt: int | None, request: str
    ) -> tuple[ModelResponse, Usage] | None:
        if not self._kept:
            return None
        kept = self._kept.get((role, task_id, attempt, request))
        if not kept:
            return None
        event = kept.popleft()
        return load_response(event.response), event.usage

    def _forget(self, tasks: set[str]) -> None:
        for key in [key for key in self._kept if key[1] in tasks]:
            del self._kept[key]


def dump_response(response: ModelResponse) -> JsonValue:
    """A response as JSON data, without loss; `load_response` is the inverse."""
    data = _adapter().dump_python((response,), mode="json", exclude_none=True)[0]
    data["usage"] = {name: value for name, value in data["usage"].items() if value}
    return cast("JsonValue", data)


def load_response(data: JsonValue) -> ModelResponse:
    return _adapter().validate_python((data,))[0]


@functools.cache
def _adapter() -> TypeAdapter[tuple[ModelResponse]]:
    """An adapter for responses only: pydantic-ai's own, for all messages, takes twice as long."""
    config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")
    return TypeAdapter(tuple[ModelResponse], config=config)


def request_hash(messages: Sequence[ModelMessage], parameters: ModelRequestParameters) -> str:
    """A hash of all that a request says; the model and the time are not part of it."""
    digest = hashlib.blake2b(digest_size=12)
    for text in _said(messages, parameters):
        digest.update(text.encode("utf-8", "surrogatepass"))
        digest.update(b"\0")
    return digest.hexdigest()


def _said(messages: Sequence[ModelMessage], parameters: ModelRequestParameters) -> Iterator[str]:
    for instruction in parameters.instruction_parts or ():
        yield instruction.content
    for tool in (*parameters.function_tools, *parameters.output_tools):
        yield tool.name
    yield from texts_of(messages)


def texts_of(messages: Sequence[ModelMessage]) -> Iterator[str]:
    """What the parts of messages say, each after its kind and its tool."""
    for message in messages:
        for part in message.parts:
            yield part.part_kind
            yield str(getattr(part, "tool_name", ""))
            said: object = getattr(part, "args", None) or getattr(part, "content", None)
            yield said if isinstance(said, str) else _json(said)


def _json(value: object) -> str:
    return to_json(value, fallback=repr).decode() if value is not None else ""
