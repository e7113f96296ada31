"""Return values and exceptions of workers become outcomes that can be written as JSON."""

import dataclasses
import datetime as dt
import enum
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
from pydantic import BaseModel, TypeAdapter, model_serializer
from pydantic_core import from_json, to_json

from leadhand.contracts.outcome import (
    Completed,
    Escalated,
    Failed,
    Outcome,
    PlanImpact,
    Result,
    Usage,
)
from leadhand.engine.failures import MAX_MESSAGE
from leadhand.workers.output import MAX_BYTES, outcome_of

OUTCOME: TypeAdapter[Outcome] = TypeAdapter(Outcome)


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    seen: dt.date


class Row(BaseModel):
    n: int
    note: str = "none"


class Unprintable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even that")


def completed(value: object, output: object = None) -> object:
    """The output of the completion that `value` becomes; it is the same once read back."""
    outcome = outcome_of(value, output)
    assert isinstance(outcome, Completed), outcome
    assert OUTCOME.validate_json(OUTCOME.dump_json(outcome)) == outcome
    return outcome.result.output


def refused(value: object, output: object = None) -> str:
    """Why `value` is no output."""
    outcome = outcome_of(value, output)
    assert isinstance(outcome, Failed), outcome
    assert (outcome.kind, outcome.transient) == ("invalid_output", False)
    assert len(outcome.message) <= MAX_MESSAGE
    return outcome.message


@pytest.mark.parametrize(
    "value", ["text", "größer", "", None, True, 0, -7, 2**80, 1.5, [], {"a": [1, None]}]
)
def test_plain_data_is_the_output_as_it_is(value: object) -> None:
    assert completed(value) == value
    assert type(completed(value)) is type(value)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ((1, "b"), [1, "b"]),
        ({3}, [3]),
        (Colour.RED, "red"),
        (dt.datetime(2024, 5, 1, 12, tzinfo=dt.UTC), "2024-05-01T12:00:00Z"),
        (Path("a/b"), "a/b"),
        (b"bytes", "bytes"),
        (Point(1, dt.date(2024, 5, 1)), {"x": 1, "seen": "2024-05-01"}),
        ([Row(n=1)], [{"n": 1, "note": "none"}]),
    ],
)
def test_usual_types_become_plain_json_data(value: object, plain: object) -> None:
    assert completed(value) == plain


@pytest.mark.parametrize(
    "value", ["a\ud800b", ["a\ud800b"], {"k\udfff": "a\ud800b"}, Result(output="a\ud800b")]
)
def test_lone_surrogates_are_replaced_wherever_they_are(value: object) -> None:
    """F07."""
    text = str(completed(value))
    assert "a\ufffdb" in text
    text.encode()


def test_nul_bidi_and_zero_width_characters_stay_data() -> None:
    """F07."""
    assert completed("a\x00\u202e\u200b") == "a\x00\u202e\u200b"


def test_an_outcome_stands_for_itself() -> None:
    result = Result(
        output={"a": 1},
        summary="one",
        confidence=80,
        evidence=("a.py:1",),
        usage=Usage(model="m", requests=1, duration_s=0.5),
        plan_impact=PlanImpact(reason="more to do"),
    )
    outcomes = (
        Completed(result=Result()),
        Completed(result=result),
        Escalated(reason="low_confidence", message="hm", partial=result),
        Failed(kind="tool_error", message="broken", transient=True),
    )
    assert tuple(outcome_of(outcome) for outcome in outcomes) == outcomes


def test_a_result_stands_for_its_completion() -> None:
    result = Result(output=[1], summary="one")
    assert outcome_of(result) == Completed(result=result)


def test_a_subclass_of_an_outcome_is_reduced_to_the_contract() -> None:
    class Mine(Completed):
        extra: int = 1

    assert type(outcome_of(Mine(result=Result(output=1)))) is Completed


def test_text_beside_the_output_is_made_legible_too() -> None:
    """F07."""
    outcome = outcome_of(Escalated(reason="out_of_scope", message="\ud800!"))
    assert outcome == Escalated(reason="out_of_scope", message="\ufffd!")


