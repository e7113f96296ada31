"""Generates valid values for any JSON Schema from given hints. No randomness.

It covers what providers accept for tools and structured output; of patterns a few common shapes.
"""

import json
import math
import re
from collections.abc import Callable
from typing import cast

from leadhand.testing.json_data import Json, Object, items, mapping, text

Hint = Callable[[str], Json]
"""A suggested value for a property, by its name; for the empty name the default text of strings."""

_DEEPEST = 12
_FORMATS = {
    "date": "2000-01-01",
    "date-time": "2000-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "email": "someone@example.com",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "127.0.0.1",
}
_SHAPES = ("t1", "a", "A", "1", "01", "a1", "2000-01-01", "a-b", "a_b", "a.b", "a/b", "#1", "A1")


def resolved(schema: Json, root: Object) -> Object:
    """`schema` with its `$ref` followed and its `allOf` merged; unknown references give {}."""
    found = mapping(schema)
    if "$ref" not in found and "allOf" not in found:
        return found
    for _ in range(_DEEPEST):
        reference = text(found.get("$ref"))
        if not reference:
            break
        target: Json = root
        for key in reference.lstrip("#/").split("/") if reference != "#" else ():
            target = mapping(target).get(key.replace("~1", "/").replace("~0", "~"))
        found = {**mapping(target), **{key: found[key] for key in found if key != "$ref"}}
    for part in items(found.get("allOf")):
        found = _merged(found, resolved(part, root))
    return found


def _merged(one: Object, other: Object) -> Object:
    properties = {**mapping(one.get("properties")), **mapping(other.get("properties"))}
    required = [*items(one.get("required")), *items(other.get("required"))]
    merged: Object = {**other, **one}
    if properties:
        merged["properties"] = properties
    if required:
        merged["required"] = required
    return merged


def properties(schema: Object) -> Object:
    return mapping(resolved(schema, schema).get("properties"))


def schema_in(prompt: str) -> Object | None:
    """The JSON Schema in a prompt, for models that support schemas only there."""
    start = prompt.find("{")
    while start >= 0:
        try:
            found, _ = json.JSONDecoder().raw_decode(prompt, start)
        except (ValueError, RecursionError):
            found = None
        if isinstance(found, dict) and "properties" in found:
            return cast("Object", found)
        start = prompt.find("{", start + 1)
    return None


def fill(schema: Object, hint: Hint) -> Json:
    """A value that is valid for `schema`; properties have their suggested values if those fit."""
    return _Filler(schema, hint).value(schema, "", 0)


