"""Answers with a form: taken out of what a model sent, checked, and asked for again when wrong.

However a model was asked (by a tool, by native JSON, in words), its answer is read the same way.
What is wrong with it is told to the model, at most `MAX_REPAIRS` times.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from pydantic import JsonValue
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_core import from_json

from leadhand.contracts.team import ModelSpec
from leadhand.errors import ModelError
from leadhand.models.calls import Asker, Caller, Request

MAX_REPAIRS = 2
"""How often a model is told what is wrong with its answer before it is given up."""

T = TypeVar("T")


class Unfit(Exception):
    """An answer that can't be used; the message tells the model why and what to do."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a response gives as its answer."""

    data: dict[str, JsonValue] | None = None
    """Its fields, where it has the form of an object; not checked against a schema."""
    text: str = ""
    """What it says in plain text."""
    call: ToolCallPart | None = None
    """The call of the output tool, where it made one."""
    problem: str | None = None
    """Why it can't be read."""


async def ask_for(
    caller: Caller,
    asker: Asker,
    text: str,
    *,
    request: Request,
    models: Sequence[ModelSpec],
    read: Callable[[Answer], T],
) -> T:
    """What `read` makes of the model's answer to `text`.

    `read` raises `Unfit` for an answer that can't be used; the model is told and may mend it.
    Raises `ModelError` where it still can't be used after `MAX_REPAIRS`, or none came.
    """
    messages: list[ModelMessage] = [opening(text, request)]
    last = Unfit("")
    for _ in range(MAX_REPAIRS + 1):
        response, _usage = await caller.ask(asker, messages, request=request, models=models)
        answer = answer_in(response, request)
        try:
            if answer.problem is not None:
                raise Unfit(answer.problem)
            return read(answer)
        except Unfit as unfit:
            last = unfit
        problem = str(last)
        replies = [reply(call, problem) for call in response.tool_calls]
        messages += [response, ModelRequest(replies or [UserPromptPart(problem)])]
    said = " ".join(str(last).split())
    raise ModelError(
        f"the {asker.role} gave no valid answer after {MAX_REPAIRS} repairs: {said}",
        transient=False,
    ) from last


def opening(text: str, request: Request) -> ModelRequest:
    """The message that opens a conversation."""
    return ModelRequest([UserPromptPart(text)], instructions=request.instructions or None)


def answer_in(response: ModelResponse, request: Request) -> Answer:
    """The answer in a response: the output tool's arguments, else JSON, else plain text."""
    text = (response.text or "").strip()
    output = request.output
    if output is None:
        return Answer(text=text, problem=_unreadable(response, text))
    call = next((call for call in response.tool_calls if call.tool_name == output.name), None)
    if call is not None:
        data = arguments_of(call)
        if isinstance(data, str):
            return Answer(text=text, call=call, problem=_cut_off(response) or data)
        return Answer(data, text, call)
    data = _object_in(text)
    if data is not None:
        return Answer(data, text)
    if response.tool_calls and not text:
        called = response.tool_calls[0].tool_name
        return Answer(problem=f"There is no tool {called!r}. Answer by calling {output.name!r}.")
    return Answer(text=text, problem=_unreadable(response, text))


def _unreadable(response: ModelResponse, text: str) -> str | None:
    return _cut_off(response) or (None if text else "You sent no answer. Answer now.")


def _cut_off(response: ModelResponse) -> str | None:
    if response.finish_reason != "length":
        return None
    return "Your answer was cut off because it was too long. Give a shorter one."


def arguments_of(call: ToolCallPart) -> dict[str, JsonValue] | str:
    """The arguments of a call, or what is wrong with them. Half a call is never mended here."""
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


def reply(call: ToolCallPart, problem: str) -> ModelRequestPart:
    """What a call is answered with that could not be carried out."""
    return ToolReturnPart(call.tool_name, problem, call.tool_call_id, outcome="failed")


def _object_in(text: str) -> dict[str, JsonValue] | None:
    """The JSON object that `text` is, in a code block or out of one."""
    if text.startswith("```"):
        text = text.partition("\n")[2].rpartition("```")[0]
    if not text.lstrip().startswith("{"):
        return None
    try:
        data: object = from_json(text, allow_inf_nan=False)
    except ValueError:
        return None
    return cast("dict[str, JsonValue]", data) if isinstance(data, dict) else None
