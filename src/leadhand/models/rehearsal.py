"""A model for rehearsals: OpenAI's client with answers from memory. It opens no connection."""

import json
from typing import cast

import httpx2
from openai import AsyncOpenAI
from pydantic import JsonValue
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from leadhand.models.connections import send_as_built
from leadhand.models.schemas import remember_schemas
from leadhand.models.streams import as_stream, wants_stream

_Object = dict[str, JsonValue]

_NAME = "gpt-4o-mini"
"""A model whose price is known, so that prices are loaded as well."""


def rehearsal_model(worker: str) -> OpenAIChatModel:
    """A model that plans two tasks of `worker`, calls its tool `note`, and answers."""

    def respond(request: httpx2.Request) -> httpx2.Response:
        asked = cast("_Object", json.loads(request.content))
        reply = json.dumps(_completion(*_call(asked, worker))).encode()
        if not wants_stream(request.content):
            return httpx2.Response(200, content=reply)
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, content=as_stream(request.url.path, reply))

    client = httpx2.AsyncClient(transport=httpx2.MockTransport(respond))
    sdk = AsyncOpenAI(
        api_key="none", base_url="http://127.0.0.1:1/v1", http_client=client, max_retries=0
    )
    model = OpenAIChatModel(_NAME, provider=OpenAIProvider(openai_client=sdk))
    send_as_built(sdk)
    remember_schemas(model)
    return model


def _call(asked: _Object, worker: str) -> tuple[str, _Object]:
    offered = cast("list[dict[str, dict[str, str]]]", asked["tools"])
    tools = {tool["function"]["name"] for tool in offered}
    if "propose_plan" in tools:
        task: _Object = {"worker": worker, "intent": "Write a note.", "depends_on": []}
        tasks: list[JsonValue] = [{"id": id, **task} for id in ("a", "b")]
        return "propose_plan", {"tasks": tasks}
    if "note" in tools and len(cast("list[JsonValue]", asked["messages"])) == 2:
        return "note", {"text": "A note."}
    ending: _Object = {"answer": "Done [a].", "summary": "Done.", "confidence": 90}
    return "final_answer", {**ending, "evidence": [], "plan_impact": "none", "contradictions": []}


def _completion(name: str, arguments: _Object) -> _Object:
    function: _Object = {"name": name, "arguments": json.dumps(arguments)}
    call: _Object = {"id": "call", "type": "function", "function": function}
    message: _Object = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice: _Object = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    usage: _Object = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    return {
        "id": "rehearsal",
        "object": "chat.completion",
        "created": 0,
        "model": _NAME,
        "choices": [choice],
        "usage": usage,
    }
