"""Loads what a team's files declare as input and output: a JSON Schema or a class."""

import inspect
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, cast

from pydantic import JsonValue, TypeAdapter

from leadhand.teams.files import KeyPath, TeamFile
from leadhand.teams.functions import Unusable, resolve
from leadhand.teams.notes import Notes

_DEFINITIONS = "#/$defs/"


def declared_form(
    declared: JsonValue,
    document: TeamFile,
    key: Literal["input", "output"],
    folder: Path,
    notes: Notes,
) -> object:
    """A `declared` input or output, a type or a schema; `None` if there is none or it is wrong."""
    if isinstance(declared, str):
        found = resolve(declared, folder)
        if not isinstance(found, Unusable | Mapping):
            found = _typed(found, declared)
        if isinstance(found, Unusable):
            notes.problem(document.place(key), found.why)
            return None
        if not isinstance(found, Mapping):
            return found
        schema = cast("Mapping[str, JsonValue]", found)
    elif isinstance(declared, dict):
        schema = declared
    else:
        return None
    for path, why in _mistakes(schema):
        notes.problem(document.place(key, *path), why)
    return schema


def _typed(found: object, name: str) -> object | Unusable:
    if inspect.isroutine(found) or inspect.ismodule(found):
        kind = type(found).__name__
        return Unusable(f"{name!r} is a {kind} and must be a class, or a JSON Schema as a dict")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            TypeAdapter(cast("type[object]", found)).json_schema()
    except Exception as error:
        # A class may have schema hooks of its own, which may raise anything.
        why = " ".join(str(error).partition("\n")[0].split())
        return Unusable(
            f"{name!r} can't describe JSON data ({type(error).__name__}: {why}): name a pydantic "
            "model, a dataclass or a TypedDict"
        )
    return found


def _mistakes(schema: Mapping[str, JsonValue]) -> Iterator[tuple[KeyPath, str]]:
    """Each mistake in a JSON Schema, with its path."""
    # The import takes a quarter of a second, and few teams have a schema.
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    kind = validator_for(schema, default=Draft202012Validator)
    for error in kind(kind.META_SCHEMA).iter_errors(dict(schema)):
        why = " ".join(error.message.split())[:200]
        yield tuple(error.absolute_path), f"is not JSON Schema: {why}"
    defined = schema.get("$defs")
    for path, target in _references(schema, ()):
        name = target.removeprefix(_DEFINITIONS) if target.startswith(_DEFINITIONS) else None
        if name is None or not isinstance(defined, Mapping) or name not in defined:
            yield path, f"`$ref` is {target!r} and must be `#/$defs/` and a name under `$defs`"


def _references(value: object, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(value, Mapping):
        for key, inner in cast("Mapping[str, JsonValue]", value).items():
            if key == "$ref" and isinstance(inner, str):
                yield (*path, key), inner
            else:
                yield from _references(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(cast("list[object]", value)):
            yield from _references(inner, (*path, index))
