"""Tool calls that a model wrote as text. Pure.

Text is a call only if it is nothing else, names offered tools, and did not come from what the model
was given: a tool's output must not become a call.
"""

import itertools
import json
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import cast

from pydantic import JsonValue
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart

IN_TEXT = "in_text_"
"""How the ids of such calls begin."""
_TAGS = re.compile(r"</?(?:tool_call|tools)>")
_FENCE = re.compile(r"```\w*\n(.*?)\n?```", re.DOTALL)
_OBJECT = re.compile(r'\{\s*["}]')
_MAX_TRIES = 20_000
"""Places of one text at which a JSON value may begin. In a text with more, anything may be."""
_CHARS_A_TRY = 100
"""A value that ends badly counts as a try for each so many characters."""
_MAX_LOOKED_AT = 20
_MAX_ESCAPES = 4
"""How deep a call may be written into JSON strings of JSON strings."""

_Call = tuple[str, dict[str, JsonValue]]
_decoder = json.JSONDecoder(strict=False)  # what a model was given may have raw line breaks


def with_calls(
    response: ModelResponse, offered: Collection[str], messages: Sequence[ModelMessage]
) -> ModelResponse:
    """`response` with the calls in its text as calls; `messages` are what the model was given."""
    text = (response.text or "").strip()
    if response.tool_calls or "{" not in text:
        return response
    calls = _calls_in(text)
    if not calls or any(name not in offered for name, _ in calls):
        return response
    if any(_has(given, calls) for given in _given(messages)):
        return response
    said = [
        ToolCallPart(name, arguments, f"{IN_TEXT}{len(messages)}_{number}")
        for number, (name, arguments) in enumerate(calls, start=1)
    ]
    others = [part for part in response.parts if not isinstance(part, TextPart)]
    return replace(response, parts=[*others, *said])


def call_among_words(
    response: ModelResponse, offered: Collection[str], messages: Sequence[ModelMessage]
) -> str | None:
    """What is wrong with an answer that calls an offered tool among words before any other call."""
    said = [response, *(one for one in messages if isinstance(one, ModelResponse))]
    if any(one.tool_calls for one in said):
        return None
    text = response.text or ""
    for found in itertools.islice(_OBJECT.finditer(text), _MAX_LOOKED_AT):
        try:
            value, _ = cast("tuple[JsonValue, int]", _decoder.raw_decode(text, found.start()))
        except (ValueError, RecursionError):
            continue
        if (call := _as_call(value)) is not None and call[0] in offered:
            return f"You wrote a call of `{call[0]}` among words: it was not made. Write it alone."
    return None


def _calls_in(text: str) -> list[_Call]:
    """Empty if it has anything else."""
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1]
    text = _TAGS.sub(" ", text).strip()
    calls: list[_Call] = []
    while text:
        try:
            value, end = cast("tuple[JsonValue, int]", _decoder.raw_decode(text))
        except (ValueError, RecursionError):
            return []
        for one in value if isinstance(value, list) else [value]:
            call = _as_call(one)
            if call is None:
                return []
            calls.append(call)
        text = text[end:].lstrip(" \t\r\n,")
    return calls


def _as_call(value: JsonValue) -> _Call | None:
    if not isinstance(value, dict):
        return None
    given = value.get("function") if value.keys() <= {"type", "function", "id"} else value
    if not isinstance(given, dict) or not given.keys() <= {"name", "arguments", "parameters", "id"}:
        return None
    name, arguments = given.get("name"), given.get("arguments", given.get("parameters"))
    return (name, arguments) if isinstance(name, str) and isinstance(arguments, dict) else None


def _given(messages: Sequence[ModelMessage]) -> Iterator[str]:
    for message in messages:
        if isinstance(message, ModelRequest):
            for part in message.parts:
                content: object = getattr(part, "content", None)
                yield content if isinstance(content, str) else json.dumps(content, default=str)


def _has(text: str, calls: Sequence[_Call], depth: int = _MAX_ESCAPES) -> bool:
    """Whether `text` has one of `calls`, in any spelling, also within its JSON strings."""
    if "{" not in text:
        return False
    if depth == 0 or _values_have(text, calls, depth):
        return True
    plain = text.replace("\\u0022", '"').replace('\\"', '"').replace("\\n", "\n")
    return plain != text and _has(plain.replace("\\\\", "\\"), calls, depth - 1)


def _values_have(text: str, calls: Sequence[_Call], depth: int) -> bool:
    start, tries = text.find("{"), 0
    while start >= 0:
        tries += _OBJECT.match(text, start) is not None
        if tries > _MAX_TRIES:
            return True
        end = start + 1
        try:
            value, end = cast("tuple[JsonValue, int]", _decoder.raw_decode(text, start))
        except ValueError as error:
            tries += (getattr(error, "pos", start) - start) // _CHARS_A_TRY
        except RecursionError:
            return True
        else:
            if any(_is_or_has(one, calls, depth) for one in _values(value)):
                return True
        start = text.find("{", end)
    return False


def _is_or_has(value: JsonValue, calls: Sequence[_Call], depth: int) -> bool:
    if isinstance(value, str):
        return _has(value, calls, depth - 1)
    # It may have other keys there, or its arguments as a string, as in a provider's own form.
    fields = [*cast("dict[str, JsonValue]", value).values()]
    return any(
        name in fields and (args in fields or args in map(_parsed, fields)) for name, args in calls
    )


def _parsed(value: JsonValue) -> JsonValue:
    try:
        return cast("JsonValue", _decoder.decode(value)) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return None


def _values(value: JsonValue) -> Iterator[JsonValue]:
    """The objects and strings in a value, itself included."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict | str):
            yield one
        waiting += one.values() if isinstance(one, dict) else one if isinstance(one, list) else ()
