"""Answers as streams: shown while they come, and otherwise as ever."""

import asyncio
import json
from collections.abc import Sequence

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse

from leadhand.contracts.events import Event, ModelCalled
from leadhand.contracts.outcome import Usage
from leadhand.errors import ModelError
from leadhand.events import TextDelta
from leadhand.models.calls import Caller, CallRequest, Requester
from leadhand.models.clients import MAX_RESPONSE
from leadhand.models.connections import Connections
from leadhand.models.structured import answer_in, first_message
from leadhand.models.writing import watching
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json, Object
from tests.models.asking import BOTH, COLOUR, OPENAI, PLAIN, body, misbehaving, recorder, replies
from tests.models.raw_endpoint import RawEndpoint, head, serving

RESPONSES = "openai-responses:any"
both = pytest.mark.parametrize("model", BOTH)
BLUE = {"answer": "blue, as the sky is over the whole of the Mediterranean in August"}
FORM = CallRequest("Answer by the tool.", output=COLOUR)


class Asked:
    """What a role that is watched, or not, was answered."""

    def __init__(self, model: str, *, role: str, request: CallRequest, watched: bool) -> None:
        self.shown: list[TextDelta] = []
        self.calls: list[ModelCalled] = []

        async def story() -> tuple[ModelResponse, Usage]:
            pen = recorder(self._take)
            async with Connections(seed=1) as connections:
                caller = Caller(connections, pen)
                messages: list[ModelMessage] = [first_message("What colour?", request)]
                asking = Requester(role, shown=True)
                return await caller.ask(asking, messages, request=request, models=[model])

        if watched:
            with watching(lambda _: self.shown.append):
                self.response, self.usage = asyncio.run(story())
        else:
            self.response, self.usage = asyncio.run(story())
        self.answer = answer_in(self.response, request)

    def _take(self, event: Event) -> None:
        if isinstance(event, ModelCalled):
            self.calls.append(event)


def ask(
    model: str, *, role: str = "planner", request: CallRequest = FORM, watched: bool = True
) -> Asked:
    return Asked(model, role=role, request=request, watched=watched)


def answering(server: ScriptedServer) -> None:
    answer: Object = {"answer": BLUE["answer"]}
    server.configure(script=[{"reply": {"json": answer}}])


def streamed(server: ScriptedServer) -> list[Json]:
    """Of each request whether it asked for a stream."""
    return [body(kept).get("stream", False) for kept in server.stats().bodies]


@both
@pytest.mark.parametrize("role", ["planner", "synthesizer", "worker"])
def test_a_watched_answer_is_shown_as_it_grows(
    model_server: ScriptedServer, model: str, role: str
) -> None:
    answering(model_server)
    asked = ask(model, role=role)
    text = "".join(shown.text for shown in asked.shown)
    assert streamed(model_server) == [True]
    assert (json.loads(text) if role == "planner" else {"answer": text}) == BLUE
    assert [shown.reset for shown in asked.shown] == [True, *[False] * (len(asked.shown) - 1)]
    assert {shown.role for shown in asked.shown} == {role}


@both
def test_a_stream_gives_what_a_whole_answer_gives_and_is_written_down_alike(
    model_server: ScriptedServer, model: str
) -> None:
    answering(model_server)
    whole, stream = ask(model, watched=False), ask(model)
    assert stream.answer.data == whole.answer.data == BLUE
    assert stream.usage.input_tokens == whole.usage.input_tokens > 0
    assert stream.usage.output_tokens == whole.usage.output_tokens > 0
    assert stream.usage.cost_usd == whole.usage.cost_usd
    assert [call.request for call in stream.calls] == [call.request for call in whole.calls]


def test_what_no_one_reads_is_streamed_only_until_its_model_is_known(
    model_server: ScriptedServer,
) -> None:
    answering(model_server)
    assert [ask(OPENAI, watched=False).shown for _ in range(2)] == [[], []]
    assert streamed(model_server) == [True, False]


@both
@pytest.mark.parametrize("fault", ["reset_midway", "cut_body", "reset", "html", "503"])
def test_a_stream_that_fails_is_asked_again_whole_and_nothing_of_it_is_kept(
    model_server: ScriptedServer, model: str, fault: str
) -> None:
    """F03"""
    script = [*misbehaving({fault: True}), *replies({"json": {"answer": "blue"}})]
    model_server.configure(script=script)
    asked = ask(model)
    assert asked.answer.data == {"answer": "blue"}
    assert [call.error is None for call in asked.calls] == [False, True]
    assert asked.calls[0].response is None
    if model == OPENAI:
        assert streamed(model_server) == [True, False]
    if asked.shown:
        assert asked.shown[-1] == TextDelta(None, "planner", "", reset=True)


