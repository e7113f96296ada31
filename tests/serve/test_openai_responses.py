"""`/v1/responses`, with OpenAI's own SDK and a real server."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.patience import wait_until
from tests.serve.openai_desk import PAGE, WORDS, Letter, OpenAIDesk, serving_openai, started


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def desk(home: Path) -> Iterator[OpenAIDesk]:
    with serving_openai(home) as desk:
        yield desk


def run_id_of(response_id: str) -> str:
    return response_id.removeprefix("resp_")


def events(desk: OpenAIDesk, model: str, request: str, **more: Any) -> list[Any]:
    create: Any = desk.openai().responses.create
    return [*create(model=model, input=request, stream=True, **more)]


# Answers


def test_a_response_is_a_run_that_can_be_retrieved(desk: OpenAIDesk) -> None:
    client = desk.openai()
    made = client.responses.create(model="desk", input="hello", metadata={"case": "17"})
    assert (made.status, made.output_text) == ("completed", "hello")
    again = client.responses.retrieve(made.id)
    assert again.output == made.output
    assert (again.id, again.status) == (made.id, made.status)


def test_a_response_that_follows_another_one_is_a_follow_up(desk: OpenAIDesk, home: Path) -> None:
    client = desk.openai()
    first = client.responses.create(model="desk", input="5 cars")
    second = client.responses.create(
        model="memory", input="And in May?", previous_response_id=first.id, instructions="Be brief"
    )
    assert "5 cars" in second.output_text
    assert second.previous_response_id == first.id
    assert client.responses.retrieve(second.id).previous_response_id == first.id
    after = started(home, run_id_of(second.id)).after
    assert [one.run_id for one in after] == [run_id_of(first.id), ""]
    assert after[1].answer == "Be brief"


def test_messages_of_the_input_are_what_was_said_before(desk: OpenAIDesk) -> None:
    said: Any = [
        {"role": "user", "content": "What was sold in April?"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "5 cars"}],
        },
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"role": "user", "content": [{"type": "input_text", "text": "And in May?"}]},
    ]
    made = desk.openai().responses.create(model="memory", input=said)
    assert made.output_text == "5 cars"


def test_the_team_s_own_type_is_a_format(desk: OpenAIDesk) -> None:
    client = desk.openai()
    made = client.responses.parse(model="letters", input="hello", text_format=Letter)
    assert made.output_parsed == Letter(subject="hello", pages=[1, 2])
    assert client.responses.retrieve(made.id).output_text == made.output_text


# Streams


def test_events_come_in_the_order_that_clients_check(desk: OpenAIDesk) -> None:
    found = events(desk, "library", "hello")
    assert [one.type for one in found] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.annotation.added",
        "response.output_text.annotation.added",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert [one.sequence_number for one in found] == [*range(len(found))]
    ids = {one.response.id for one in found if hasattr(one, "response")}
    assert len(ids) == 1
    text = found[-1].response.output[0].content[0]
    assert text.annotations[0].url == PAGE
    assert text.text[text.annotations[0].start_index : text.annotations[0].end_index] == PAGE


def test_text_comes_while_a_model_writes_it(desk: OpenAIDesk) -> None:
    with desk.openai().responses.stream(model="writers", input="hello") as stream:
        deltas = [one.delta for one in stream if one.type == "response.output_text.delta"]
        final = stream.get_final_response()
    assert len(deltas) > 3
    assert "".join(deltas) == final.output_text == WORDS
    assert final.usage is not None
    assert final.usage.output_tokens > 0


def test_progress_is_streamed_where_it_is_asked_for(desk: OpenAIDesk) -> None:
    found = events(desk, "desk", "hello", extra_body={"progress": True})
    assert "t1 is done." in [getattr(one, "progress", None) for one in found]
    assert [one.sequence_number for one in found] == [*range(len(found))]
    assert not any(hasattr(one, "progress") for one in events(desk, "desk", "hello"))


# In the background


def test_a_response_in_the_background_is_polled(desk: OpenAIDesk) -> None:
    client = desk.openai()
    made = client.responses.create(model="desk", input="hello", background=True)
    assert made.status == "in_progress"
    wait_until(lambda: client.responses.retrieve(made.id).status == "completed")


def test_a_response_can_be_cancelled(desk: OpenAIDesk) -> None:
    client = desk.openai()
    made = client.responses.create(model="gate", input="hello", background=True)
    assert client.responses.cancel(made.id).status == "cancelled"
    assert client.responses.cancel(made.id).status == "cancelled"
    done = client.responses.create(model="desk", input="hello")
    assert client.responses.cancel(done.id).status == "completed"
    with pytest.raises(openai.BadRequestError, match="stream"):
        client.responses.retrieve(made.id, stream=True)


def test_a_client_that_leaves_stops_the_run_unless_it_is_in_the_background(
    desk: OpenAIDesk,
) -> None:
    client = desk.openai()
    left = client.responses.create(model="gate", input="hello", stream=True)
    first: Any = next(left)
    left.close()
    wait_until(lambda: client.responses.retrieve(first.response.id).status == "cancelled")
    stays = client.responses.create(model="gate", input="hello", stream=True, background=True)
    first = next(stays)
    stays.close()
    desk.gate.open()
    wait_until(lambda: client.responses.retrieve(first.response.id).status == "completed")


# Runs that wait, or fail


def test_a_response_that_waits_for_a_person_is_incomplete_and_says_why(desk: OpenAIDesk) -> None:
    made = desk.openai().responses.create(model="desk", input="ask which one")
    assert (made.status, made.output_text) == ("incomplete", "")
    assert made.incomplete_details is not None
    assert str(made.incomplete_details.reason) == "waiting_for_person"
    found = events(desk, "desk", "ask which one")
    assert found[-1].type == "response.incomplete"
    (message,) = found[-1].response.output
    assert message.content[0].refusal.startswith("There is no answer yet")


def test_in_the_background_a_response_continues_after_the_reply(desk: OpenAIDesk) -> None:
    client = desk.openai("olga")
    made = client.responses.create(model="desk", input="ask which one", background=True)
    wait_until(lambda: bool(client.responses.retrieve(made.id).output))
    waiting = client.responses.retrieve(made.id)
    assert (waiting.status, waiting.output_text) == ("in_progress", "")
    run = desk.client("olga").get(f"/api/v1/runs/{run_id_of(made.id)}").json()
    (question,) = run["questions"]
    reply = {"question": question["id"], "verdict": "answered", "text": "the red one"}
    desk.client("olga").post(
        f"/api/v1/runs/{run_id_of(made.id)}/replies", json={"replies": [reply], "seen": run["seq"]}
    ).raise_for_status()
    wait_until(lambda: client.responses.retrieve(made.id).status == "completed")
    assert client.responses.retrieve(made.id).output_text == "the red one"


def test_a_response_that_fails_says_so(desk: OpenAIDesk) -> None:
    made = desk.openai().responses.create(model="desk", input="fail now")
    assert (made.status, made.output) == ("failed", [])
    assert made.error is not None
    assert "the request says so" not in made.error.message, "why it failed is for operators"
    found = events(desk, "desk", "fail now")
    assert [one.type for one in found][-1] == "response.failed"


# What is another principal's

CALLS: dict[str, Callable[[openai.OpenAI, str], object]] = {
    "retrieve": lambda client, id: client.responses.retrieve(id),
    "cancel": lambda client, id: client.responses.cancel(id),
    "follow": lambda client, id: client.responses.create(
        model="desk", input="x", previous_response_id=id
    ),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_response_of_another_principal_is_not_found(call: str, desk: OpenAIDesk) -> None:
    made = desk.openai("ann").responses.create(model="desk", input="hello")
    with pytest.raises(openai.NotFoundError) as of_another:
        CALLS[call](desk.openai("bob"), made.id)
    with pytest.raises(openai.NotFoundError) as unknown:
        CALLS[call](desk.openai("bob"), "resp_run-unknown")
    told = str(of_another.value).replace(run_id_of(made.id), "ID")
    assert told == str(unknown.value).replace("run-unknown", "ID")


# What is refused


@pytest.mark.parametrize(
    ("parameter", "given"),
    [
        ("tools", {"tools": [{"type": "web_search"}]}),
        ("max_tool_calls", {"max_tool_calls": 3}),
        ("input", {"input": []}),
        ("input[0]", {"input": [{"type": "item_reference", "id": "msg_1"}]}),
        ("input[0]", {"input": [{"role": "user", "content": [1]}]}),
        (
            "input[0].content[0]",
            {"input": [{"role": "user", "content": [{"type": "input_image"}]}]},
        ),
        ("text.format", {"text": {"format": {"type": "json_object"}}}),
        ("conversation", {"conversation": "conv_1"}),
    ],
)
def test_what_a_team_does_not_support_is_named(
    parameter: str, given: dict[str, Any], desk: OpenAIDesk
) -> None:
    create: Any = desk.openai().responses.create
    with pytest.raises(openai.BadRequestError) as caught:
        create(**{"model": "desk", "input": "hello", **given})
    assert caught.value.param == parameter
