"""JSON as typed values, and the few accessors that wire formats need. No validation."""

import json
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Object: TypeAlias = dict[str, "Json"]

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_ASCII = json.JSONEncoder(separators=(",", ":"))


def parse(data: bytes | str) -> Json:
    """The value of the JSON text `data`. Raises `ValueError`."""
    return json.loads(data)


def compact(value: Json) -> str:
    """`value` as JSON without white space, so that its length measures its size."""
    return _COMPACT.encode(value)


def wire(value: Json) -> bytes:
    """`value` as a JSON body in ASCII; lone surrogates are escaped, as JSON allows."""
    return _ASCII.encode(value).encode("ascii")


def mapping(value: Json) -> Object:
    """`value` if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Json) -> list[Json]:
    """`value` if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: Json) -> str:
    """`value` if it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def whole(value: Json) -> int | None:
    """A whole number; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
