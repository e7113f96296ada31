"""The codec: every event comes back as it was, and bodies say no more than they must."""

import dataclasses
import datetime as dt
import json
import math
import types
from collections.abc import Sequence
from typing import Annotated, Literal, Union, cast, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, JsonValue

from leadhand.contracts.events import Event, ModelCalled, TaskCompleted, dump
from leadhand.contracts.outcome import Result
from leadhand.contracts.people import RunMessage
from leadhand.errors import JournalError
from leadhand.journal.codec import (
    compress,
    decode,
    decode_message,
    decompress,
    encode,
    encode_message,
)
from leadhand.testing.journal_stories import NOON, Story

EVENTS = cast("tuple[type[Event], ...]", get_args(Event))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
numbers = st.integers(1, 100) | st.just(0)
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def values_of(hint: object) -> st.SearchStrategy[object]:
    """Values of a contract's type, its bounds held, its optional fields there or left out."""
    if hint is JsonValue:
        return plain
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return values_of(arguments[0])
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin in (Union, types.UnionType):
        return st.one_of([values_of(argument) for argument in arguments])
    if origin is tuple:
        if arguments[-1] is Ellipsis:
            return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
        return st.tuples(*(values_of(argument) for argument in arguments))
    if origin is Sequence:
        return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
    if origin is dict:
        return st.dictionaries(texts, values_of(arguments[1]), max_size=2)
    assert isinstance(hint, type), hint
    return SIMPLE[hint] if hint in SIMPLE else st.deferred(lambda: instances(hint))


SIMPLE: dict[type, st.SearchStrategy[object]] = {
    str: texts.map(lambda text: text or "x"),
    int: numbers,
    float: st.floats(min_value=0.001, max_value=1e12),
    bool: st.booleans(),
    type(None): st.none(),
    dt.datetime: st.datetimes(timezones=st.just(dt.UTC)),
}
POSITIVE = {"max_tokens", "max_steps", "revision", "requests", "tokens", "max_rounds"}


def instances(kind: type) -> st.SearchStrategy[object]:
    """Instances of a contract: a model or a dataclass."""
    hints = get_type_hints(kind, include_extras=True)
    if issubclass(kind, BaseModel):
        optional = {name for name, one in kind.model_fields.items() if not one.is_required()}
        hints = {name: hints[name] for name in kind.model_fields}
    else:
        fields = dataclasses.fields(cast("type[Event]", kind))
        nothing = dataclasses.MISSING
        optional = {
            field.name
            for field in fields
            if field.default is not nothing or field.default_factory is not nothing
        }
        hints = {field.name: hints[field.name] for field in fields}
    every = {name: values_of(hint) for name, hint in hints.items()}
    for name in POSITIVE & every.keys():
        every[name] = st.integers(1, 10) | (st.none() if name not in {"revision"} else st.just(1))
    if kind.__name__ in {"Usage", "Metrics"}:
        every["requests"] = st.integers(0, 10)
    if kind.__name__ == "Budget":  # a scope and a period need an amount
        every |= {"scope": st.none(), "per": st.none()}
    return st.fixed_dictionaries(
        {name: value for name, value in every.items() if name not in optional},
        optional={name: value for name, value in every.items() if name in optional},
    ).map(lambda values: kind(**values))


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
@settings(max_examples=20)
@given(data=st.data())
def test_every_event_comes_back_as_it_was(kind: type[Event], data: st.DataObject) -> None:
    event = data.draw(cast("st.SearchStrategy[Event]", instances(kind)))
    back = decode(event.run_id, event.seq, encode([event])[0])
    assert back == event
    assert dump(back) == dump(event)


def test_a_body_is_json_without_place_and_defaults() -> None:
    event = Story("r").dispatched("a")
    body = encode([event])[0]
    assert json.loads(body) == {
        "type": "task_dispatched",
        "at": "2026-03-01T12:00:01.000005+00:00",
        "elapsed_s": 1.0,
        "task_id": "a",
        "attempt": 1,
        "worker": "count",
    }
    assert "\n" not in body


