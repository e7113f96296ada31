"""JSON Schemas of a team's files, for editors, made from the fields that the loader checks.

They come with leadhand as files, so that nothing need be run to use them. After a change of the
fields, `python -m leadhand.teams.schema` writes them anew.
"""

import ast
import inspect
import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import cast

from pydantic import JsonValue
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from leadhand.teams import fields as fields_module
from leadhand.teams.fields import NESTED, Fields, TeamFields, WorkerFields

FOLDER = Path(__file__).parent / "schemas"
"""Where the files are."""
FILES: dict[str, type[Fields]] = {
    "team.schema.json": TeamFields,
    "worker.schema.json": WorkerFields,
}
"""Which fields each file describes."""


class _ForEditors(GenerateJsonSchema):
    """Without what an editor would only repeat: titles made of names, and what null means."""

    def field_title_should_be_set(self, schema: object) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        """No field has a title besides its name."""
        return False

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """A key without a value is as good as no key."""
        return self.generate_inner(schema["schema"])


def text(name: str) -> str:
    """The content of the schema file `name`."""
    fields = FILES[name]
    made = fields.model_json_schema(schema_generator=_ForEditors)
    sayings = _docstrings()
    _describe(made, fields, sayings)
    for kind in NESTED.values():
        if kind.__name__ in made["$defs"]:
            _describe(made["$defs"][kind.__name__], kind, sayings)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **cast("dict[str, JsonValue]", _tidy(made)),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _describe(
    schema: JsonSchemaValue, kind: type[Fields], sayings: Mapping[tuple[str, str], str]
) -> None:
    """Give every property the docstring of its field, of the nearest class that has the field."""
    for name, one in schema["properties"].items():
        owner = next(base for base in kind.__mro__ if (base.__name__, name) in sayings)
        one["description"] = sayings[owner.__name__, name]


def _docstrings() -> dict[tuple[str, str], str]:
    """Class and field -> the docstring under it. Read here alone: it takes its time."""
    found: dict[tuple[str, str], str] = {}
    for node in ast.parse(inspect.getsource(fields_module)).body:
        if not isinstance(node, ast.ClassDef):
            continue
        for field, below in pairwise(node.body):
            match field, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(said))),
                ):
                    found[node.name, name] = " ".join(said.split())
                case _:
                    pass
    return found


def _tidy(value: JsonValue) -> JsonValue:
    match value:
        case dict():
            kept = {
                key: _tidy(inner)
                for key, inner in value.items()
                # Class names as titles, and defaults that are nothing, tell an editor nothing.
                if not (key == "title" and isinstance(inner, str))
                and not (key == "default" and (isinstance(inner, dict) or inner in (None, "", [])))
            }
            if "properties" in kept and "additionalProperties" not in kept:
                kept["additionalProperties"] = False
            return kept
        case list():
            return [_tidy(item) for item in value]
        case _:
            return value


if __name__ == "__main__":
    for file in FILES:
        (FOLDER / file).write_text(text(file), encoding="utf-8")
