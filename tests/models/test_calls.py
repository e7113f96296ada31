"""Calls over real HTTP: what is retried, what is not, and what is recorded."""

import asyncio
import json

import pytest
from pydantic import JsonValue

from leadhand.contracts.events import Event, ModelCalled, dump, parse
from leadhand.errors import InputError, ModelError
from leadhand.models.calls import MAX_MALFORMED, MAX_TRIES, Caller, CallRequest
from leadhand.models.connections import Connections
from leadhand.models.structured import first_message
from leadhand.testing import ScriptedServer, run_virtual
from leadhand.testing.json_data import Json, items, mapping
from tests.models.asking import (
    ANTHROPIC,
    ASKER,
    BOTH,
    COLOUR,
    OPENAI,
    PLAIN,
    ask,
    ask_all,
    body,
    misbehaving,
    replies,
    with_settings,
)
from tests.models.in_process import InProcess
from tests.models.raw_endpoint import RawEndpoint, head, serving
from tests.patience import HANG_S, wait_until
from tests.recorders import LogRecorder

both = pytest.mark.parametrize("model", BOTH)


@both
def test_an_answered_call_is_one_event_with_tokens_and_duration(
    model_server: ScriptedServer, model: str
) -> None:
    asked = asyncio.run(ask(model))
    stats = model_server.stats()
    (call,) = asked.calls
    assert asked.text
    assert (call.role, call.model, call.error, call.retry_in_s) == ("worker", model, None, None)
    assert (call.input_tokens, call.output_tokens) == (stats.prompt_tokens, stats.completion_tokens)
    assert call.duration_s > 0
    assert parse(dump(call)) == call


@both
def test_instructions_and_settings_go_over_the_wire(
    model_server: ScriptedServer, model: str
) -> None:
    settings: dict[str, JsonValue] = {
        "max_tokens": 77,
        **({"temperature": 0.25} if model == OPENAI else {}),
    }
    asyncio.run(ask(model, request=with_settings(settings)))
    (kept,) = model_server.stats().bodies
    sent = body(kept)
    if model == OPENAI:  # this model of Anthropic's takes no temperature
        assert sent["temperature"] == 0.25
    assert 77 in (sent.get("max_tokens"), sent.get("max_completion_tokens"))
    first = sent["system"] if "system" in sent else mapping(items(sent["messages"])[0])["content"]
    assert "Answer in a word." in json.dumps(first)


def retry_in_s(model: str, **settings: object) -> float:
    """When the first call that failed is made again; nothing is waited for."""

    async def story() -> float:
        told: asyncio.Future[float] = asyncio.get_running_loop().create_future()

        def listen(event: Event) -> None:
            if isinstance(event, ModelCalled) and event.retry_in_s is not None and not told.done():
                told.set_result(event.retry_in_s)

        pen = LogRecorder(listeners=(listen,))
        async with Connections(seed=5) as connections:
            work = asyncio.ensure_future(
                Caller(connections, pen).ask(
                    ASKER, [first_message("hello", PLAIN)], request=PLAIN, models=[model]
                )
            )
            async with asyncio.timeout(HANG_S):
                seconds = await told
            work.cancel()
            await asyncio.wait([work])
        return seconds

    return asyncio.run(story())


@both
@pytest.mark.parametrize(
    ("retry_after", "least_s", "most_s"),
    [
        (3, 2.9, 3.75),
        ("date:30", 28.0, 37.5),
        (-7, 0.0, 0.625),
        (1_000_000_000, 59.9, 60.0),
        (None, 0.0, 0.625),
    ],
)
def test_a_rate_limit_delays_the_call_as_asked_within_bounds(
    model_server: ScriptedServer, model: str, retry_after: Json, least_s: float, most_s: float
) -> None:
    """F01"""
    model_server.configure(script=misbehaving({"429": retry_after}))
    assert least_s <= retry_in_s(model) <= most_s


def test_calls_that_wait_for_the_same_reason_do_not_all_come_back_at_once() -> None:
    """F01"""
    server = InProcess(script=misbehaving(*[{"503": None}] * 8))

    async def story() -> set[float]:
        asked = await asyncio.gather(*(ask(server.model, seed=seed) for seed in range(4)))
        return {call.retry_in_s for one in asked for call in one.calls if call.retry_in_s}

    assert len(run_virtual(story())) >= 4


