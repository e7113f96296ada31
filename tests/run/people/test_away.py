"""People who are away: the run waits for them, costs nothing, and goes on when they answer."""

import asyncio
import datetime as dt
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from leadhand import InputError, Supervisor, Team, Worker
from leadhand.contracts.events import (
    ApprovalGiven,
    ApprovalRequested,
    PlanRejected,
    RunFinished,
    RunResumed,
    RunWaiting,
    TaskCompleted,
)
from leadhand.contracts.outcome import Escalated, Handoff, Outcome
from leadhand.contracts.people import Question, Reply, RunMessage
from leadhand.journal import MemoryJournal, open_journal
from leadhand.run.stored import tasks_from
from leadhand.state.fold import fold
from leadhand.testing import VirtualClock, run_virtual
from tests.handles import resumed
from tests.plans.samples import plan, task
from tests.run.people.desk import FILE, PAINT, RUN, Desk, answered, approved, log, until
from tests.stored import store_of


@dataclass
class Days:
    """A virtual clock some days on."""

    ahead: int

    def now(self) -> dt.datetime:
        """The wall clock."""
        return VirtualClock().now() + dt.timedelta(days=self.ahead)

    def monotonic(self) -> float:
        """The loop's time."""
        return VirtualClock().monotonic()


async def test_a_run_in_which_only_people_are_waited_for_returns_and_leaves_nothing() -> None:
    two = plan(task("t1", worker="painter"), task("t2", worker="clerk"), task("t3", "t1"))
    desk = Desk()
    team = Team("desk", workers=(*desk.team().workers, Worker("worker", "w", run=desk.clerk)))
    supervisor = Supervisor(team, approve=["escalation"], deadline_s=10)
    answer = await supervisor.run(plan=two, run_id=RUN)
    took_s, running = asyncio.get_running_loop().time(), len(asyncio.all_tasks())
    assert (took_s, running) == (0, 1)
    assert [question.task_id for question in answer.waiting] == ["t1"]
    assert "which colour?" in answer.waiting[0].text
    assert (answer.status, answer.ended_by) == ("waiting", None)
    assert [report.id for report in answer.tasks] == ["t2"]
    last = log(supervisor)[-1]
    assert isinstance(last, RunWaiting)
    assert last.answer == answer
    assert not any(isinstance(event, RunFinished) for event in log(supervisor))
    assert desk.tasks() == ["t1", "t2"]
    assert store_of(supervisor).holder(RUN) is None


def test_a_run_goes_on_days_later_in_another_supervisor_with_its_whole_deadline() -> None:
    journal, desk = MemoryJournal(), Desk()
    first = Supervisor(desk.team(), approve=["escalation"], journal=journal, clock=Days(0))
    assert run_virtual(first.run(plan=PAINT, run_id=RUN)).waiting

    async def slow(handoff: Handoff) -> str:
        await asyncio.sleep(9)
        return handoff.intent.rpartition("says: ")[2]

    team = Team("desk", workers=(Worker("painter", "paints", run=slow),))
    later = Supervisor(team, journal=journal, clock=Days(4), deadline_s=10)
    asyncio.run(later.handle(RUN).reply(answered("blue"), resume=False))
    answer = run_virtual(resumed(later, RUN))
    assert (answer.status, answer.answer) == ("complete", "blue")
    assert journal.store.messages(RUN) == []
    again = next(event for event in log(later) if isinstance(event, RunResumed))
    assert (again.at - log(later)[0].at).days == 4
    given = [event for event in log(later) if isinstance(event, ApprovalGiven)]
    assert [(event.verdict, event.text) for event in given] == [("answered", "blue")]


def test_a_plan_waits_for_approval_through_restarts_whoever_resumes_the_run() -> None:
    journal, desk = MemoryJournal(), Desk()
    first = Supervisor(desk.team(), approve=["plan"], journal=journal)
    answer = run_virtual(first.run(plan=FILE, run_id=RUN))
    assert (answer.status, [one.plan for one in answer.waiting]) == ("waiting", [FILE])
    careless = Supervisor(desk.team(), journal=journal)
    assert run_virtual(resumed(careless, RUN)).waiting == answer.waiting
    asked = [event for event in log(first) if isinstance(event, ApprovalRequested)]
    assert len(asked) == 1
    asyncio.run(careless.handle(RUN).reply(Reply(verdict="approved"), resume=False))
    assert run_virtual(resumed(careless, RUN)).status == "complete"
    assert desk.tasks() == ["t1"]


def test_a_broken_plan_from_elsewhere_is_told_and_asked_again() -> None:
    desk, journal = Desk(), MemoryJournal()
    supervisor = Supervisor(desk.team(), approve=["plan"], journal=journal)
    run_virtual(supervisor.run(plan=FILE, run_id=RUN))
    asyncio.run(
        supervisor.handle(RUN).reply(approved(plan(task("t1", worker="nobody"))), resume=False)
    )
    answer = run_virtual(resumed(supervisor, RUN))
    assert "nobody" in answer.waiting[0].text
    assert answer.waiting[0].plan == FILE
    assert run_virtual(resumed(supervisor, RUN)).waiting == answer.waiting
    asyncio.run(supervisor.handle(RUN).reply(approved(), resume=False))
    assert run_virtual(resumed(supervisor, RUN)).status == "complete"
    rejected = [event for event in log(supervisor) if isinstance(event, PlanRejected)]
    assert rejected == []


