"""What goes wrong with a model endpoint goes wrong here on demand (rows F01 to F10)."""

import http.client
import json
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from email.utils import parsedate_to_datetime
from typing import cast

import pytest
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelResponse

from leadhand.testing import ScriptedServer
from leadhand.testing.misbehaviour import TO_ANSWERS, TO_RESPONSES
from tests.patience import HANG_S
from tests.testing.asking import FINAL, TEXT, Spoken, asked, tool

BOTH = pytest.mark.parametrize("protocol", ["openai", "anthropic"])
SEARCH = tool("search", {"query": TEXT})
PATHS = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages"}


@contextmanager
def posted(
    server: ScriptedServer, protocol: str = "openai", **more: object
) -> Generator[http.client.HTTPResponse]:
    """The bare response to a request, its body not yet read."""
    port = int(server.anthropic_url.rpartition(":")[2])
    body = {"model": "m", "messages": [{"role": "user", "content": "hello"}], **more}
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=HANG_S)) as connection:
        connection.request("POST", PATHS[protocol], json.dumps(body))
        with connection.getresponse() as response:
            yield response


def misbehaving(server: ScriptedServer, **misbehave: object) -> None:
    """Have every answer go wrong in this way."""
    server.reset(script=[{"reply": {"misbehave": misbehave}}])


def called(response: ModelResponse) -> tuple[str, str]:
    """The name and the arguments' text of the only call."""
    (call,) = response.tool_calls
    return call.tool_name, call.args if isinstance(call.args, str) else json.dumps(call.args)


@BOTH
@pytest.mark.parametrize("status", [400, 401, 404, 429, 500, 503, 529])
def test_f01_f02_any_status_arrives_as_the_sdk_s_own_error(
    server: ScriptedServer, protocol: Spoken, status: int
) -> None:
    misbehaving(server, **{str(status): True})
    with pytest.raises(ModelHTTPError) as caught:
        asked(server, protocol, "hello")
    assert caught.value.status_code == status
    assert server.stats().by_status == {status: 1}


@pytest.mark.parametrize("given", [2, -5, 1_000_000_000])
def test_f01_retry_after_is_sent_as_given(server: ScriptedServer, given: int) -> None:
    misbehaving(server, **{"429": given})
    with posted(server) as response:
        assert (response.status, response.headers["Retry-After"]) == (429, str(given))


def test_f01_retry_after_can_be_a_date(server: ScriptedServer) -> None:
    misbehaving(server, **{"503": "date:60"})
    before_s = time.time()
    with posted(server) as response:
        moment = parsedate_to_datetime(response.headers["Retry-After"])
    assert before_s + 59 <= moment.timestamp() <= time.time() + 60


@pytest.mark.parametrize("protocol", ["openai", "anthropic"])
@pytest.mark.parametrize("stream", [False, True])
def test_f03_a_connection_is_reset_before_or_in_the_middle_of_an_answer(
    server: ScriptedServer, protocol: str, stream: bool
) -> None:
    misbehaving(server, reset=True)
    with pytest.raises(ConnectionError), posted(server, protocol, stream=stream):
        pass
    misbehaving(server, reset_midway=True)
    with posted(server, protocol, stream=stream) as response:
        half = int(response.headers["Content-Length"]) // 2
        assert (response.status, len(response.read(half))) == (200, half)
        with pytest.raises(ConnectionError):
            response.read(1)
    assert server.stats().by_status == {0: 1}


def test_f04_bytes_come_one_at_a_time(server: ScriptedServer) -> None:
    misbehaving(server, slow=0.02)
    started = time.monotonic()
    with posted(server) as response:
        assert response.read(11) == b'{"id":"chat'
    assert time.monotonic() - started > 0.15


@pytest.mark.parametrize("stream", [False, True])
@BOTH
def test_f05_tool_call_json_is_cut_in_half(
    server: ScriptedServer, protocol: Spoken, stream: bool
) -> None:
    misbehaving(server, cut_json=True)
    (call,) = asked(server, protocol, "hello", output=FINAL, stream=stream).tool_calls
    assert (call.tool_name, str(call.args)[:10]) == ("final_answer", '{"answer":')
    with pytest.raises(ValueError, match=r"Unterminated|Expecting"):
        json.loads(str(call.args))


