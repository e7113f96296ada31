"""Misbehaviours of a model endpoint, one function each, by name.

`TO_ANSWERS` change the content of an answer; `TO_RESPONSES` its transmission. Each takes a
parameter, `true` for the default: `{"429": 3}`, `{"429": "date"}`, `{"slow": 0.5}`.
"""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from leadhand.errors import InputError
from leadhand.testing.exchange import Completion, Request, Response, ScriptedCall
from leadhand.testing.json_data import Json, Object, compact, mapping, parse
from leadhand.testing.phrases import ENDINGS
from leadhand.testing.schema import fill

ToAnswer = Callable[[Completion, Request, Json], Completion]
ToResponse = Callable[[Response, Json], Response]

_DEEP = 100_000
_HUGE_CHARS = 2_000_000
_RETRY_AFTER_S = 1
_TOKEN_CHARS = 4
_ENDLESS_TOKENS = 20_000
_ODD = "\ud800 \x00 \u202egnp.exe\u202c \u200b"
"""A lone surrogate, a NUL, a bidirectional override and a zero-width space."""


def cut_json(completion: Completion, request: Request, parameter: Json) -> Completion:
    """The arguments of every tool call, or the text, end in the middle."""
    return _with_arguments(completion, lambda arguments: arguments[: len(arguments) // 2])


def deep_arguments(completion: Completion, request: Request, parameter: Json) -> Completion:
    depth = _whole(parameter, _DEEP)
    return _with_arguments(completion, lambda _: '{"a":' + "[" * depth + "]" * depth + "}")


def nan_arguments(completion: Completion, request: Request, parameter: Json) -> Completion:
    return _with_arguments(completion, _without_numbers)


def invalid_schema(completion: Completion, request: Request, parameter: Json) -> Completion:
    """Well-formed arguments in which every value is of the wrong type."""
    return _with_arguments(completion, _of_wrong_types)


def unknown_tool(completion: Completion, request: Request, parameter: Json) -> Completion:
    """Calls of a tool that was not offered; the parameter is its name."""
    name = parameter if isinstance(parameter, str) else "no_such_tool"
    calls = completion.tool_calls or (ScriptedCall(name, {}),)
    renamed = tuple(replace(call, name=name) for call in calls)
    return replace(completion, tool_calls=renamed, finish="tool_calls")


def misspelt_tool(completion: Completion, request: Request, parameter: Json) -> Completion:
    """Calls of tools whose names have their last two letters swapped."""
    swapped = (
        replace(call, name=call.name[:-2] + call.name[:-3:-1]) for call in completion.tool_calls
    )
    return replace(completion, tool_calls=tuple(swapped))


def repeat_call(completion: Completion, request: Request, parameter: Json) -> Completion:
    """The same call of the first tool with the same arguments in every answer."""
    tool = next((tool for tool in request.tools if tool.name not in ENDINGS), None)
    if tool is None:
        return completion
    filled = fill(tool.parameters, lambda _: None)
    same = ScriptedCall(tool.name, filled if isinstance(filled, dict) else {})
    return replace(completion, text="", tool_calls=(same,), finish="tool_calls")


def huge(completion: Completion, request: Request, parameter: Json) -> Completion:
    """An answer of two million characters, or as many as the parameter says."""
    chars = _whole(parameter, _HUGE_CHARS)
    return _with_strings(completion, lambda said: (said or "x") * (chars // max(1, len(said)) + 1))


def odd_characters(completion: Completion, request: Request, parameter: Json) -> Completion:
    return _with_strings(completion, lambda said: said + _ODD)


def length(completion: Completion, request: Request, parameter: Json) -> Completion:
    """The answer stops in the middle because the token limit was reached."""
    return replace(cut_json(completion, request, parameter), finish="length")


def endless(completion: Completion, request: Request, parameter: Json) -> Completion:
    """White space, or the parameter, after the answer until the request's limit."""
    said = completion.text or "".join(call.argument_text for call in completion.tool_calls)
    phrase = parameter if isinstance(parameter, str) else "\n"
    chars = _TOKEN_CHARS * (request.max_tokens or _ENDLESS_TOKENS)
    text = (said + phrase * (chars // len(phrase) + 1))[:chars]
    return replace(completion, text=text, tool_calls=(), finish="length")


def as_text(completion: Completion, request: Request, parameter: Json) -> Completion:
    """Calls as text, in the tags that the parameter names: `tool_call` or `tools`."""
    calls: list[Object] = [
        {"name": call.name, "arguments": call.arguments} for call in completion.tool_calls
    ]
    tag = parameter if isinstance(parameter, str) else ""
    lines = [f"<{tag}>{compact(call)}</{tag}>" if tag else compact(call) for call in calls]
    text = "\n".join(lines) or completion.text
    return replace(completion, text=text, tool_calls=(), finish="stop")


def bad_usage(completion: Completion, request: Request, parameter: Json) -> Completion:
    """Invalid token counts, or the parameter instead of the usage."""
    wrong: Object = {"prompt_tokens": "many", "completion_tokens": -5, "total_tokens": None}
    wrong |= {"input_tokens": "many", "output_tokens": -5}
    return replace(completion, usage=wrong if parameter is True else parameter)


def html(response: Response, parameter: Json) -> Response:
    page = b"<!DOCTYPE html><html><body><h1>Sign in to continue</h1></body></html>"
    return replace(response, status=200, content_type="text/html", body=page)


def empty(response: Response, parameter: Json) -> Response:
    return replace(response, status=200, body=b"")


def nan(response: Response, parameter: Json) -> Response:
    return replace(response, body=re.sub(rb"(?<=:) ?-?\d+(?=[,}])", b"NaN", response.body))


def deep(response: Response, parameter: Json) -> Response:
    depth = _whole(parameter, _DEEP)
    return replace(response, body=b"[" * depth + b"]" * depth)


def cut_body(response: Response, parameter: Json) -> Response:
    """A body that ends in the middle, on a working connection."""
    return replace(response, body=response.body[: len(response.body) // 2])


def reset(response: Response, parameter: Json) -> Response:
    return replace(response, reset_after=-1)


def reset_midway(response: Response, parameter: Json) -> Response:
    """The connection is reset after half of the body."""
    return replace(response, reset_after=len(response.body) // 2)


def slow(response: Response, parameter: Json) -> Response:
    """One byte at a time, with a pause in seconds; 10 by default."""
    return replace(response, byte_every_s=_seconds(parameter, 10.0))


def latency_ms(response: Response, parameter: Json) -> Response:
    """A delay in milliseconds; a thousand by default."""
    return replace(response, delay_s=response.delay_s + _seconds(parameter, 1000.0) / 1000.0)


TO_ANSWERS: dict[str, ToAnswer] = {
    function.__name__: function
    for function in (
        cut_json,
        deep_arguments,
        nan_arguments,
        invalid_schema,
        unknown_tool,
        misspelt_tool,
        repeat_call,
        huge,
        odd_characters,
        length,
        endless,
        as_text,
        bad_usage,
    )
}
TO_RESPONSES: dict[str, ToResponse] = {
    function.__name__: function
    for function in (html, empty, nan, deep, cut_body, reset, reset_midway, slow, latency_ms)
}


def status_of(misbehave: Mapping[str, Json]) -> tuple[int, Json] | None:
    """The HTTP status among the misbehaviours and its parameter, if there is one."""
    named = ((int(name), value) for name, value in misbehave.items() if name.isdecimal())
    return next(named, None)


def retry_after(parameter: Json) -> tuple[tuple[str, str], ...]:
    """The Retry-After header: seconds as given, `date` or `date:30` as an HTTP date, null: none."""
    if parameter is None:
        return ()
    if isinstance(parameter, str) and parameter.startswith("date"):
        seconds = int(parameter.partition(":")[2] or _RETRY_AFTER_S)
        moment = time.gmtime(time.time() + seconds)
        return (("Retry-After", time.strftime("%a, %d %b %Y %H:%M:%S GMT", moment)),)
    return (("Retry-After", str(_RETRY_AFTER_S if parameter is True else parameter)),)


def check_misbehaviours(misbehave: Mapping[str, Json], where: str) -> None:
    """Raises `InputError` for an unknown name."""
    for name in misbehave:
        status = name.isdecimal() and 400 <= int(name) <= 599
        if not (status or name in TO_ANSWERS or name in TO_RESPONSES):
            known = ", ".join([*TO_ANSWERS, *TO_RESPONSES])
            raise InputError(
                f"{where} asks for the misbehaviour {name!r}, which is not known: "
                f"name a status from 400 to 599 or one of {known}"
            )


def parse_fault(name: str) -> tuple[str, Json]:
    """A misbehaviour and its parameter from `429`, `429:date` or `slow:0.5`."""
    plain, _, given = name.partition(":")
    check_misbehaviours({plain: True}, f"the fault {name!r}")
    if not given:
        return plain, True
    try:
        return plain, parse(given)
    except ValueError:
        return plain, given


def _with_arguments(completion: Completion, change: Callable[[str], str]) -> Completion:
    if not completion.tool_calls:
        return replace(completion, text=change(completion.text))
    calls = (replace(call, arguments=change(call.argument_text)) for call in completion.tool_calls)
    return replace(completion, tool_calls=tuple(calls))


def _with_strings(completion: Completion, change: Callable[[str], str]) -> Completion:
    """Changes the text, or the first string of each call's arguments."""
    if not completion.tool_calls:
        return replace(completion, text=change(completion.text))
    return replace(
        completion, tool_calls=tuple(_first_string(call, change) for call in completion.tool_calls)
    )


def _first_string(call: ScriptedCall, change: Callable[[str], str]) -> ScriptedCall:
    arguments = call.arguments
    if isinstance(arguments, str):
        return call
    for name, value in arguments.items():
        if isinstance(value, str):
            return replace(call, arguments={**arguments, name: change(value)})
    return call


def _without_numbers(arguments: str) -> str:
    changed = re.sub(r"(?<=:)-?\d+(?:\.\d+)?(?=[,}])", "NaN", arguments)
    return changed if changed != arguments else '{"number":NaN}'


def _of_wrong_types(arguments: str) -> str:
    try:
        names = mapping(parse(arguments))
    except ValueError:
        names = {}
    wrong: Object = {"of_the_wrong": ["type"]}
    return compact(dict.fromkeys(names or {"answer": None}, wrong))


def _whole(parameter: Json, usual: int) -> int:
    return usual if parameter is True or not isinstance(parameter, int) else parameter


def _seconds(parameter: Json, usual: float) -> float:
    if parameter is True or not isinstance(parameter, int | float):
        return usual
    return float(parameter)
