"""Bodies that go out as they were built are those that the SDK would have made of them."""

import asyncio
import contextlib
import json

import httpx2
import pytest
from openai import AsyncOpenAI
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import (
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from leadhand.models.connections import Connections, send_as_built

SCHEMA = {"type": "object", "properties": {"of": {"type": "string"}}, "required": ["of"]}
TOOL = ToolDefinition(name="look_up", description="Looks it up.", parameters_json_schema=SCHEMA)
IMAGE = BinaryContent(b"\x89PNG", media_type="image/png")
TALK: list[ModelMessage] = [
    ModelRequest([UserPromptPart(["What is thïs?", IMAGE])], instructions="Look."),
    ModelResponse([TextPart("A moment."), ToolCallPart("look_up", '{"of": "x"}', "call_1")]),
    ModelRequest([ToolReturnPart("look_up", {"found": [1, None]}, "call_1")]),
]
WAYS = [
    pytest.param(talk, tools, settings, id=f"{len(talk)} messages, {len(tools)} tools, {settings}")
    for talk in (TALK[:1], TALK)
    for tools in ([], [TOOL])
    for settings in (None, ModelSettings(extra_body={"top_k": 3}, temperature=0.5))
]


@pytest.mark.parametrize("kind", [OpenAIChatModel, OpenAIResponsesModel])
@pytest.mark.parametrize(("talk", "tools", "settings"), WAYS)
def test_what_goes_out_is_the_same_but_for_the_order_of_keys(
    kind: type[OpenAIChatModel | OpenAIResponsesModel],
    talk: list[ModelMessage],
    tools: list[ToolDefinition],
    settings: ModelSettings | None,
) -> None:
    bodies: list[dict[str, object]] = []

    def endpoint(request: httpx2.Request) -> httpx2.Response:
        bodies.append(json.loads(request.content))
        return httpx2.Response(400, json={})

    async def ask(*, as_built: bool) -> None:
        async with httpx2.AsyncClient(transport=httpx2.MockTransport(endpoint)) as client:
            sdk = AsyncOpenAI(api_key="x", http_client=client, max_retries=0)
            model: Model = kind("any", provider=OpenAIProvider(openai_client=sdk))
            if as_built:
                send_as_built(sdk)
            with contextlib.suppress(ModelHTTPError):
                parameters = ModelRequestParameters(function_tools=tools)
                await model.request(talk, settings, parameters)

    for as_built in (False, True):
        asyncio.run(ask(as_built=as_built))
    assert bodies[0] == bodies[1]
    assert "What is th" in str(bodies[0])


@pytest.mark.wall_clock
async def test_every_model_that_is_connected_sends_them_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    async with Connections() as connections:
        chat = connections.to("openai-chat:one").model
        responses = connections.to("openai-responses:two").model
        assert isinstance(chat, OpenAIChatModel)
        assert isinstance(responses, OpenAIResponsesModel)
        for api in (chat.client.chat.completions, responses.client.responses):
            once = vars(api)["create"]
            connections.to("openai-chat:three")
            assert vars(api)["create"] is once


def test_other_clients_are_left_alone() -> None:
    send_as_built(object())
