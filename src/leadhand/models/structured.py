"""Structured answers: extracted from a model's response, checked, and repaired by the model.

The model is told what is wrong with its answer, at most `MAX_REPAIRS` times.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar, cast

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.tools import ToolDefinition
from pydantic_core import from_json, to_json

from leadhand.contracts.team import ModelSpec
from leadhand.errors import NoValidAnswer
from leadhand.models.request import MAX_OUTPUT_BYTES, CallRequest
from leadhand.untrusted.cutting import cut

_CUT_OFF = "its answer was cut off: it had no end, or is longer than the model may write"
MAX_REPAIRS = 2

MAX_SENT_BACK_BYTES = 200_000
"""Longer answers are not sent back for repair, which would cost more or exceed the context."""
_MAX_PROBLEMS = 10
_KEPT_CHARS = 1_000
"""How much of a text that was refused as too long is sent back."""

_decoder = json.JSONDecoder()

T = TypeVar("T")
F = TypeVar("F", bound=BaseModel)

if TYPE_CHECKING:
    from leadhand.models.calls import Caller, Requester
    from leadhand.models.exchange import PieceListener


class BadAnswer(Exception):
    """An answer that can't be used; the message tells the model why and what to do."""

    def __init__(self, problem: str, *, why: str | None = None) -> None:
        """`why` is the problem as the user sees it; None: as the model sees it."""
        super().__init__(problem)
        self.why = why or problem


@dataclass(frozen=True, slots=True)
class StructuredAnswer:
    data: dict[str, JsonValue] | None = None
    """Its fields, if it is a JSON object; not checked against a schema."""
    text: str = ""
    call: ToolCallPart | None = None
    problem: str | None = None
    """Why it can't be read, for the model."""
    cut_off: bool = False
    """Raises `BadAnswer` if it can't be read."""

    def readable(self) -> "StructuredAnswer":
        """The answer itself. Raises `BadAnswer` if it can't be read."""
        if self.problem is None:
            return self
        raise BadAnswer(self.problem, why=_CUT_OFF if self.cut_off else None)


async def ask_structured(
    caller: "Caller",
    requester: "Requester",
    text: str,
    *,
    request: CallRequest,
    models: Sequence[ModelSpec],
    read: Callable[[StructuredAnswer], T],
    follow: "Callable[[], PieceListener] | None" = None,
) -> T:
    """The model's answer to `text`, converted by `read`; `follow` as in `Caller.ask`.

    `read` raises `BadAnswer` to have an answer repaired. Raises `ModelError` if it still can't be
    used after `MAX_REPAIRS`, which is `NoValidAnswer`, or no model answered.
    """
    messages: list[ModelMessage] = [first_message(text, request)]
    last = BadAnswer("")
    for _ in range(MAX_REPAIRS + 1):
        response, _usage = await caller.ask(
            requester, messages, request=request, models=models, follow=follow
        )
        answer = answer_in(response, request)
        try:
            return read(answer.readable())
        except BadAnswer as unfit:
            last = unfit
        problem = str(last)
        replies = [reply(call, problem) for call in response.tool_calls]
        sent_back = bounded(response, max_bytes=min(request.max_bytes, MAX_SENT_BACK_BYTES))
        messages += [sent_back, ModelRequest(replies or [UserPromptPart(problem)])]
    said = " ".join(last.why.split())
    why = f"the {requester.role} gave no valid answer after {MAX_REPAIRS} repairs: {said}"
    raise NoValidAnswer(why) from last


def object_schema(**properties: JsonValue) -> dict[str, JsonValue]:
    """A schema that providers can enforce: every property is required, no other one is allowed."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def output_tool(name: str, description: str, /, **properties: JsonValue) -> ToolDefinition:
    schema = object_schema(**properties)
    return ToolDefinition(
        name=name, description=description, parameters_json_schema=schema, kind="output"
    )


def read_form(form: type[F], answer: StructuredAnswer, *, otherwise: str) -> F:
    """The answer's data as `form`. Raises `BadAnswer`, with `otherwise` if there are none."""
    if answer.data is None:
        raise BadAnswer(otherwise)
    try:
        return form.model_validate(answer.data)
    except ValidationError as error:
        problems = "; ".join(
            f"`{'.'.join(map(str, row['loc']))}`: {row['msg']}"
            for row in error.errors()[:_MAX_PROBLEMS]
        )
        raise BadAnswer(f"Your answer does not have the right form. {problems}.") from error


def first_message(text: str, request: CallRequest) -> ModelRequest:
    return ModelRequest([UserPromptPart(text)], instructions=request.instructions or None)


def answer_in(response: ModelResponse, request: CallRequest) -> StructuredAnswer:
    """The answer in a response: the output tool's arguments, else JSON, else plain text."""
    text = (response.text or "").strip()
    if _is_longer(text, request.max_bytes):
        return StructuredAnswer(problem=_too_long("Your answer", request.max_bytes))
    output = request.output
    if output is None:
        return _in_words(response, text)
    call = next((call for call in response.tool_calls if call.tool_name == output.name), None)
    if call is not None:
        data = arguments_of(call, max_bytes=request.max_bytes)
        if isinstance(data, str):
            problem = _cut_off(response)
            return StructuredAnswer(
                text=text, call=call, problem=problem or data, cut_off=problem is not None
            )
        return StructuredAnswer(data, text, call)
    data = _object_in(text)
    if data is None and not request.words:
        data = object_in(text)
    if data is not None:
        return StructuredAnswer(_without_schema(data, output), text)
    if response.tool_calls and not text:
        called = response.tool_calls[0].tool_name
        return StructuredAnswer(
            problem=f"There is no tool {called!r}. Answer by calling {output.name!r}."
        )
    return _in_words(response, text)