class Refusing(RawEndpoint):
    """A model that refuses to stream and answers other requests."""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = await reader.read(65_536)
        self.requests.append(asked)
        no = head("400 Bad Request", content_type="application/json")
        no += b'{"error": {"message": "this model does not stream", "type": "x"}}'
        writer.write(no if b'"stream":true' in asked else self.head)
        await writer.drain()
        writer.close()


def whole(model: str) -> bytes:
    """A whole answer: a text and a call of the tool."""
    spelt = json.dumps(BLUE)
    call: dict[str, object]
    said: dict[str, object]
    if model == OPENAI:
        call = {
            "id": "c",
            "type": "function",
            "function": {"name": "final_answer", "arguments": spelt},
        }
        message = {"role": "assistant", "content": "So:", "tool_calls": [call]}
        choice = {"index": 0, "finish_reason": "tool_calls", "message": message}
        usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
        said = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
        said |= {"choices": [choice], "usage": usage}
    elif model == RESPONSES:
        text: dict[str, object] = {"type": "output_text", "text": "So:", "annotations": []}
        spoken = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
        call = {"type": "function_call", "id": "f", "call_id": "c", "name": "final_answer"}
        call = {**call, "arguments": spelt, "status": "completed"}
        usage = {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12}
        said = {"id": "r", "object": "response", "created_at": 1, "status": "completed"}
        said |= {"model": "m", "output": [{**spoken, "content": [text]}, call], "usage": usage}
    else:
        call = {"type": "tool_use", "id": "c", "name": "final_answer", "input": BLUE}
        said = {"id": "m", "type": "message", "role": "assistant", "model": "m"}
        said |= {"content": [{"type": "text", "text": "So:"}, call], "stop_reason": "tool_use"}
        said |= {"stop_sequence": None, "usage": {"input_tokens": 7, "output_tokens": 5}}
    return head(content_type="application/json") + json.dumps(said).encode()


def asked_at(
    monkeypatch: pytest.MonkeyPatch, endpoint: RawEndpoint, model: str, *, watched: bool = True
) -> Asked:
    for provider in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{provider}_API_KEY", "dummy")
    with serving(endpoint):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{endpoint.url}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", endpoint.url)
        return ask(model, watched=watched)


@pytest.mark.parametrize("model", [*BOTH, RESPONSES])
@pytest.mark.parametrize("watched", [True, False])
def test_a_reply_that_is_no_stream_is_read_as_it_is_without_a_second_call(
    monkeypatch: pytest.MonkeyPatch, model: str, watched: bool
) -> None:
    """Anthropic's SDK streams in any case."""
    endpoint = RawEndpoint(whole(model))
    asked = asked_at(monkeypatch, endpoint, model, watched=watched)
    assert asked.answer.data == BLUE
    assert asked.answer.text == "So:"
    assert (asked.usage.input_tokens, asked.usage.output_tokens) == (7, 5)
    assert len(endpoint.requests) == len(asked.calls) == 1


@pytest.mark.parametrize("model", [OPENAI, RESPONSES])
def test_an_endpoint_that_refuses_to_stream_is_asked_for_the_whole(
    monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    asked = asked_at(monkeypatch, Refusing(whole(model)), model)
    assert asked.answer.data == BLUE
    assert [call.error is None for call in asked.calls] == [False, True]


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize("piece", [b": ping\n\n", b"data: {}\n\n"])
def test_a_stream_without_end_is_read_to_the_limit(
    monkeypatch: pytest.MonkeyPatch, model: str, piece: bytes
) -> None:
    """F39"""
    monkeypatch.setenv(MAX_RESPONSE, "50kB")
    start = head(content_type="text/event-stream")
    endless = RawEndpoint(start, piece * 1_000, times=None)
    with pytest.raises(ModelError, match="longer than 50,000 bytes"):
        asked_at(monkeypatch, endless, model)
    assert endless.sent < 20_000_000 * max(1, len(endless.requests))


def test_a_view_that_breaks_does_not_break_the_run(model_server: ScriptedServer) -> None:
    answering(model_server)

    def broken(delta: TextDelta) -> None:
        raise RuntimeError(delta.text)

    async def story() -> Sequence[object]:
        async with Connections() as connections:
            caller = Caller(connections, recorder())
            messages: list[ModelMessage] = [first_message("hello", PLAIN)]
            return await caller.ask(
                Requester("planner", shown=True), messages, request=PLAIN, models=[OPENAI]
            )

    with watching(lambda _: broken):
        assert asyncio.run(story())
