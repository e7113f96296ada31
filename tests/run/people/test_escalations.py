"""A person who is here is asked about what workers hand back."""

import asyncio
from typing import Literal, cast

import pytest

from leadhand import InputError, Supervisor, Team, Worker
from leadhand.contracts.events import ApprovalGiven, TaskRefined
from leadhand.contracts.outcome import Escalated, Handoff
from leadhand.contracts.people import Question, Reply
from leadhand.state.fold import fold
from leadhand.testing import run_virtual
from tests.handles import replied, resumed
from tests.plans.samples import plan, task
from tests.run.people.desk import PAINT, RUN, Desk, answered, log, only_painter, raises, says, until


def test_what_a_person_says_reaches_the_worker_and_the_old_words_stay_in_the_log() -> None:
    desk, (ask, asked) = Desk(), says("blue")
    supervisor = Supervisor(desk.team(), person=ask, approve=["escalation"])
    answer = run_virtual(supervisor.run(plan=PAINT, run_id=RUN))
    assert answer.answer == "blue"
    assert [(one.task_id, one.plan) for one in asked] == [("t1", None)]
    assert "which colour?" in asked[0].text
    refined = [event for event in log(supervisor) if isinstance(event, TaskRefined)]
    assert [event.old_intent for event in refined] == ["work on part t1"]
    assert refined[0].new_intent == desk.given[1].intent


@pytest.mark.parametrize("said", [None, " ", Reply(verdict="declined"), Reply(verdict="refused")])
def test_where_a_person_has_nothing_to_say_the_ladder_goes_on(said: Reply | str | None) -> None:
    desk, (ask, asked) = Desk(), says(said)
    supervisor = Supervisor(desk.team(), person=ask, approve=["escalation"])
    answer = run_virtual(supervisor.run(plan=PAINT, run_id=RUN))
    assert (answer.status, len(asked), desk.tasks()) == ("failed", 1, ["t1"])
    assert "which colour?" in answer.gaps[0].why
    assert not fold(log(supervisor)).questions


def test_a_callback_thatraises_has_said_nothing(caplog: pytest.LogCaptureFixture) -> None:
    supervisor = Supervisor(Desk().team(), person=raises, approve=["escalation"])
    answer = run_virtual(supervisor.run(plan=PAINT, run_id=RUN))
    assert answer.status == "failed"
    assert "a person could not be asked: OSError: the line is dead" in caplog.text
    given = [event for event in log(supervisor) if isinstance(event, ApprovalGiven)]
    assert [event.verdict for event in given] == ["declined"]


def test_what_is_no_reply_is_an_error_after_the_other_tasks_and_the_question_stays_open() -> None:
    desk, (ask, asked) = Desk(), says(cast("str", 7), "red")
    supervisor = Supervisor(desk.team(), person=ask, approve=["escalation"])
    both = plan(*(task(id, worker="painter") for id in ("t1", "t2")), task("t3", worker="clerk"))
    with pytest.raises(InputError, match="`person` returned int: it must return a Reply, a text"):
        run_virtual(supervisor.run(plan=both, run_id=RUN))
    state = fold(log(supervisor))
    assert (state.tasks["t3"].status, {*state.questions}, len(asked)) == ("completed", {"t1"}, 2)
    answer = run_virtual(replied(supervisor, RUN, answered("blue")))
    assert (answer.status, answer.output) == (
        "complete",
        {"t1": "blue", "t2": "red", "t3": "t3 is filed"},
    )


@pytest.mark.parametrize("synthesis", ["merge", "last"])
def test_what_is_no_reply_to_a_nested_question_is_an_error_and_it_stays_open(
    synthesis: Literal["merge", "last"],
) -> None:
    desk, (ask, asked) = Desk(), says(cast("str", {"verdict": "approved"}))
    net = Worker("net", "paints", team=only_painter(desk))
    supervisor = Supervisor(
        Team("o", workers=[net], synthesis=synthesis), person=ask, approve=["escalation"]
    )
    with pytest.raises(InputError, match="`person` returned dict"):
        run_virtual(supervisor.run(plan=plan(task("a", worker="net")), run_id=RUN))
    assert len(asked) == 1
    assert asked[0].task_id == "a/painter"
    answer = run_virtual(replied(supervisor, RUN, answered("blue", asked[0].task_id)))
    assert (answer.status, answer.output) == ("complete", "blue")


def test_a_reply_to_another_question_is_an_error_and_the_question_stays_open() -> None:
    ask, _ = says(Reply(task_id="t9", verdict="answered", text="red"))
    supervisor = Supervisor(Desk().team(), person=ask, approve=["escalation"])
    with pytest.raises(InputError, match="replied to 't9'; it was asked about task 't1'"):
        run_virtual(supervisor.run(plan=PAINT, run_id=RUN))
    assert run_virtual(replied(supervisor, RUN, answered("blue"))).answer == "blue"


def test_a_person_may_be_a_plain_function() -> None:
    supervisor = Supervisor(Desk().team(), person=lambda _: "blue", approve=["escalation"])
    assert run_virtual(supervisor.run(plan=PAINT, run_id=RUN)).answer == "blue"


async def test_a_callback_that_hangs_and_is_deaf_does_not_hold_the_run_past_its_deadline() -> None:
    async def deaf(question: Question) -> str:
        while True:
            try:
                await asyncio.sleep(1_000_000)
            except asyncio.CancelledError:
                continue

    supervisor = Supervisor(Desk().team(), person=deaf, approve=["escalation"], deadline_s=10)

    answer = await supervisor.run(plan=PAINT, run_id=RUN)
    took_s = asyncio.get_running_loop().time()
    assert (answer.status, answer.ended_by) == ("failed", "deadline")
    assert took_s <= 10.5


