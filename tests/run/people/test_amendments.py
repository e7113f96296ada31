"""A plan that a person approved or handed in is binding: what changes it is put to them again."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from leadhand import InputError, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import (
    ApprovalRequested,
    Event,
    PlanAmended,
    PlanProposed,
    PlanRejected,
    TaskSplit,
)
from leadhand.contracts.outcome import Completed, Escalated, Handoff, Outcome, PlanImpact, Result
from leadhand.contracts.people import Question, Reply
from leadhand.contracts.task import PlanRequest
from leadhand.journal import MemoryJournal
from leadhand.state.fold import fold
from leadhand.testing import run_virtual
from leadhand.trace.run_history import RunHistory
from tests.engine.remedies import ScriptedRemedies
from tests.handles import resumed
from tests.plans.samples import plan, task
from tests.run.people.desk import RUN, approved, log, says

REASON = "the books are kept in two places"
LOOK, AFTER, END = task("look"), task("after", "look"), task("end", "after")
MORE = task("more", "look")
PLAN = plan(LOOK, AFTER, END)
REVISED = (AFTER, END, MORE)


@dataclass
class Office:
    """A worker that finds that the plan does not fit, and one that hands back what is too big."""

    journal: MemoryJournal = field(default_factory=MemoryJournal)
    revised: Sequence[Task] = REVISED
    parts: Sequence[Task] = ()
    slow: bool = False
    done: list[str] = field(default_factory=list[str])

    async def work(self, handoff: Handoff) -> Outcome:
        """Does it; `look` says that the plan no longer fits, `big` that it is too much."""
        if self.slow:
            await asyncio.sleep(10)
        if handoff.task_id in ("big", "bigger"):
            return Escalated(reason="timeout", message="too much for one")
        self.done.append(handoff.task_id)
        impact = PlanImpact(reason=REASON) if handoff.task_id == "look" else None
        return Completed(result=Result(output=handoff.task_id, plan_impact=impact))

    def supervisor(self, **fields: object) -> Supervisor:
        """A supervisor whose planner has the scripted answers to everything."""
        self.remedies = ScriptedRemedies(revised=self.revised, parts=self.parts or None)
        agents = Team("office", workers=(Worker("worker", "works", offline=self.work),))
        return Supervisor(agents, remedies=self.remedies, journal=self.journal, **fields)  # pyright: ignore[reportArgumentType]


class Given:
    """A planner that gives this plan."""

    name = "given"

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """The plan."""
        return PLAN


def of(supervisor: Supervisor, kind: type[object]) -> list[Event]:
    """The events of that kind."""
    return [event for event in log(supervisor) if isinstance(event, kind)]


# A plan that was handed in


def test_f46_a_plan_that_was_handed_in_is_not_amended_and_the_reason_is_a_gap() -> None:
    office = Office()
    supervisor = office.supervisor()
    answer = run_virtual(supervisor.run(plan=PLAN, run_id=RUN))
    assert office.done == ["look", "after", "end"]
    assert office.remedies.asked == [], "no planner is asked for what is not made"
    assert answer.status == "partial"
    assert [gap.task_id for gap in answer.gaps] == ["look"]
    assert REASON in answer.gaps[0].why
    assert "without `amend`" in answer.gaps[0].why
    assert REASON in answer.answer


def test_with_amend_a_plan_that_was_handed_in_is_amended_and_nobody_is_asked() -> None:
    office = Office()
    supervisor = office.supervisor()
    answer = run_virtual(supervisor.run(plan=PLAN, amend=True, run_id=RUN))
    assert answer.status == "complete"
    assert sorted(office.done) == ["after", "end", "look", "more"]


def test_f46_a_task_of_a_plan_that_was_handed_in_is_not_split() -> None:
    office = Office(parts=[task("x"), task("y", "x")])
    supervisor = office.supervisor()
    answer = run_virtual(supervisor.run(plan=plan(task("big")), run_id=RUN))
    assert [(one.id, one.status) for one in answer.tasks] == [("big", "escalated")]
    assert office.remedies.asked == []
    amended = office.supervisor().run(plan=plan(task("big")), amend=True, run_id="amended")
    assert [one.id for one in run_virtual(amended).tasks] == ["big.1", "big.2"]


def test_a_planners_own_plan_is_amended_as_before() -> None:
    office = Office()
    answer = run_virtual(office.supervisor(planner=Given()).run("look into it", run_id=RUN))
    assert (answer.status, len(answer.tasks)) == ("complete", 4)


def test_amend_is_for_a_plan_of_ones_own() -> None:
    with pytest.raises(InputError, match="amend is for a plan of your own"):
        Office().supervisor().run_sync("look into it", amend=True)


def test_a_resumed_run_keeps_the_choice_of_not_amending() -> None:
    office = Office()
    stopped = office.supervisor(deadline_s=5)
    office.slow = True
    answer = run_virtual(stopped.run(plan=PLAN, run_id=RUN))
    assert answer.ended_by == "deadline"
    office.slow = False
    answer = run_virtual(resumed(office.supervisor(), RUN))
    assert (answer.status, sorted(office.done)) == ("partial", ["after", "end", "look"])
    assert REASON in answer.gaps[0].why


# A plan that a person approved


def test_f46_an_amendment_that_adds_a_task_is_put_to_the_person_who_approved_the_plan() -> None:
    office, (ask, asked) = Office(), says("", "")
    supervisor = office.supervisor(planner=Given(), person=ask, approve=["plan"])
    answer = run_virtual(supervisor.run("look into it", run_id=RUN))
    assert answer.status == "complete"
    assert sorted(office.done) == ["after", "end", "look", "more"]
    first, second = asked
    assert first.plan == PLAN
    assert second.plan is not None
    assert [one.id for one in second.plan.tasks] == ["look", "after", "end", "more"]
    assert second.plan.revision == 2
    assert REASON in second.text
    assert "Adds more." in second.text
    kinds = [event.type for event in log(supervisor) if event.type.startswith(("plan", "approval"))]
    assert kinds == [
        "plan_proposed", "approval_requested", "approval_given", "plan_accepted",
        "plan_proposed", "approval_requested", "approval_given", "plan_amended",
    ]  # fmt: skip
    assert fold(log(supervisor)).plan is not None


def test_f46_nothing_starts_until_the_person_has_replied_to_an_amendment() -> None:
    office = Office()
    asked: list[str] = []

    async def thinks(question: Question) -> str:
        asked.append(question.text)
        if len(asked) == 2:
            await asyncio.sleep(30)
            assert office.done == ["look"]
        return ""

    supervisor = office.supervisor(planner=Given(), person=thinks, approve=["plan"])
    assert run_virtual(supervisor.run("look into it", run_id=RUN)).status == "complete"
    assert len(asked) == 2


def test_a_refused_amendment_leaves_the_plan_and_a_gap_says_so() -> None:
    office, (ask, _) = Office(), says("", "not this year")
    supervisor = office.supervisor(planner=Given(), person=ask, approve=["plan"])
    answer = run_virtual(supervisor.run("look into it", run_id=RUN))
    assert office.done == ["look", "after", "end"]
    assert answer.status == "partial"
    assert "a person refused the amended plan: not this year" in answer.gaps[0].why
    assert of(supervisor, PlanAmended) == []
    versions = [(one.what, one.revision) for one in RunHistory.of(log(supervisor)).plans]
    assert versions == [("accepted", 1), ("rejected", 2)]


def test_a_person_may_change_the_amended_plan() -> None:
    less = plan(LOOK, END.model_copy(update={"depends_on": ("look",)}), MORE)
    office, (ask, _) = Office(), says("", approved(less))
    supervisor = office.supervisor(planner=Given(), person=ask, approve=["plan"])
    answer = run_virtual(supervisor.run("look into it", run_id=RUN))
    assert (answer.status, sorted(office.done)) == ("complete", ["end", "look", "more"])


def test_a_changed_amendment_that_does_not_check_is_asked_about_again() -> None:
    begun = plan(task("look", worker="nobody"), AFTER, END)
    office, (ask, asked) = Office(), says("", approved(begun), "")
    supervisor = office.supervisor(planner=Given(), person=ask, approve=["plan"])
    answer = run_virtual(supervisor.run("look into it", run_id=RUN))
    assert answer.status == "complete"
    assert "task 'look' has started" in asked[2].text


@pytest.mark.parametrize(
    ("revised", "asks"),
    [
        ((AFTER,), False),
        ((AFTER.model_copy(update={"depends_on": ("look",)}), END), False),
        ((AFTER, END.model_copy(update={"depends_on": ("after", "look")})), False),
        ((AFTER, END.model_copy(update={"depends_on": ("look",)})), True),
        ((AFTER, END.model_copy(update={"depends_on": ()})), True),
        ((AFTER.model_copy(update={"intent": "mail this to everybody"}), END), True),
        (REVISED, True),
    ],
    ids=[
        "drops the last task", "changes nothing", "adds a dependency", "removes a dependency",
        "removes all dependencies", "does something else", "adds a task",
    ],
)  # fmt: skip
def test_f46_only_what_goes_beyond_the_approved_plan_is_asked_about(
    revised: Sequence[Task], *, asks: bool
) -> None:
    office, (ask, asked) = Office(revised=revised), says("", "")
    supervisor = office.supervisor(planner=Given(), person=ask, approve=["plan"])
    assert run_virtual(supervisor.run("look into it", run_id=RUN)).status == "complete"
    assert len(asked) == 1 + asks


def test_f46_a_plan_handed_in_with_amend_and_approved_asks_as_well() -> None:
    office, (ask, asked) = Office(), says("", "")
    supervisor = office.supervisor(person=ask, approve=["plan"])
    answer = run_virtual(supervisor.run(plan=PLAN, amend=True, run_id=RUN))
    assert (answer.status, len(asked), len(answer.tasks)) == ("complete", 2, 4)


def test_f46_an_approved_plan_that_was_handed_in_without_amend_stays_as_it_is() -> None:
    office, (ask, asked) = Office(), says("")
    supervisor = office.supervisor(person=ask, approve=["plan"])
    answer = run_virtual(supervisor.run(plan=PLAN, run_id=RUN))
    assert (answer.status, len(asked), len(answer.tasks)) == ("partial", 1, 3)


# Nobody is here


def park(office: Office, **fields: object) -> tuple[Supervisor, Answer]:
    """A run whose first plan is approved from afar, until it waits for another approval."""
    supervisor = office.supervisor(planner=Given(), approve=["plan"], **fields)
    assert run_virtual(supervisor.run("look into it", run_id=RUN)).waiting
    asyncio.run(supervisor.handle(RUN).reply(approved(), resume=False))
    return supervisor, run_virtual(resumed(supervisor, RUN))


def test_a_run_waits_for_the_approval_of_an_amendment_and_continues_with_it() -> None:
    office = Office()
    supervisor, answer = park(office)
    assert office.done == ["look"]
    (question,) = answer.waiting
    assert question.plan is not None
    assert [one.id for one in question.plan.tasks] == ["look", "after", "end", "more"]
    assert run_virtual(resumed(supervisor, RUN)).waiting == answer.waiting
    asyncio.run(supervisor.handle(RUN).reply(approved(), resume=False))
    # Who resumes it need not know that plans are approved here.
    last = run_virtual(resumed(office.supervisor(), RUN))
    assert (last.status, sorted(office.done)) == ("complete", ["after", "end", "look", "more"])
    assert len(of(supervisor, PlanProposed)) == 2
    assert len(of(supervisor, ApprovalRequested)) == 2


def test_a_run_that_waits_for_an_amendment_continues_without_it_when_it_is_refused() -> None:
    office = Office()
    supervisor, _ = park(office)
    asyncio.run(
        supervisor.handle(RUN).reply(Reply(verdict="refused", text="too dear"), resume=False)
    )
    answer = run_virtual(resumed(supervisor, RUN))
    assert (answer.status, office.done) == ("partial", ["look", "after", "end"])
    assert "too dear" in answer.gaps[0].why


def test_who_says_nothing_to_an_amendment_leaves_a_run_that_waits() -> None:
    office, (ask, _) = Office(), says("", None)
    supervisor = office.supervisor(planner=Given(), person=ask, approve=["plan"])
    answer = run_virtual(supervisor.run("look into it", run_id=RUN))
    assert (bool(answer.waiting), office.done) == (True, ["look"])
    ask, _ = says("")
    again = office.supervisor(person=ask)
    assert run_virtual(resumed(again, RUN)).status == "complete"
    assert sorted(office.done) == ["after", "end", "look", "more"]


def test_a_deadline_ends_a_run_whose_amendment_has_no_reply() -> None:
    office = Office()

    async def thinks(question: Question) -> str:
        if question.plan == PLAN:
            return ""
        await asyncio.sleep(100)
        raise AssertionError

    supervisor = office.supervisor(planner=Given(), person=thinks, approve=["plan"], deadline_s=20)
    answer = run_virtual(supervisor.run("look into it", run_id=RUN))
    assert (answer.ended_by, answer.waiting, office.done) == ("deadline", (), ["look"])
    ask, asked = says("")
    again = office.supervisor(person=ask)
    assert run_virtual(resumed(again, RUN)).status == "complete"
    assert len(asked) == 1


# A task is split


BIG = plan(task("big"), task("last", "big"))


def test_f46_a_split_of_an_approved_plan_is_put_to_the_person() -> None:
    office, (ask, asked) = Office(parts=[task("x"), task("y", "x")]), says("", "")
    supervisor = office.supervisor(person=ask, approve=["plan"])
    answer = run_virtual(supervisor.run(plan=BIG, amend=True, run_id=RUN))
    assert [one.id for one in answer.tasks] == ["last", "big.1", "big.2"]
    assert asked[1].plan is not None
    assert {one.id: one.depends_on for one in asked[1].plan.tasks} == {
        "big.1": (), "big.2": ("big.1",), "last": ("big.1", "big.2"),
    }  # fmt: skip


def test_a_split_may_be_approved_with_the_same_plan_handed_back() -> None:
    async def ask(question: Question) -> Reply:
        return approved(question.plan)

    supervisor = Office(parts=[task("x"), task("y", "x")]).supervisor(person=ask, approve=["plan"])
    answer = run_virtual(supervisor.run(plan=BIG, amend=True, run_id=RUN))
    assert [one.id for one in answer.tasks] == ["last", "big.1", "big.2"]


def test_a_refused_split_leaves_the_next_rung() -> None:
    office, (ask, _) = Office(parts=[task("x"), task("y", "x")]), says("", "no")
    supervisor = office.supervisor(person=ask, approve=["plan"])
    answer = run_virtual(supervisor.run(plan=BIG, amend=True, run_id=RUN))
    assert [(one.id, one.status) for one in answer.tasks] == [
        ("big", "escalated"), ("last", "skipped"),
    ]  # fmt: skip
    refused = [event for event in log(supervisor) if isinstance(event, PlanRejected)]
    assert refused[0].problems == (
        "task 'big' is not split: a person refused the amended plan: no",
    )


def test_a_run_waits_for_the_approval_of_a_split_and_continues_with_it() -> None:
    office = Office(parts=[task("x"), task("y", "x")])
    supervisor = office.supervisor(approve=["plan"])
    run_virtual(supervisor.run(plan=BIG, amend=True, run_id=RUN))
    asyncio.run(supervisor.handle(RUN).reply(approved(), resume=False))
    waiting = run_virtual(resumed(supervisor, RUN))
    assert [question.plan is None for question in waiting.waiting] == [False]
    office.remedies.asked.clear()
    asyncio.run(supervisor.handle(RUN).reply(approved(), resume=False))
    answer = run_virtual(resumed(supervisor, RUN))
    assert [one.id for one in answer.tasks] == ["last", "big.1", "big.2"]
    assert office.remedies.asked == [], "the parts are those that were approved"
    assert len(of(supervisor, TaskSplit)) == 1


def test_two_splits_at_once_are_put_to_the_person_one_after_the_other() -> None:
    office, (ask, asked) = Office(parts=[task("x"), task("y")]), says("", "", "")
    supervisor = office.supervisor(person=ask, approve=["plan"])
    both = plan(task("big"), task("bigger"))
    answer = run_virtual(supervisor.run(plan=both, amend=True, run_id=RUN))
    assert {one.id for one in answer.tasks} == {"big.1", "big.2", "bigger.1", "bigger.2"}
    assert asked[2].plan is not None
    assert len(asked[2].plan.tasks) == 4
