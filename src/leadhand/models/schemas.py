"""What is sent of a JSON schema. What a provider accepts of it is worked out once: pydantic-ai
does it for each request, which takes longer than building the rest of it."""

import functools
from collections.abc import Mapping
from typing import cast

from pydantic import JsonValue
from pydantic_ai import JsonSchemaTransformer
from pydantic_ai.models import Model
from pydantic_ai.profiles import ModelProfile
from pydantic_core import to_json

_Schema = dict[str, object]

MAX_SCHEMAS = 1_000


MAX_TEXT_CHARS = 2_000
"""Of a text in a form of ours. llama.cpp refuses limits that are much higher."""
_LONG = ("answer", "output", "instructions")
"""Fields whose texts have no limit: answers, also those of a type of the user's, and prompts."""


def with_short_texts(schema: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """A form with a limit for each text, for a server that enforces it: it ends a text that
    repeats itself without end. Not for strict schemas of OpenAI, which may have no such limit."""

    def bounded(value: JsonValue, name: str = "") -> JsonValue:
        if isinstance(value, list):
            return [bounded(one) for one in value]
        if not isinstance(value, dict) or name in (*_LONG, "$defs"):
            return value
        if value.get("type") == "string" and not value.keys() & {"enum", "format", "pattern"}:
            return {"maxLength": MAX_TEXT_CHARS, **value}
        return {key: bounded(one, key) for key, one in value.items()}

    return {key: bounded(one, key) for key, one in schema.items()}


def remember_schemas(model: Model) -> None:
    """Make `model` rewrite each schema only once, also for other models of its kind."""
    kind = model.profile.get("json_schema_transformer")
    if kind is not None:
        profile = {**model.profile, "json_schema_transformer": _remembering(kind)}
        vars(model)["profile"] = cast("ModelProfile", profile)


@functools.cache
def _remembering(kind: type[JsonSchemaTransformer]) -> type[JsonSchemaTransformer]:
    known: dict[tuple[bytes, bool | None], tuple[_Schema, bool]] = {}

    class Remembering(kind):
        def __init__(self, schema: _Schema, *, strict: bool | None = None) -> None:
            # The whole text, because the author of a tool may change its schema in place.
            self._key = (to_json(schema), strict)
            if self._key not in known:
                super().__init__(schema, strict=strict)

        def walk(self) -> _Schema:
            if self._key not in known:
                if len(known) >= MAX_SCHEMAS:
                    known.clear()
                known[self._key] = (super().walk(), self.is_strict_compatible)
            walked, self.is_strict_compatible = known[self._key]
            return walked

    return Remembering
