"""People in a run: they approve of its plan and answer what its workers hand back."""

import asyncio
import datetime as dt
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from leadhand import InputError, Supervisor, Team, Worker
from leadhand.contracts.answer import Answer
from leadhand.contracts.event import (
    ApprovalGiven,
    ApprovalRequested,
    Event,
    PlanProposed,
    PlanRejected,
    RunFinished,
    RunResumed,
    TaskCompleted,
    TaskRefined,
)
from leadhand.contracts.outcome import Completed, Escalated, Handoff, Outcome, Result
from leadhand.contracts.people import Message, Question, Reply
from leadhand.contracts.task import Plan
from leadhand.journal import MemoryJournal, open_journal
from leadhand.people import Ask
from leadhand.state import fold
from leadhand.testing import VirtualClock, run_virtual
from tests.plans import plan, task
from tests.remedies import ScriptedRemedies
from tests.resuming.story import RUN as STORY
from tests.resuming.story import Stops, kept

RUN = "asked"


@dataclass
class Desk:
    """A worker that needs to be told the colour, and one that needs nothing."""

    given: list[Handoff] = field(default_factory=list[Handoff])
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def painter(self, handoff: Handoff) -> Outcome:
        """Hands back what does not say a colour."""
        self.given.append(handoff)
        if "says: " in handoff.intent:
            return Completed(result=Result(output=handoff.intent.rpartition("says: ")[2]))
        return Escalated(reason="ambiguous_input", message="which colour?")

    async def clerk(self, handoff: Handoff) -> str:
        """Does it."""
        self.given.append(handoff)
        self.done.set()
        return f"{handoff.task_id} is filed"

    def tasks(self) -> list[str]:
        """What was worked on, in order."""
        return [handoff.task_id for handoff in self.given]

    def team(self) -> Team:
        """The team that sits here."""
        return Team(
            "desk",
            workers=(
                Worker("painter", "paints", run=self.painter),
                Worker("clerk", "files", run=self.clerk),
            ),
        )


PAINT = plan(task("t1", worker="painter"))
FILE = plan(task("t1", worker="clerk"))


def says(*replies: Reply | str | None) -> tuple[Ask, list[Question]]:
    """A person who says this, one after the other, and what they were asked."""
    asked: list[Question] = []
    left = list(replies)

    async def ask(question: Question) -> Reply | str | None:
        asked.append(question)
        return left.pop(0)

    return ask, asked


def log(supervisor: Supervisor, run_id: str = RUN) -> Sequence[Event]:
    """The events of a run."""
    return supervisor.journal.events(run_id)


def approved(changed: Plan | None = None) -> Reply:
    """The word that a plan may be carried out, as it is or as it was changed."""
    return Reply(verdict="approved", plan=changed)


def answered(text: str, task_id: str = "t1") -> Reply:
    """What the worker of a task should know."""
    return Reply(task_id=task_id, verdict="answered", text=text)


# The plan


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
    assert run_virtual(supervisor.resume(RUN)) == answer


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


@pytest.mark.parametrize("verdict", ["answered", "declined"])
def test_only_an_approval_lets_a_plan_be_carried_out(verdict: str) -> None:
    desk, (ask, _) = Desk(), says(Reply.model_validate({"verdict": verdict}))
    supervisor = Supervisor(desk.team(), person=ask, approve=["plan"])
    answer = run_virtual(supervisor.run(plan=FILE, run_id=RUN))
    assert (answer.status, desk.given) == ("failed", [])


async def _raises(question: Question) -> Reply | str | None:
    raise OSError("the line is dead")


async def _says_nothing(question: Question) -> Reply | str | None:
    return None


async def _says_nonsense(question: Question) -> Reply | str | None:
    return cast("str", True)


@pytest.mark.parametrize("ask", [_raises, _says_nothing, _says_nonsense])
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
    assert run_virtual(again.resume(RUN)).status == "complete"


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
    deadline_s = fold(log(supervisor)).deadline_s
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
        supervisor.cancel(RUN)
        return await running

    answer = run_virtual(stopped())
    assert (answer.status, answer.waiting) == ("cancelled", ())
    ask, questions = says("")
    again = Supervisor(Desk().team(), person=ask, approve=["plan"], journal=journal)
    assert run_virtual(again.resume(RUN)).status == "complete"
    assert [question.plan for question in questions] == [FILE]


