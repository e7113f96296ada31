"""Agents of pydantic-ai whose tools have dependencies get them from `Worker(deps=)`."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.tools import RunContext

from leadhand import Answer, Handoff, Supervisor, Team, TeamError, ToolContext, Worker
from leadhand.synthesis.merge import Merge
from leadhand.testing import ScriptedServer
from tests.models.asking import OPENAI
from tests.workers.model_runs import call, one_task, steps, worker


@dataclass
class Customer:
    """Who the run is for."""

    id: str


def sync(handoff: Handoff[Customer]) -> str:
    """The dependencies of a task."""
    return f"{handoff.run_context.id} in {handoff.task_id}"


async def later(handoff: Handoff[Customer]) -> str:
    """The same, from a pool of connections for example."""
    await asyncio.sleep(0)
    return sync(handoff)


def failing(handoff: Handoff) -> str:
    """None are to be had."""
    raise ValueError("the pool is closed")


def agent(seen: list[object], kind: Any) -> Agent[Any, str]:
    """An agent whose tool appends its dependencies."""
    made: Agent[Any, str] = Agent(OPENAI, deps_type=kind)

    @made.tool
    def look(ctx: RunContext[Any]) -> str:  # pyright: ignore[reportUnusedFunction]
        """Looks."""
        seen.append(ctx.deps)
        return "seen"

    return made


def answered(server: ScriptedServer, kind: Any, deps: Any = None) -> tuple[Answer, list[object]]:
    """The answer of an agent, and the dependencies that its tool saw."""
    seen: list[object] = []
    server.configure(script=steps(call("look"), {"text": "done"}))
    employed = Worker("surveyor", "Surveys", run=agent(seen, kind), deps=deps)
    supervisor = Supervisor(Team("t", workers=(employed,)), synthesizer=Merge())
    run = supervisor.run(plan=one_task(), run_id="r", context=Customer("c9"))
    return asyncio.run(run), seen


@pytest.mark.parametrize("deps", [sync, later])
def test_an_agent_receives_what_deps_returns_for_the_task(
    model_server: ScriptedServer, deps: object
) -> None:
    answer, seen = answered(model_server, str, deps)
    assert (answer.status, seen) == ("complete", ["c9 in t1"])


@pytest.mark.parametrize("kind", [ToolContext, ToolContext[Customer]])
def test_an_agent_that_depends_on_the_tool_context_needs_no_deps(
    model_server: ScriptedServer, kind: object
) -> None:
    _, seen = answered(model_server, kind)
    context: Any = seen[0]
    assert type(context) is ToolContext
    assert (context.context, context.task_id) == (Customer("c9"), "t1")
    assert context.idempotency_key == "r/t1"


@pytest.mark.parametrize("kind", [None, type(None), object, Any, Customer | None])
def test_an_agent_that_can_do_without_dependencies_gets_none(
    model_server: ScriptedServer, kind: object
) -> None:
    answer, seen = answered(model_server, kind)
    assert (answer.status, seen) == ("complete", [None])


def test_an_agent_without_the_deps_that_it_needs_fails_and_names_them(
    model_server: ScriptedServer,
) -> None:
    answer, seen = answered(model_server, Customer)
    assert (answer.status, seen, model_server.stats().requests) == ("failed", [], 0)
    assert "its `deps_type` is Customer: give worker 'surveyor' `deps`, a" in answer.gaps[0].why


def test_deps_that_raise_fail_the_task(model_server: ScriptedServer) -> None:
    answer, _ = answered(model_server, str, failing)
    assert "the pool is closed" in answer.gaps[0].why


def test_deps_are_for_agents() -> None:
    with pytest.raises(TeamError, match="'surveyor' has `deps`, which are for a pydantic-ai Agent"):
        Supervisor(Team("t", workers=(worker(deps=sync),), model=OPENAI))
