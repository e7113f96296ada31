"""JSON as typed values, and the few looks into it that wire formats need. No validation."""

import json
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
Object: TypeAlias = dict[str, "Json"]

_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_ASCII = json.JSONEncoder(separators=(",", ":"))


def parse(data: bytes | str) -> Json:
    """The value that `data` spells; raises ValueError where it spells none."""
    return json.loads(data)


def compact(value: Json) -> str:
    """`value` without a needless character, so that its length is a measure."""
    return _COMPACT.encode(value)


def wire(value: Json) -> bytes:
    """`value` as a body; lone surrogates are escaped, as JSON allows."""
    return _ASCII.encode(value).encode("ascii")


def mapping(value: Json) -> Object:
    """`value` where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Json) -> list[Json]:
    """`value` where it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: Json) -> str:
    """`value` where it is a string, else an empty one."""
    return value if isinstance(value, str) else ""