# What workers hand back


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


def test_a_callback_that_raises_has_said_nothing(caplog: pytest.LogCaptureFixture) -> None:
    supervisor = Supervisor(Desk().team(), person=_raises, approve=["escalation"])
    answer = run_virtual(supervisor.run(plan=PAINT, run_id=RUN))
    assert answer.status == "failed"
    assert "a person could not be asked: OSError: the line is dead" in caplog.text
    given = [event for event in log(supervisor) if isinstance(event, ApprovalGiven)]
    assert [event.verdict for event in given] == ["declined"]


def test_a_callback_that_hangs_and_is_deaf_does_not_hold_the_run_past_its_deadline() -> None:
    async def deaf(question: Question) -> str:
        while True:
            try:
                await asyncio.sleep(1_000_000)
            except asyncio.CancelledError:
                continue

    supervisor = Supervisor(Desk().team(), person=deaf, approve=["escalation"], deadline_s=10)

    async def timed() -> tuple[Answer, float]:
        answer = await supervisor.run(plan=PAINT, run_id=RUN)
        return answer, asyncio.get_running_loop().time()

    answer, took_s = run_virtual(timed())
    assert (answer.status, answer.ended_by) == ("failed", "deadline")
    assert took_s <= 10.5


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
    house = Team("house", workers=(Worker("desk", "paints or files", team=_only_painter(desk)),))
    supervisor = Supervisor(house, person=ask, approve=["escalation"])
    answer = run_virtual(supervisor.run(plan=plan(task("t1", worker="desk")), run_id=RUN))
    assert answer.status == "complete"
    assert "white" in answer.answer
    assert [question.task_id for question in asked] == ["t1/painter"]


def _only_painter(desk: Desk) -> Team:
    return Team("painters", workers=(Worker("painter", "paints", run=desk.painter),))


def test_what_a_nested_team_hands_back_waits_in_the_run_around_it_for_those_who_are_away() -> None:
    desk = Desk()
    house = Team("house", workers=(Worker("desk", "paints or files", team=_only_painter(desk)),))
    supervisor = Supervisor(house, approve=["escalation"])
    answer = run_virtual(supervisor.run(plan=plan(task("t1", worker="desk")), run_id=RUN))
    assert [question.task_id for question in answer.waiting] == ["t1"]
    supervisor.reply(RUN, answered("white"))
    assert "white" in run_virtual(supervisor.resume(RUN)).answer


# Those who are away


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


def test_a_run_in_which_only_people_are_waited_for_returns_and_nothing_is_left_running() -> None:
    two = plan(task("t1", worker="painter"), task("t2", worker="clerk"), task("t3", "t1"))
    desk = Desk()
    team = Team("desk", workers=(*desk.team().workers, Worker("worker", "w", run=desk.clerk)))
    supervisor = Supervisor(team, approve=["escalation"], deadline_s=10)

    async def run() -> tuple[Answer, float, int]:
        answer = await supervisor.run(plan=two, run_id=RUN)
        return answer, asyncio.get_running_loop().time(), len(asyncio.all_tasks())

    answer, took_s, running = run_virtual(run())
    assert (took_s, running) == (0, 1)
    assert [question.task_id for question in answer.waiting] == ["t1"]
    assert "which colour?" in answer.waiting[0].text
    assert (answer.status, answer.ended_by) == ("partial", None)
    assert [report.id for report in answer.tasks] == ["t2"]
    assert not any(isinstance(event, RunFinished) for event in log(supervisor))
    assert desk.tasks() == ["t1", "t2"]
    assert supervisor.journal.holder(RUN) is None


def test_a_run_goes_on_days_later_in_another_supervisor_with_its_whole_deadline() -> None:
    journal, desk = MemoryJournal(), Desk()
    first = Supervisor(desk.team(), approve=["escalation"], journal=journal, clock=Days(0))
    assert run_virtual(first.run(plan=PAINT, run_id=RUN)).waiting

    async def slow(handoff: Handoff) -> str:
        await asyncio.sleep(9)
        return handoff.intent.rpartition("says: ")[2]

    team = Team("desk", workers=(Worker("painter", "paints", run=slow),))
    later = Supervisor(team, journal=journal, clock=Days(4), deadline_s=10)
    later.reply(RUN, answered("blue"))
    answer = run_virtual(later.resume(RUN))
    assert (answer.status, answer.answer) == ("complete", "blue")
    assert journal.messages(RUN) == []
    resumed = next(event for event in log(later) if isinstance(event, RunResumed))
    assert (resumed.at - log(later)[0].at).days == 4
    given = [event for event in log(later) if isinstance(event, ApprovalGiven)]
    assert [(event.verdict, event.text) for event in given] == [("answered", "blue")]


