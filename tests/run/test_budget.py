"""Budgets, through real runs and real HTTP: what was given is not passed, and an answer comes."""

import asyncio

import pytest

from leadhand import Budget, Handoff, InputError, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import Event, TaskDispatched, TaskFailed, TaskRetried
from leadhand.contracts.team import TaskTemplate
from leadhand.testing import ScriptedServer

REQUEST = "How do the invoices of March compare with those of April?"
MODEL = "openai-chat:scripted"
PRICED = "openai-chat:gpt-5-mini"


def team(model: str = MODEL, **more: object) -> Team:
    worker = Worker("billing", "Invoices and refunds", instructions="You know invoices.")
    return Team("support", model=model, workers=(worker,), **more)  # pyright: ignore[reportArgumentType]


def tasks(count: int) -> Plan:
    some = (
        Task(id=f"t{number}", worker="billing", intent=f"List the invoices of day {number}.")
        for number in range(count)
    )
    return Plan(goal=REQUEST, tasks=tuple(some))


def run(
    budget: Budget, plan: Plan | None, *, the_team: Team | None = None, concurrency: int = 64
) -> tuple[Answer, list[Event]]:
    events: list[Event] = []
    supervisor = Supervisor(the_team or team(), budget=budget, concurrency=concurrency)
    answer = asyncio.run(
        supervisor.run(REQUEST if plan is None else None, plan=plan, listener=events.append)
    )
    return answer, events


def test_twenty_tasks_at_once_stay_within_a_budget_of_tokens(model_server: ScriptedServer) -> None:
    """What fits is done and put together by the model; the rest is named, with the reason."""
    worker = Worker("billing", "Invoices", instructions="You know invoices of any kind. " * 80)
    the_team = Team("support", model=MODEL, workers=(worker,))
    answer, events = run(Budget(tokens=15_000), tasks(20), the_team=the_team)
    stats = model_server.stats()
    used = stats.prompt_tokens + stats.completion_tokens
    done = [task for task in answer.tasks if task.status == "completed"]
    assert used <= 15_000
    assert used == answer.metrics.input_tokens + answer.metrics.output_tokens
    assert (answer.status, answer.ended_by) == ("partial", "budget")
    assert 3 <= len(done) < 20
    assert stats.by_role["synthesizer"] == 1
    assert len(answer.gaps) == 20 - len(done)
    assert all(gap.why.startswith("the budget of 15,000 tokens is used up") for gap in answer.gaps)
    assert "## What is missing" in answer.answer
    failed = [event for event in events if isinstance(event, TaskFailed)]
    assert failed
    assert {event.kind for event in failed} == {"budget"}
    assert not any(isinstance(event, TaskRetried) for event in events)


def test_once_the_budget_is_used_up_nothing_new_starts(model_server: ScriptedServer) -> None:
    answer, events = run(Budget(requests=5), tasks(20), concurrency=2)
    started = [event for event in events if isinstance(event, TaskDispatched)]
    assert model_server.stats().requests == 5
    assert len(started) <= 4 + 2, "four requests are for work, one is for the synthesis"
    assert [task.status for task in answer.tasks].count("completed") == 4
    assert [task.status for task in answer.tasks].count("cancelled") == 20 - len(started)
    assert len(answer.gaps) == 16
    assert answer.ended_by == "budget"


def test_a_budget_in_dollars_is_held_where_prices_are_known(model_server: ScriptedServer) -> None:
    answer, _ = run(Budget(usd=0.004), tasks(20), the_team=team(PRICED))
    cost_usd = answer.metrics.cost_usd
    assert cost_usd is not None
    assert 0 < cost_usd <= 0.004
    assert (answer.status, answer.ended_by) == ("partial", "budget")
    assert "the budget of $0.0040 is used up" in answer.answer


def test_a_budget_that_does_not_reach_for_a_plan_still_gives_an_answer(
    model_server: ScriptedServer,
) -> None:
    answer, _ = run(Budget(tokens=100), None)
    assert model_server.stats().requests == 0
    assert (answer.status, answer.ended_by) == ("failed", "budget")
    assert [gap.task_id for gap in answer.gaps] == ["plan"]
    assert "the budget of 100 tokens is too small: a call may take" in answer.answer