@pytest.mark.parametrize(
    ("name", "start", "end"),
    [
        ("html", b"<!DOCTYPE html>", b"</html>"),
        ("empty", b"", b""),
        ("deep", b"[[[[", b"]]]]"),
        ("cut_body", b'{"id"', b""),
    ],
)
def test_f06_a_body_is_no_answer_though_the_status_says_200(
    server: ScriptedServer, name: str, start: bytes, end: bytes
) -> None:
    misbehaving(server, **{name: True})
    with posted(server) as response:
        body = response.read()
    assert response.status == 200
    assert body.startswith(start)
    assert body.endswith(end)
    with pytest.raises((ValueError, RecursionError)):
        json.loads(body)


def test_f06_numbers_are_nan_in_the_body_or_in_the_arguments(server: ScriptedServer) -> None:
    misbehaving(server, nan=True)
    with posted(server) as response:
        assert b'"created":NaN' in response.read()
    misbehaving(server, nan_arguments=True)
    _, arguments = called(asked(server, "openai", "hello", output=FINAL))
    assert '"confidence":NaN' in arguments


def test_f06_arguments_are_nested_as_deep_as_is_asked_for(server: ScriptedServer) -> None:
    misbehaving(server, deep_arguments=5_000)
    _, arguments = called(asked(server, "openai", "hello", output=FINAL))
    assert arguments.count("[") == 5_000


@pytest.mark.parametrize("stream", [False, True])
def test_f07_odd_characters_come_in_the_text(server: ScriptedServer, stream: bool) -> None:
    misbehaving(server, odd_characters=True)
    with posted(server, stream=stream) as response:
        body = response.read()
    for escaped in (rb"\ud800", rb"\u0000", rb"\u202e", rb"\u200b"):
        assert escaped in body


@BOTH
def test_f08_a_tool_is_unknown_or_misspelt(server: ScriptedServer, protocol: Spoken) -> None:
    misbehaving(server, unknown_tool=True)
    assert called(asked(server, protocol, "hello", tools=[SEARCH]))[0] == "no_such_tool"
    misbehaving(server, misspelt_tool=True)
    assert called(asked(server, protocol, "hello", tools=[SEARCH]))[0] == "searhc"


@BOTH
def test_f09_the_same_call_comes_again_and_again(server: ScriptedServer, protocol: Spoken) -> None:
    misbehaving(server, repeat_call=True)
    calls = {called(asked(server, protocol, text, tools=[SEARCH], output=FINAL)) for text in "abc"}
    assert len(calls) == 1
    assert next(iter(calls))[0] == "search"


@BOTH
def test_f10_an_answer_is_as_long_as_is_asked_for(server: ScriptedServer, protocol: Spoken) -> None:
    misbehaving(server, huge=300_000)
    assert len(asked(server, protocol, "hello").text or "") >= 300_000
    assert len(called(asked(server, protocol, "hello", output=FINAL))[1]) >= 300_000


@BOTH
def test_an_answer_ends_because_the_token_limit_is_reached(
    server: ScriptedServer, protocol: Spoken
) -> None:
    misbehaving(server, length=True)
    assert asked(server, protocol, "a long question about it all").finish_reason == "length"


@BOTH
def test_arguments_have_every_value_of_a_wrong_type(
    server: ScriptedServer, protocol: Spoken
) -> None:
    misbehaving(server, invalid_schema=True)
    _, spelt = called(asked(server, protocol, "hello", output=FINAL))
    given = cast("dict[str, object]", json.loads(spelt))
    assert given.keys() >= {"answer", "confidence"}
    assert not any(isinstance(value, str | int | list) for value in given.values())


def test_usage_is_what_no_count_can_be(server: ScriptedServer) -> None:
    misbehaving(server, bad_usage=True)
    with posted(server) as response:
        usage = cast("dict[str, dict[str, object]]", json.loads(response.read()))["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"]) == ("many", -5)


def test_latency_holds_an_answer_back(server: ScriptedServer) -> None:
    misbehaving(server, latency_ms=150)
    started = time.monotonic()
    with posted(server):
        pass
    assert time.monotonic() - started > 0.14


def test_the_server_survives_every_misbehaviour(server: ScriptedServer) -> None:
    names = [name for name in (*TO_ANSWERS, *TO_RESPONSES) if name not in ("slow", "latency_ms")]
    for name in names:
        misbehaving(server, **{name: True})
        try:
            with posted(server, tools=[]) as response:
                response.read()
        except ConnectionError:
            assert name.startswith("reset")
    server.reset(script=None)
    assert asked(server, "openai", "hello").text
