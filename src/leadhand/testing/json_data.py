"""JSON as typed values, and the few accessors that wire formats need. No validation."""

import json
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Object: TypeAlias = dict[str, "Json"]

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_ASCII = json.JSONEncoder(separators=(",", ":"))


def parse(data: bytes | str) -> Json:
    """Raises `ValueError`."""
    return json.loads(data)


def compact(value: Json) -> str:
    """`value` as JSON without white space, so that its length measures its size."""
    return _COMPACT.encode(value)


def wire(value: Json) -> bytes:
    """`value` as a JSON body in ASCII; lone surrogates are escaped, as JSON allows."""
    return _ASCII.encode(value).encode("ascii")


def mapping(value: Json) -> Object:
    """Anything else becomes the empty value."""
    return value if isinstance(value, dict) else {}


def items(value: Json) -> list[Json]:
    """Anything else becomes the empty value."""
    return value if isinstance(value, list) else []


def text(value: Json) -> str:
    """Anything else becomes the empty value."""
    return value if isinstance(value, str) else ""


def whole(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