class _Filler:
    def __init__(self, root: Object, hint: Hint) -> None:
        self._root = root
        self._hint = hint

    def value(self, schema: Json, name: str, depth: int) -> Json:
        shape = resolved(schema, self._root)
        choices = items(shape.get("anyOf")) or items(shape.get("oneOf"))
        if choices:
            common = {key: shape[key] for key in shape if key not in ("anyOf", "oneOf")}
            choice = self._choice(choices, self._hint(name), depth)
            return self.value(_merged(choice, common), name, depth + 1)
        if "const" in shape:
            return shape["const"]
        wish = self._hint(name)
        options = items(shape.get("enum"))
        if options:
            return wish if wish in options else options[0]
        match _type(shape, wish):
            case "object":
                return self._object(shape, depth)
            case "array":
                return self._array(shape, name, depth)
            case "integer":
                return int(_number(shape, wish, whole=True))
            case "number":
                return _number(shape, wish, whole=False)
            case "boolean":
                return wish if isinstance(wish, bool) else False
            case "null":
                return None
            case _:
                return _string(shape, wish, self._hint("") or name or "text")

    def _choice(self, choices: list[Json], wish: Json, depth: int) -> Object:
        """The choice that fits the wish; null if allowed and there is no wish, or deep down."""
        shapes = [resolved(choice, self._root) for choice in choices]
        nulls = [shape for shape in shapes if shape.get("type") == "null"]
        if nulls and (wish is None or depth >= _DEEPEST):
            return nulls[0]
        real = [shape for shape in shapes if shape.get("type") != "null"]
        suiting = [shape for shape in real if wish is not None and _suits(wish, shape)]
        return (suiting or real or nulls)[0]

    def _object(self, shape: Object, depth: int) -> Object:
        known = mapping(shape.get("properties"))
        required = [text(name) for name in items(shape.get("required"))]
        wished = (
            [] if depth >= _DEEPEST else [name for name in known if self._hint(name) is not None]
        )
        named = dict.fromkeys([*required, *wished])
        return {name: self.value(known.get(name), name, depth + 1) for name in named}

    def _array(self, shape: Object, name: str, depth: int) -> Json:
        wish = self._hint(name)
        inner = shape.get("items")
        most = _whole(shape.get("maxItems"), otherwise=1_000)
        prefix = items(shape.get("prefixItems"))
        kind = resolved(inner, self._root)
        if isinstance(wish, list) and not prefix and all(self._accepts(one, kind) for one in wish):
            made = wish[:most]
        else:
            made = [self.value(one, name, depth + 1) for one in prefix]
        while len(made) < _whole(shape.get("minItems")) and inner is not False:
            made.append(self.value(inner, name, depth + 1))
        return made

    def _accepts(self, value: Json, shape: Object) -> bool:
        options = items(shape.get("enum"))
        return value in options if options else not shape or _suits(value, shape)


def _type(shape: Object, wish: Json) -> str:
    declared = shape.get("type")
    kinds = [text(kind) for kind in items(declared)] or [text(declared)]
    real = [kind for kind in kinds if kind and kind != "null"]
    for kind in real:
        if wish is not None and _suits(wish, {"type": kind}):
            return kind
    if "null" in kinds:
        return "null"
    if real:
        return real[0]
    if "properties" in shape or "additionalProperties" in shape:
        return "object"
    return "array" if "items" in shape or "prefixItems" in shape else "string"


def _suits(value: Json, shape: Object) -> bool:
    """Bounds are not checked."""
    kind = shape.get("type")
    match value:
        case bool():
            return kind == "boolean"
        case int():
            return kind in ("integer", "number")
        case float():
            return kind == "number"
        case str():
            return kind == "string"
        case list():
            return kind == "array"
        case dict():
            return kind == "object"
        case None:
            return kind == "null"


def _number(shape: Object, wish: Json, *, whole: bool) -> float:
    nudge = 1.0 if whole else 1e-6
    least, most = _bound(shape.get("minimum")), _bound(shape.get("maximum"))
    above, below = _bound(shape.get("exclusiveMinimum")), _bound(shape.get("exclusiveMaximum"))
    wished = float(wish) if isinstance(wish, int | float) else 1.0
    if most is not None and most <= 1 < wished:
        wished /= 100.0  # the wish is a percentage, the schema a fraction
    low = max(-math.inf if least is None else least, -math.inf if above is None else above + nudge)
    high = min(math.inf if most is None else most, math.inf if below is None else below - nudge)
    number = max(min(wished, high), low)
    if not whole:
        return number
    return math.floor(number) if math.floor(number) >= low else math.ceil(low)


def _bound(value: Json) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _whole(value: Json, *, otherwise: int = 0) -> int:
    return value if isinstance(value, int) else otherwise


def _string(shape: Object, wish: Json, otherwise: Json) -> str:
    usual = _FORMATS.get(text(shape.get("format")), text(otherwise))
    made = wish if isinstance(wish, str) else usual
    pattern = text(shape.get("pattern"))
    if pattern and not re.search(pattern, made):
        made = next((one for one in _SHAPES if re.search(pattern, one)), made)
    least = _whole(shape.get("minLength"))
    return made[: _whole(shape.get("maxLength"), otherwise=len(made))].ljust(least, "x")
