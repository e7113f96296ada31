"""A question that no person answers in time is refused or declined by itself."""

import asyncio
import dataclasses

import pytest

from leadhand import Answer, InputError, Supervisor, Team, Worker
from leadhand.contracts.events import ApprovalGiven, ApprovalRequested
from leadhand.contracts.people import EXPIRY, Question
from leadhand.journal import MemoryJournal
from leadhand.testing import run_virtual
from tests.handles import resumed
from tests.plans.samples import plan, task
from tests.run.people.desk import FILE, PAINT, RUN, Desk, answered, approved, log
from tests.run.people.test_away import Days

HOUR_S = 3_600.0
DAY_S = 24 * HOUR_S


async def never_says(question: Question) -> str:
    """A person who is there, and never says anything."""
    await asyncio.Event().wait()
    raise AssertionError


def expires(team: Team, seconds: float = HOUR_S) -> Team:
    """The team, whose questions expire after that time."""
    return dataclasses.replace(team, expires_s=seconds)


def given(supervisor: Supervisor) -> list[tuple[str | None, str, str]]:
    """The replies in a run's log."""
    replies = [event for event in log(supervisor) if isinstance(event, ApprovalGiven)]
    return [(event.task_id, event.verdict, event.by) for event in replies]


def test_a_question_about_a_task_is_declined_after_the_time_and_the_answer_says_so() -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> str:
        asked.append(question)
        return await never_says(question)

    supervisor = Supervisor(
        expires(Desk().team()), person=ask, approve=["escalation"], deadline_s=None
    )

    async def run() -> tuple[Answer, float]:
        answer = await supervisor.run(plan=PAINT, run_id=RUN)
        return answer, asyncio.get_running_loop().time()

    answer, took_s = run_virtual(run())
    assert took_s == pytest.approx(HOUR_S, abs=1)
    assert given(supervisor) == [("t1", "declined", EXPIRY)]
    (gap,) = answer.gaps
    assert "which colour?" in gap.why
    assert "the question expired at " in gap.why
    (event,) = (one for one in log(supervisor) if isinstance(one, ApprovalRequested))
    assert (event.expires_s, asked[0].expires_at) == (HOUR_S, event.expires_at)


def test_a_reply_in_time_counts() -> None:
    async def thinks(question: Question) -> str:
        await asyncio.sleep(HOUR_S - 1)
        return "red"

    supervisor = Supervisor(
        expires(Desk().team()), person=thinks, approve=["escalation"], deadline_s=None
    )
    assert run_virtual(supervisor.run(plan=PAINT, run_id=RUN)).answer == "red"


def test_a_workers_own_time_is_before_its_teams_and_a_nested_team_has_that_of_its_worker() -> None:
    inner = Team("in", workers=(Worker("painter", "paints", run=Desk().painter),))
    team = Team(
        "house",
        workers=(
            Worker("quick", "paints", run=Desk().painter, expires_s=60),
            Worker("slow", "paints", run=Desk().painter),
            Worker("desk", "paints", team=inner, expires_s=5),
        ),
        expires_s=HOUR_S,
    )
    three = plan(task("t1", worker="quick"), task("t2", worker="slow"), task("t3", worker="desk"))
    supervisor = Supervisor(team, person=never_says, approve=["escalation"], deadline_s=None)
    assert run_virtual(supervisor.run(plan=three, run_id=RUN)).status == "failed"
    asked = [one for one in log(supervisor) if isinstance(one, ApprovalRequested)]
    assert {(one.within, one.task_id, one.expires_s) for one in asked} == {
        ((), "t1", 60),
        ((), "t2", HOUR_S),
        (("t3",), "t3/painter", 5),
        ((), "t3", 5),
    }


def test_a_plan_that_no_person_approves_in_time_is_refused() -> None:
    desk = Desk()
    supervisor = Supervisor(
        expires(desk.team()), person=never_says, approve=["plan"], deadline_s=None
    )
    answer = run_virtual(supervisor.run(plan=FILE, run_id=RUN))
    assert (answer.status, desk.given) == ("failed", [])
    assert given(supervisor) == [(None, "refused", EXPIRY)]
    assert "the plan was refused: the question expired at " in answer.answer
    assert "a person" not in answer.answer


@pytest.mark.parametrize(("the_plan", "approve"), [(PAINT, "escalation"), (FILE, "plan")])
def test_what_expired_while_no_process_was_there_is_closed_by_the_next_that_looks(
    the_plan: object, approve: str
) -> None:
    journal, desk = MemoryJournal(), Desk()
    team = expires(desk.team(), DAY_S)

    def on(day: int) -> Supervisor:
        return Supervisor(team, approve=[approve], journal=journal, clock=Days(day))  # pyright: ignore[reportArgumentType]

    async def look(supervisor: Supervisor) -> list[str]:
        found = await supervisor.resume_interrupted()
        await supervisor.shutdown(grace_s=60)
        return found

    first = on(0)
    assert run_virtual(first.run(plan=the_plan, run_id=RUN)).waiting  # pyright: ignore[reportArgumentType]
    (listed,) = run_virtual(first.runs())
    (asked,) = (one for one in log(first) if isinstance(one, ApprovalRequested))
    assert listed.expires_at == asked.expires_at
    assert run_virtual(look(on(0))) == []
    late = answered("blue") if approve == "escalation" else approved()
    with pytest.raises(InputError, match=r"the question expired at [-\d]+ [:\d]+ UTC$"):
        run_virtual(on(2).handle(RUN).reply(late))
    assert run_virtual(look(on(2))) == [RUN]
    assert [by for _, _, by in given(first)] == [EXPIRY]
    (listed,) = run_virtual(first.runs())
    assert (listed.status, listed.expires_at) == ("failed", None)
    with pytest.raises(InputError, match=r"asks nothing about .*: the question expired at "):
        run_virtual(on(2).handle(RUN).reply(late))


def test_a_reply_that_came_in_time_counts_if_it_is_read_later() -> None:
    journal, team = MemoryJournal(), expires(Desk().team(), DAY_S)
    first = Supervisor(team, approve=["escalation"], journal=journal, clock=Days(0))
    run_virtual(first.run(plan=PAINT, run_id=RUN))
    run_virtual(first.handle(RUN).reply(answered("blue"), resume=False))
    later = Supervisor(team, approve=["escalation"], journal=journal, clock=Days(2))
    assert run_virtual(resumed(later, RUN)).answer == "blue"


def test_beside_other_work_a_question_expires_without_a_person_in_the_process() -> None:
    async def slow(_: object) -> str:
        await asyncio.sleep(20)
        return "done"

    workers = (
        Worker("painter", "paints", run=Desk().painter, expires_s=10),
        Worker("clerk", "files", run=slow),
    )
    both = plan(task("t1", worker="painter"), task("t2", worker="clerk"))
    supervisor = Supervisor(Team("desk", workers=workers), approve=["escalation"], deadline_s=None)
    answer = run_virtual(supervisor.run(plan=both, run_id=RUN))
    assert (answer.status, answer.waiting) == ("partial", ())
    (event,) = (one for one in log(supervisor) if isinstance(one, ApprovalGiven))
    assert event.elapsed_s == pytest.approx(10, abs=1)
