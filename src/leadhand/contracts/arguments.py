"""Wrong arguments of teams and options: an `InputError` that says what, where, what to do."""

import dataclasses
import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import ErrorDetails

from leadhand.contracts.field_docs import with_field_docs
from leadhand.errors import InputError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_MAX_PROBLEMS = 5
_DATA = ConfigDict(arbitrary_types_allowed=True, extra="forbid", protected_namespaces=())

T = TypeVar("T")


def argument(kind: type[T]) -> type[T]:
    """The dataclass, which people construct: `help` shows its fields, and no other key fits."""
    kind.__pydantic_config__ = _DATA  # pyright: ignore[reportAttributeAccessIssue]
    return with_field_docs(kind)


def check_fields(given: "DataclassInstance") -> None:
    """Validate the fields of a dataclass, and keep lists as tuples. Raises `InputError`."""
    kind = type(given)
    named = {one.name: getattr(given, one.name) for one in dataclasses.fields(kind)}
    try:
        found = _model(kind)(**named)
    except ValidationError as error:
        raise InputError(in_one_line(error, named)) from None
    for name in named:
        object.__setattr__(given, name, getattr(found, name))


@functools.cache
def _model(kind: "type[DataclassInstance]") -> type[BaseModel]:
    hints = get_type_hints(kind, include_extras=True)
    names = [one.name for one in dataclasses.fields(kind)]
    fields: dict[str, Any] = {name: (hints[name], ...) for name in names}
    return create_model(kind.__name__, __config__=_DATA, **fields)


def expected(row: ErrorDetails) -> str:
    """What a value must be, for `field is value and ...`."""
    bounds = row.get("ctx", {})
    match row["type"]:
        case "string_type":
            return "must be text"
        case "bool_type" | "bool_parsing":
            return "must be true or false"
        case "int_type" | "int_from_float" | "int_parsing":
            return "must be a whole number"
        case "float_type" | "finite_number" | "float_parsing":
            return "must be a number"
        case "tuple_type" | "list_type":
            return "must be a list"
        case "string_too_short" | "too_short":
            return "must not be empty"
        case "value_error":
            return str(bounds["error"])
        case "dataclass_type" | "dataclass_exact_type" | "model_type":
            return f"must be a {bounds['class_name']}"
        case _:  # "Input should be less than 5"
            _, should, rest = row["msg"].partition(" should ")
            return f"must {rest}" if should else f"is not valid: {row['msg']}"


def in_one_line(error: ValidationError, named: Mapping[str, object] | None = None) -> str:
    """What is wrong with the fields `named` of what was to be constructed."""
    # A value that fits no part of a union has a problem for each of them: the first place counts.
    places = dict[object, str]()
    for row in error.errors(include_url=False):
        places.setdefault(row["loc"][:1], _sentence(row))
    shown = [*places.values()][:_MAX_PROBLEMS]
    if len(places) > len(shown):
        shown.append(f"and {len(places) - len(shown)} more problems")
    given = (named or {}).get("name")
    name = f" {given!r:.60}" if isinstance(given, str) else ""
    return f"{error.title}{name}: {'; '.join(shown)}"


def _sentence(row: ErrorDetails) -> str:
    field = f"`{'.'.join(map(str, row['loc']))}`"
    match row["type"]:
        case "unexpected_keyword_argument" | "extra_forbidden":
            return f"there is no {field}"
        case "missing":
            return f"{field} is missing"
        case _:
            return f"{field} is {_shown(row['input'])} and {expected(row)}"


def _shown(value: object) -> str:
    if isinstance(value, str | int | float | None):
        return f"{value!r:.60}"
    return f"a {type(value).__name__}"
