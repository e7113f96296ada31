"""One exchange with a model: a request, and its response, streamed or not."""

import asyncio
import dataclasses
import re
from collections.abc import Callable
from typing import TypeVar, cast

from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    ModelResponsePart,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from leadhand.models.connections import Connection
from leadhand.models.endless import Endless
from leadhand.models.failures import Failure, request_failure
from leadhand.models.gate import Ending, GatePass
from leadhand.models.usage import usage_of
from leadhand.untrusted.cutting import cut_line

CALL_TIMEOUT_S = 300.0
"""For a whole call, even if bytes keep arriving slowly."""
CUT_OFF = Failure("unreachable", "the model could not be reached: its answer ended midway")
SLOW = Failure(
    "slow",
    f"the model did not end its answer within {CALL_TIMEOUT_S:g} s: use a faster model, or "
    "limit what it may write (`max_tokens`)",
)

T = TypeVar("T")
PieceListener = Callable[[int, str], None]
"""Called with the index of a part of the response, and each piece of its text or arguments."""
CallListener = Callable[[int, str, str | None], None]
"""The same, with the name of the tool that the part calls; None for text."""

_SURROGATE = re.compile("[\ud800-\udfff]")


async def exchange(
    connection: Connection,
    gate_pass: GatePass,
    messages: list[ModelMessage],
    settings: ModelSettings | None,
    parameters: ModelRequestParameters,
    *,
    watch: CallListener | None,
    end: Endless | None = None,
) -> ModelResponse | Failure:
    """The result of one call, streamed if there is a `watch` or an `end`. Leaves the gate
    afterwards."""
    ending: Ending = "lost"
    asked_s: float | None = None
    limit = asyncio.timeout(CALL_TIMEOUT_S)
    try:
        async with limit:
            streamed = watch is not None or end is not None
            if streamed:
                response = await _streamed(
                    connection.model, messages, settings, parameters, watch=watch, end=end
                )
            else:
                response = await connection.model.request(messages, settings, parameters)
        if end is not None and end.cut:
            response = dataclasses.replace(response, finish_reason="length")
        elif not _is_whole(response, streamed=streamed):
            return CUT_OFF
        ending = "answered"
        called = any(isinstance(part, ToolCallPart) for part in response.parts)
        if response.finish_reason == "content_filter" and not (response.text or called):
            said = (response.provider_details or {}).get("refusal") or "its content filter did"
            why = f"the model refused to answer: {cut_line(str(said), 300)}"
            return Failure("refused", why, usage=usage_of(connection.name, response, 0.0))
        return without_surrogates(response)
    except Exception as error:
        failure = SLOW if limit.expired() else request_failure(error)
        if failure.kind == "overloaded":
            ending, asked_s = "refused", failure.retry_after_s
        return failure
    finally:
        connection.gate.leave(gate_pass, ending, asked_s=asked_s)


async def _streamed(
    model: Model,
    messages: list[ModelMessage],
    settings: ModelSettings | None,
    parameters: ModelRequestParameters,
    *,
    watch: CallListener | None,
    end: Endless | None,
) -> ModelResponse:
    tools: dict[int, str] = {}
    async with model.request_stream(messages, settings, parameters) as stream:
        async for event in stream:
            if isinstance(event, PartStartEvent) and isinstance(event.part, ToolCallPart):
                tools[event.index] = event.part.tool_name
            match event:
                case (
                    PartStartEvent(index=part, part=TextPart(content=str(piece)))
                    | PartStartEvent(index=part, part=ToolCallPart(args=str(piece)))
                    | PartDeltaEvent(index=part, delta=TextPartDelta(content_delta=piece))
                    | PartDeltaEvent(index=part, delta=ToolCallPartDelta(args_delta=str(piece)))
                ):
                    if watch is not None:
                        watch(part, piece, tools.get(part))
                    if end is not None and end.seen(part, piece, in_call=part in tools):
                        break
                case (
                    PartStartEvent(index=part, part=ThinkingPart(content=piece))
                    | PartDeltaEvent(index=part, delta=ThinkingPartDelta(content_delta=str(piece)))
                ) if end is not None and end.seen(part, piece):
                    break
                case _:
                    pass
        return stream.get()


def _is_whole(response: ModelResponse, *, streamed: bool) -> bool:
    """A stream can end anywhere without an error, but then it has no finish reason. Anthropic's
    responses are always streams."""
    if not streamed and response.provider_name != "anthropic":
        return True
    return not {"finish_reason", "refusal"}.isdisjoint(response.provider_details or {})


def without_surrogates(response: ModelResponse) -> ModelResponse:
    """`response` with lone surrogates replaced, which UTF-8 can't encode."""
    parts = [_legible_part(part) for part in response.parts]
    if all(new is old for new, old in zip(parts, response.parts, strict=True)):
        return response
    return dataclasses.replace(response, parts=parts)


def _legible_part(part: ModelResponsePart) -> ModelResponsePart:
    if isinstance(part, TextPart | ThinkingPart):
        content = _repaired(part.content)
        return part if content == part.content else dataclasses.replace(part, content=content)
    if isinstance(part, ToolCallPart):
        repaired = {"tool_name": _repaired(part.tool_name), "args": _repaired(part.args)}
        same = repaired == {"tool_name": part.tool_name, "args": part.args}
        return part if same else dataclasses.replace(part, **repaired)
    return part


def _repaired(value: T) -> T:
    repaired: object = value
    if isinstance(value, str) and not value.isascii():
        repaired = _SURROGATE.sub("\ufffd", value)
    elif isinstance(value, dict):
        rows = cast("dict[str, object]", value)
        repaired = {_repaired(key): _repaired(item) for key, item in rows.items()}
    elif isinstance(value, list):
        repaired = [_repaired(item) for item in cast("list[object]", value)]
    return cast("T", repaired)
