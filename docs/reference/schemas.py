"""Writes the JSON Schemas of a team's files, for editors, from the fields that the loader checks.

leadhand ships them as files. `make reference` writes them anew after the fields changed.
"""

import ast
import inspect
import json
from collections.abc import Mapping
from itertools import pairwise
from typing import cast

from pydantic import JsonValue
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from leadhand.teams import fields, worker_fields
from leadhand.teams.fields import Fields, TeamFields
from leadhand.teams.mistakes import NESTED
from leadhand.teams.scaffold import SCHEMAS
from leadhand.teams.worker_fields import WorkerFields

FILES: dict[str, type[Fields]] = {
    "team.schema.json": TeamFields,
    "worker.schema.json": WorkerFields,
}
"""File name -> the fields that it describes."""


class _ForEditors(GenerateJsonSchema):
    """Leaves out what is of no use in an editor: titles made from names, and null."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Leave out null: a key without a value means the same as no key."""
        return self.generate_inner(schema["schema"])


def text(name: str) -> str:
    """The content of the schema file `name`."""
    fields = FILES[name]
    made = fields.model_json_schema(schema_generator=_ForEditors)
    docstrings = _docstrings()
    _describe(made, fields, docstrings)
    for kind in NESTED.values():
        if kind.__name__ in made["$defs"]:
            _describe(made["$defs"][kind.__name__], kind, docstrings)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **cast("dict[str, JsonValue]", _tidy(made)),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _describe(
    schema: JsonSchemaValue, kind: type[Fields], docstrings: Mapping[tuple[str, str], str]
) -> None:
    """Give every property the docstring of its field, which a base class may have."""
    for name, described in schema["properties"].items():
        owner = next(base for base in kind.__mro__ if (base.__name__, name) in docstrings)
        described["description"] = docstrings[owner.__name__, name]


def _docstrings() -> dict[tuple[str, str], str]:
    """(class, field) -> the field's docstring, from the source."""
    found: dict[tuple[str, str], str] = {}
    for node in ast.parse("".join(map(inspect.getsource, (fields, worker_fields)))).body:
        if not isinstance(node, ast.ClassDef):
            continue
        for field, below in pairwise(node.body):
            match field, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(docstring))),
                ):
                    found[node.name, name] = " ".join(docstring.split())
                case _:
                    pass
    return found


def _tidy(value: JsonValue) -> JsonValue:
    match value:
        case dict():
            kept = {
                key: _tidy(inner)
                for key, inner in value.items()
                # Class names as titles and empty defaults are of no use in an editor.
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
        (SCHEMAS / file).write_text(text(file), encoding="utf-8")