def test_a_plan_waits_for_approval_through_restarts_whoever_resumes_the_run() -> None:
    journal, desk = MemoryJournal(), Desk()
    first = Supervisor(desk.team(), approve=["plan"], journal=journal)
    answer = run_virtual(first.run(plan=FILE, run_id=RUN))
    assert (answer.status, [one.plan for one in answer.waiting]) == ("failed", [FILE])
    careless = Supervisor(desk.team(), journal=journal)
    assert run_virtual(careless.resume(RUN)).waiting == answer.waiting
    asked = [event for event in log(first) if isinstance(event, ApprovalRequested)]
    assert len(asked) == 1
    careless.reply(RUN, Reply(verdict="approved"))
    assert run_virtual(careless.resume(RUN)).status == "complete"
    assert desk.tasks() == ["t1"]


def test_a_broken_plan_from_elsewhere_is_told_and_asked_again() -> None:
    desk, journal = Desk(), MemoryJournal()
    supervisor = Supervisor(desk.team(), approve=["plan"], journal=journal)
    run_virtual(supervisor.run(plan=FILE, run_id=RUN))
    supervisor.reply(RUN, approved(plan(task("t1", worker="nobody"))))
    answer = run_virtual(supervisor.resume(RUN))
    assert "nobody" in answer.waiting[0].text
    assert answer.waiting[0].plan == FILE
    assert run_virtual(supervisor.resume(RUN)).waiting == answer.waiting
    supervisor.reply(RUN, approved())
    assert run_virtual(supervisor.resume(RUN)).status == "complete"
    rejected = [event for event in log(supervisor) if isinstance(event, PlanRejected)]
    assert rejected == []


async def _until(holds: Callable[[], object]) -> None:
    """Return once it holds; in steps of the loop, not of time."""
    while not holds():  # noqa: ASYNC110
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("place", ["memory", "sqlite"])
def test_a_live_run_hears_a_reply_within_a_second(place: str, tmp_path: Path) -> None:
    journal = open_journal(tmp_path) if place == "sqlite" else MemoryJournal()
    other = open_journal(tmp_path) if place == "sqlite" else journal
    desk, release = Desk(), asyncio.Event()

    async def slow(handoff: Handoff) -> str:
        await release.wait()
        return "done"

    workers = (*desk.team().workers, Worker("slow", "takes long", run=slow))
    supervisor = Supervisor(Team("desk", workers=workers), approve=["escalation"], journal=journal)
    two = plan(task("t1", worker="painter"), task("t2", worker="slow"))

    async def main() -> tuple[Answer, float]:
        running = asyncio.ensure_future(supervisor.run(plan=two, run_id=RUN))
        await _until(lambda: fold(other.events(RUN)).questions)
        posted_s = asyncio.get_running_loop().time()
        Supervisor(desk.team(), journal=other).reply(RUN, answered("blue"))
        await _until(lambda: any(isinstance(one, TaskCompleted) for one in other.events(RUN)))
        heard_s = asyncio.get_running_loop().time()
        release.set()
        return await running, heard_s - posted_s

    answer, took_s = asyncio.run(main())
    assert answer.output == {"t1": "blue", "t2": "done"}
    assert took_s < 1
    assert [*other.messages(RUN)] == []
    other.close()
    journal.close()


def test_a_reply_from_elsewhere_spares_the_person_who_sits_here_the_question() -> None:
    hurt = asyncio.Event()

    async def thinks(question: Question) -> str:
        try:
            await asyncio.Event().wait()
        finally:
            hurt.set()
        raise AssertionError

    supervisor = Supervisor(Desk().team(), person=thinks, approve=["escalation"])

    async def main() -> Answer:
        running = asyncio.ensure_future(supervisor.run(plan=PAINT, run_id=RUN))
        await _until(lambda: fold(log(supervisor)).questions)
        supervisor.reply(RUN, answered("blue"))
        return await running

    assert run_virtual(main()).answer == "blue"
    assert hurt.is_set()


