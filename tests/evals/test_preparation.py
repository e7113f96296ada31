"""What a team may do in an evaluation: no tool is called that may change something."""

import dataclasses
import inspect
from collections.abc import Callable
from typing import cast

import pytest
from pydantic_ai import Agent, FunctionToolset, Tool

from leadhand import Handoff, InputError, Supervisor, Team, Worker, WorkerFactory
from leadhand.contracts.tools import tools_of
from leadhand.evals import Case
from leadhand.evals.preparation import REFUSED, prepared

CASE = Case(request="x")


def pay_back(customer: int) -> str:
    """Pays a customer back."""
    raise AssertionError(f"called for {customer}")


async def test_tools_of_workers_made_for_a_plan_are_not_called_either() -> None:
    toolset = FunctionToolset([pay_back], id="money")
    factory = WorkerFactory([pay_back, toolset, Tool(pay_back, name="pay"), "calculate"])
    made = prepared(Team("t", model="test", worker_factory=factory), CASE).worker_factory
    assert made is not None
    assert list(made.catalogue) == ["pay_back", "money", "pay", "calculate"]
    called = cast("Callable[..., object]", made.tools[0])
    result = called(1)
    assert inspect.isawaitable(result)
    assert await result == REFUSED
    assert inspect.signature(called) == inspect.signature(pay_back)


def test_a_tool_of_a_worker_that_only_reads_stays_as_it_is() -> None:
    reads = Worker("a", "reads", tools=[pay_back], read_only=True)
    team = prepared(Team("t", model="test", workers=[reads]), CASE)
    assert team.workers[0].tools == (pay_back,)
    shared = FunctionToolset([pay_back], id="money")
    both = [Worker(name, "pays", tools=[shared]) for name in ("a", "b")]
    team = prepared(Team("t", model="test", workers=both, shared_tools=["money"]), CASE)
    assert [one.ids for worker in team.workers for one in tools_of(worker)] == [
        ("money", "money")
    ] * 2
    Supervisor(team)  # which would refuse workers that share a tool


def test_an_agent_with_tools_of_its_own_runs_only_if_it_is_said_to_read() -> None:
    agent = Agent("test", tools=[pay_back])
    worker = Worker("agent", "pays", run=agent)
    assert prepared(Team("t", workers=[worker]), CASE).workers[0].run is not agent
    free = prepared(Team("t", workers=[worker]), CASE, allow_writes=True)
    assert free.workers[0].run is agent


def test_code_that_stands_in_for_a_model_runs_only_if_it_does_not_write() -> None:
    def write(handoff: Handoff) -> str:
        raise AssertionError("called")

    writes = Worker("a", "writes", instructions="Write.", offline=write, read_only=False)
    team = Team("t", workers=[writes])
    assert prepared(team, CASE).workers[0].offline is not write
    assert prepared(team, CASE, allow_writes=True).workers[0].offline is write
    reads = dataclasses.replace(writes, read_only=None)
    assert prepared(Team("t", workers=[reads]), CASE).workers[0].offline is write


def test_a_team_as_worker_that_writes_has_workers_that_write() -> None:
    inner = Team("inner", workers=[Worker("a", "writes", run=len), Worker("b", "reads", run=len)])
    outer = Team("outer", workers=[Worker("desk", "works", team=inner, read_only=False)])

    def runs(team: Team) -> list[object]:
        found = team.workers[0].team
        return [worker.run for worker in found.workers] if found is not None else []

    assert len not in runs(prepared(outer, CASE))
    assert runs(prepared(outer, CASE, allow_writes=True)) == [len, len]


def test_a_result_for_a_tool_that_no_worker_has_is_refused() -> None:
    team = Team("t", model="test", workers=[Worker("a", "pays", tools=[pay_back])])
    with pytest.raises(InputError, match="gives the result of 'pay': no such tool"):
        prepared(team, Case(request="x", tools={"pay": 1}))
