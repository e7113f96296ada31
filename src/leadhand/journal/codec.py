"""The codec of events and messages: one short line of JSON each, never pickle.

A body leaves out what its row has (run and position) and default values, so that old bodies can
still be read.
"""

import contextlib
import functools
import json
import math
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar, cast, get_args

from pydantic import ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from leadhand.contracts.people import RunMessage
from leadhand.errors import JournalError
from leadhand.untrusted.cutting import cut

if TYPE_CHECKING:
    from leadhand.contracts.events import Event

Redact = Callable[[str], str]
"""Removes secrets from a text. It must keep JSON valid."""

T = TypeVar("T")

_CONFIG = ConfigDict(ser_json_inf_nan="strings")
_ELSEWHERE = {"run_id", "seq", "type", "at"}
_REDACTED_AT_ONCE = 32
_TYPE = '{"type":"'

BLOB_CHARS = 65_536
"""Longer bodies are compressed and kept in a table of their own."""


def encode(events: "Sequence[Event]", *, redact: Redact | None = None) -> list[str]:
    """The bodies of events. Lone surrogates become U+FFFD; NaN and infinities become strings.
    Raises `JournalError` if there is something that is not plain data."""
    contents = [_content(event) for event in events]
    if redact is not None:
        contents = _redacted(contents, redact)
    return [
        f'{{"type":"{event.type}","at":"{event.at.isoformat()}",{content[1:]}'
        for event, content in zip(events, contents, strict=True)
    ]


def without_secrets(events: "Sequence[Event]", redact: Redact) -> "Sequence[Event]":
    """As a journal that redacts gives them back. Raises `JournalError`."""
    bodies = encode(events)
    clean = _redacted(bodies, redact)
    return [
        event if body == before else decode(event.run_id, event.seq, body)
        for event, before, body in zip(events, bodies, clean, strict=True)
    ]


def decode(run_id: str, seq: int, body: str) -> "Event":
    """Raises `JournalError` if it is not valid."""
    text = f'{{"run_id":{json.dumps(run_id)},"seq":{seq},{body[1:]}'
    kind = _kinds().get(body[len(_TYPE) : body.find('"', len(_TYPE))])
    if kind is not None and body.startswith(_TYPE):
        with contextlib.suppress(ValidationError):  # explained below
            return _adapter(kind).validate_json(text)
    try:
        return _events().validate_json(text)
    except ValidationError as error:
        what = f"event {seq} of run {run_id!r}"
        for problem in error.errors(include_url=False, include_context=False):
            if problem["type"] == "union_tag_invalid":
                kind = str(json.loads(body)["type"])[:60]
                raise JournalError(
                    f"{what} can't be read: a newer leadhand wrote it, as {kind!r}: update leadhand"
                ) from None
        raise _unreadable(what, error) from None


def encode_message(message: RunMessage, *, redact: Redact | None = None) -> str:
    """The body of a message, without id and run."""
    what = f"a message for run {message.run_id!r}"
    body = to_json(TypeAdapter(RunMessage), message, what=what, without={"id", "run_id"})
    return body if redact is None else redact(body)


def decode_message(id: int, run_id: str, body: str) -> RunMessage:
    """Raises `JournalError` if it is not valid."""
    try:
        fields = json.loads(body)
        return RunMessage.model_validate({**fields, "id": id, "run_id": run_id})
    except (TypeError, ValueError) as error:
        raise _unreadable(f"message {id} for run {run_id!r}", error) from None


def compress(body: str) -> bytes:
    return zlib.compress(body.encode(), level=1)  # the run waits for it


def decompress(data: bytes) -> str:
    """Raises `JournalError` if it is not valid."""
    try:
        return zlib.decompress(data).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise _unreadable("a long event", error) from None


def to_json(
    adapter: TypeAdapter[T], value: T, *, what: str, without: set[str] | None = None
) -> str:
    """Without the fields in `without` and defaults. Raises `JournalError` for what is no data."""
    try:
        # The same as `dump_json`, which spends half of its time passing options on.
        data = adapter.serializer.to_json(value, exclude=without, exclude_defaults=True)
        return data.decode()
    except ValueError:
        pass  # most likely a lone surrogate, which UTF-8 can't encode
    try:
        data = adapter.dump_python(value, mode="json", exclude=without, exclude_defaults=True)
        return json.dumps(_repaired(data), ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError) as error:
        raise JournalError(f"{what} can't be written down: {_line(error)}") from None


def _content(event: "Event") -> str:
    """The JSON object of a body without type and time: everything that may hold a secret."""
    what = f"event {event.seq} of run {event.run_id!r}"
    return to_json(_adapter(type(event)), event, what=what, without=_ELSEWHERE)


def _redacted(contents: Sequence[str], redact: Redact) -> list[str]:
    """The contents without secrets. Secrets are rare, so that many are checked at once."""
    found: list[str] = []
    for start in range(0, len(contents), _REDACTED_AT_ONCE):
        some = contents[start : start + _REDACTED_AT_ONCE]
        together = f"[{','.join(some)}]"
        found += some if redact(together) == together else map(redact, some)
    return found


@functools.cache
def _adapter(kind: "type[Event]") -> "TypeAdapter[Event]":
    """The adapter of one event type, which is faster than that of all."""
    optional = cast("type[Event]", kind | None)  # a class by itself takes no config
    return TypeAdapter(optional, config=_CONFIG)


@functools.cache
def _events() -> "TypeAdapter[Event]":
    kind = cast("type[Event]", Annotated[_any_event(), Field(discriminator="type")])
    return TypeAdapter(kind, config=_CONFIG)


@functools.cache
def _kinds() -> "Mapping[str, type[Event]]":
    """Event classes by type name; adapters of a few build faster than that of all."""
    kinds = cast("tuple[type[Event], ...]", get_args(_any_event()))
    return {kind.__dataclass_fields__["type"].default: kind for kind in kinds}


def _any_event() -> object:
    # Importing events takes as long as listing thousands of runs, which needs none.
    from leadhand.contracts.events import Event

    return Event


def _repaired(value: JsonValue) -> JsonValue:
    """`value` without lone surrogates, infinities and NaN."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case list():
            return [_repaired(item) for item in value]
        case dict():
            return {name: _repaired(item) for name, item in value.items()}
        case _:
            return value


def _unreadable(what: str, error: Exception) -> JournalError:
    return JournalError(
        f"{what} can't be read ({_line(error)}): it is damaged, or of a newer leadhand"
    )


def _line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        line = f"{'.'.join(map(str, first['loc'][1:]))}: {first['msg']}".removeprefix(": ")
    else:
        line = " ".join(str(error).split())
    return cut(line, 200)