def test_of_two_replies_to_one_question_the_last_one_counts() -> None:
    supervisor = Supervisor(Desk().team(), approve=["escalation"])
    run_virtual(supervisor.run(plan=PAINT, run_id=RUN))
    supervisor.reply(RUN, answered("blue"))
    supervisor.reply(RUN, answered("no, red"))
    assert run_virtual(supervisor.resume(RUN)).answer == "no, red"
    assert supervisor.journal.messages(RUN) == []


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
        supervisor.reply(RUN, reply)
    assert supervisor.journal.messages(RUN) == []


def test_a_reply_that_came_too_late_answers_no_later_question() -> None:
    """Two processes may post at once; nobody but the run knows what it has heard."""
    journal = MemoryJournal()
    desk = Desk()

    async def picky(handoff: Handoff) -> Outcome:
        return Escalated(reason="ambiguous_input", message=f"attempt {handoff.attempt}: why?")

    team = Team("desk", workers=(Worker("painter", "paints", run=picky),))
    supervisor = Supervisor(team, approve=["escalation"], journal=journal)
    run_virtual(supervisor.run(plan=PAINT, run_id=RUN))
    supervisor.reply(RUN, answered("because"))
    answer = run_virtual(supervisor.resume(RUN))
    assert "attempt 2" in answer.waiting[0].text
    journal.post(Message(run_id="other", reply=answered("stray")))
    assert run_virtual(supervisor.resume(RUN)).waiting == answer.waiting
    assert desk.given == []


def test_a_run_is_stopped_by_a_message_and_the_message_stops_no_later_one() -> None:
    journal = MemoryJournal()

    async def forever(handoff: Handoff) -> str:
        journal.post(Message(run_id=RUN, reason="told to"))
        journal.post(Message(run_id=RUN, reason="told to"))
        await asyncio.Event().wait()
        return ""

    async def quick(handoff: Handoff) -> str:
        return "done"

    def team(work: Callable[[Handoff], Awaitable[str]]) -> Team:
        return Team("t", workers=(Worker("worker", "w", run=work),))

    supervisor = Supervisor(team(forever), journal=journal)
    answer = run_virtual(supervisor.run(plan=plan(task("t1")), run_id=RUN))
    assert (answer.status, answer.gaps[0].why) == ("cancelled", "told to")
    assert journal.messages(RUN) == []
    assert run_virtual(Supervisor(team(quick), journal=journal).resume(RUN)).status == "complete"


# A process that ends at the wrong moment


class _Refuses(ScriptedRemedies):
    """Has nothing to say, and counts how often it is asked."""


def test_a_run_with_people_goes_on_from_each_of_its_commits_and_asks_nothing_twice() -> None:
    """F29"""
    journal = Stops()
    better = plan(task("t1", worker="painter"), task("t2", "t1", worker="clerk"))
    ask, _ = says(approved(better), "blue")
    whole = run_virtual(
        Supervisor(Desk().team(), person=ask, journal=journal).run(plan=PAINT, run_id=STORY)
    )
    events = [*journal.events(STORY)]
    assert len(journal.commits) > 6
    for stop in journal.commits:
        past = events[:stop]
        given = [event for event in past if isinstance(event, ApprovalGiven)]
        left: list[Reply | str | None] = [approved(better), "blue"]
        ask, asked = says(*left[len(given) :])
        again = Supervisor(Desk().team(), person=ask, journal=kept(past))
        answer = run_virtual(again.resume(STORY))
        assert (answer.status, answer.output) == (whole.status, whole.output), past[-1].type
        assert len(asked) == 2 - len(given), past[-1].type


def test_a_resumed_run_does_not_ask_again_who_had_nothing_to_say_before_the_person() -> None:
    journal, remedies = MemoryJournal(), _Refuses()
    supervisor = Supervisor(
        Desk().team(), approve=["escalation"], journal=journal, remedies=remedies
    )
    run_virtual(supervisor.run(plan=PAINT, run_id=RUN))
    before = [*remedies.asked]
    supervisor.reply(RUN, answered("blue"))
    assert run_virtual(supervisor.resume(RUN)).status == "complete"
    assert remedies.asked == before
