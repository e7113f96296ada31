"""Connections: from a name to a model that can be asked, and none that is not on this machine."""

import asyncio
import os
import subprocess
import sys

import pytest
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models import infer_model
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel

from leadhand.contracts.team import ModelSpec, model_name
from leadhand.errors import InputError
from leadhand.models.calls import Caller
from leadhand.models.connections import LOOPBACK_ONLY, Connections
from leadhand.models.structured import first_message
from leadhand.testing import ScriptedServer
from tests.models.asking import ANTHROPIC, ASKER, BOTH, OPENAI, PLAIN, ask, recorder

NO_MODEL: FunctionModel = FunctionModel(lambda messages, info: pytest.fail("nobody asks it"))


def connect(*specs: ModelSpec) -> list[str]:
    """The names of the connections."""

    async def story() -> list[str]:
        async with Connections() as connections:
            return [connections.to(spec).name for spec in specs]

    return asyncio.run(story())


def test_the_whole_suite_runs_with_the_switch_on_and_without_keys() -> None:
    assert os.environ[LOOPBACK_ONLY] == "1"
    assert not [name for name in os.environ if name.endswith("_API_KEY")]


def test_processes_that_tests_start_have_the_switch_too() -> None:
    code = "import os; print(os.environ['LEADHAND_LOOPBACK_ONLY'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("http://127.0.0.1:9/v1", True),
        ("http://localhost:9/v1", True),
        ("http://[::1]:9/v1", True),
        ("http://127.0.0.1.example.org/v1", False),
        ("http://10.0.0.1/v1", False),
        ("http://localhost.example.org/v1", False),
        ("http://example.org/127.0.0.1", False),
        ("http://127.0.0.1@example.org/v1", False),
    ],
)
def test_the_switch_goes_by_the_host_alone(
    monkeypatch: pytest.MonkeyPatch, url: str, allowed: bool
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("OPENAI_API_KEY", "dummy")
    if allowed:
        assert connect("openai-chat:any") == ["openai-chat:any"]
    else:
        with pytest.raises(InputError, match=f"{LOOPBACK_ONLY}=1 bars 'openai:any', which is at"):
            connect("openai-chat:any")


def test_stand_ins_that_are_nowhere_are_let_through() -> None:
    assert connect(TestModel(), NO_MODEL)[0] == "test:test"


def test_a_bare_name_is_a_model_at_openai_base_url(model_server: ScriptedServer) -> None:
    assert asyncio.run(ask("my-model")).usage.model == "my-model"
    assert model_server.stats().bodies[0]["protocol"] == "openai"


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("nowhere:model", "model 'nowhere:model' can't be used: "),
        ("openai-chat:gpt-4o", "model 'openai-chat:gpt-4o' can't be used: .*OPENAI_API_KEY"),
        (7, "a model is `provider:model` or a pydantic-ai Model, not 7"),
    ],
)
def test_a_model_that_can_not_be_connected_is_named_in_one_line(spec: object, told: str) -> None:
    with pytest.raises(InputError, match=told) as raised:
        connect(spec)
    assert "\n" not in str(raised.value)


@pytest.mark.wall_clock
async def test_a_model_is_connected_once(model_server: ScriptedServer) -> None:
    async with Connections() as connections:
        first = await connections.open(OPENAI)
        second = (await asyncio.gather(*(connections.open(OPENAI) for _ in range(9))))[-1]
        assert first is second is connections.to(OPENAI)


@pytest.mark.parametrize("spec", BOTH)
def test_a_model_that_is_handed_in_serves_one_event_loop_after_the_other(
    model_server: ScriptedServer, spec: str
) -> None:
    model = infer_model(spec)
    for _ in range(3):
        asked = asyncio.run(ask(model))
        assert asked.text
        assert [call.error for call in asked.calls] == [None]


@pytest.mark.wall_clock
async def test_a_model_that_two_runs_share_is_not_closed_under_the_second(
    model_server: ScriptedServer,
) -> None:
    model = infer_model(ANTHROPIC)
    pen = recorder()
    async with Connections() as connections:
        caller = Caller(connections, pen)
        said: list[str] = []
        for _ in range(2):
            messages: list[ModelMessage] = [first_message("hello", PLAIN)]
            response, _usage = await caller.ask(ASKER, messages, request=PLAIN, models=[model])
            said += [response.text or "", (await ask(model)).text]
        assert all(said)
    assert model_server.stats().requests == 4


@pytest.mark.parametrize(
    ("spec", "name"),
    [(OPENAI, OPENAI), (TestModel(model_name="m"), "test:m")],
    ids=["str", "model"],
)
def test_a_model_is_shown_by_provider_and_name(spec: ModelSpec, name: str) -> None:
    assert model_name(spec) == name
