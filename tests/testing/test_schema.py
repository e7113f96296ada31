"""The filler makes a value that its schema accepts, and gives wishes where they fit."""

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadhand.testing.json_data import Json, Object
from leadhand.testing.schema import fill, schema_in

LIST: Object = {"type": "array", "items": {"type": "string"}, "minItems": 3}
TREE: Object = {
    "$ref": "#/$defs/Node",
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "minLength": 3, "maxLength": 5},
                "children": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                "parent": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
            },
            "required": ["name", "children", "parent"],
        }
    },
}
SCHEMAS: dict[str, Object] = {
    "a recursive one": TREE,
    "const": {"const": {"kind": "x"}},
    "enum": {"enum": [None, 4, "b"]},
    "a list of texts": LIST,
    "a list of choices": {**LIST, "items": {"enum": ["a", "b", "c", "d"]}},
    "a tuple": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
    "type by list": {"type": ["integer", "null"]},
    "all of": {
        "allOf": [
            {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
            {"properties": {"b": {"type": "boolean"}}, "required": ["b"]},
        ]
    },
    "one of": {"oneOf": [{"type": "string", "format": "date"}, {"type": "integer"}]},
    "a share": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "a mapping": {"type": "object", "additionalProperties": {"type": "number"}},
    "a pattern": {"type": "string", "pattern": "^[a-z]\\d$"},
    "nothing said": {},
}


def nothing(name: str) -> Json:
    return None


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=list(SCHEMAS))
@pytest.mark.parametrize("wish", [None, "a long wish of many words", 85, ["x", "y"], True])
def test_a_filled_value_is_valid_for_any_wish(schema: Object, wish: Json) -> None:
    jsonschema.validate(fill(schema, lambda _: wish), schema)


@given(
    low=st.integers(-1000, 1000),
    width=st.integers(0, 1000),
    wish=st.integers(-5000, 5000) | st.none(),
)
def test_whole_numbers_keep_within_their_bounds(low: int, width: int, wish: int | None) -> None:
    schema: Object = {"type": "integer", "minimum": low, "maximum": low + width}
    jsonschema.validate(fill(schema, lambda _: wish), schema)


def test_an_optional_property_is_there_only_where_it_is_wished_for() -> None:
    schema: Object = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    }
    wishes: Object = {"b": "this"}
    assert fill(schema, nothing) == {}
    assert fill(schema, wishes.get) == {"b": "this"}


def test_a_nullable_value_is_null_without_a_wish() -> None:
    schema: Object = {
        "type": "object",
        "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
        "required": ["a"],
    }
    wishes: Object = {"a": "this"}
    assert fill(schema, nothing) == {"a": None}
    assert fill(schema, wishes.get) == {"a": "this"}


def test_a_percentage_wished_for_becomes_a_share_where_one_is_the_most() -> None:
    schema: Object = {"type": "number", "minimum": 0, "maximum": 1}
    assert fill(schema, lambda _: 85) == 0.85


def test_a_schema_written_out_in_a_prompt_is_found() -> None:
    assert schema_in(
        'Use {"a": 1} or {x}.\nAnswer in:\n{"type": "object", "properties": {}}\n'
    ) == {"type": "object", "properties": {}}
    assert schema_in("{" * 5_000) is None