@pytest.mark.parametrize("place", ["memory", "sqlite"])
async def test_a_live_run_hears_a_reply_within_a_second(place: str, tmp_path: Path) -> None:
    journal = open_journal(tmp_path) if place == "sqlite" else MemoryJournal()
    other = open_journal(tmp_path) if place == "sqlite" else journal
    desk, release = Desk(), asyncio.Event()

    async def slow(handoff: Handoff) -> str:
        await release.wait()
        return "done"

    workers = (*desk.team().workers, Worker("slow", "takes long", run=slow))
    supervisor = Supervisor(Team("desk", workers=workers), approve=["escalation"], journal=journal)
    two = plan(task("t1", worker="painter"), task("t2", worker="slow"))
    running = asyncio.ensure_future(supervisor.run(plan=two, run_id=RUN))
    await until(lambda: fold(other.store.events(RUN)).questions)
    posted_s = asyncio.get_running_loop().time()
    await Supervisor(desk.team(), journal=other).handle(RUN).reply(answered("blue"), resume=False)
    await until(lambda: any(isinstance(one, TaskCompleted) for one in other.store.events(RUN)))
    heard_s = asyncio.get_running_loop().time()
    release.set()
    answer, took_s = await running, heard_s - posted_s
    assert answer.output == {"t1": "blue", "t2": "done"}
    assert took_s < 1
    assert [*other.store.messages(RUN)] == []
    other.store.close()
    journal.store.close()


async def test_a_reply_from_elsewhere_spares_the_person_who_sits_here_the_question() -> None:
    hurt = asyncio.Event()

    async def thinks(question: Question) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            hurt.set()
        raise AssertionError

    supervisor = Supervisor(Desk().team(), person=thinks, approve=["escalation"])
    running = asyncio.ensure_future(supervisor.run(plan=PAINT, run_id=RUN))
    await until(lambda: fold(log(supervisor)).questions)
    await supervisor.handle(RUN).reply(answered("blue"), resume=False)
    assert (await running).answer == "blue"
    assert hurt.is_set()


def test_of_two_replies_to_one_question_the_last_one_counts() -> None:
    supervisor = Supervisor(Desk().team(), approve=["escalation"])
    run_virtual(supervisor.run(plan=PAINT, run_id=RUN))
    asyncio.run(supervisor.handle(RUN).reply(answered("blue"), resume=False))
    asyncio.run(supervisor.handle(RUN).reply(answered("no, red"), resume=False))
    assert run_virtual(resumed(supervisor, RUN)).answer == "no, red"
    assert store_of(supervisor).messages(RUN) == []


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (answered("blue", "t2"), "asks nothing about task 't2'"),
        (approved(), "asks nothing about its plan"),
        (Reply(task_id="t1", verdict="refused"), "it must be answered or declined"),
    ],
)
def test_a_reply_that_nobody_asked_for_is_refused(reply: Reply, why: str) -> None:
    supervisor = Supervisor(Desk().team(), approve=["escalation"])
    run_virtual(supervisor.run(plan=PAINT, run_id=RUN))
    with pytest.raises(InputError, match=why):
        asyncio.run(supervisor.handle(RUN).reply(reply, resume=False))
    assert store_of(supervisor).messages(RUN) == []


def test_a_reply_to_a_plan_by_a_name_is_said_to_need_no_task() -> None:
    supervisor = Supervisor(Desk().team(), approve=["plan"])
    run_virtual(supervisor.run(plan=PAINT, run_id=RUN))
    reply = Reply(task_id="plan", verdict="approved")
    with pytest.raises(InputError, match="'plan'; the question about its plan has the task None"):
        asyncio.run(supervisor.handle(RUN).reply(reply, resume=False))


def test_a_reply_that_came_too_late_answers_no_later_question() -> None:
    """Two may say something at once; nobody but the run knows what it has heard already."""
    journal = MemoryJournal()

    async def picky(handoff: Handoff) -> Outcome:
        journal.store.post(RunMessage(run_id=RUN, reply=answered("late"), seq=1))
        return Escalated(reason="ambiguous_input", message=f"attempt {handoff.attempt}: why?")

    team = Team("desk", workers=(Worker("painter", "paints", run=picky),))
    supervisor = Supervisor(team, approve=["escalation"], journal=journal)
    answer = run_virtual(supervisor.run(plan=PAINT, run_id=RUN))
    assert "attempt 1" in answer.waiting[0].text
    asyncio.run(supervisor.handle(RUN).reply(answered("because"), resume=False))
    answer = run_virtual(resumed(supervisor, RUN))
    assert "attempt 2" in answer.waiting[0].text
    assert run_virtual(resumed(supervisor, RUN)).waiting == answer.waiting
    assert journal.store.messages(RUN) == []


def test_a_run_is_stopped_by_a_message_and_the_message_stops_no_later_one() -> None:
    journal = MemoryJournal()

    async def forever(handoff: Handoff) -> str:
        journal.store.post(RunMessage(run_id=RUN, reason="told to"))
        journal.store.post(RunMessage(run_id=RUN, reason="told to"))
        await asyncio.Event().wait()
        return ""

    async def quick(handoff: Handoff) -> str:
        return "done"

    def team(work: Callable[[Handoff], Awaitable[str]]) -> Team:
        return Team("t", workers=(Worker("worker", "w", run=work),))

    supervisor = Supervisor(team(forever), journal=journal)
    answer = run_virtual(supervisor.run(plan=plan(task("t1")), run_id=RUN))
    assert (answer.status, answer.gaps[0].why) == ("cancelled", "told to")
    assert journal.store.messages(RUN) == []
    assert run_virtual(resumed(Supervisor(team(quick), journal=journal), RUN)).status == "complete"


def test_a_task_to_go_on_from_is_none_of_a_run_that_has_no_plan_yet() -> None:
    state = fold([])
    state.run_id = RUN
    with pytest.raises(InputError, match="run 'asked' has no task 'a': it has no plan yet"):
        tasks_from(state, "a")
