"""Payloads: a task's data besides its intent, validated against its worker's `input`. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue, TypeAdapter, ValidationError
from pydantic_core import to_json

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MAX_PROBLEMS = 10
"""How many problems of one payload are listed."""

MAX_LEVELS = 100
"""How deep a payload may be nested, so that it can be stored in an event."""


def is_too_deep(value: JsonValue) -> bool:
    """Whether a payload is nested deeper than `MAX_LEVELS`."""
    level: list[JsonValue] = [value]
    for _ in range(MAX_LEVELS + 1):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True


class PayloadSchema:
    """The declared type of a worker's payloads."""

    def __init__(self, declared: object) -> None:
        """`declared` is a type, or a JSON Schema as a mapping."""
        self._declared = declared

    @property
    def schema(self) -> Mapping[str, JsonValue]:
        """The type as a JSON Schema."""
        if isinstance(self._declared, Mapping):
            return cast("Mapping[str, JsonValue]", self._declared)
        return cast("Mapping[str, JsonValue]", self._adapter.json_schema())

    @property
    def is_type(self) -> bool:
        """Whether a function receives an instance of a type, not plain JSON data."""
        return not isinstance(self._declared, Mapping)

    def typed(self, payload: JsonValue) -> object:
        """`payload` as a function receives it. Raises `ValidationError` if it is invalid."""
        return self._adapter.validate_json(to_json(payload)) if self.is_type else payload

    def problems(self, payload: JsonValue) -> Sequence[str]:
        """What is wrong with a payload, one line each; empty if it is valid."""
        found: list[str] = []
        for problem in self._problems(payload):
            found.append(problem)
            if len(found) == MAX_PROBLEMS:
                break
        return found

    def _problems(self, payload: JsonValue) -> Iterator[str]:
        if not self.is_type:
            for error in self._validator.iter_errors(payload):
                yield f"{_place(error.absolute_path)}: {_line(error.message)}"
            return
        try:
            self.typed(payload)
        except ValidationError as error:
            for row in error.errors(include_url=False, include_input=False, include_context=False):
                yield f"{_place(row['loc'])}: {_line(row['msg'])}"

    @cached_property
    def _adapter(self) -> TypeAdapter[object]:
        return TypeAdapter(cast("type[object]", self._declared))

    @cached_property
    def _validator(self) -> "Validator":
        # Imported here: it takes a quarter of a second, and few workers declare a JSON Schema.
        from jsonschema import validators

        return validators.validator_for(self.schema)(dict(self.schema))


def _place(path: Sequence[object]) -> str:
    return ".".join(["payload", *map(str, path)])


def _line(message: str) -> str:
    return " ".join(message.split())[:200]


def compact_schema(schema: Mapping[str, JsonValue]) -> str:
    """A JSON Schema in one line for a model, without titles."""
    return json.dumps(_untitled(dict(schema)), ensure_ascii=False, separators=(",", ":"))


def _untitled(value: JsonValue) -> JsonValue:
    if isinstance(value, list):
        return [_untitled(one) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _untitled(one)
        for key, one in value.items()
        if key != "title" or not isinstance(one, str)
    }


def outline(schema: Mapping[str, JsonValue]) -> str:
    """A JSON Schema in a few words for a person: `{id: integer, note?: string}`."""
    return _outline(schema, _mapping(schema.get("$defs")), 3)


def _outline(value: object, shared: Mapping[str, object], depth: int) -> str:
    shape = _mapping(value)
    name = str(shape.get("$ref", "")).rpartition("/")[2]
    if name:
        return _outline(shared[name], shared, depth - 1) if name in shared and depth > 1 else name
    options = _items(shape.get("anyOf")) or _items(shape.get("oneOf"))
    if options:
        return " | ".join(dict.fromkeys(_outline(one, shared, depth) for one in options))
    if named := _items(shape.get("enum")):
        return " | ".join(json.dumps(one, ensure_ascii=False) for one in named[:8])
    fields, needed = _mapping(shape.get("properties")), _items(shape.get("required"))
    if fields and depth > 0:
        said = (
            f"{field}{'' if field in needed else '?'}: {_outline(one, shared, depth - 1)}"
            for field, one in fields.items()
        )
        return f"{{{', '.join(said)}}}"
    if shape.get("type") == "array":
        return f"[{_outline(shape.get('items'), shared, depth - 1)}]"
    kinds = _items(shape.get("type")) or [shape.get("type", "any")]
    return " | ".join(map(str, kinds))


def _mapping(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _items(value: object) -> Sequence[object]:
    return cast("list[object]", value) if isinstance(value, list) else ()
