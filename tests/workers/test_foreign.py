"""Agents of LangGraph, OpenAI Agents and Agno as workers, run by the real libraries."""

import asyncio
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from leadhand import Answer, Handoff, InputError, Limits, Plan, Supervisor, Task, Team, Worker
from leadhand.testing import ScriptedServer
from tests.team_folders import problems, worker, write_team
from tests.workers.foreign_agents import library

pytestmark = pytest.mark.filterwarnings("ignore")  # of the libraries


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        yield server


def twelve(handoff: Handoff) -> str:
    return "Twelve grams"


def graph(node: object) -> object:
    """A compiled graph of one node over messages."""
    module = library("langgraph.graph")
    builder = module.StateGraph(module.MessagesState)
    builder.add_node("only", node)
    builder.add_edge(module.START, "only")
    return builder.compile()


def run(agent: object, *more: Worker, request: str = "Weigh the tea", **named: Any) -> Answer:
    first = Worker("foreign", "Does it", agent=agent, **named)
    return asyncio.run(_answer([first, *more], request))


async def _answer(workers: list[Worker], request: str) -> Answer:
    plan = Plan(goal=request, tasks=[Task(id="a", worker="foreign", intent=request)])
    return await Supervisor(Team("t", workers=workers), deadline_s=60).run(plan=plan)


def run_with_client(make: Callable[[Any], object]) -> Answer:
    """Run the agent that `make` returns, and close the client that its model uses."""

    async def run_and_close() -> Answer:
        async with library("httpx").AsyncClient() as client:
            worker = Worker("foreign", "Does it", agent=make(client), retry=False)
            return await _answer([worker], "Weigh the tea")

    return asyncio.run(run_and_close())


def test_a_langgraph_graph_gets_the_task_as_a_message_and_its_model_calls_are_counted() -> None:
    seen: list[str] = []
    messages = library("langchain_core.messages")
    said = messages.AIMessage(
        "Ten grams",
        usage_metadata={"input_tokens": 7, "output_tokens": 2, "total_tokens": 9},
    )
    models = library("langchain_core.language_models.fake_chat_models")
    model = models.FakeMessagesListChatModel(responses=[said])

    async def node(state: Any) -> object:
        seen.append(state["messages"][-1].text)
        return {"messages": [await model.ainvoke(state["messages"])]}

    answer = run(graph(node))
    assert (answer.status, answer.output, answer.engine) == ("complete", "Ten grams", "model")
    assert seen == ["Weigh the tea"]
    used = answer.metrics
    assert (used.requests, used.input_tokens, used.output_tokens) == (1, 7, 2)


def test_the_ladder_takes_over_when_a_graph_fails() -> None:
    def node(state: object) -> object:
        raise ValueError("no scales")

    spare = Worker("spare", "Does it too", run=twelve)
    answer = run(graph(node), spare, fallback="spare")
    assert (answer.status, answer.output) == ("complete", "Twelve grams")


def test_a_graph_that_never_ends_is_cancelled_at_the_timeout_of_its_task() -> None:
    async def node(state: object) -> object:
        await asyncio.Event().wait()
        return {}

    answer = run(graph(node), limits=Limits(timeout_s=0.05), retry=False)
    assert (answer.status, answer.tasks[0].status) == ("failed", "timed_out")


def test_an_interrupt_of_a_graph_is_an_escalation() -> None:
    interrupt = library("langgraph.types").interrupt
    module = library("langgraph.graph")

    def ask(state: object) -> object:
        return {"messages": [interrupt("Which tea?")]}

    saver = library("langgraph.checkpoint.memory").InMemorySaver()
    builder = module.StateGraph(module.MessagesState)
    builder.add_node("only", ask)
    builder.add_edge(module.START, "only")
    answer = run(builder.compile(checkpointer=saver))
    assert answer.tasks[0].status == "escalated"
    assert "the graph asks: Which tea?" in answer.gaps[0].why


def test_an_agent_of_openai_agents_works_with_its_own_model(server: ScriptedServer) -> None:
    agents = library("agents")
    agents.set_tracing_disabled(True)
    openai = import_module("openai")

    def make(client: Any) -> object:
        own = openai.AsyncOpenAI(http_client=client)
        model = agents.OpenAIChatCompletionsModel("scripted", own)
        return agents.Agent(name="weigher", instructions="Be brief.", model=model)

    answer = run_with_client(make)
    assert (answer.status, answer.engine) == ("complete", "model")
    assert answer.metrics.requests == len(server.requests()) == 1
    assert "Weigh the tea" in str(server.requests()[0])


def agno_agent(client: Any) -> object:
    model = library("agno.models.openai").OpenAIChat(
        id="scripted", max_retries=0, http_client=client
    )
    return library("agno.agent").Agent(model=model, telemetry=False)


def test_an_agno_agent_works_with_its_own_model(server: ScriptedServer) -> None:
    answer = run_with_client(agno_agent)
    assert (answer.status, answer.engine) == ("complete", "model")
    assert answer.metrics.requests == len(server.requests()) == 1
    assert "Weigh the tea" in str(server.requests()[0])


def test_an_agno_agent_whose_model_does_not_answer_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    answer = run_with_client(agno_agent)
    assert answer.status == "failed"
    assert "the agent failed: Connection error." in answer.gaps[0].why


class Stranger:
    """An agent of a framework without an adapter."""


stranger = Stranger()


def test_an_agent_without_an_adapter_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"`agent` is tests\.workers\.test_foreign\.Stranger"):
        run(stranger)
    with pytest.raises(InputError, match=r"`agent` is tests\.workers\.test_foreign\.Stranger"):
        run("tests.workers.test_foreign:stranger")
    with pytest.raises(InputError, match="'nowhere:agent' can't be imported"):
        run("nowhere:agent")
    with pytest.raises(InputError, match="has an agent and a function"):
        run(stranger, run=twelve)


def test_a_teams_folder_names_an_agent_by_module_and_attribute(tmp_path: Path) -> None:
    front = "agent: tests.workers.test_foreign:stranger\nmodel: openai:gpt-5"
    folder = write_team(tmp_path, one=worker(front).replace("offline:", "#"))
    (problem,) = problems(folder)
    assert problem.startswith("workers/one.md:2: `agent` is tests.workers.test_foreign.Stranger")