def test_an_outcome_that_skipped_its_validation_is_refused() -> None:
    """F38: the wrong type."""
    broken = Completed.model_construct(result="not a result")  # pyright: ignore[reportArgumentType]
    assert refused(broken)
    assert refused(Completed.model_construct())


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (math.nan, "the output is nan"),
        ([1.0, {"a": -math.inf}], "the output[1]['a'] is -inf"),
        (Result(output=[math.nan]), "the output[0] is nan"),
        (Row.model_construct(n=object()), "the output.n is of type object"),
        ({"rows": [1, object()]}, "the output['rows'][1] is of type object"),
        (b"\xff", "the output is of type bytes"),
    ],
)
def test_what_json_cannot_hold_is_refused_with_its_place(value: object, message: str) -> None:
    """F38: the wrong type."""
    assert refused(value).startswith(message)


def test_an_integer_too_long_for_a_json_parser_is_refused() -> None:
    assert refused([10**5000]).startswith("the output[0] is of type int")


def test_a_generator_is_refused_without_being_run() -> None:
    def endless() -> Iterator[int]:
        while True:
            yield 1

    assert "returned a generator" in refused(endless())


def test_circular_and_absurdly_deep_data_are_refused() -> None:
    circle: list[object] = []
    circle.append(circle)
    assert "contains itself" in refused(circle)
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert "nested more than" in refused(deep)


def test_accepted_data_can_be_nested_further_by_those_who_keep_it() -> None:
    accepted, depth = cast("object", 0), 0
    while isinstance(outcome_of([accepted]), Completed):
        accepted, depth = [accepted], depth + 1
    assert 100 < depth < 200
    kept: object = {"events": [{"result": {"output": accepted}}]}
    assert from_json(to_json(kept)) == kept


def test_a_serialiser_that_raises_is_contained() -> None:
    class Nasty(BaseModel):
        @model_serializer
        def nasty(self) -> dict[str, object]:
            raise RuntimeError("nasty")

    assert "nasty" in refused(Nasty())


def test_a_declared_type_is_validated_and_filled_in() -> None:
    assert completed({"n": "3"}, Row) == {"n": 3, "note": "none"}
    assert completed(Row(n=3), Row) == {"n": 3, "note": "none"}
    assert completed([1, 2], tuple[int, int]) == [1, 2]
    outcome = outcome_of(Result(output={"n": 1}, summary="one"), Row)
    assert outcome == Completed(result=Result(output={"n": 1, "note": "none"}, summary="one"))


def test_another_type_than_the_declared_one_is_refused_with_the_reason() -> None:
    """F38: the wrong type."""
    message = refused({"n": "many"}, Row)
    assert message.startswith("the output is not Row: n: Input should be a valid integer")
    assert "'many'" in message
    assert "not list[int]" in refused("text", list[int])
    assert "not Row" in refused(Result(output=1), Row)


def test_escalations_and_failures_need_no_declared_type() -> None:
    escalated = Escalated(reason="ambiguous_input", message="which?")
    assert outcome_of(escalated, Row) == escalated


HUGE = "x" * MAX_BYTES
"""With its quotes just too much."""


@pytest.mark.parametrize(
    "value",
    [
        HUGE,
        "\ud800" + HUGE,
        [HUGE],
        Result(output=HUGE),
        Result(output="fine", summary=HUGE),
        Result(output="fine", evidence=(HUGE,)),
        Completed(result=Result(summary="\ud800" + HUGE)),
        Failed(kind="error", message="late", partial=Result(output=HUGE)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_result_of_more_than_ten_megabytes_is_refused_with_its_size(value: object) -> None:
    """F18: it would be kept in the journal, sent to models and shown."""
    outcome = outcome_of(value)
    assert isinstance(outcome, Failed)
    assert (outcome.kind, outcome.transient) == ("invalid_output", False)
    assert re.fullmatch(
        r"the output is 1\d,\d{3},\d{3} bytes of JSON and may be 10,000,000: write it to a file, "
        "and return where it is",
        outcome.message,
    )


def test_a_large_result_within_the_bound_is_kept_as_it_is() -> None:
    text = HUGE[2:]
    assert outcome_of(text) == Completed(result=Result(output=text))


@pytest.mark.parametrize("output", [None, str])
def test_a_declared_output_is_measured_as_well(output: object) -> None:
    outcome = outcome_of(HUGE, output)
    assert isinstance(outcome, Failed)
    assert "10,000,002 bytes" in outcome.message


def test_what_a_worker_says_of_its_own_failure_is_bounded_and_marked() -> None:
    for outcome in (
        outcome_of(Failed(kind="error", message="no " * 10_000)),
        outcome_of(Escalated(reason="out_of_scope", message="no " * 10_000)),
    ):
        assert not isinstance(outcome, Completed)
        assert len(outcome.message) == MAX_MESSAGE
        assert outcome.message.endswith("...")
