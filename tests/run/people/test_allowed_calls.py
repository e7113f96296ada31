"""A tool that a person has to allow is called once they did: that very call, and no other."""

import asyncio
from collections.abc import Callable

import pytest
from pydantic_ai.exceptions import ApprovalRequired
from pydantic_ai.tools import RunContext
from pydantic_ai.toolsets import FunctionToolset

from leadhand import Supervisor, Team
from leadhand.contracts.people import Question, Reply
from leadhand.journal import MemoryJournal
from leadhand.ports import Journal
from leadhand.run.people import Ask
from leadhand.synthesis.merge import Merge
from leadhand.testing import ScriptedServer
from tests.models.asking import OPENAI
from tests.workers.model_runs import call, final, one_task, steps, worker

RUN = "allowed"
TOWER = call("demolish", building="tower")


def wrapped(done: list[str]) -> object:
    """A toolset all of whose calls have to be allowed."""

    def demolish(building: str) -> str:
        """Takes a building down."""
        done.append(building)
        return f"{building} is down"

    return FunctionToolset[None]([demolish]).approval_required()


def asking(done: list[str]) -> object:
    """A tool that asks for itself."""

    def demolish(ctx: RunContext[None], building: str) -> str:
        """Takes a building down."""
        if not ctx.tool_call_approved:
            raise ApprovalRequired
        done.append(building)
        return f"{building} is down"

    return FunctionToolset[None]([demolish])


def supervisor(tools: object, *, person: Ask | None = None, journal: Journal) -> Supervisor:
    """The supervisor of somebody with these tools, whose escalations go to a person."""
    team = Team("surveyors", workers=(worker(tools=(tools,)),), model=OPENAI)
    return Supervisor(
        team, synthesizer=Merge(), person=person, approve=["escalation"], journal=journal
    )


def says(*replies: Reply) -> tuple[Ask, list[Question]]:
    """A person who says this, one after the other, and what they were asked."""
    asked: list[Question] = []
    left = list(replies)

    async def ask(question: Question) -> Reply:
        asked.append(question)
        return left.pop(0)

    return ask, asked


@pytest.mark.parametrize("make", [wrapped, asking])
def test_a_call_that_a_person_allowed_is_made_at_the_next_attempt(
    model_server: ScriptedServer, make: Callable[[list[str]], object]
) -> None:
    model_server.configure(script=steps(TOWER, final("done")))
    done: list[str] = []
    ask, asked = says(Reply(verdict="approved"))
    doing = supervisor(make(done), person=ask, journal=MemoryJournal())
    answer = asyncio.run(doing.run(plan=one_task(), run_id=RUN))
    assert (answer.status, answer.output, done) == ("complete", "done", ["tower"])
    assert [question.call for question in asked] == [True]
    assert 'demolish needs a person\'s approval: {"building": "tower"}' in asked[0].text


def test_another_call_than_the_one_allowed_is_asked_about_anew(
    model_server: ScriptedServer,
) -> None:
    church = call("demolish", building="church")
    model_server.configure(script=steps(TOWER, church, final("done")))
    done: list[str] = []
    ask, asked = says(Reply(verdict="approved"), Reply(verdict="declined"))
    doing = supervisor(wrapped(done), person=ask, journal=MemoryJournal())
    answer = asyncio.run(doing.run(plan=one_task(), run_id=RUN))
    assert (answer.status, done) == ("failed", ["tower"])
    assert len(asked) == 2
    assert "church" in asked[1].text


def test_who_is_away_allows_a_call_days_later(model_server: ScriptedServer) -> None:
    model_server.configure(script=steps(TOWER, final("done")))
    done: list[str] = []
    journal = MemoryJournal()
    first = supervisor(wrapped(done), journal=journal)
    parked = asyncio.run(first.run(plan=one_task(), run_id=RUN))
    assert [question.call for question in parked.waiting] == [True]
    later = supervisor(wrapped(done), journal=journal)
    asyncio.run(later.reply(RUN, Reply(task_id="t1", verdict="approved")))
    answer = asyncio.run(later.resume(RUN))
    assert (answer.status, done) == ("complete", ["tower"])