@pytest.mark.parametrize(
    ("said", "worker", "ended"),
    [("It is for the Clerk", "clerk", "complete"), ("Try blue", "painter", "failed")],
)
def test_a_person_names_another_worker_for_a_task_that_is_out_of_scope(
    said: str, worker: str, ended: str
) -> None:
    def not_mine(handoff: Handoff) -> Escalated:
        return Escalated(reason="out_of_scope", message="not mine")

    desk, (ask, asked) = Desk(), says(said, None)
    workers = [Worker("painter", "paints", run=not_mine), Worker("clerk", "files", run=desk.clerk)]
    supervisor = Supervisor(Team("desk", workers=workers), person=ask, approve=["escalation"])
    answer = run_virtual(supervisor.run(plan=PAINT, run_id=RUN))
    assert (answer.status, answer.tasks[0].worker) == (ended, worker)
    assert asked[0].text.endswith("\nIf it is for another worker, name that one: clerk")
    refined = [event.new_intent for event in log(supervisor) if isinstance(event, TaskRefined)]
    assert [said in intent for intent in refined] == ([] if worker == "clerk" else [True])


def test_several_tasks_wait_for_answers_at_once() -> None:
    both = asyncio.Event()
    asked: list[str | None] = []

    async def ask(question: Question) -> str:
        asked.append(question.task_id)
        if len(asked) == 2:
            both.set()
        await both.wait()
        return f"colour of {question.task_id}"

    two = plan(task("t1", worker="painter"), task("t2", worker="painter"))
    supervisor = Supervisor(Desk().team(), person=ask, approve=["escalation"])
    answer = run_virtual(supervisor.run(plan=two, run_id=RUN))
    assert answer.output == {"t1": "colour of t1", "t2": "colour of t2"}


def test_other_work_goes_on_while_a_task_waits_for_a_person() -> None:
    desk = Desk()

    async def ask(question: Question) -> str:
        await desk.done.wait()
        return "red"

    two = plan(task("t1", worker="painter"), task("t2", worker="clerk"))
    supervisor = Supervisor(desk.team(), person=ask, approve=["escalation"], concurrency=1)
    answer = run_virtual(supervisor.run(plan=two, run_id=RUN))
    assert answer.status == "complete"


def test_a_person_who_approves_plans_only_is_not_asked_by_workers_and_the_other_way_round() -> None:
    ask, asked = says("")
    supervisor = Supervisor(Desk().team(), person=ask, approve=["plan"])
    assert run_virtual(supervisor.run(plan=PAINT)).status == "failed"
    assert [question.task_id for question in asked] == [None]
    ask, asked = says("green")
    supervisor = Supervisor(Desk().team(), person=ask, approve=["escalation"])
    assert run_virtual(supervisor.run(plan=PAINT)).status == "complete"
    assert [question.task_id for question in asked] == ["t1"]
    ask, asked = says("", "green")
    supervisor = Supervisor(Desk().team(), person=ask)
    assert run_virtual(supervisor.run(plan=PAINT)).status == "complete"
    assert [question.task_id for question in asked] == [None, "t1"]


def test_a_nested_team_asks_the_person_who_is_here_naming_the_way_to_its_task() -> None:
    desk, (ask, asked) = Desk(), says("white")
    house = Team("house", workers=(Worker("desk", "paints or files", team=only_painter(desk)),))
    supervisor = Supervisor(house, person=ask, approve=["escalation"])
    answer = run_virtual(supervisor.run(plan=plan(task("t1", worker="desk")), run_id=RUN))
    assert answer.status == "complete"
    assert "white" in answer.answer
    assert [question.task_id for question in asked] == ["t1/painter"]


def test_a_nested_run_takes_no_reply_that_is_for_the_run_around_it() -> None:
    desk = Desk()

    async def ask(question: Question) -> str:
        if question.task_id == "t1/painter":
            await until(lambda: len(fold(log(supervisor)).questions))
            await supervisor.handle(RUN).reply(answered("red", "t2"), resume=False)
            return "white"
        await asyncio.Event().wait()
        raise AssertionError

    annex = Worker("annex", "paints or files", team=only_painter(desk))
    house = Team("house", workers=(annex, Worker("painter", "paints", run=desk.painter)))
    supervisor = Supervisor(house, person=ask, approve=["escalation"])
    both = plan(task("t1", worker="annex"), task("t2", worker="painter"))
    answer = run_virtual(supervisor.run(plan=both, run_id=RUN))
    assert answer.status == "complete"
    assert "white" in answer.answer
    assert "red" in answer.answer


def test_what_a_nested_team_hands_back_waits_in_the_run_around_it_for_those_who_are_away() -> None:
    desk = Desk()
    house = Team("house", workers=(Worker("desk", "paints or files", team=only_painter(desk)),))
    supervisor = Supervisor(house, approve=["escalation"])
    answer = run_virtual(supervisor.run(plan=plan(task("t1", worker="desk")), run_id=RUN))
    assert [question.task_id for question in answer.waiting] == ["t1"]
    assert answer.status == "waiting"
    asyncio.run(supervisor.handle(RUN).reply(answered("white"), resume=False))
    assert "white" in run_virtual(resumed(supervisor, RUN)).answer
