"""The types of values in a team's files; what can be written in several ways is normalized here."""

import builtins
import json
import re
from typing import Annotated, cast

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, WithJsonSchema

from leadhand.contracts.team import Tier
from leadhand.plans.routes import pattern_problem

_REFERENCE = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")
_TIER_ALIASES: dict[str, Tier] = {"haiku": "fast", "sonnet": "standard", "opus": "strong"}
_EFFORTS = ("minimal", "low", "medium", "high", "xhigh", "max")
_MODEL = re.compile(r"[^\s:]+(:\S+)?")


def is_reference(text: str) -> bool:
    words = re.split(r"[.:]", text)
    return bool(_REFERENCE.fullmatch(text)) and all(word.isidentifier() for word in words)


def tier_of_alias(model: str | None) -> Tier | None:
    """The tier for a model's bare name, such as `opus`, in the subagent files of other programs."""
    return _TIER_ALIASES.get(model) if model is not None else None


def sendable(value: object) -> object:
    """Raises `ValueError` for a number that JSON can't represent."""
    try:
        json.dumps(value, allow_nan=False)
    except ValueError as error:
        raise ValueError("contains a number that can't be sent: give a finite one") from error
    return value


def split_names(text: str) -> list[str]:
    """The comma-separated parts of `text`; commas in brackets don't separate."""
    parts, start, depth = list[str](), 0, 0
    for index, character in enumerate(f"{text},"):
        depth += (character == "(") - (character == ")")
        if character == "," and (depth <= 0 or index == len(text)):
            parts.append(text[start:index].strip())
            start = index + 1
    return [part for part in parts if part]


def _split(value: object) -> object:
    return split_names(value) if isinstance(value, str) else value


def _name(text: str) -> str:
    if text != text.strip() or not text.isprintable():
        raise ValueError("must be one line of visible characters, without blanks around it")
    return text


def _line(text: str) -> str:
    return " ".join(text.split())


def _unique(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _as_list(value: object) -> object:
    return [value] if isinstance(value, int | float | str) else value


def _function(text: str) -> str:
    if not is_reference(text):
        raise ValueError("must name a function as `module:function`, for example `work:count`")
    return text


def _exception(text: str) -> str:
    known = getattr(builtins, text, None)
    if not is_reference(text) and not (
        isinstance(known, type) and issubclass(known, BaseException)
    ):
        raise ValueError(
            "must name a built-in exception such as `ConnectionError`, or a class as `module:Class`"
        )
    return text


def _pattern(text: str) -> str:
    problem = pattern_problem(text)
    if problem is not None:
        raise ValueError(f"must be a regular expression: {problem}")
    return text


def _model(text: str) -> str:
    if not _MODEL.fullmatch(text) or not text.isprintable():
        raise ValueError(
            "must be `provider:model`, for example `openai:gpt-5-mini`, or a model's bare name"
        )
    return text


def _without_inherit(value: object) -> object:
    return None if value == "inherit" else value


def _thinking(value: object) -> object:
    if not isinstance(value, bool) and value not in _EFFORTS:
        raise ValueError(f"must be true, false or one of {', '.join(_EFFORTS)}")
    return value


def _output(value: object) -> object:
    is_schema = isinstance(value, dict)
    if not is_schema and not (isinstance(value, str) and is_reference(value)):
        raise ValueError("must be a JSON Schema, or name a class as `module:Class`")
    return sendable(cast("object", value))


Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_name)]
Names = Annotated[
    list[Name],
    BeforeValidator(_split, json_schema_input_type=str | list[Name]),
    AfterValidator(_unique),
]
Line = Annotated[str, AfterValidator(_line)]
RequiredLine = Annotated[str, AfterValidator(_line), Field(min_length=1)]
Text = Annotated[str, AfterValidator(str.strip)]
RequiredText = Annotated[Text, Field(min_length=1)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Expiry = Annotated[float, Field(gt=0, le=1e9)]
Delay = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Delays = Annotated[
    list[Delay],
    BeforeValidator(_as_list, json_schema_input_type=Delay | list[Delay]),
    Field(min_length=1),
]
Positive = Annotated[int, Field(gt=0)]
Percent = Annotated[int, Field(ge=0, le=100)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Pattern = Annotated[str, Field(min_length=1, max_length=1_000), AfterValidator(_pattern)]
FunctionName = Annotated[str, AfterValidator(_function)]
ExceptionNames = Annotated[
    list[Annotated[str, AfterValidator(_exception)]],
    BeforeValidator(_split, json_schema_input_type=str | list[str]),
]
ModelName = Annotated[str, AfterValidator(_model)]
ModelNames = Annotated[
    list[ModelName],
    BeforeValidator(_as_list, json_schema_input_type=str | list[ModelName]),
    Field(min_length=1),
]
WorkerModel = Annotated[ModelName | None, BeforeValidator(_without_inherit)]
"""In subagent files `inherit` means no model of its own."""
Thinking = Annotated[
    JsonValue, AfterValidator(_thinking), WithJsonSchema({"enum": [True, False, *_EFFORTS]})
]
OutputForm = Annotated[
    JsonValue,
    AfterValidator(_output),
    WithJsonSchema({"anyOf": [{"type": "object"}, {"type": "string", "pattern": "^.+:.+$"}]}),
]
