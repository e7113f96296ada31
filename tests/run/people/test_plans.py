"""A person approves of a plan, refuses it, or changes it; or says nothing yet."""

import asyncio
from typing import cast

import pytest

from leadhand import InputError, Supervisor, Team, Worker
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import ApprovalRequested, PlanProposed, RunFinished
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.people import Question, Reply
from leadhand.contracts.task import Plan
from leadhand.journal import MemoryJournal
from leadhand.run.people import Ask
from leadhand.state.fold import fold
from leadhand.testing import run_virtual
from tests.handles import replied, resumed
from tests.plans.samples import plan, task
from tests.run.people.desk import FILE, RUN, Desk, approved, log, raises, says


def test_a_plan_is_shown_to_a_person_and_carried_out_when_they_approve() -> None:
    ask, asked = says("")
    supervisor = Supervisor(Desk().team(), person=ask, approve=["plan"])
    answer = run_virtual(supervisor.run(plan=FILE, run_id=RUN))
    assert answer.status == "complete"
    assert [one.plan for one in asked] == [FILE]
    kinds = [event.type for event in log(supervisor)]
    assert kinds[:5] == [
        "run_started", "plan_proposed", "approval_requested", "approval_given", "plan_accepted",
    ]  # fmt: skip


def test_a_refused_plan_is_not_carried_out_and_the_answer_says_why() -> None:
    desk, (ask, _) = Desk(), says("the invoices come first")
    supervisor = Supervisor(desk.team(), person=ask, approve=["plan"])
    answer = run_virtual(supervisor.run(plan=FILE, run_id=RUN))
    assert desk.given == []
    assert (answer.status, answer.waiting) == ("failed", ())
    assert "a person refused the plan: the invoices come first" in answer.answer
    assert run_virtual(resumed(supervisor, RUN)) == answer


def test_a_plan_that_a_person_has_changed_is_carried_out_as_changed() -> None:
    better = plan(task("t1", worker="clerk"), task("t2", "t1", worker="clerk"))
    desk, (ask, _) = Desk(), says(approved(better))
    supervisor = Supervisor(desk.team(), person=ask, approve=["plan"])
    answer = run_virtual(supervisor.run(plan=FILE, run_id=RUN))
    assert answer.status == "complete"
    assert desk.tasks() == ["t1", "t2"]
    proposed = [event for event in log(supervisor) if isinstance(event, PlanProposed)]
    assert [(event.by, len(event.plan.tasks)) for event in proposed] == [
        ("person", 1),
        ("person", 2),
    ]


def test_what_is_wrong_with_a_changed_plan_is_told_and_asked_again() -> None:
    broken = plan(task("t1", worker="nobody"))
    desk, (ask, asked) = Desk(), says(approved(broken), approved())
    supervisor = Supervisor(desk.team(), person=ask, approve=["plan"])
    answer = run_virtual(supervisor.run(plan=FILE, run_id=RUN))
    assert answer.status == "complete"
    assert "can't be carried out as it was changed" in asked[1].text
    assert "nobody" in asked[1].text
    assert asked[1].plan == FILE
    assert fold(log(supervisor)).plan == FILE


@pytest.mark.parametrize(
    "unsound",
    [
        plan(task("t1", worker="nobody")),
        plan(task("t1", "t2", worker="clerk"), task("t2", "t1", worker="clerk")),
        Plan(goal="nothing", tasks=()),
    ],
    ids=["an unknown worker", "a cycle", "no tasks"],
)
def test_who_gives_unsound_plans_only_is_asked_three_times_and_then_waited_for(
    unsound: Plan,
) -> None:
    asked: list[Question] = []

    async def insists(question: Question) -> Reply:
        asked.append(question)
        return approved(unsound)

    journal, desk = MemoryJournal(), Desk()
    supervisor = Supervisor(desk.team(), person=insists, approve=["plan"], journal=journal)
    answer = run_virtual(supervisor.run(plan=FILE, run_id=RUN))
    assert (len(asked), desk.given) == (3, [])
    assert [question.plan for question in answer.waiting] == [FILE]
    assert "can't be carried out as it was changed" in answer.waiting[0].text
    ask, questions = says("")
    again = Supervisor(desk.team(), person=ask, approve=["plan"], journal=journal)
    assert run_virtual(resumed(again, RUN)).status == "complete"
    assert questions == [*answer.waiting]


