"""JSON data as the types of users: anything that pydantic knows. Pure."""

import functools
from typing import TypeVar

from pydantic import JsonValue, TypeAdapter
from pydantic_core import to_json

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
