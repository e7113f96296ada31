"""Structured answers: read from tools, JSON and text, and repaired by the model."""

import asyncio
import json
from collections.abc import Callable
from typing import Literal

import pytest
from pydantic import JsonValue
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart

from leadhand.errors import ModelError
from leadhand.models.calls import Caller, CallRequest
from leadhand.models.connections import Connections
from leadhand.models.structured import (
    BadAnswer,
    StructuredAnswer,
    answer_in,
    arguments_of,
    ask_structured,
)
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json, Object
from tests.models.asking import ASKER, BOTH, COLOUR, recorder, replies

FORM = CallRequest("Answer in a word.", output=COLOUR)
both = pytest.mark.parametrize("model", BOTH)


def asked_for(model: str, read: Callable[[StructuredAnswer], str]) -> str:
    """What `read` makes of the answer to a question."""

    async def story() -> str:
        async with Connections(seed=1) as connections:
            caller = Caller(connections, recorder())
            return await ask_structured(
                caller, ASKER, "Which?", request=FORM, models=[model], read=read
            )

    return asyncio.run(story())


def colour(answer: StructuredAnswer) -> str:
    """The answer, which has to be a colour."""
    given = (answer.data or {}).get("answer")
    if given not in ("blue", "red"):
        raise BadAnswer(f"{given!r} is no colour. Give one.")
    return str(given)


def given(*answers: str) -> list[Object]:
    """A script that gives these answers in the form."""
    made: list[Object] = [{"json": {"answer": answer}} for answer in answers]
    return replies(*made)


@both
def test_an_answer_that_can_be_used_takes_one_call(
    model_server: ScriptedServer, model: str
) -> None:
    model_server.configure(script=given("blue"))
    assert asked_for(model, colour) == "blue"
    assert model_server.stats().requests == 1


@both
def test_a_model_is_told_what_is_wrong_and_repairs_its_answer(
    model_server: ScriptedServer, model: str
) -> None:
    model_server.configure(script=given("loud", "red"))
    assert asked_for(model, colour) == "red"
    assert "'loud' is no colour. Give one." in json.dumps(model_server.stats().bodies[1])


@both
def test_after_two_repairs_it_is_given_up_with_what_is_wrong(
    model_server: ScriptedServer, model: str
) -> None:
    model_server.configure(script=given("loud", "soft", "dull", "red"))
    with pytest.raises(ModelError, match="no valid answer after 2 repairs: 'dull' is no colour"):
        asked_for(model, colour)
    assert model_server.stats().requests == 3


@pytest.mark.parametrize("fault", ["cut_json", "nan_arguments", "deep_arguments"])
def test_arguments_that_are_no_json_are_never_read(
    model_server: ScriptedServer, fault: str
) -> None:
    """F05 F06"""
    read: list[StructuredAnswer] = []

    def keep(answer: StructuredAnswer) -> str:
        read.append(answer)
        return colour(answer)

    wrong: list[Object] = [
        {"reply": {"json": {"answer": "blue"}, "misbehave": {fault: True}}, "times": 1}
    ]
    model_server.configure(script=[*wrong, *given("red")])
    assert asked_for(BOTH[0], keep) == "red"
    assert [answer.data for answer in read] == [{"answer": "red"}]


# Reading an answer


def response(
    *parts: TextPart | ToolCallPart, finish: Literal["stop", "length"] = "stop"
) -> ModelResponse:
    return ModelResponse(parts, finish_reason=finish)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ('{"answer": "blue"}', {"answer": "blue"}),
        ('```json\n{"answer": "blue"}\n```', {"answer": "blue"}),
        ('```\n{"answer": "blue"}\n```\nThat is it.', {"answer": "blue"}),
        ("blue", None),
        ('{"answer": NaN}', None),
        ('{"answer": "bl', None),
        ("[1]", None),
        ('{"a":' + "[" * 100_000, None),
    ],
    ids=lambda value: str(value)[:20],
)
def test_text_that_is_a_json_object_is_read_as_the_form(
    text: str, data: dict[str, JsonValue] | None
) -> None:
    """F06"""
    answer = answer_in(response(TextPart(text)), FORM)
    assert answer.data == data
    assert answer.text == text.strip()
    assert answer.problem is None


def test_a_call_of_the_form_comes_before_the_text() -> None:
    call = ToolCallPart("final_answer", {"answer": "blue"})
    answer = answer_in(response(TextPart('{"answer": "red"}'), call), FORM)
    assert answer.data == {"answer": "blue"}
    assert answer.call is call


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (response(), "Your answer was empty"),
        (response(TextPart("half a"), finish="length"), "cut off because it was too long"),
        (
            response(ToolCallPart("final_answer", '{"answer": "half'), finish="length"),
            "cut off because it was too long",
        ),
        (response(ToolCallPart("final_answer", '{"answer": "half')), "not valid JSON"),
    ],
    ids=["none", "cut text", "cut call", "broken call"],
)
def test_an_answer_that_can_not_be_read_says_why(given: ModelResponse, problem: str) -> None:
    """F10"""
    answer = answer_in(given, FORM)
    assert answer.data is None
    assert problem in (answer.problem or "")


@pytest.mark.parametrize(
    ("args", "data"),
    [({"a": 1}, {"a": 1}), ('{"a": 1}', {"a": 1}), ("", {}), (None, {}), ("{}", {})],
)
def test_arguments_come_as_text_or_as_data(args: Json, data: Json) -> None:
    assert arguments_of(ToolCallPart("t", args)) == data  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("args", ['{"a": 1', "[1]", '"x"', '{"a": Infinity}', "{" * 100_000])
def test_half_a_call_is_a_problem_that_says_nothing_was_done(args: str) -> None:
    """F05"""
    problem = arguments_of(ToolCallPart("t", args))
    assert isinstance(problem, str)
    assert "nothing was done" in problem
    assert len(problem) < 300
