"""How events and messages are written down: one line of JSON each, as short as can be.

A body leaves out what its place says already (run and position) and every field that has its
default value, so a body from before a field was added still reads. JSON only, never pickle.
"""

import functools
import json
import math
import zlib
from collections.abc import Callable, Set
from typing import Annotated, TypeVar

from pydantic import ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from leadhand.contracts.event import Event
from leadhand.contracts.people import Message
from leadhand.errors import JournalError

Redact = Callable[[str], str]
"""Takes secrets out of a text. What it makes of a body must be JSON as well."""

T = TypeVar("T")

BLOB_CHARS = 65_536
"""A longer body is kept beside the log, compressed."""


def encode(event: Event, *, redact: Redact | None = None) -> str:
    """The body of an event. Lone surrogates become U+FFFD, and numbers that JSON lacks words.

    Raises `JournalError` where the event holds what is no plain data.
    """
    what = f"event {event.seq} of run {event.run_id!r}"
    fields = written(_events(), event, what=what, without={"run_id", "seq", "type"})
    body = f'{{"type":"{event.type}",{fields[1:]}'
    return body if redact is None else redact(body)


def decode(run_id: str, seq: int, body: str) -> Event:
    """The event that `encode` wrote. Raises `JournalError` for anything else."""
    try:
        return _events().validate_json(f'{{"run_id":{json.dumps(run_id)},"seq":{seq},{body[1:]}')
    except ValidationError as error:
        raise _unreadable(f"event {seq} of run {run_id!r}", error) from None


def encode_message(message: Message, *, redact: Redact | None = None) -> str:
    """The body of a message, without its id and its run."""
    what = f"a message for run {message.run_id!r}"
    body = written(TypeAdapter(Message), message, what=what, without={"id", "run_id"})
    return body if redact is None else redact(body)


def decode_message(id: int, run_id: str, body: str) -> Message:
    """The message that `encode_message` wrote. Raises `JournalError` for anything else."""
    try:
        fields = json.loads(body)
        return Message.model_validate({**fields, "id": id, "run_id": run_id})
    except (TypeError, ValueError) as error:
        raise _unreadable(f"message {id} for run {run_id!r}", error) from None


def compressed(body: str) -> bytes:
    """A body that is too long for the log, as it is kept beside it."""
    return zlib.compress(body.encode())


def expanded(data: bytes) -> str:
    """The body that `compressed` was given. Raises `JournalError` for anything else."""
    try:
        return zlib.decompress(data).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise _unreadable("a long event", error) from None


def written(
    adapter: TypeAdapter[T], value: T, *, what: str, without: Set[str] = frozenset()
) -> str:
    """`value` as JSON, without the fields named and those that have their defaults.

    Raises `JournalError`, which calls it `what`, where it is no plain data.
    """
    exclude = set(without)
    try:
        return adapter.dump_json(value, exclude=exclude, exclude_defaults=True).decode()
    except ValueError:
        pass  # most likely a lone surrogate, which UTF-8 has no bytes for
    try:
        data = adapter.dump_python(value, mode="json", exclude=exclude, exclude_defaults=True)
        return json.dumps(_mended(data), ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError) as error:
        raise JournalError(f"{what} can't be written down: {_line(error)}") from None


@functools.cache
def _events() -> TypeAdapter[Event]:
    """Made when it is first needed: it takes as long as listing thousands of runs."""
    config = ConfigDict(ser_json_inf_nan="strings")
    return TypeAdapter(Annotated[Event, Field(discriminator="type")], config=config)


def _mended(value: JsonValue) -> JsonValue:
    """`value` without lone surrogates, infinities and NaN."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case list():
            return [_mended(item) for item in value]
        case dict():
            return {name: _mended(item) for name, item in value.items()}
        case _:
            return value


def _unreadable(what: str, error: Exception) -> JournalError:
    return JournalError(
        f"{what} can't be read ({_line(error)}): it is damaged, or of a newer leadhand"
    )


def _line(error: Exception) -> str:
    """What an error says, on one line of bearable length."""
    return " ".join(str(error).split())[:200]