def _without_schema(data: dict[str, JsonValue], output: ToolDefinition) -> dict[str, JsonValue]:
    """The fields of an answer that is a copy of its schema with the properties filled in."""
    fields, own = data.get("properties"), output.parameters_json_schema["properties"]
    if data.get("type") != "object" or not isinstance(fields, dict) or "properties" in own:
        return data
    return data if fields == own else fields


def _in_words(response: ModelResponse, text: str) -> StructuredAnswer:
    cut_off = _cut_off(response)
    problem = cut_off or (None if text else "Your answer was empty. Answer now.")
    return StructuredAnswer(text=text, problem=problem, cut_off=cut_off is not None)


def _cut_off(response: ModelResponse) -> str | None:
    if response.finish_reason != "length":
        return None
    return "Your answer was cut off because it was too long. Give a shorter one."


def arguments_of(
    call: ToolCallPart, *, max_bytes: int = MAX_OUTPUT_BYTES
) -> dict[str, JsonValue] | str:
    """The arguments of a call, or what is wrong with them. Incomplete ones are never completed."""
    if _is_longer(_spelt(call), max_bytes):
        return _too_long(f"The arguments of {call.tool_name}", max_bytes)
    if isinstance(call.args, Mapping):
        return cast("dict[str, JsonValue]", dict(call.args))
    if not call.args:
        return {}
    try:
        data: object = from_json(call.args, allow_inf_nan=False)
    except ValueError as error:
        return (
            f"The arguments of {call.tool_name} are not valid JSON ({error}); nothing was done. "
            "Make the call again with complete arguments."
        )
    if not isinstance(data, dict):
        return f"The arguments of {call.tool_name} must be a JSON object; nothing was done."
    return cast("dict[str, JsonValue]", data)


def _is_longer(text: str, max_bytes: int) -> bool:
    if len(text) > max_bytes or text.isascii():
        return len(text) > max_bytes
    return len(text.encode("utf-8", "surrogatepass")) > max_bytes


def _too_long(what: str, max_bytes: int) -> str:
    return f"{what} may have at most {max_bytes:,} bytes; this was refused unread. Be briefer."


def with_first_calls(response: ModelResponse, max_calls: int) -> ModelResponse:
    """`response` without its tool calls beyond the first `max_calls`."""
    beyond = {id(call) for call in response.tool_calls[max_calls:]}
    if not beyond:
        return response
    return replace(response, parts=[part for part in response.parts if id(part) not in beyond])


def bounded(response: ModelResponse, *, max_bytes: int) -> ModelResponse:
    """`response` as it is sent back to the model, without parts that were refused as too long."""
    parts = [_bounded_part(part, max_bytes) for part in response.parts]
    if all(new is old for new, old in zip(parts, response.parts, strict=True)):
        return response
    return replace(response, parts=parts)


def _bounded_part(part: ModelResponsePart, max_bytes: int) -> ModelResponsePart:
    if isinstance(part, TextPart) and _is_longer(part.content, max_bytes):
        return replace(part, content=cut(part.content, _KEPT_CHARS, " ... (refused: too long)"))
    if isinstance(part, ToolCallPart) and _is_longer(_spelt(part), max_bytes):
        return replace(part, args={})
    return part


def _spelt(call: ToolCallPart) -> str:
    return call.args.strip() if isinstance(call.args, str) else to_json(call.args or {}).decode()


def reply(call: ToolCallPart, problem: str) -> ModelRequestPart:
    return ToolReturnPart(call.tool_name, problem, call.tool_call_id, outcome="failed")


def partial_in(
    response: ModelResponse, output: ToolDefinition | None
) -> str | dict[str, JsonValue]:
    """What can be read of an answer that is cut off or not a call: its fields, else its text."""
    name = output.name if output is not None else None
    call = next((call for call in response.tool_calls if call.tool_name == name), None)
    text = (response.text or "").strip()
    if call is None:
        return text if name is None else _object_in(text, cut_off=True) or text
    # A complete call was read before and refused: it is not a partial answer.
    is_cut_off = isinstance(call.args, str) and _object_in(call.args) is None
    return (_object_in(str(call.args), cut_off=True) if is_cut_off else None) or text


def object_in(text: str) -> dict[str, JsonValue] | None:
    """The JSON object in `text`, with any text or code fence around it; None if it is
    incomplete, or another object follows."""
    start = max(text.find("{"), 0)
    try:
        _, end = _decoder.raw_decode(text, start)
        rest = text[end : text.rfind("}") + 1].replace(text[start:end], "")
        alone = re.search(r'\{\s*"', rest) is None
        data: object = from_json(text[start:end], allow_inf_nan=False) if alone else None
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, JsonValue]", data) if isinstance(data, dict) else None


def _object_in(text: str, *, cut_off: bool = False) -> dict[str, JsonValue] | None:
    """The JSON object in `text` or its code block; `cut_off` allows an incomplete one."""
    if text.startswith("```"):
        block = text.partition("\n")[2]
        text = block.rpartition("```")[0] or (block if cut_off else "")
    if not text.lstrip().startswith("{"):
        return None
    partial = "trailing-strings" if cut_off else "off"
    try:
        data: object = from_json(text, allow_inf_nan=False, allow_partial=partial)
    except ValueError:
        return None
    return cast("dict[str, JsonValue]", data) if isinstance(data, dict) else None
