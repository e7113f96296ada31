"""The time of a run is what it worked: while it only waits for a person, no time passes."""

import asyncio

import pytest

from leadhand import Handoff, Supervisor, Team, Worker
from leadhand.contracts.answer import Answer
from leadhand.contracts.outcome import Failed, Outcome
from leadhand.contracts.people import Question
from leadhand.contracts.task import Plan
from leadhand.testing import run_virtual
from tests.plans.samples import plan, task
from tests.run.people.desk import PAINT, Desk

HOUR_S = 3_600.0


async def thinks(question: Question) -> str:
    """A person who takes an hour."""
    await asyncio.sleep(HOUR_S)
    return "" if question.plan is not None else "red"


async def slow(handoff: Handoff) -> str:
    """A worker that takes ten seconds."""
    await asyncio.sleep(10)
    return "done"


def asked(team: Team, the_plan: Plan, *, approve: str = "escalation") -> Answer:
    """The answer of a run whose person takes an hour for each reply."""
    supervisor = Supervisor(team, person=thinks, approve=[approve], deadline_s=None)  # pyright: ignore[reportArgumentType]
    answer = run_virtual(supervisor.run(plan=the_plan))
    assert answer.status == "complete"
    return answer


def test_the_time_of_a_run_has_no_wait_for_the_approval_of_its_plan() -> None:
    team = Team("t", workers=(Worker("worker", "takes its time", run=slow),))
    metrics = asked(team, plan(task("t1")), approve="plan").metrics
    assert metrics.makespan_s == pytest.approx(10, abs=1)
    assert metrics.speedup == pytest.approx(1, abs=0.1)


def test_the_time_of_a_run_has_no_wait_for_the_reply_to_a_task() -> None:
    assert asked(Desk().team(), PAINT).metrics.makespan_s < 1


def test_work_beside_an_open_question_counts() -> None:
    desk = Desk()
    painter, clerk = Worker("painter", "paints", run=desk.painter), Worker("clerk", "f", run=slow)
    both = plan(task("t1", worker="painter"), task("t2", worker="clerk"))
    metrics = asked(Team("desk", workers=(painter, clerk)), both).metrics
    assert metrics.makespan_s == pytest.approx(10, abs=1)
    assert metrics.critical_path_s <= metrics.makespan_s


def test_the_wait_for_a_retry_beside_an_open_question_counts() -> None:
    async def fails_once(handoff: Handoff) -> Outcome | str:
        if handoff.attempt == 1:
            return Failed(kind="error", message="not yet", transient=True)
        return "done"

    painter = Worker("painter", "paints", run=Desk().painter)
    team = Team("desk", workers=(painter, Worker("clerk", "files", run=fails_once)))
    both = plan(task("t1", worker="painter"), task("t2", worker="clerk"))
    assert asked(team, both).metrics.makespan_s == pytest.approx(1, abs=0.5)


def test_the_time_of_a_run_has_no_wait_for_the_reply_to_a_nested_team() -> None:
    inner = Team("in", workers=(Worker("painter", "paints", run=Desk().painter),))
    house = Team("house", workers=(Worker("desk", "paints", team=inner),))
    assert asked(house, plan(task("t1", worker="desk"))).metrics.makespan_s < 1