def test_a_body_from_before_a_field_was_added_is_read() -> None:
    """And one from after: what is not known is not missed."""
    body = (
        '{"type":"model_called","at":"2026-03-01T12:00:00Z","elapsed_s":1.0,"role":"planner",'
        '"model":"openai:x","duration_s":0.5,"mood":"sunny"}'
    )
    at = NOON.replace(microsecond=0)
    called = ModelCalled(
        seq=7, at=at, elapsed_s=1.0, run_id="r", role="planner", model="openai:x", duration_s=0.5
    )
    assert decode("r", 7, body) == called


@pytest.mark.parametrize(
    "body", ["", "{", "[]", "null", "{}", '{"type":"task_danced","at":"2026-03-01T12:00:00Z"}']
)
def test_what_is_no_event_is_called_that(body: str) -> None:
    """F31: with its place, in one line."""
    with pytest.raises(JournalError, match=r"event 3 of run 'r' can't be read") as error:
        decode("r", 3, body)
    assert "\n" not in str(error.value)
    with pytest.raises(JournalError):
        decompress(body.encode())


@pytest.mark.parametrize("body", ["", "{", "[]", "null", '{"reply":1}', '{"reason":null}'])
def test_what_is_no_message_is_called_that(body: str) -> None:
    """F31: with its place, in one line."""
    with pytest.raises(JournalError, match=r"message 3 for run 'r' can't be read") as error:
        decode_message(3, "r", body)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("place", [0, 31, 32, 99])
def test_a_secret_in_one_of_many_events_is_taken_out_of_that_one(place: int) -> None:
    """F36: what leadhand itself writes is left as it is, whatever a secret is called."""
    story = Story("r")
    events = [story.dispatched(f"t{n}" if n != place else "hunter2") for n in range(100)]

    def redact(text: str) -> str:
        return text.replace("hunter2", "[redacted]").replace("task_dispatched", "[redacted]")

    plain, redacted = encode(events), encode(events, redact=redact)
    plain[place] = plain[place].replace("hunter2", "[redacted]")
    assert redacted == plain


def test_numbers_that_json_lacks_cost_no_run() -> None:
    """F06: typed numbers come back; in free data they are words."""
    event = Story("r").completed("a")
    assert isinstance(event, TaskCompleted)
    odd = dataclasses.replace(
        event, elapsed_s=math.inf, result=Result(output={"n": [math.nan, -math.inf]})
    )
    body = encode([odd])[0]
    json.loads(body, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    back = decode("r", event.seq, body)
    assert isinstance(back, TaskCompleted)
    assert back.elapsed_s == math.inf
    assert back.result.output == {"n": ["NaN", "-Infinity"]}


def test_lone_surrogates_are_replaced_and_nothing_else() -> None:
    """F07: also where there are numbers that JSON lacks. A name may get several."""
    event = Story("r").completed("a")
    assert isinstance(event, TaskCompleted)
    output: JsonValue = {"k\udc00": ["a\ud800b", "😀", math.inf, -math.inf, math.nan], "n": 1.5}
    odd = dataclasses.replace(event, result=Result(output=output, summary="\udfff"))
    back = decode("r", event.seq, encode([odd])[0])
    assert isinstance(back, TaskCompleted)
    assert isinstance(back.result.output, dict)
    names = {name.rstrip("\ufffd"): value for name, value in back.result.output.items()}
    assert names == {"k": ["a\ufffdb", "😀", "Infinity", "-Infinity", "NaN"], "n": 1.5}
    assert back.result.summary == "\ufffd"
    message = decode_message(1, "r", encode_message(RunMessage(run_id="r", reason="x\ud800")))
    assert message == RunMessage(id=1, run_id="r", reason="x\ufffd")


def test_what_is_no_plain_data_is_refused() -> None:
    event = Story("r").completed("a")
    assert isinstance(event, TaskCompleted)
    broken = dataclasses.replace(event, result=Result.model_construct(output=object()))
    why = r"event 1 of run 'r' can't be written down: .*object"
    with pytest.raises(JournalError, match=why):
        encode([broken])
    endless: list[object] = []
    endless.append(endless)
    broken = dataclasses.replace(event, result=Result.model_construct(output=endless))
    with pytest.raises(JournalError, match=r"event 1 of run 'r' can't be written down"):
        encode([broken])


@given(texts)
def test_long_bodies_are_compressed_and_come_back(text: str) -> None:
    body = json.dumps(text * 100)
    assert decompress(compress(body)) == body
