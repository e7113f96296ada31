"""Wrong arguments of teams, plans and options: an `InputError` that says what, where, what to do.

Only for what people construct: data that is read, such as a plan's JSON, keeps pydantic's errors.
"""

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import ErrorDetails

from leadhand.contracts.field_docs import with_field_docs
from leadhand.contracts.record import Record
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
        raise _wrong(kind, error, named) from None
    for name in named:
        object.__setattr__(given, name, getattr(found, name))


@functools.cache
def _model(kind: "type[DataclassInstance]") -> type[BaseModel]:
    hints = get_type_hints(kind, include_extras=True)
    names = [one.name for one in dataclasses.fields(kind)]
    fields: dict[str, Any] = {name: (hints[name], ...) for name in names}
    return create_model(kind.__name__, __config__=_DATA, **fields)


class _Signature:
    """The signature of a model, which pydantic makes with its validator."""

    def __get__(self, instance: object, kind: type[BaseModel]) -> object:
        kind.model_rebuild()
        return kind.__dict__["__signature__"].__get__(None, kind)


class Argument(Record):
    """Data that people construct: a wrong argument is an `InputError`."""

    __signature__ = _Signature()  # pyright: ignore[reportAssignmentType]

    def __init__(self, /, **named: object) -> None:
        try:
            super().__init__(**named)
        except ValidationError as error:
            raise _wrong(type(self), error, named) from None

    # So that data that is read keeps pydantic's errors.
    __init__.__pydantic_base_init__ = True  # pyright: ignore[reportFunctionMemberAccess]


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
        case "literal_error":
            return f"must be {bounds['expected']}"
        case "greater_than":
            return f"must be more than {bounds['gt']:g}"
        case "greater_than_equal":
            return f"must be {bounds['ge']:g} or more"
        case "less_than_equal":
            return f"must be {bounds['le']:g} or less"
        case "string_too_short" | "too_short":
            return "must not be empty"
        case "string_too_long":
            return f"must have at most {bounds['max_length']} characters"
        case "value_error":
            return str(bounds["error"])
        case "dataclass_type" | "dataclass_exact_type" | "model_type":
            return f"must be a {bounds['class_name']}"
        case _:
            return f"is not valid: {row['msg']}"


def _wrong(kind: type, error: ValidationError, named: Mapping[str, object]) -> InputError:
    rows = error.errors(include_url=False)
    # A value that fits no part of a union has a problem for each of them: the first place counts.
    places = dict[object, str]()
    for row in rows:
        places.setdefault(row["loc"][:1], _sentence(row, [*kind.__annotations__]))
    shown = [*places.values()][:_MAX_PROBLEMS]
    if len(places) > len(shown):
        shown.append(f"and {len(places) - len(shown)} more problems")
    given = named.get("name", named.get("id"))
    name = f" {given!r:.60}" if isinstance(given, str) else ""
    return InputError(f"{kind.__name__}{name}: {'; '.join(shown)}")


def _sentence(row: ErrorDetails, names: Sequence[str]) -> str:
    field = f"`{'.'.join(map(str, row['loc']))}`"
    match row["type"]:
        case "unexpected_keyword_argument" | "extra_forbidden" if len(row["loc"]) == 1:
            return f"there is no {field}: {_instead(str(row['loc'][0]), names)}"
        case "unexpected_keyword_argument" | "extra_forbidden":
            return f"there is no {field}"
        case "missing" | "missing_argument" | "missing_keyword_only_argument":
            return f"{field} is missing"
        case _:
            return f"{field} is {_shown(row['input'])} and {expected(row)}"


def _instead(name: str, names: Sequence[str]) -> str:
    # Imported here because most arguments are right.
    from rapidfuzz import process

    near = process.extractOne(name, names, score_cutoff=70)
    return f"did you mean `{near[0]}`?" if near else f"there are {', '.join(names)}"


def _shown(value: object) -> str:
    if isinstance(value, str | int | float | None):
        return f"{value!r:.60}"
    return f"a {type(value).__name__}"
