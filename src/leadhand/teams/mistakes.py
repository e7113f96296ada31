"""Describes the mistakes in one file to its author: what is wrong, where, and how to fix it."""

from collections.abc import Iterator, Sequence
from typing import TypeVar, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from leadhand.contracts.data import expected
from leadhand.teams.fields import (
    Fields,
    PlannerFields,
    RoleFields,
    SynthesizerFields,
    TeamFields,
)
from leadhand.teams.files import KeyPath, TeamFile, Value
from leadhand.teams.notes import Notes, closest, intended_name
from leadhand.teams.worker_fields import WorkerFields

M = TypeVar("M", bound=Fields)

_MIN_SIMILARITY = 75
"""The similarity, 0 to 100, from which an unknown key of team.yaml counts as misspelt."""
_SHORT: dict[KeyPath, str] = {
    ("planner",): "be a word, such as `stepwise`, or ",
    ("synthesizer",): "be a word, such as `merge`, or ",
}
"""Field that may be something shorter than a mapping -> what."""


def _fields_in(annotation: object) -> Iterator[type[Fields]]:
    if isinstance(annotation, type) and issubclass(annotation, Fields):
        yield annotation
    for part in get_args(annotation):
        yield from _fields_in(part)


_PARENTS = (TeamFields, WorkerFields, PlannerFields, RoleFields, SynthesizerFields)
NESTED: dict[tuple[type[Fields], str], type[Fields]] = {
    (model, name): nested
    for model in _PARENTS
    for name, info in model.model_fields.items()
    for nested in _fields_in(info.annotation)
}
"""The fields of each mapping that is nested in another."""


def validated(model: type[M], document: TeamFile, notes: Notes) -> M | None:
    """`None` with the mistakes in `notes`."""
    _note_unknown(model, document.values, (), document, notes, own=model is TeamFields)
    try:
        return model.model_validate(document.values)
    except ValidationError as error:
        for row in error.errors(include_url=False):
            notes.problem(document.place(*row["loc"]), _sentence(row, model, document))
        return None


def _note_unknown(
    model: type[Fields],
    values: dict[str, Value],
    path: KeyPath,
    document: TeamFile,
    notes: Notes,
    *,
    own: bool,
) -> None:
    """Note keys without effect; files of formats that aren't leadhand's `own` may have others."""
    for key, value in values.items():
        nested = NESTED.get((model, key))
        if key not in model.model_fields:
            place = document.place(*path, key)
            open_ended = model.model_config.get("extra") in ("allow", "forbid")
            meant = (
                intended_name(key, model.model_fields, min_similarity=_MIN_SIMILARITY)
                if own
                else None
            )
            if meant is not None and not open_ended:
                notes.problem(place, f"there is no key `{key}`: did you mean `{meant}`?")
            elif warning := _unknown(key, model):
                notes.warn(place, warning)
        elif nested is not None:
            for step, inner in _mappings(value):
                _note_unknown(nested, inner, (*path, key, *step), document, notes, own=own)


def _unknown(key: str, model: type[Fields]) -> str | None:
    """The warning about a key that `model` does not have; `None` if the key may be right."""
    match model.model_config.get("extra"):
        case "allow":
            guess = intended_name(key, model.model_fields)
            return f"`{key}` is passed on unchanged: did you mean `{guess}`?" if guess else None
        case "forbid":
            return None  # a problem, not a warning
        case _:
            guess = closest(key, model.model_fields)
            hint = f": did you mean `{guess}`?" if guess else ""
            return f"`{key}` has no effect in this version{hint}"


def _mappings(value: Value) -> Iterator[tuple[tuple[int, ...], dict[str, Value]]]:
    if isinstance(value, dict):
        yield (), value
    elif isinstance(value, list):
        yield from (((n,), item) for n, item in enumerate(value) if isinstance(item, dict))


def _sentence(row: ErrorDetails, model: type[Fields], document: TeamFile) -> str:
    # Steps that are not in the file come from pydantic, or from a normalized form of the value.
    path = row["loc"] if row["type"] == "missing" else document.nearest(row["loc"])
    keys = [step for step in path if isinstance(step, str)]
    item = path[-1] if path else None
    field = f"`{keys[-1]}`" if keys else "the file"
    if isinstance(item, int):
        field = f"item {item + 1} of {field}"
    given, bounds = row["input"], row.get("ctx", {})
    match row["type"]:
        case "missing":
            example = _nested(model, keys[:-1]).examples.get(keys[-1], "add it")
            return f"needs {field}: {example}"
        case "extra_forbidden":
            known = [f"`{name}`" for name in _nested(model, keys[:-1]).model_fields]
            return f"{field} is unknown here: it must be {', '.join(known[:-1])} or {known[-1]}"
        case "string_type":
            quotes = ": put it in quotes" if isinstance(given, bool | int | float) else ""
            return f"{field} is {_shown(given)} and must be text{quotes}"
        case "string_too_short" | "too_short":
            return f"{field} is empty: write something, or leave the key out"
        case "string_too_long":
            return f"{field} is longer than {bounds['max_length']} characters: shorten it"
        case "list_type":
            return f"{field} is {_shown(given)} and must be a list: one `- item` a line"
        case "model_type" | "model_attributes_type" | "dict_type":
            short = _SHORT.get(tuple(path), "")
            return f"{field} is {_shown(given)} and must {short}have `key: value` lines"
        case _:
            return f"{field} is {_shown(given)} and {expected(row)}"


def _nested(model: type[Fields], keys: Sequence[str]) -> type[Fields]:
    for key in keys:
        model = NESTED.get((model, key), model)
    return model


def _shown(given: object) -> str:
    match given:
        case bool():
            return "true" if given else "false"
        case str():
            return repr(given if len(given) <= 60 else f"{given[:60]}...")
        case int() | float():
            return repr(given)
        case list():
            return "a list"
        case dict():
            return "a mapping"
        case _:
            return "nothing" if given is None else "something else"