@both
@pytest.mark.parametrize("fault", [{"reset_midway": True}, {"reset": True}, {"500": True}])
def test_a_call_that_is_lost_on_the_way_is_made_again_and_only_one_answer_counts(
    model_server: ScriptedServer, model: str, fault: dict[str, Json]
) -> None:
    """F03"""
    model_server.configure(script=misbehaving(fault))
    asked = asyncio.run(ask(model))
    lost, answered = asked.calls
    stats = model_server.stats()
    assert lost.error is not None
    assert lost.error.startswith("the model could not be reached")
    assert lost.retry_in_s is not None
    assert (lost.input_tokens, lost.output_tokens) == (0, 0)
    assert answered.error is None
    assert asked.usage.requests == 1
    assert stats.requests == 2
    first, second = stats.bodies
    assert first["body"] == second["body"]


def test_a_stream_that_ends_midway_without_an_error_is_no_answer(
    model_server: ScriptedServer,
) -> None:
    """F03"""
    model_server.configure(
        script=replies({"text": "half of this text is lost", "misbehave": {"cut_body": True}})
    )
    asked = asyncio.run(ask(ANTHROPIC))
    lost, answered = asked.calls
    assert lost.error == "the model could not be reached: its answer ended midway"
    assert answered.error is None
    assert "half of this text" not in asked.text


def test_a_model_that_fails_every_time_is_given_up_after_four_calls(
    model_server: ScriptedServer,
) -> None:
    model_server.configure(faults={"reset": 1.0})
    given = asyncio.run(ask_all((OPENAI, "hello"), (ANTHROPIC, "hello")))
    for asked in given:
        assert asked.error is not None
        assert asked.error.transient
        assert [call.retry_in_s is None for call in asked.calls] == [False, False, False, True]
    assert model_server.stats().requests == MAX_TRIES * len(given)


def test_a_malformed_response_is_a_typed_error_after_one_retry(
    model_server: ScriptedServer,
) -> None:
    """F06"""
    faults = ("html", "empty", "nan", "deep", "cut_body")
    model_server.configure(
        script=[
            {"match": {"contains": fault}, "reply": {"misbehave": {fault: True}}}
            for fault in faults
        ]
    )
    cases = [(model, fault) for model in BOTH for fault in faults]
    given = asyncio.run(ask_all(*cases))
    for case, asked in zip(cases, given, strict=True):
        assert asked.response is None, case
        assert asked.error is not None, case
        assert len(str(asked.error)) < 500, case
        assert "\n" not in str(asked.error), case
        assert MAX_MALFORMED <= len(asked.calls) <= MAX_TRIES, case
    assert model_server.stats().requests == sum(len(asked.calls) for asked in given)


@both
@pytest.mark.parametrize(
    ("status", "told"),
    [(401, "API key"), (404, "no such model"), (402, "quota"), (400, "refused the request")],
)
def test_a_failure_that_a_retry_cannot_fix_is_not_retried(
    model_server: ScriptedServer, model: str, status: int, told: str
) -> None:
    model_server.configure(script=misbehaving({str(status): True}))
    asked = asyncio.run(ask(model))
    assert asked.error is not None
    assert not asked.error.transient
    assert told in str(asked.error)
    assert "\n" not in str(asked.error)
    (call,) = asked.calls
    assert call.error == str(asked.error)
    assert call.retry_in_s is None
    assert model_server.stats().requests == 1


def test_the_tiers_next_model_is_asked_when_the_first_is_exhausted() -> None:
    first = InProcess(model="first", faults={"500": 1.0})
    second = InProcess(model="second")
    asked = run_virtual(ask(first.model, second.model))
    assert asked.text
    assert [call.model for call in asked.calls] == ["openai:first"] * MAX_TRIES + ["openai:second"]
    assert asked.usage.model == "openai:second"


def test_the_tiers_next_model_is_asked_at_once_where_the_first_refuses(
    model_server: ScriptedServer,
) -> None:
    model_server.configure(script=misbehaving({"401": True}))
    asked = asyncio.run(ask(ANTHROPIC, OPENAI))
    assert [call.model for call in asked.calls] == [ANTHROPIC, OPENAI]
    assert asked.usage.model == OPENAI


def test_without_a_model_there_is_one_clear_line() -> None:
    asked = asyncio.run(ask())
    assert str(asked.error) == "the team has no model: give it one"


