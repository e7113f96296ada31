"""Calls that a person approved and that can't be made any more: gaps with the true reason."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import ApprovalRequired, ModelRetry
from pydantic_ai.tools import DeferredToolRequests, RunContext, Tool

from leadhand import Answer, Handoff, Limits, Reply, Supervisor, TaskTemplate, Team, Worker
from leadhand.journal import MemoryJournal
from leadhand.ports import Journal
from leadhand.synthesis.merge import Merge
from leadhand.testing import ScriptedServer
from leadhand.testing.json_data import Object
from tests.handles import replied
from tests.models.asking import OPENAI
from tests.workers.model_runs import bodies, call, final, one_task, said, steps, worker

TOWER = call("demolish", building="tower")


def asks(function: Callable[..., object]) -> object:
    """A tool whose calls a person has to approve."""
    return Tool(function, requires_approval=True)


def demolish(building: str) -> str:
    """Takes a building down."""
    return f"{building} is down"


def by_hand(handoff: Handoff) -> str:
    """A worker without tools."""
    return "by hand"


def by_model(*tools: object, journal: Journal) -> Supervisor:
    """The supervisor of a worker with these tools."""
    team = Team("surveyors", workers=(worker(tools=tools),), model=OPENAI)
    return Supervisor(team, synthesizer=Merge(), journal=journal)


def by_agent(*tools: object, journal: Journal) -> Supervisor:
    """The same with an agent of pydantic-ai."""
    waiting: list[type[str] | type[DeferredToolRequests]] = [str, DeferredToolRequests]
    agent: object = Agent(OPENAI, output_type=waiting, tools=tools)  # pyright: ignore
    surveyor = Worker("surveyor", "Surveys", run=agent)  # pyright: ignore
    return Supervisor(Team("surveyors", workers=(surveyor,)), synthesizer=Merge(), journal=journal)


def approved(before: Supervisor, after: Supervisor) -> Answer:
    """The answer of a run that asks `before` a deployment and continues `after` it."""
    parked = asyncio.run(before.run(plan=one_task(), run_id="r"))
    assert parked.status == "waiting"
    return asyncio.run(replied(after, "r", Reply(task_id="t1", verdict="approved")))


@pytest.mark.parametrize("make", [by_model, by_agent])
def test_an_approved_call_of_a_tool_that_is_gone_is_a_gap_that_says_so(
    model_server: ScriptedServer, make: Callable[..., Supervisor]
) -> None:
    """F57."""
    end: Object = final("done") if make is by_model else {"text": "done"}
    model_server.configure(script=steps(TOWER, end))
    journal = MemoryJournal()
    answer = approved(make(asks(demolish), journal=journal), make(journal=journal))
    assert (answer.status, answer.output) == ("partial", "done")
    (gap,) = answer.gaps
    assert gap.why.startswith('not done: the call demolish {"building":')
    assert "was approved, but" in gap.why
    assert "demolish" in gap.why.partition("but")[2]
    assert "secrets" not in gap.why + str(bodies(model_server)[-1])


@pytest.mark.parametrize("make", [by_model, by_agent])
def test_an_approved_call_whose_arguments_no_longer_fit_is_a_gap_that_says_so(
    model_server: ScriptedServer, make: Callable[..., Supervisor]
) -> None:
    """F57."""

    def dated(building: str, day: int) -> str:
        """Takes a building down."""
        return f"{building} is down on {day}"

    end: Object = final("done") if make is by_model else {"text": "done"}
    model_server.configure(script=steps(TOWER, end))
    journal = MemoryJournal()
    after = make(Tool(dated, name="demolish", requires_approval=True), journal=journal)
    answer = approved(make(asks(demolish), journal=journal), after)
    assert answer.status == "partial"
    (gap,) = answer.gaps
    assert "day" in gap.why.partition("was approved, but")[2]
    assert "secrets" not in gap.why


def test_a_call_that_the_model_corrects_and_that_is_approved_again_leaves_no_gap(
    model_server: ScriptedServer,
) -> None:
    done: list[str] = []

    def named(house: str) -> str:
        """Takes a building down."""
        done.append(house)
        return f"{house} is down"

    model_server.configure(script=steps(TOWER, call("demolish", house="tower"), final("done")))
    journal = MemoryJournal()
    after = by_model(Tool(named, name="demolish", requires_approval=True), journal=journal)
    again = approved(by_model(asks(demolish), journal=journal), after)
    assert (again.status, done) == ("waiting", [])
    answer = asyncio.run(replied(after, "r", Reply(task_id="t1", verdict="approved")))
    assert (answer.status, answer.gaps, done) == ("complete", (), ["tower"])


@pytest.mark.wall_clock
async def test_an_approved_call_without_its_secrets_is_a_gap_if_the_model_does_not_make_it_again(
    model_server: ScriptedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-Zt4Qm81xVbn39Lw0aPdR"
    monkeypatch.setenv("DOOR_TOKEN", secret)
    model_server.configure(script=steps(call("demolish", building=secret), final("done")))
    team = Team("surveyors", workers=(worker(tools=(asks(demolish),)),), model=OPENAI)
    supervisor = Supervisor(team, synthesizer=Merge(), home=tmp_path)
    await supervisor.run(plan=one_task(), run_id="r")
    answer = await replied(supervisor, "r", Reply(task_id="t1", verdict="approved"))
    await supervisor.close()
    assert answer.status == "partial"
    (gap,) = answer.gaps
    assert "stored without the secrets" in gap.why


def test_a_tool_that_asks_again_although_the_call_was_approved_is_a_gap(
    model_server: ScriptedServer,
) -> None:
    def stubborn(ctx: RunContext[None], building: str) -> str:
        """Takes a building down."""
        raise ApprovalRequired

    model_server.configure(script=steps(TOWER, final("done")))
    journal = MemoryJournal()
    tool = Tool(stubborn, name="demolish")
    answer = approved(by_model(tool, journal=journal), by_model(tool, journal=journal))
    assert answer.status == "partial"
    assert "asks for an approval again" in answer.gaps[0].why


def test_an_approved_call_that_was_made_and_failed_is_no_gap(model_server: ScriptedServer) -> None:
    """The worker is told, and decides what its answer is worth."""

    def locked(building: str) -> str:
        """Takes a building down."""
        raise ModelRetry(f"{building} is locked")

    model_server.configure(script=steps(TOWER, final("done")))
    journal = MemoryJournal()
    tool = Tool(locked, name="demolish", requires_approval=True)
    answer = approved(by_model(tool, journal=journal), by_model(tool, journal=journal))
    assert (answer.status, answer.gaps) == ("complete", ())
    assert "tower is locked" in said(bodies(model_server)[-1], "tool")[-1]


def test_the_gap_stays_if_the_attempt_fails_and_another_worker_completes_the_task(
    model_server: ScriptedServer,
) -> None:
    model_server.configure(script=steps(TOWER, call("demolish", building="church")))
    journal = MemoryJournal()

    def deployed(*tools: object) -> Supervisor:
        main = worker(tools=tools, fallback="backup", limits=Limits(max_steps=2))
        backup = Worker("backup", "Surveys by hand", run=by_hand)
        team = Team("surveyors", workers=(main, backup), model=OPENAI)
        return Supervisor(team, synthesizer=Merge(), journal=journal)

    answer = approved(deployed(asks(demolish)), deployed())
    assert (answer.status, answer.output) == ("partial", "by hand")
    assert [gap.why for gap in answer.gaps if "was approved, but" in gap.why]


@pytest.mark.wall_clock
@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("verdict", ["approved", "refused"])
async def test_the_gap_stays_if_another_worker_completes_the_task_of_a_nested_team(
    model_server: ScriptedServer,
    tmp_path: Path,
    depth: int,
    verdict: Literal["approved", "refused"],
) -> None:
    """F57."""
    model_server.configure(script=steps(TOWER, call("demolish", building="church")))

    def deployed(*tools: object) -> Supervisor:
        workers = (worker(tools=tools, limits=Limits(max_steps=2)),)
        task = TaskTemplate("t1", "surveyor", "Survey")
        team = Team("surveyors", workers=workers, model=OPENAI, planner="template", template=[task])
        for level in range(depth):
            around = Worker("net", "Surveys", team=team, fallback="backup")
            workers = (around, Worker("backup", "Surveys by hand", run=by_hand))
            task = TaskTemplate("n", "net", "Survey it")
            team = Team(
                f"o{level}", workers=workers, model=OPENAI, planner="template", template=[task]
            )
        return Supervisor(team, synthesizer=Merge(), home=tmp_path)

    before, after = deployed(asks(demolish)), deployed()
    parked = await before.run("Survey", run_id="r")
    await before.close()
    path = parked.waiting[0].task_id
    answer = await replied(after, "r", Reply(task_id=path, verdict=verdict))
    await after.close()
    assert (answer.status, answer.output) == ("partial", "by hand")
    (gap,) = answer.gaps
    assert gap.task_id == "n/" * depth + "t1"
    assert "not done" in gap.why
    assert "demolish" in gap.why
