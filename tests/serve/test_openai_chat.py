"""`/v1/chat/completions` and `/v1/models`, with OpenAI's own SDK and a real server."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from leadhand.run.stored import MAX_RUNS
from tests.patience import wait_until
from tests.serve.openai_desk import FILE, PAGE, WORDS, Letter, OpenAIDesk, serving_openai, started

NAMED = {"type": "file", "file": {"file_data": "AA==", "filename": "a.txt"}}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
HELLO: Any = [{"role": "user", "content": "hello"}]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def desk(home: Path) -> Iterator[OpenAIDesk]:
    with serving_openai(home) as desk:
        yield desk


def run_of(completion: openai.BaseModel) -> dict[str, Any]:
    return (completion.model_extra or {})["leadhand"]


def streamed(desk: OpenAIDesk, model: str, **more: Any) -> list[ChatCompletionChunk]:
    messages = more.pop("messages", HELLO)
    return [
        *desk.openai().chat.completions.create(model=model, messages=messages, stream=True, **more)
    ]


def completed(desk: OpenAIDesk, **given: Any) -> ChatCompletion:
    create: Any = desk.openai().chat.completions.create
    return create(**{"model": "desk", "messages": HELLO, **given})


def text_of(chunks: list[ChatCompletionChunk]) -> str:
    deltas = [one.choices[0].delta for one in chunks if one.choices]
    return "".join(delta.content or "" for delta in deltas)


# Answers


def test_each_team_is_a_model(desk: OpenAIDesk) -> None:
    client = desk.openai()
    assert "desk" in [one.id for one in client.models.list()]
    assert client.models.retrieve("desk").owned_by == "leadhand"
    models = {one["name"]: one["model"] for one in desk.client().get("/api/v1/teams").json()}
    assert (models["desk"], bool(models["writers"])) == (None, True)


def test_a_completion_is_the_answer_of_a_run(desk: OpenAIDesk) -> None:
    completion = desk.openai().chat.completions.create(model="desk", messages=HELLO)
    (choice,) = completion.choices
    assert (choice.message.content, choice.finish_reason) == ("hello", "stop")
    assert completion.id == f"chatcmpl-{run_of(completion)['run_id']}"
    assert run_of(completion)["status"] == "complete"


def test_text_comes_while_a_model_writes_it_and_usage_last(desk: OpenAIDesk) -> None:
    chunks = streamed(desk, "writers", stream_options={"include_usage": True})
    assert text_of(chunks) == WORDS
    assert sum(bool(one.choices and one.choices[0].delta.content) for one in chunks) > 3
    assert len({one.id for one in chunks}) == 1
    *before, end, last = chunks
    assert end.choices[0].finish_reason == "stop"
    assert last.choices == []
    assert last.usage is not None
    assert last.usage.completion_tokens > 0
    assert all(one.usage is None for one in before)


def test_what_is_missing_follows_the_text_that_was_streamed(desk: OpenAIDesk) -> None:
    half: Any = [{"role": "user", "content": "half"}]
    stream = desk.openai("olga").chat.completions.create(
        model="writers", messages=half, stream=True
    )
    written, _, missing = text_of([*stream]).partition("\n\n---\n\n")
    assert written == WORDS
    assert missing.startswith("## What is missing\n\n")
    assert "it was too much" in missing
    assert "What was found" not in missing
    assert text_of(streamed(desk, "writers", messages=half)) == WORDS, "why is for operators"


def test_without_a_model_the_answer_comes_in_one_piece_and_a_mark_ends_the_stream(
    desk: OpenAIDesk,
) -> None:
    body = {"model": "desk", "messages": HELLO, "stream": True}
    lines = desk.client().post("/v1/chat/completions", json=body).text.split("\n\n")
    *events, done, rest = lines
    assert (done, rest) == ("data: [DONE]", "")
    deltas = [json.loads(one.removeprefix("data: "))["choices"][0]["delta"] for one in events]
    assert [one["content"] for one in deltas if "content" in one] == ["hello"]


def test_progress_is_streamed_where_it_is_asked_for(desk: OpenAIDesk) -> None:
    assert "reasoning_content" not in str(streamed(desk, "desk"))
    chunks = streamed(desk, "desk", extra_body={"progress": True})
    lines = [(one.choices[0].delta.model_extra or {}).get("reasoning_content") for one in chunks]
    assert [*filter(None, lines)] == [
        "The plan is made.\n",
        "t1: clerk starts.\n",
        "t1 is done.\n",
        "The answer is being written.\n",
    ]


def test_the_sdk_puts_a_stream_together(desk: OpenAIDesk) -> None:
    with desk.openai().chat.completions.stream(model="library", messages=HELLO) as stream:
        message = stream.get_final_completion().choices[0].message
    assert message.content == f"See {PAGE} and {FILE}."
    assert [one.type for one in message.annotations or ()] == ["url_citation", "file_citation"]


def test_sources_that_the_text_names_are_annotations(desk: OpenAIDesk) -> None:
    completion = desk.openai().chat.completions.create(model="library", messages=HELLO)
    message = completion.choices[0].message
    page, file = message.annotations or []
    place = page.url_citation
    assert (message.content or "")[place.start_index : place.end_index] == place.url == PAGE
    assert (file.model_extra or {})["file_citation"] == {
        "type": "file_citation",
        "file_id": FILE,
        "filename": "refunds.md",
        "index": len(f"See {PAGE} and "),
    }


def test_the_team_s_own_type_is_a_response_format(desk: OpenAIDesk) -> None:
    completions = desk.openai().chat.completions
    completion = completions.parse(model="letters", messages=HELLO, response_format=Letter)
    assert completion.choices[0].message.parsed == Letter(subject="hello", pages=[1, 2])
    plain = completions.create(
        model="letters", messages=HELLO, response_format={"type": "json_object"}
    )
    assert json.loads(plain.choices[0].message.content or "")["subject"] == "hello"


# What was said before


def test_what_was_said_before_is_context_as_data(desk: OpenAIDesk, home: Path) -> None:
    messages: Any = [
        {"role": "system", "content": "Be brief"},
        {"role": "user", "content": "What was sold in April?"},
        {"role": "assistant", "content": "5 cars"},
        {"role": "user", "content": [{"type": "text", "text": "And in May?"}]},
    ]
    completion = desk.openai().chat.completions.create(model="memory", messages=messages)
    assert completion.choices[0].message.content == "5 cars"
    run = started(home, run_of(completion)["run_id"])
    assert run.request == "And in May?"
    assert [(one.request, one.answer) for one in run.after] == [
        ("What was sold in April?", "5 cars"),
        ("What the application says", "Be brief"),
    ]


def test_of_a_long_chat_the_latest_exchanges_are_kept(desk: OpenAIDesk, home: Path) -> None:
    said: Any = [
        {"role": role, "content": f"{number} {'x' * 300}"}
        for number in range(2_000)
        for role in ("user", "assistant")
    ]
    completion = desk.openai().chat.completions.create(model="desk", messages=[*said, *HELLO])
    run = started(home, run_of(completion)["run_id"])
    assert [one.request.split()[0] for one in run.after] == ["1999", "1998", "1997", "1996", "1995"]
    assert len(run.after) == MAX_RUNS


# Runs that give no answer


def test_a_run_that_waits_for_a_person_says_so_and_nothing_else(desk: OpenAIDesk) -> None:
    ask: Any = [{"role": "user", "content": "ask which one"}]
    completion = desk.openai().chat.completions.create(model="desk", messages=ask)
    message = completion.choices[0].message
    assert message.content is None
    assert message.refusal is not None
    assert message.refusal.startswith("There is no answer yet: a worker has a question")
    assert "which one" not in message.refusal, "the question is for those who may answer it"
    assert run_of(completion)["status"] == "waiting"
    with desk.openai().chat.completions.stream(model="desk", messages=ask) as stream:
        final = stream.get_final_completion().choices[0].message
    assert (final.content, bool(final.refusal)) == (None, True)


def test_a_run_that_fails_is_an_error_that_is_not_tried_again(desk: OpenAIDesk) -> None:
    fail: Any = [{"role": "user", "content": "fail now"}]
    with pytest.raises(openai.InternalServerError) as caught:
        desk.openai().chat.completions.create(model="desk", messages=fail)
    assert caught.value.code == "run_failed"
    assert caught.value.response.headers["x-should-retry"] == "false"
    assert "the request says so" not in str(caught.value), "why it failed is for operators"
    with pytest.raises(openai.InternalServerError, match="the request says so"):
        desk.openai("olga").chat.completions.create(model="desk", messages=fail)
    with pytest.raises(openai.APIError) as in_stream:
        streamed(desk, "desk", messages=fail)
    assert in_stream.value.code == "run_failed"


# Clients that leave


def test_a_client_that_leaves_stops_the_run(desk: OpenAIDesk) -> None:
    client = desk.openai()
    stream = client.chat.completions.create(model="gate", messages=HELLO, stream=True)
    first = next(stream)
    desk.gate.arrived.wait()
    stream.close()
    run_id = first.id.removeprefix("chatcmpl-")
    response = f"resp_{run_id}"
    wait_until(lambda: client.responses.retrieve(response).status == "cancelled")


# What is refused


@pytest.mark.parametrize(
    ("parameter", "given"),
    [
        ("tools", {"tools": [{"type": "function", "function": {"name": "f"}}]}),
        ("n", {"n": 2}),
        ("stop", {"stop": ["."]}),
        ("logprobs", {"logprobs": True}),
        ("unheard_of", {"extra_body": {"unheard_of": 1}}),
        ("response_format", {"response_format": {"type": "json_object"}}),
        ("stream_options", {"stream_options": {"include_usage": True}}),
        ("messages[0]", {"messages": [{"role": "user", "content": ""}]}),
        ("messages", {"messages": [*HELLO, {"role": "assistant", "content": "hi"}]}),
        ("messages", {"messages": []}),
        ("messages.0.role", {"messages": [{"role": "king", "content": "hi"}]}),
        ("messages[0].content[0]", {"messages": [{"role": "user", "content": [IMAGE]}]}),
        ("messages[0].content[0]", {"messages": [{"role": "user", "content": [NAMED]}]}),
    ],
)
def test_what_a_team_does_not_support_is_named(
    parameter: str, given: dict[str, Any], desk: OpenAIDesk
) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        completed(desk, **given)
    assert caught.value.param == parameter


def test_what_says_only_how_a_model_writes_is_ignored(desk: OpenAIDesk) -> None:
    completion = desk.openai().chat.completions.create(
        model="desk",
        messages=HELLO,
        temperature=0.2,
        max_tokens=10,
        seed=1,
        n=1,
        user="someone",
        tool_choice="none",
    )
    assert completion.choices[0].message.content == "hello"


def test_another_type_than_the_team_s_is_refused(desk: OpenAIDesk) -> None:
    schema = {"type": "object", "properties": {"subject": {"type": "string"}}}
    format: Any = {"type": "json_schema", "json_schema": {"name": "Letter", "schema": schema}}
    with pytest.raises(openai.BadRequestError, match="its own type, Letter"):
        desk.openai().chat.completions.create(
            model="letters", messages=HELLO, response_format=format
        )


def test_an_unknown_model_and_an_unknown_caller_are_told_apart(desk: OpenAIDesk) -> None:
    with pytest.raises(openai.NotFoundError, match="there is no team 'gpt-5' here: desk") as caught:
        desk.openai().chat.completions.create(model="gpt-5", messages=HELLO)
    assert (caught.value.code, caught.value.param) == ("model_not_found", "model")
    with pytest.raises(openai.AuthenticationError) as unknown:
        desk.openai("nobody").models.list()
    assert unknown.value.code == "invalid_api_key"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'{"model": 1, "messages": "hello"}',
        b'{"model": "desk", "messages": [[]]}',
        b'{"model": "desk", "messages": [{"role": "user", "content": [1]}]}',
        b'{"model": "desk", "messages": [{"role": "user", "content": [{"type": 5}]}]}',
        b'{"model": "letters", "messages": [{"role": "user", "content": "x"}], "response_format": '
        b'{"type": "json_schema", "json_schema": {"schema": []}}}',
        b'{"model": "\\ud800", "messages": [{"role": "user", "content": "x"}]}',
        b'{"model": "desk", "messages": [{"role": "user", "content": "\\ud800"}]}',
        b'{"model": "desk", "messages": [{"role": "system", "content": "\\ud800"}, '
        b'{"role": "user", "content": "x"}]}',
        b'{"a": ' * 5_000,
    ],
)
def test_a_body_of_another_form_is_the_client_s_mistake(body: bytes, desk: OpenAIDesk) -> None:
    headers = {"content-type": "application/json"}
    answer = desk.client().post("/v1/chat/completions", content=body, headers=headers)
    assert 400 <= answer.status_code < 500
    assert answer.json()["error"]["message"]
    assert answer.headers["x-should-retry"] == "false"


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/api/v1/runs/x/followups"])
def test_json_that_is_not_called_so_is_refused_in_plain_words(path: str, desk: OpenAIDesk) -> None:
    answer = desk.client().post(path, content=b'{"request": "hello"}')
    assert answer.status_code == 415
    assert "the body is JSON: say so by Content-Type: application/json" in answer.text