@pytest.mark.wall_clock
@both
async def test_a_call_that_is_cancelled_is_in_the_log(
    model_server: ScriptedServer, model: str
) -> None:
    model_server.configure(latency_ms=3_600_000)
    loop = asyncio.get_running_loop()
    pen = LogRecorder()
    async with Connections(seed=1) as connections:
        started_s = loop.time()
        asking = asyncio.ensure_future(
            Caller(connections, pen).ask(
                ASKER, [first_message("hello", PLAIN)], request=PLAIN, models=[model]
            )
        )
        await asyncio.to_thread(wait_until, lambda: model_server.stats().requests == 1)
        await asyncio.sleep(0.1)
        asking.cancel()
        await asyncio.wait([asking], timeout=HANG_S)
    assert asking.cancelled()
    calls = [event for event in pen.log() if isinstance(event, ModelCalled)]
    (call,), took_s = calls, loop.time() - started_s
    assert call.error == "the call was cancelled before it was answered"
    assert call.cost_usd is None
    assert 0.1 <= call.duration_s <= took_s


@both
@pytest.mark.wall_clock
async def test_bytes_that_drip_do_not_hold_a_call_beyond_the_time_of_who_asked(
    monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    """F04"""
    start = head(content_type="application/json") + b'{"id": "'
    dripping = RawEndpoint(start, b"x", times=None, every_s=0.01)
    for provider in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{provider}_API_KEY", "dummy")
    with serving(dripping):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{dripping.url}/v1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", dripping.url)
        asking = asyncio.ensure_future(ask(model))
        await asyncio.to_thread(wait_until, lambda: dripping.sent >= 3)
        asking.cancel()
        await asyncio.wait([asking], timeout=HANG_S)
        assert asking.cancelled()


@both
def test_characters_that_utf8_cannot_hold_never_reach_the_log_or_the_next_request(
    model_server: ScriptedServer, model: str
) -> None:
    """F07"""
    model_server.configure(script=replies({"text": "odd", "misbehave": {"odd_characters": True}}))
    asked = asyncio.run(ask(model))
    assert "odd" in asked.text
    asked.text.encode()
    assert "\ufffd" in asked.text


@pytest.mark.wall_clock
async def test_an_error_text_with_odd_characters_is_stored_safely(
    model_server: ScriptedServer,
) -> None:
    """F07"""
    model_server.configure(script=[{"reply": {"text": "x"}, "times": 1}])
    pen = LogRecorder()
    async with Connections() as connections:
        with pytest.raises(ModelError) as raised:
            await Caller(connections, pen).ask(
                ASKER,
                [first_message("lone \ud800 surrogate", PLAIN)],
                request=PLAIN,
                models=[OPENAI],
            )
    for event in pen.log():
        dump(event).encode()
    str(raised.value).encode()


@both
def test_a_context_that_is_too_short_is_named(model_server: ScriptedServer, model: str) -> None:
    """F10"""
    said = {
        OPENAI: "This model's maximum context length is 8192 tokens.",
        ANTHROPIC: "prompt is too long: 210000 tokens > 200000 maximum",
    }[model]
    model_server.configure(script="tests.models.scripts:refuse")
    asked = asyncio.run(ask(model, text=said))
    assert asked.error is not None
    assert "longer than the model's context" in str(asked.error)
    assert len(asked.calls) == 1


def test_the_switch_bars_every_model_that_is_not_on_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "dummy")
    with pytest.raises(InputError, match=r"bars 'openai:gpt-4o', which is at api\.openai\.com"):
        asyncio.run(ask("openai-chat:gpt-4o"))


def test_plain_text_that_was_cut_off_is_not_taken_for_an_answer(
    model_server: ScriptedServer,
) -> None:
    """F10"""
    model_server.configure(script=replies({"text": "half of it", "misbehave": {"length": True}}))
    asked = asyncio.run(ask(OPENAI, request=CallRequest("Answer.")))
    assert asked.response is not None
    assert asked.response.finish_reason == "length"


def test_a_call_that_takes_longer_than_a_call_may_is_not_repeated() -> None:
    model = InProcess(latency_ms=400_000)
    asked = run_virtual(ask(model.model))
    assert [call.retry_in_s for call in asked.calls] == [None]
    assert str(asked.error).startswith("the model did not end its answer within 300 s: use a fast")
    assert asked.error is not None
    assert not asked.error.transient  # no rung sends it again as it is


def test_a_way_in_which_an_answer_takes_too_long_is_left_for_the_next() -> None:
    model = InProcess(latency_ms=400_000)
    asked = run_virtual(ask(model.model, request=CallRequest("Answer.", output=COLOUR)))
    assert [call.retry_in_s for call in asked.calls] == [0.0] * (len(asked.calls) - 1) + [None]
    assert len(asked.calls) > 1
