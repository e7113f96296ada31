"""Agents of real frameworks, for tests. The libraries are extras: `make test-all` installs them.

crewAI needs another version of a library than leadhand does, so its tests have an environment of
their own there.
"""

import os
from collections.abc import Awaitable, Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest

WEIGHS: list[dict[str, object]] = [
    {"match": {"step": 2}, "reply": {"text": "It weighs ten grams"}},
    {"reply": {"tool_calls": [{"name": "weigh", "arguments": {"what": "tea"}}]}},
]
"""A script: a call of the tool `weigh`, then an answer."""
Weigh = Callable[[], str]


def library(name: str) -> Any:
    """An optional library; the test is skipped without it, but not where all are installed."""
    top = name.partition(".")[0]
    if find_spec(top) is None:
        installed = os.environ.get("LEADHAND_TEST_ALL")
        assert installed is None or (installed == "crewai") != (top == "crewai")
        pytest.skip(f"{name} is not installed")
    return import_module(name)


def asking_chat_model(generate: Callable[[list[Any]], Awaitable[object]]) -> Any:
    """A graph's node that asks a model of LangChain; `generate` gives the model's message."""
    outputs = library("langchain_core.outputs")
    base: Any = library("langchain_core.language_models.chat_models").BaseChatModel

    async def generated(_self: object, given: list[Any], **_: object) -> Any:
        message = await generate(given)
        return outputs.ChatResult(generations=[outputs.ChatGeneration(message=message)])

    own = {"_agenerate": generated, "_generate": None, "_llm_type": "scripted"}
    model = type("Scripted", (base,), {**own, "__module__": __name__})()

    async def call(state: Any) -> object:
        return {"messages": [await model.ainvoke(state["messages"])]}

    return call


def langgraph(weigh: Weigh) -> object:
    """A graph of a model's call, a tool and another call, with a model behind HTTP."""
    module, messages = library("langgraph.graph"), library("langchain_core.messages")

    async def generate(given: list[Any]) -> object:
        from openai import AsyncOpenAI

        roles = {"ai": "assistant"}
        said = [{"role": roles.get(one.type, "user"), "content": one.text} for one in given]
        async with AsyncOpenAI() as client:
            reply: Any = await client.chat.completions.create(model="scripted", messages=said)  # pyright: ignore[reportArgumentType]
        used = reply.usage
        counts = {
            "input_tokens": used.prompt_tokens,
            "output_tokens": used.completion_tokens,
            "total_tokens": used.total_tokens,
        }
        return messages.AIMessage(
            reply.choices[0].message.content or "",
            usage_metadata=counts,
            response_metadata={"model_name": reply.model},
        )

    call = asking_chat_model(generate)

    async def use(state: object) -> object:
        return {"messages": [messages.HumanMessage(weigh())]}

    builder = module.StateGraph(module.MessagesState)
    for name, node in (("ask", call), ("weigh", use), ("answer", call)):
        builder.add_node(name, node)
    for edge in ((module.START, "ask"), ("ask", "weigh"), ("weigh", "answer")):
        builder.add_edge(*edge)
    return builder.compile()


def openai_agents(weigh: Weigh) -> object:
    """An agent with a tool."""
    agents = library("agents")
    agents.set_tracing_disabled(True)
    openai = import_module("openai")
    model = agents.OpenAIChatCompletionsModel("scripted", openai.AsyncOpenAI())

    def use(what: str) -> str:
        return weigh()

    tool = agents.function_tool(use, name_override="weigh", failure_error_function=None)
    return agents.Agent(name="weigher", instructions="Be brief.", model=model, tools=[tool])


def agno(weigh: Weigh) -> object:
    """An agent with a tool."""
    model = library("agno.models.openai").OpenAIChat(id="scripted", max_retries=0)

    def use(what: str) -> str:
        return weigh()

    tool = library("agno.tools").Function(
        name="weigh", entrypoint=use, parameters=_WHAT, skip_entrypoint_processing=True
    )
    return library("agno.agent").Agent(model=model, tools=[tool], telemetry=False)


def crewai(weigh: Weigh) -> object:
    """An agent with a tool."""
    module = library("crewai")

    def use(what: str) -> str:
        """Weigh something."""
        return weigh()

    return module.Agent(
        role="Weigher",
        goal="Weigh",
        backstory="You weigh.",
        llm=module.LLM(model="openai/scripted", base_url=os.environ["OPENAI_BASE_URL"]),
        tools=[library("crewai.tools").tool("weigh")(use)],
    )


_WHAT = {"type": "object", "properties": {"what": {"type": "string"}}, "required": ["what"]}
FRAMEWORKS = {
    "langgraph": langgraph,
    "openai-agents": openai_agents,
    "agno": agno,
    "crewai": crewai,
}
"""Makes an agent that calls its model, weighs, and calls its model again."""
LIBRARIES = dict(zip(FRAMEWORKS, ("langgraph", "agents", "agno", "crewai"), strict=True))