def test_without_money_for_a_plan_the_template_has_one(model_server: ScriptedServer) -> None:
    """And what needs no model is done."""
    counter = Worker("count", "Counts", run=count)
    template = (TaskTemplate("count", "count", "Count {request}."),)
    the_team = Team("support", model=MODEL, workers=(counter,), template=template)
    answer, _ = run(Budget(tokens=100), None, the_team=the_team)
    assert (answer.status, answer.ended_by) == ("complete", None)
    assert model_server.stats().requests == 0


def test_a_call_that_uses_more_than_expected_ends_the_run_at_once_and_says_so(
    model_server: ScriptedServer,
) -> None:
    """The setting promises one token; the answer has thousands."""
    long = "Nothing was found. " * 2_000
    model_server.configure(script=[{"match": {"role": "worker"}, "reply": {"json": _said(long)}}])
    worker = Worker("billing", "Invoices", instructions="Know.", settings={"max_tokens": 1})
    the_team = Team("support", model=MODEL, workers=(worker,))
    answer, _ = run(Budget(tokens=5_000), tasks(9), the_team=the_team, concurrency=1)
    assert model_server.stats().requests == 1
    assert [task.status for task in answer.tasks] == ["completed"] + ["cancelled"] * 8
    assert "the budget of 5,000 tokens was exceeded" in answer.gaps[0].why
    assert (answer.status, answer.ended_by) == ("partial", "budget")


def test_a_budget_that_is_passed_with_everything_done_is_said_all_the_same(
    model_server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    long = "Nothing was found. " * 2_000
    model_server.configure(script=[{"match": {"role": "worker"}, "reply": {"json": _said(long)}}])
    worker = Worker("billing", "Invoices", instructions="Know.", settings={"max_tokens": 1})
    answer, _ = run(
        Budget(tokens=5_000), tasks(1), the_team=Team("support", model=MODEL, workers=(worker,))
    )
    assert (answer.status, answer.ended_by) == ("complete", None)
    assert "everything was done, but the budget of 5,000 tokens was exceeded" in caplog.text


def test_every_price_is_asked_for_before_anything_is_spent(model_server: ScriptedServer) -> None:
    """Those of workers with a model of their own, of agents and of nested teams."""
    from pydantic_ai import Agent
    from pydantic_ai.models.test import TestModel

    agent = Worker("agent", "An agent", run=Agent(TestModel()))
    nested = Worker("nested", "A team", team=team(MODEL))
    own = Worker("own", "Something else", model=MODEL)
    for worker, name in ((agent, "test:test"), (nested, MODEL), (own, MODEL)):
        billing = Worker("billing", "Invoices", instructions="You know invoices.")
        mixed = Team("support", model=PRICED, workers=(billing, worker))
        with pytest.raises(InputError, match=f"price of '{name}' is unknown, .* in tokens"):
            run(Budget(usd=5.0), tasks(2), the_team=mixed)
    assert model_server.stats().requests == 0


def count(handoff: Handoff) -> int:
    return len(handoff.intent)


def _said(text: str) -> dict[str, object]:
    return {"answer": text, "summary": "Nothing.", "confidence": 50, "evidence": []}


def test_calls_that_are_lost_on_the_way_count_as_requests(model_server: ScriptedServer) -> None:
    """A dying endpoint can't be asked more often than the budget says."""
    model_server.configure(faults={"reset": 1.0})
    answer, _ = run(Budget(requests=6), tasks(3))
    assert model_server.stats().requests <= 6
    assert answer.metrics.requests <= 6
    assert (answer.status, answer.ended_by) == ("failed", "budget")


def test_plans_are_made_within_the_budget_too(model_server: ScriptedServer) -> None:
    supervisor = Supervisor(team(), budget=Budget(tokens=50))
    with pytest.raises(Exception, match="the budget of 50 tokens is too small"):
        asyncio.run(supervisor.plan(REQUEST))
    assert model_server.stats().requests == 0
