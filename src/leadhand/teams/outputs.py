"""Loads what a team's files declare as input and output: a JSON Schema or a class."""

import inspect
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, cast

from pydantic import JsonValue, TypeAdapter

from leadhand.plans.payloads import schema_mistakes
from leadhand.teams.files import TeamFile
from leadhand.teams.functions import Unusable, resolve
from leadhand.teams.notes import Notes


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
    for path, why in schema_mistakes(schema):
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
