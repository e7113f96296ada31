"""What a provider accepts of a JSON schema, worked out once: pydantic-ai does it for each
request, which takes longer than building the rest of it."""

import functools
from typing import cast

from pydantic_ai import JsonSchemaTransformer
from pydantic_ai.models import Model
from pydantic_ai.profiles import ModelProfile
from pydantic_core import to_json

_Schema = dict[str, object]

MAX_SCHEMAS = 1_000


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
