"""Usage that is no count: the answer is kept, its usage unknown, and that is said once."""

import asyncio
import json
import logging
from decimal import Decimal

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.usage import RequestUsage

from leadhand import Budget
from leadhand.contracts.events import ModelCalled, dump, parse
from leadhand.models.calls import Caller
from leadhand.models.connections import Connections
from leadhand.models.ledger import Account, Ledger
from leadhand.models.structured import first_message
from leadhand.models.usage import cost_usd
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Json
from tests.models.asking import ASKER, BOTH, OPENAI, PLAIN, ask, recorder
from tests.models.raw_endpoint import RawEndpoint, head, serving

NAMES = ("prompt_tokens", "completion_tokens", "total_tokens", "input_tokens", "output_tokens")
MESSAGE = {"role": "assistant", "content": 'hi, "prompt_tokens": NaN'}
# The suite makes errors of warnings, before ours are looked at.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Failed to extract usage"),
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings"),
]


def warnings_in(log: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in log.records if "what its answers use" in record.message]


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize("count", [-5, "many", None, 1.5, [], 10**400], ids=lambda v: str(v)[:9])
def test_the_answer_is_kept_and_its_usage_is_unknown(
    model_server: ScriptedServer, caplog: pytest.LogCaptureFixture, model: str, count: Json
) -> None:
    usage: Json = dict.fromkeys(NAMES, count)
    model_server.configure(script=[{"reply": {"misbehave": {"bad_usage": usage}}}])
    with caplog.at_level(logging.WARNING, "leadhand"):
        asked = asyncio.run(ask(model))
    assert asked.error is None
    assert asked.text
    (called,) = asked.calls
    assert (called.input_tokens, called.output_tokens, called.cost_usd) == (0, 0, None)
    assert parse(dump(called)) == called
    assert warnings_in(caplog) == [
        f"{model} does not say what its answers use: tokens and cost are unknown"
    ]


@pytest.mark.parametrize("count", ["NaN", "Infinity", "-Infinity", "1e999", "-1e3", "9" * 400])
def test_numbers_that_json_does_not_have_are_no_counts_either(
    monkeypatch: pytest.MonkeyPatch, count: str
) -> None:
    usage = ",".join(f'"{name}":{count}' for name in NAMES)
    choice = {"index": 0, "finish_reason": "stop", "message": MESSAGE}
    body = json.dumps(
        {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": "gpt-5",
            "choices": [choice],
            "usage": {},
        }
    ).replace('"usage": {}', '"usage": {' + usage + "}")
    monkeypatch.setenv("OPENAI_API_KEY", "dummy")
    endpoint = RawEndpoint(head(content_type="application/json") + body.encode())
    with serving(endpoint):
        monkeypatch.setenv("OPENAI_BASE_URL", f"{endpoint.url}/v1")
        asked = asyncio.run(ask(OPENAI))
    assert asked.error is None
    assert asked.text == MESSAGE["content"]
    assert (asked.usage.input_tokens, asked.usage.output_tokens) == (0, 0)
    assert asked.usage.cost_usd is None


@pytest.mark.wall_clock
async def test_it_is_said_once_a_run_and_books_what_was_expected(
    model_server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    model_server.configure(faults={"bad_usage": 1.0})
    ledger = Ledger(Budget(tokens=1_000_000))
    with caplog.at_level(logging.WARNING, "leadhand"):
        pen = recorder()
        async with Connections() as connections:
            caller = Caller(connections, pen, account=Account(ledger))
            messages: list[ModelMessage] = [first_message("hello", PLAIN)]
            for one in (caller, caller, caller.nested(pen, Account(ledger))):
                await one.ask(ASKER, messages, request=PLAIN, models=[OPENAI])
        assert len([event for event in pen.log() if isinstance(event, ModelCalled)]) == 3
    assert len(warnings_in(caplog)) == 1
    assert ledger.settled.tokens > 0


@pytest.mark.parametrize("cost", ["NaN", "Infinity", "-1"])
def test_an_invalid_price_is_unknown(cost: str) -> None:
    used = RequestUsage(input_tokens=1, output_tokens=1, cost=Decimal(cost))
    assert cost_usd(ModelResponse([TextPart("x")], usage=used)) is None
