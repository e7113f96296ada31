"""JSON data as the types of users: anything that pydantic knows. Pure."""

import dataclasses
import functools
from typing import TypeVar, get_origin, get_type_hints

from pydantic import BaseModel, JsonValue, RootModel, TypeAdapter
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
    """Raises `InputError` if the function of a worker says that it returns something else.

    Mappings may have the fields of a class, and a class with one root is any value.
    """
    try:
        given: object = get_type_hints(function).get("return")
        given = get_origin(given) or given
    except Exception:  # names that can't be resolved
        return
    if not (isinstance(declared, type) and isinstance(given, type)) or issubclass(given, declared):
        return
    plain = {str, int, float, list, tuple, set, type(None)}
    if _has_fields(declared) and (_has_fields(given) or plain & {*given.__mro__}):
        raise InputError(
            f"{of}: its output is {type_name(declared)}, and worker {who!r} returns "
            f"{type_name(given)}: annotate it alike, or name a model"
        )


def _has_fields(kind: type[object]) -> bool:
    """Whether it is a class with fields of its own; those of outcomes hold any output."""
    own = not kind.__module__.startswith("leadhand.") and not issubclass(kind, RootModel)
    return own and (issubclass(kind, BaseModel) or dataclasses.is_dataclass(kind))