@pytest.mark.parametrize("verdict", ["answered", "declined"])
def test_only_an_approval_lets_a_plan_be_carried_out(verdict: str) -> None:
    desk, (ask, _) = Desk(), says(Reply.model_validate({"verdict": verdict}))
    supervisor = Supervisor(desk.team(), person=ask, approve=["plan"])
    answer = run_virtual(supervisor.run(plan=FILE, run_id=RUN))
    assert (answer.status, desk.given) == ("failed", [])


async def _says_nothing(question: Question) -> Reply | str | None:
    return None


async def _says_nonsense(question: Question) -> Reply | str | None:
    return cast("str", True)


class _HungUp(BaseException):
    pass


async def _hangs_up(question: Question) -> Reply | str | None:
    raise _HungUp("for good\nand all")


async def _is_cancelled(question: Question) -> Reply | str | None:
    raise asyncio.CancelledError


async def _gives_no_reply(question: Question) -> Reply | str | None:
    return Reply.model_construct(verdict="approved", plan={"goal": 5})


async def _gives_no_plan(question: Question) -> Reply | str | None:
    return Reply.model_construct(verdict="approved", plan=Plan.model_construct(tasks=(7,)))


@pytest.mark.parametrize("ask", [_hangs_up, _is_cancelled])
def test_whatever_a_callback_raises_is_contained_and_told_in_one_line(
    ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    """F38, of people."""
    supervisor = Supervisor(Desk().team(), person=ask, approve=["plan"])
    answer = run_virtual(supervisor.run(plan=FILE, run_id=RUN))
    assert [question.plan for question in answer.waiting] == [FILE]
    told = [one.getMessage() for one in caplog.records if one.levelname == "WARNING"]
    assert len(told) == 1
    assert told[0].startswith("a person could not be asked: ")
    assert "\n" not in told[0]


def test_whoever_waits_for_a_run_may_give_up_while_a_person_thinks() -> None:
    """F38: only what nobody asked for is contained."""
    asked = asyncio.Event()

    async def thinks(question: Question) -> str:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def given_up() -> None:
        supervisor = Supervisor(Desk().team(), person=thinks, approve=["plan"])
        running = asyncio.ensure_future(supervisor.run(plan=FILE, run_id=RUN))
        await asked.wait()
        running.cancel()
        await running

    with pytest.raises(asyncio.CancelledError):
        run_virtual(given_up())


@pytest.mark.parametrize("ask", [_says_nonsense, _gives_no_reply, _gives_no_plan])
def test_what_a_callback_gives_instead_of_a_reply_is_an_error_and_the_plan_goes_on_waiting(
    ask: Ask,
) -> None:
    """F38, of people."""
    supervisor = Supervisor(Desk().team(), person=ask, approve=["plan"])
    with pytest.raises(InputError, match=r"`person` returned bool: it must|reply is not valid"):
        run_virtual(supervisor.run(plan=FILE, run_id=RUN))
    assert log(supervisor)[-1].type == "run_waiting"
    assert run_virtual(replied(supervisor, RUN, approved())).status == "complete"


@pytest.mark.parametrize("ask", [raises, _says_nothing])
def test_a_plan_that_nobody_has_said_anything_to_goes_on_waiting(ask: Ask) -> None:
    desk = Desk()
    journal = MemoryJournal()
    supervisor = Supervisor(desk.team(), person=ask, approve=["plan"], journal=journal)
    answer = run_virtual(supervisor.run(plan=FILE, run_id=RUN))
    assert [question.plan for question in answer.waiting] == [FILE]
    assert desk.given == []
    assert not any(isinstance(event, RunFinished) for event in log(supervisor))
    better, _ = says("")
    again = Supervisor(desk.team(), person=better, approve=["plan"], journal=journal)
    assert run_virtual(resumed(again, RUN)).status == "complete"


def test_the_time_that_a_person_takes_for_the_plan_is_not_the_runs() -> None:
    async def thinks(question: Question) -> str:
        await asyncio.sleep(3_600)
        return ""

    async def slow(handoff: Handoff) -> str:
        await asyncio.sleep(8)
        return "done"

    team = Team("t", workers=(Worker("worker", "takes its time", run=slow),))
    supervisor = Supervisor(team, person=thinks, approve=["plan"], deadline_s=10)
    answer = run_virtual(supervisor.run(plan=plan(task("t1")), run_id=RUN))
    assert answer.status == "complete"
    deadline_s = fold(log(supervisor)).due_s
    assert deadline_s == pytest.approx(3_610)
    late = Supervisor(team, person=thinks, approve=["plan"], deadline_s=7)
    answer = run_virtual(late.run(plan=plan(task("t1")), run_id=RUN))
    assert answer.ended_by == "deadline"
    assert answer.gaps[0].why == "the run's deadline of 3607 s was reached"


def test_a_run_is_cancelled_while_a_person_thinks_about_its_plan_and_keeps_the_plan() -> None:
    asked = asyncio.Event()

    async def thinks(question: Question) -> str:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    journal = MemoryJournal()
    supervisor = Supervisor(Desk().team(), person=thinks, approve=["plan"], journal=journal)

    async def stopped() -> Answer:
        running = asyncio.ensure_future(supervisor.run(plan=FILE, run_id=RUN))
        await asked.wait()
        supervisor.cancel()
        return await running

    answer = run_virtual(stopped())
    assert (answer.status, answer.waiting) == ("cancelled", ())
    ask, questions = says("")
    again = Supervisor(Desk().team(), person=ask, approve=["plan"], journal=journal)
    assert run_virtual(resumed(again, RUN)).status == "complete"
    assert [question.plan for question in questions] == [FILE]


def test_a_reply_to_what_was_seen_does_not_answer_a_newer_question() -> None:
    desk, broken = Desk(), plan(task("t1", worker="nobody"))
    supervisor = Supervisor(desk.team(), approve=["plan"])
    waiting = run_virtual(supervisor.run(plan=FILE, run_id=RUN))
    assert waiting.status == "waiting"
    (listed,) = run_virtual(supervisor.runs())
    first = log(supervisor)
    asked = next(event for event in first if isinstance(event, ApprovalRequested))
    assert (listed.questions, listed.asked_at, listed.engine) == (1, asked.at, "deterministic")
    run_virtual(replied(supervisor, RUN, approved(broken)))
    with pytest.raises(
        InputError, match=f"a newer question about its plan than event {len(first)}"
    ):
        run_virtual(supervisor.handle(RUN).reply(approved(), seen=len(first)))
    assert desk.given == []

    async def approve() -> Answer:
        handle = supervisor.handle(RUN)
        await handle.reply(approved(), seen=len(log(supervisor)))
        return await handle.answer()

    assert run_virtual(approve()).status == "complete"
    (listed,) = run_virtual(supervisor.runs())
    assert (listed.questions, listed.asked_at) == (0, None)


def test_a_run_may_say_itself_when_a_person_is_asked_and_keeps_that_when_it_is_resumed() -> None:
    journal, desk = MemoryJournal(), Desk()
    supervisor = Supervisor(desk.team(), journal=journal)
    given = run_virtual(supervisor.run(plan=FILE, run_id=RUN, approve=["plan"]))
    assert (given.status, desk.given) == ("waiting", [])
    again = Supervisor(desk.team(), journal=journal)
    assert run_virtual(resumed(again, RUN)).status == "waiting"
    run_virtual(replied(again, RUN, approved()))
    assert desk.tasks() == ["t1"]
    always = Supervisor(desk.team(), approve=["plan"])
    assert run_virtual(always.run(plan=FILE, approve=[])).status == "complete"
    with pytest.raises(InputError, match="approve is"):
        run_virtual(always.run(plan=FILE, approve="plan"))  # pyright: ignore[reportArgumentType]
