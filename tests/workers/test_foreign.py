"""Agents of LangGraph, OpenAI Agents and Agno as workers, run by the real libraries."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from leadhand import (
    Answer,
    Budget,
    Handoff,
    InputError,
    Limits,
    Plan,
    Supervisor,
    Task,
    Team,
    Worker,
)
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


def run(agent: object, *more: Worker, budget: Budget | None = None, **named: Any) -> Answer:
    first = Worker("foreign", "Does it", agent=agent, **named)
    return asyncio.run(_answer([first, *more], budget))


async def _answer(workers: list[Worker], budget: Budget | None = None) -> Answer:
    plan = Plan(goal="Weigh", tasks=[Task(id="a", worker="foreign", intent="Weigh the tea")])
    supervisor = Supervisor(Team("t", workers=workers), deadline_s=60, budget=budget)
    return await supervisor.run(plan=plan)


def run_with_client(make: Callable[[Any], object]) -> Answer:
    """Run the agent that `make` returns, and close the client that its model uses."""

    async def run_and_close() -> Answer:
        async with library("httpx").AsyncClient() as client:
            worker = Worker("foreign", "Does it", agent=make(client), retry=False)
            return await _answer([worker])

    return asyncio.run(run_and_close())


def test_a_langgraph_graph_gets_the_task_as_a_message_and_its_model_calls_are_counted() -> None:
    seen: list[str] = []
    messages = library("langchain_core.messages")
    said = messages.AIMessage(
        "Ten grams", usage_metadata={"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}
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


def scripted(calls: list[str]) -> Any:
    """A chat model that notes each call, in whatever thread."""
    messages, outputs = library("langchain_core.messages"), library("langchain_core.outputs")
    base: Any = library("langchain_core.language_models.chat_models").BaseChatModel

    def generate(_self: object, given: list[Any], *_: object, **_more: object) -> Any:
        calls.append(threading.current_thread().name)
        counts = {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}
        said = messages.AIMessage("Ten grams", usage_metadata=counts)
        return outputs.ChatResult(generations=[outputs.ChatGeneration(message=said)])

    own = {"_generate": generate, "_llm_type": "scripted", "__module__": __name__}
    return type("Scripted", (base,), own)()


def test_calls_that_a_graph_makes_in_threads_are_counted_and_limited() -> None:
    calls: list[str] = []
    model = scripted(calls)

    def node(state: Any) -> object:
        return {"messages": [model.invoke(state["messages"]) for _ in range(3)]}

    answer = run(graph(node), retry=False)
    assert (answer.status, answer.metrics.requests, answer.metrics.input_tokens) == (
        "complete", 3, 21,
    )  # fmt: skip
    assert threading.current_thread().name not in calls
    answer = run(graph(node), retry=False, budget=Budget(requests=2))
    assert (answer.ended_by, answer.metrics.requests, len(calls)) == ("budget", 2, 5)


def test_an_agent_that_ignores_its_cancellation_makes_no_more_calls() -> None:
    calls: list[str] = []
    model, cancelled = scripted(calls), list[bool]()

    async def node(state: Any) -> object:
        await model.ainvoke(state["messages"])
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        cancelled.append(True)
        await model.ainvoke(state["messages"])
        return {}

    answer = run(graph(node), limits=Limits(timeout_s=0.5), retry=False)
    assert (answer.tasks[0].status, answer.metrics.requests) == ("timed_out", 1)
    assert (cancelled, len(calls)) == ([True], 1)


class Odd(BaseException):
    """What no library is prepared for."""


def test_whatever_an_agent_raises_fails_its_task_alone() -> None:
    async def node(state: object) -> object:
        raise Odd("odd")

    answer = run(graph(node), retry=False)
    assert (answer.status, answer.tasks[0].status) == ("failed", "failed")
    assert "Odd: odd" in answer.gaps[0].why


def test_what_an_agent_returns_that_is_not_data_fails_its_task() -> None:
    module = library("langgraph.graph")

    def only(state: object) -> object:
        return {"found": object()}

    builder = module.StateGraph(dict)
    builder.add_node("only", only)
    builder.add_edge(module.START, "only")
    plan = Plan(goal="x", tasks=[Task(id="a", worker="w", intent="Weigh", payload={"of": "tea"})])
    team = Team("t", workers=[Worker("w", "Does it", agent=builder.compile(), retry=False)])
    answer = asyncio.run(Supervisor(team, deadline_s=60).run(plan=plan))
    assert answer.status == "failed"
    assert "is of type object, which can't be written as JSON" in answer.gaps[0].why


def test_a_graph_that_adds_no_message_has_what_else_it_changed_as_its_output() -> None:
    module = library("langgraph.graph")
    state = type("Weighed", (module.MessagesState,), {"__annotations__": {"grams": int}})

    def output(**changes: object) -> object:
        def weigh(_: object) -> object:
            return changes

        builder = module.StateGraph(state)
        builder.add_node("weigh", weigh)
        builder.add_edge(module.START, "weigh")
        worker = Worker("scales", "Weighs", agent=builder.compile(), retry=False)
        return Supervisor(Team("t", workers=[worker])).run_sync("Weigh the tea").output

    assert output(grams=10) == {"grams": 10}
    assert output() is None
