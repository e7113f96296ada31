"""Every kind of supervisor with agents of another framework as workers: real LangGraph graphs."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from leadhand import Reply, Team
from leadhand.contracts.budget import Budget
from leadhand.contracts.events import ModelCalled
from leadhand.contracts.people import Question
from leadhand.state.fold import fold
from leadhand.testing import run_virtual
from tests.handles import resumed
from tests.run.kinds.kinds import KINDS, REQUEST, Kind, ask, endpoint, supervisor, team
from tests.run.resuming.story import RUN, Stops, kept
from tests.workers.foreign_agents import asking_chat_model, library

pytestmark = pytest.mark.filterwarnings("ignore")  # of the library
EVERY_KIND = pytest.mark.parametrize("kind", KINDS, ids=str)


def graph(calls: list[str], *, hangs: bool = False) -> object:
    """A graph of one model call, which is noted in `calls`."""
    module, messages = library("langgraph.graph"), library("langchain_core.messages")

    async def generate(given: list[Any]) -> object:
        calls.append(given[-1].text)
        if hangs:
            await asyncio.Event().wait()
        counts = {"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}
        return messages.AIMessage(f"Figures for {given[-1].text}", usage_metadata=counts)

    builder = module.StateGraph(module.MessagesState)
    builder.add_node("only", asking_chat_model(generate))
    builder.add_edge(module.START, "only")
    return builder.compile()


def by_agents(of: Team, agent: object) -> Team:
    """The team with the agent as each of its workers."""
    workers = [replace(one, agent=agent, model=None, instructions="") for one in of.workers]
    return replace(of, workers=workers)


@EVERY_KIND
def test_calls_of_agents_count_like_those_of_other_workers(kind: Kind) -> None:
    calls: list[str] = []
    model = endpoint(kind)
    answer, _ = ask(kind, by_agents(team(kind, model.model), graph(calls)))
    assert answer.status == "complete"
    assert calls
    assert answer.metrics.requests == kind.calls == len(calls) + model.stats().requests


@EVERY_KIND
def test_agents_that_never_end_leave_an_answer_at_the_deadline(kind: Kind) -> None:
    calls: list[str] = []
    by = by_agents(team(kind, endpoint(kind).model), graph(calls, hangs=True))
    answer = run_virtual(supervisor(by, deadline_s=30.0).run(REQUEST))
    assert answer.status in ("partial", "failed")
    assert answer.gaps
    assert answer.metrics.makespan_s < 30.5
    assert answer.metrics.requests >= len(calls), "calls in flight were made, too"


@EVERY_KIND
def test_agents_make_no_call_beyond_the_budget(kind: Kind) -> None:
    for requests in range(1, max(kind.calls, 2)):
        calls: list[str] = []
        model = endpoint(kind)
        by = by_agents(team(kind, model.model), graph(calls))
        answer = run_virtual(supervisor(by, budget=Budget(requests=requests)).run(REQUEST))
        assert answer.status in ("partial", "failed", "complete")
        assert len(calls) + model.stats().requests <= requests
        assert answer.metrics.requests == len(calls) + model.stats().requests


@EVERY_KIND
def test_a_run_of_agents_killed_at_any_commit_ends_with_the_same_answer(kind: Kind) -> None:
    journal, calls = Stops(), list[str]()
    by = by_agents(team(kind, endpoint(kind).model), graph(calls))
    whole = run_virtual(supervisor(by, journal=journal).run(REQUEST, run_id=RUN))
    events = [*journal.store.events(RUN)]
    committed = [events[stop - 1] for stop in journal.commits]
    by_agent = [one for one in committed if isinstance(one, ModelCalled) and one.response is None]
    assert by_agent, "calls are committed before their task is over"
    for stop in journal.commits:
        left = kept(events[:stop])
        answer = run_virtual(resumed(supervisor(by, journal=left), RUN))
        assert (answer.status, answer.answer) == (whole.status, whole.answer), f"event {stop}"
        assert fold(left.store.events(RUN)).answer == answer


@EVERY_KIND
def test_what_a_person_refuses_reaches_no_agent(kind: Kind) -> None:
    async def refuse(question: Question) -> Reply:
        return Reply(verdict="refused", text="not now")

    calls: list[str] = []
    by = by_agents(team(kind, endpoint(kind).model), graph(calls))
    answer = run_virtual(supervisor(by, approve=["plan"], person=refuse).run(REQUEST))
    assert (answer.status, calls) == ("failed", [])
