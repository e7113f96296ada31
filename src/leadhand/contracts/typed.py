"""JSON data as the types of users: anything that pydantic knows. Pure."""

import dataclasses
import functools
from collections.abc import Mapping
from typing import TypeVar, cast, get_origin, get_type_hints

from pydantic import BaseModel, JsonValue, TypeAdapter
from pydantic_core import to_json

from leadhand.errors import InputError

T = TypeVar("T")


def read_as(kind: type[T], data: JsonValue) -> T:
    """`data` as an instance of `kind`. Raises `ValidationError`."""
    # As JSON, because strict types accept dates and enums only from JSON. Names are accepted beside
    # aliases, because models write aliases, and dumped data has names.
    adapter: TypeAdapter[T] = adapter_of(kind)
    return adapter.validate_json(to_json(data), by_alias=True, by_name=True)


@functools.lru_cache(maxsize=256)
def adapter_of(kind: type[T]) -> TypeAdapter[T]:
    """The validator of a type."""
    return TypeAdapter(kind)


def type_name(kind: object) -> str:
    """The name of a type, as a message shows it."""
    return kind.__qualname__ if isinstance(kind, type) else str(kind)


def check_return(of: str, function: object, declared: object, *, who: str) -> None:
    """Raises `InputError` if the function of a worker certainly returns something else."""
    given = _other_return(function, declared) if function is not None else None
    if given is not None:
        raise InputError(
            f"{of}: its output is {type_name(declared)}, and worker {who!r} returns "
            f"{type_name(given)}: annotate it alike, or name a model"
        )


def _other_return(function: object, declared: object) -> object | None:
    try:
        given: object = get_type_hints(function).get("return")
    except Exception:  # names that can't be resolved
        return None
    form, wanted = _form(given), _form(declared)
    if form is None or wanted is None or form == wanted:
        return None
    if isinstance(form, type) and isinstance(wanted, type):
        return None if issubclass(form, wanted) else given
    # A mapping may have the fields of a class.
    return (
        None
        if "object" in (form, wanted) and not (isinstance(form, str) and isinstance(wanted, str))
        else given
    )


def _form(kind: object) -> object | None:
    """A class with fields, or what its values are in JSON; None if that is not certain."""
    plain: object = get_origin(kind) or kind
    if not isinstance(plain, type):
        return None
    kind = cast("type[object]", plain)
    if issubclass(kind, BaseModel) or dataclasses.is_dataclass(kind):
        return kind
    known = {"string": str, "number": (int, float), "array": (list, tuple, set), "object": Mapping}
    found = (name for name, of in known.items() if issubclass(kind, of))
    return next(found, None)
