"""Declared types, such as a worker's `input`, and JSON data that has to follow them. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

from pydantic import JsonValue, ValidationError

from leadhand.contracts.data import adapter_of, read_as, type_name
from leadhand.untrusted.cutting import cut

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MAX_PROBLEMS = 10

MAX_LEVELS = 100
"""How deep a payload may be nested, so that it can be stored in an event."""

_DEFINITIONS = "#/$defs/"

SchemaPath = tuple[str | int, ...]
"""The keys and indices that lead to a place in a schema."""


def is_too_deep(value: JsonValue) -> bool:
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


class DeclaredType:
    """A type that JSON data has to follow: anything pydantic knows, or a JSON Schema."""

    def __init__(self, declared: object, of: str = "payload") -> None:
        """Problems call the data `of`."""
        self._declared = declared
        self._of = of

    @property
    def name(self) -> str:
        if not self.is_type:
            return str(self.schema.get("title") or "the declared JSON Schema")
        return type_name(self._declared)

    @property
    def schema(self) -> Mapping[str, JsonValue]:
        if isinstance(self._declared, Mapping):
            return cast("Mapping[str, JsonValue]", self._declared)
        return cast("Mapping[str, JsonValue]", adapter_of(self._kind).json_schema())

    @property
    def is_type(self) -> bool:
        """Whether a function receives an instance of a type, not plain JSON data."""
        return not isinstance(self._declared, Mapping)

    def typed(self, payload: JsonValue) -> object:
        """`payload` as a function receives it. Raises `ValidationError` if it is invalid."""
        return read_as(self._kind, payload) if self.is_type else payload

    def plain(self, data: JsonValue) -> JsonValue:
        """Valid data as plain JSON, with the type's defaults and conversions."""
        if not self.is_type:
            return data
        dumped = adapter_of(self._kind).dump_python(self.typed(data), mode="json", round_trip=True)
        return cast("JsonValue", dumped)

    def problems(self, payload: JsonValue) -> Sequence[str]:
        """One line each."""
        found: list[str] = []
        for problem in self._problems(payload):
            found.append(problem)
            if len(found) == MAX_PROBLEMS:
                break
        return found

    def _problems(self, payload: JsonValue) -> Iterator[str]:
        if not self.is_type:
            for error in self._validator.iter_errors(payload):
                yield f"{self._place(error.absolute_path)}: {_line(error.message)}"
            return
        try:
            self.typed(payload)
        except ValidationError as error:
            for row in error.errors(include_url=False, include_input=False, include_context=False):
                yield f"{self._place(row['loc'])}: {_line(row['msg'])}"

    def _place(self, path: Sequence[object]) -> str:
        return ".".join([self._of, *map(str, path)])

    @property
    def _kind(self) -> type[object]:
        return cast("type[object]", self._declared)

    @cached_property
    def _validator(self) -> "Validator":
        # Imported here: it takes a quarter of a second, and few workers declare a JSON Schema.
        from jsonschema import validators

        return validators.validator_for(self.schema)(dict(self.schema))


def _line(message: str) -> str:
    return cut(" ".join(message.split()), 200)


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


def schema_mistakes(schema: Mapping[str, JsonValue]) -> Iterator[tuple[SchemaPath, str]]:
    """Each mistake in a JSON Schema, with its path."""
    # The import takes a quarter of a second, and few teams have a schema.
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    kind = validator_for(schema, default=Draft202012Validator)
    for error in kind(kind.META_SCHEMA).iter_errors(dict(schema)):
        why = _line(error.message)
        yield tuple(error.absolute_path), f"is not JSON Schema: {why}"
    defined = schema.get("$defs")
    for path, target in _references(schema, ()):
        name = target.removeprefix(_DEFINITIONS) if target.startswith(_DEFINITIONS) else None
        if name is None or not isinstance(defined, Mapping) or name not in defined:
            yield path, f"`$ref` is {target!r} and must be `#/$defs/` and a name under `$defs`"


def _references(value: object, path: SchemaPath) -> Iterator[tuple[SchemaPath, str]]:
    if isinstance(value, Mapping):
        for key, inner in cast("Mapping[str, JsonValue]", value).items():
            if key == "$ref" and isinstance(inner, str):
                yield (*path, key), inner
            else:
                yield from _references(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(cast("list[object]", value)):
            yield from _references(inner, (*path, index))
