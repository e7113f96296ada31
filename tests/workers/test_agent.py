"""pydantic-ai agents as workers, and the worker's loop compared with the agent's own."""

import asyncio
import json
import re
from collections.abc import AsyncIterable, Sequence
from pathlib import Path

import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent, ToolOutput
from pydantic_ai.capabilities import ProcessEventStream
from pydantic_ai.messages import (
    AgentStreamEvent,
    ModelMessage,
    ModelResponse,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import DeferredToolRequests, RunContext

from leadhand import Limits, Plan, Reply, Supervisor, Task, Team, Worker
from leadhand.contracts.events import Event, ModelCalled
from leadhand.contracts.outcome import Completed
from leadhand.contracts.people import CallReply
from leadhand.models.connections import Connections
from leadhand.models.request import PLAN_TOKENS
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Object, items, mapping, text
from leadhand.untrusted.fence import Fence
from leadhand.workers import briefing
from tests.handles import replied
from tests.models.asking import ANTHROPIC, OPENAI, misbehaving
from tests.workers.model_runs import (
    attempted,
    bodies,
    call,
    calls,
    ending,
    final,
    handoff,
    messages,
    one_task,
    result,
    run,
    said,
    steps,
    team,
    tools,
    worker,
)


class Survey(BaseModel):
    """What an agent of one's own answers with."""

    metres: int
    note: str = ""


def height(building: str, floor: int = 0) -> str:
    """How high a building is."""
    return f"{building}: 324 m"


def employed(agent: object, **fields: object) -> Worker:
    """A worker that an agent does the work of."""
    return Worker("surveyor", "Surveys buildings", run=agent, **fields)  # pyright: ignore[reportArgumentType, reportCallIssue]


# An agent as it is


@pytest.mark.parametrize("model", [OPENAI, ANTHROPIC])
def test_an_agent_works_with_its_own_tools_and_type_and_its_calls_count(
    model_server: ScriptedServer, model: str
) -> None:
    agent = Agent(model, instructions="You measure.", tools=[height], output_type=Survey)
    model_server.configure(
        script=[
            {"match": {"step": 1}, "reply": call("height", building="tower")},
            {"reply": call("final_result", metres=324)},
        ]
    )
    done = run(team(employed(agent)))
    stats = model_server.stats()
    assert result(done) == {"metres": 324, "note": ""}
    assert done.answer.metrics.requests == stats.requests == 2
    assert done.answer.metrics.output_tokens == stats.completion_tokens
    assert [(one.role, one.task_id, one.error) for one in done.calls] == [
        ("worker", "t1", None)
    ] * 2


def test_an_agent_needs_no_model_of_the_team(model_server: ScriptedServer) -> None:
    model_server.configure(script=steps({"text": "324 m"}))
    done = run(team(employed(Agent(OPENAI)), model=None))
    assert result(done) == "324 m"
    assert done.answer.engine == "model"


def test_an_agent_without_a_model_is_named(model_server: ScriptedServer) -> None:
    done = run(team(employed(Agent())))
    assert done.gap.startswith("the agent failed: ")
    assert "model" in done.gap


@pytest.mark.wall_clock
async def test_a_lost_call_of_an_agent_is_made_again_and_it_never_knows(
    model_server: ScriptedServer,
) -> None:
    """F03"""
    told: list[Object] = [{"reply": {"text": "324 m"}}]
    model_server.configure(script=[*misbehaving({"reset_midway": True}), *told])
    calls: list[ModelCalled] = []

    def listen(event: Event) -> None:
        if isinstance(event, ModelCalled):
            calls.append(event)

    url = model_server.url
    async with AsyncOpenAI(base_url=url, api_key="dummy", max_retries=0) as client:
        model = OpenAIChatModel("scripted", provider=OpenAIProvider(openai_client=client))
        own = Team("t", workers=(employed(Agent(model)),))
        answer = await Supervisor(own).run(plan=one_task(), listener=listen)
    assert answer.output == "324 m"
    assert [one.error is None for one in calls] == [False, True]
    assert answer.metrics.requests == model_server.stats().requests == 2


def test_an_agents_model_that_refuses_is_a_failure_in_one_line(
    model_server: ScriptedServer,
) -> None:
    model_server.configure(faults={"401": 1.0})
    done = run(team(employed(Agent(OPENAI))))
    assert done.gap.startswith("the key was refused: HTTP 401")
    assert model_server.stats().requests == 1


def test_an_agent_that_streams_is_answered_and_counted_all_the_same(
    model_server: ScriptedServer,
) -> None:
    seen: list[object] = []

    async def listen(ctx: RunContext[None], events: AsyncIterable[AgentStreamEvent]) -> None:
        seen.extend([event async for event in events])

    model_server.configure(script=steps({"text": "324 m"}))
    streaming = [ProcessEventStream(listen)]
    done = run(team(employed(Agent(OPENAI, deps_type=type(None), capabilities=streaming))))
    assert result(done) == "324 m"
    assert seen
    assert done.answer.metrics.requests == model_server.stats().requests == 1


@pytest.mark.wall_clock
async def test_an_agent_continues_after_a_person_has_replied_about_its_calls(
    model_server: ScriptedServer, tmp_path: Path
) -> None:
    waiting: list[type[str] | type[DeferredToolRequests]] = [str, DeferredToolRequests]
    agent = Agent(OPENAI, output_type=waiting)
    done: list[str] = []

    @agent.tool_plain(requires_approval=True)
    def demolish(building: str) -> str:  # pyright: ignore[reportUnusedFunction]
        """Takes a building down."""
        done.append(building)
        return f"{building} is down"

    both = calls(("demolish", {"building": "tower"}), ("demolish", {"building": "church"}))
    model_server.configure(script=steps(both, {"text": "done"}))
    first = Supervisor(team(employed(agent)), home=tmp_path)
    parked = await first.run(plan=one_task(), run_id="r")
    await first.close()
    (question,) = parked.waiting
    tower, church = question.calls
    refused = CallReply(approved=False, reason="listed")
    reply = Reply(task_id="t1", calls={tower.id: True, church.id: refused})
    second = Supervisor(team(employed(agent)), home=tmp_path)
    answer = await replied(second, "r", reply)
    await second.close()
    assert (answer.status, answer.output, done) == ("partial", "done", ["tower"])
    assert "refused this call, so it was not made: listed" in str(bodies(model_server)[-1])
    assert (answer.metrics.requests, answer.tasks[0].attempts) == (2, 1)


@pytest.mark.parametrize("approval", [False, True])
@pytest.mark.wall_clock
async def test_an_agents_tool_gets_a_key_that_the_model_neither_sees_nor_chooses(
    model_server: ScriptedServer, tmp_path: Path, *, approval: bool
) -> None:
    waiting: list[type[str] | type[DeferredToolRequests]] = [str, DeferredToolRequests]
    agent = Agent(OPENAI, output_type=waiting)
    made: list[tuple[int, str]] = []

    @agent.tool_plain(requires_approval=approval)
    def refund(euros: int, idempotency_key: str) -> str:  # pyright: ignore[reportUnusedFunction]
        """Refunds."""
        made.append((euros, idempotency_key))
        return f"{euros} refunded"

    chosen = ("refund", {"euros": 4, "idempotency_key": "mine"})
    first = calls(chosen, ("refund", {"euros": 4}), ("refund", {"euros": 5}))
    script = steps(first, calls(("refund", {"euros": 4})), {"text": "done"})
    model_server.configure(script=script)
    plan, asked = one_task(), set[str]()
    supervisor = Supervisor(team(employed(agent)), home=tmp_path)
    answer = await supervisor.run(plan=plan, run_id="r")
    while answer.waiting:
        (question,) = answer.waiting
        assert all("idempotency_key" not in call.arguments for call in question.calls)
        asked.update(call.id for call in question.calls)
        answer = await replied(supervisor, "r", Reply(task_id="t1", verdict="approved"))
    await supervisor.close()
    assert answer.output == "done"
    assert sorted(euros for euros, _ in made) == [4, 4, 4, 5]
    keys = {key for _, key in made}
    assert len(keys) == 4
    assert "mine" not in keys
    assert asked == (keys if approval else set())
    shown = str(bodies(model_server))
    assert "idempotency_key" not in shown
    assert not any(key in shown for key in keys)


def test_an_agents_task_ends_at_its_timeout(model_server: ScriptedServer) -> None:
    model_server.configure(latency_ms=3_600_000)
    done = run(
        team(employed(Agent(OPENAI))),
        one_task(limits=Limits(timeout_s=100)),
        hangs=lambda: model_server.stats().requests == 1,
    )
    assert done.gap == "no answer within 100 s"
    assert done.answer.metrics.requests == 1


def test_an_agent_sees_what_it_depends_on_as_data(model_server: ScriptedServer) -> None:
    """F14"""
    model_server.configure(
        script=[
            {"match": {"contains": "Read"}, "reply": final("obey", summary="obey")},
            {"reply": {"text": "done"}},
        ]
    )
    plan = Plan(
        goal="survey",
        tasks=(
            Task(id="a", worker="reader", intent="Read the letter"),
            Task(id="b", worker="surveyor", intent="Use it", depends_on=("a",)),
        ),
    )
    done = run(team(worker("reader"), employed(Agent(OPENAI))), plan)
    assert done.answer.status == "complete"
    shown = said(bodies(model_server)[1], "user")[0]
    assert re.search(r'<data-\w+ from="a">\nobey', shown)


@pytest.mark.wall_clock
async def test_agents_and_loops_of_one_model_share_its_back_off(
    model_server: ScriptedServer,
) -> None:
    """F02"""
    async with Connections() as connections:
        agents = connections.to(Agent(OPENAI).model)
        assert agents.gate is connections.to(OPENAI).gate


def test_an_agent_runs_where_the_supervisor_is_awaited(model_server: ScriptedServer) -> None:
    model_server.configure(script=steps({"text": "324 m"}))
    own = Team("t", workers=(employed(Agent(OPENAI)),))
    answer = asyncio.run(Supervisor(own).run("Measure the tower"))
    assert answer.output == "324 m" or answer.status == "complete"


# The loop beside the Agent's own


class Ending(BaseModel):
    """The worker's form, as an agent's output type."""

    answer: str
    summary: str
    confidence: int | None
    evidence: list[str]
    plan_impact: str | None


def conversation(body: Object) -> list[Object]:
    """The messages without what is bound to differ: ids, the fence, the wording of errors."""
    made: list[Object] = []
    for message in messages(body):
        kept = {key: value for key, value in message.items() if key != "tool_call_id"}
        told = [mapping(one) for one in items(message.get("tool_calls"))]
        kept["tool_calls"] = [one.get("function") for one in told]
        content = text(message.get("content"))
        if message.get("role") == "tool":
            plain = re.sub(r'</?data-n0nce(?: from="[^"]*")?>', "", content).strip()
            kept["content"] = "error" if plain.startswith('{"error"') else plain
        made.append(kept)
    return made


def test_the_loop_sends_what_an_agent_would_send(model_server: ScriptedServer) -> None:
    """What differs: the loop also offers `escalate`, fences what tools gave, and
    words what is wrong with a call for the model instead of sending pydantic's errors."""
    script = steps(
        calls(("height", {"building": "tower"}), ("height", {"building": "mast"})),
        call("height", building=7),
        {**call("height", building="bridge"), "text": "One more."},
        call("final_answer", **ending(summary=3)),
        call("final_answer", **ending()),
    )
    surveyor = worker(tools=(height,), settings={"temperature": 0.5})
    model_server.configure(script=script)
    outcome = asyncio.run(attempted(surveyor, handoff()))
    by_loop = bodies(model_server)

    async def by_agent() -> Ending:
        agent = Agent(
            OPENAI,
            instructions=briefing.instructions(surveyor),
            tools=[height],
            output_type=ToolOutput(Ending, name="final_answer"),
            model_settings={"temperature": 0.5},
            retries=3,
        )
        async with agent:
            return (await agent.run(briefing.opening(handoff(), Fence("n0nce")))).output

    model_server.reset(script=script)
    output = asyncio.run(by_agent())
    by_agents = bodies(model_server)
    assert isinstance(outcome, Completed)
    assert (outcome.result.output, outcome.result.summary) == (output.answer, output.summary)
    assert len(by_loop) == len(by_agents) == 5
    for ours, theirs in zip(by_loop, by_agents, strict=True):
        assert conversation(ours) == conversation(theirs)
        assert set(tools(ours)) - set(tools(theirs)) == {"escalate"}
        assert named(ours, "height") == named(theirs, "height")
        # An agent sets no limit, and does not stream the first request.
        assert ours.pop("max_completion_tokens") == PLAN_TOKENS
        rest = {"messages", "tools", "stream", "stream_options"}
        assert {k: v for k, v in ours.items() if k not in rest} == {
            k: v for k, v in theirs.items() if k not in rest
        }


def named(body: Object, name: str) -> Sequence[Object]:
    """The tool of that name, as a request offers it."""
    offered = [mapping(mapping(tool).get("function")) for tool in items(body.get("tools"))]
    return [tool for tool in offered if tool.get("name") == name]


def test_what_a_model_sent_goes_back_to_it_untouched() -> None:
    sent = ModelResponse(
        [
            ThinkingPart("hm", id="th_1", signature="c2lnbmVk", provider_name="function"),
            TextPart("Let me look.", provider_details={"kept": [1, 2]}),
            ToolCallPart("height", {"building": "tower"}, "c1", provider_details={"odd": True}),
        ],
        model_name="thinker",
        provider_details={"finish_reason": "tool_use", "container": "xyz"},
        provider_response_id="r1",
    )
    before = repr((sent.parts, sent.provider_details, sent.provider_response_id))
    seen: list[list[ModelMessage]] = []

    async def think(history: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append([*history])
        if len(history) == 1:
            return sent
        return ModelResponse([ToolCallPart("final_answer", json.dumps(ending()), "c2")])

    model = FunctionModel(think, model_name="thinker")
    outcome = asyncio.run(attempted(worker(tools=(height,)), handoff(), model=model))
    assert isinstance(outcome, Completed)
    assert seen[1][1] is sent
    assert repr((sent.parts, sent.provider_details, sent.provider_response_id)) == before
