"""Asking a scripted server through the real SDKs, as leadhand's own calls do."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Literal

import httpx2
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition

from leadhand.testing import ScriptedServer

Spoken = Literal["openai", "anthropic"]


@asynccontextmanager
async def connected(server: ScriptedServer, protocol: Spoken) -> AsyncGenerator[Model]:
    """A pydantic-ai model on the server; nothing is tried twice."""
    # Reading the certificates would take longer than the request.
    http = httpx2.AsyncClient(verify=False)
    if protocol == "openai":
        async with AsyncOpenAI(
            base_url=server.url, api_key="dummy", max_retries=0, http_client=http
        ) as client:
            yield OpenAIChatModel("scripted", provider=OpenAIProvider(openai_client=client))
    else:
        url = server.anthropic_url
        async with AsyncAnthropic(
            base_url=url, api_key="dummy", max_retries=0, http_client=http
        ) as client:
            yield AnthropicModel(
                "claude-opus-5-5", provider=AnthropicProvider(anthropic_client=client)
            )


def asked(
    server: ScriptedServer,
    protocol: Spoken,
    text: str,
    *,
    tools: Sequence[ToolDefinition] = (),
    output: ToolDefinition | None = None,
    schema: dict[str, object] | None = None,
    before: Sequence[ModelMessage] = (),
    stream: bool = False,
) -> ModelResponse:
    """The response to one user message."""
    parameters = ModelRequestParameters(
        function_tools=list(tools),
        output_tools=[output] if output else [],
        output_mode="native" if schema else "tool" if output else "text",
        output_object=OutputObjectDefinition(json_schema=schema, name="reply") if schema else None,
        allow_text_output=output is None,
    )
    messages: list[ModelMessage] = [*before]
    if text:
        messages.append(ModelRequest([UserPromptPart(text)]))

    async def ask() -> ModelResponse:
        async with connected(server, protocol) as model:
            if not stream:
                return await model.request(messages, None, parameters)
            async with model.request_stream(messages, None, parameters) as streamed:
                async for _ in streamed:
                    pass
                return streamed.get()

    return asyncio.run(ask())


def tool(
    name: str, properties: dict[str, object], *, required: Sequence[str] | None = None
) -> ToolDefinition:
    """A tool with these arguments, all of them required unless said otherwise."""
    return ToolDefinition(name=name, parameters_json_schema=obj(properties, required=required))


def obj(
    properties: dict[str, object], *, required: Sequence[str] | None = None
) -> dict[str, object]:
    """An object's schema."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties if required is None else required),
        "additionalProperties": False,
    }


TEXT: dict[str, object] = {"type": "string"}
FINAL = tool(
    "final_answer",
    {
        "answer": TEXT,
        "summary": TEXT,
        "confidence": {"type": "integer", "minimum": 0, "maximum": 100},
        "evidence": {"type": "array", "items": TEXT},
        "plan_impact": {"type": "string", "enum": ["none", "blocks", "adds"]},
        "impact_reason": TEXT,
    },
)
ESCALATE = tool(
    "escalate",
    {"reason": {"type": "string", "enum": ["out_of_scope", "ambiguous_input"]}, "message": TEXT},
)


def plan_schema(workers: Sequence[str]) -> dict[str, object]:
    """The schema of a plan for these workers."""
    task = obj(
        {
            "id": TEXT,
            "worker": {"type": "string", "enum": list(workers)},
            "intent": TEXT,
            "depends_on": {"type": "array", "items": TEXT},
        }
    )
    plan = obj(
        {
            "goal": TEXT,
            "tasks": {"type": "array", "items": {"$ref": "#/$defs/Task"}},
            "synthesis": {"type": "string", "enum": ["merge", "select", "reduce"]},
        }
    )
    return {**plan, "$defs": {"Task": task}}
