"""Answers at a rate of tokens: streamed token by token, in real time and in virtual time."""

import asyncio
import itertools

from pydantic_ai.messages import ModelRequest, UserPromptPart
from pydantic_ai.models import ModelRequestParameters

from leadhand.testing import ScriptedModel, ScriptedServer, run_virtual
from tests.testing.asking import Spoken, asked

TEXT = "one two three four five six seven eight nine ten"


async def _arrivals(model: ScriptedModel, *, stream: bool) -> list[float]:
    """When pieces of the answer arrive, in virtual seconds; only its end unless it is a stream."""
    messages, parameters = [ModelRequest([UserPromptPart("say")])], ModelRequestParameters()
    times: list[float] = []
    if not stream:
        await model.model.request([*messages], None, parameters)
    else:
        async with model.model.request_stream([*messages], None, parameters) as answer:
            times += [asyncio.get_running_loop().time() async for _ in answer]
    return [*times, asyncio.get_running_loop().time()]


def test_a_stream_arrives_token_by_token_and_other_answers_after_their_last_token() -> None:
    model = ScriptedModel(script=[{"reply": {"text": TEXT}}], tokens_per_s=10, latency_ms=500)
    times = run_virtual(_arrivals(model, stream=True))
    written = len(TEXT) // 4
    assert 0.5 < times[0] < 0.8
    assert written / 10 < times[-1] - times[0] < written / 10 + 0.5
    gaps = [late - soon for soon, late in itertools.pairwise(times)]
    assert max(gaps) < 0.41  # opening, usage and end are events too
    (whole,) = run_virtual(_arrivals(model, stream=False))
    assert abs(whole - 0.5 - (written + 1) / 10) < 0.01


def test_the_server_writes_at_that_rate_in_both_protocols(server: ScriptedServer) -> None:
    server.reset(script=[{"reply": {"text": TEXT}}], tokens_per_s=2_000)
    protocols: tuple[Spoken, ...] = ("openai", "anthropic")
    for protocol in protocols:
        for stream in (False, True):
            assert asked(server, protocol, "say", stream=stream).text == TEXT
