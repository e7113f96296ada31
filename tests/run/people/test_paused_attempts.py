"""Attempts that pause for an approval: through deadlines, in nested teams, and in the log."""

import asyncio

import pytest

from leadhand import Escalated, Handoff, InputError, Reply, Supervisor, Team, Worker
from leadhand.contracts.events import Event, TaskDispatched
from leadhand.contracts.outcome import PausedAttempt
from leadhand.contracts.people import CallReply, Question, ToolCall
from leadhand.journal import MemoryJournal
from leadhand.run.people import Ask
from leadhand.synthesis.merge import Merge
from leadhand.testing import VirtualClock, run_virtual
from leadhand.trace.run_history import RunHistory
from tests.handles import replied, resumed
from tests.plans.samples import plan, task

RUN = "paused"
WANTED = ToolCall(id="k", tool="demolish", worker="worker", arguments={"house": 1})


async def work(handoff: Handoff) -> str | Escalated:
    """Asks once, and says what it was told."""
    if handoff.paused is None:
        paused = PausedAttempt(calls=(WANTED,), conversation=["so far"])
        return Escalated(reason="ambiguous_input", message="may I?", paused=paused)
    assert handoff.paused.replies is not None
    return f"{handoff.paused.conversation} {handoff.paused.replies['k'].approved}"


CREW = Team("crew", workers=(Worker("worker", "Takes houses down", run=work),))


def supervisor(team: Team, person: Ask, journal: MemoryJournal, **fields: float) -> Supervisor:
    """A supervisor in virtual time whose person is asked at once."""
    return Supervisor(
        team,
        synthesizer=Merge(),
        person=person,
        approve=(),
        journal=journal,
        clock=VirtualClock(),
        deadline_s=fields.get("deadline_s"),
    )


async def approves(question: Question) -> Reply:
    """Approves everything."""
    return Reply(task_id=question.task_id, verdict="approved")


def test_a_question_that_the_deadline_cut_off_is_asked_again_and_the_attempt_continues() -> None:
    journal, events = MemoryJournal(), list[Event]()

    async def sleeps(question: Question) -> None:
        await asyncio.sleep(3_600)

    late = supervisor(CREW, sleeps, journal, deadline_s=60)
    answer = run_virtual(late.run(plan=plan(task("t1")), run_id=RUN))
    assert (answer.status, answer.ended_by) == ("failed", "deadline")
    later = supervisor(CREW, approves, journal)
    answer = run_virtual(resumed(later, RUN, listener=events.append))
    assert (answer.status, answer.output) == ("complete", "['so far'] True")
    assert [one.attempt for one in events if isinstance(one, TaskDispatched)] == [1]
    assert answer.tasks[0].attempts == 1


@pytest.mark.parametrize(
    "reply",
    [
        Reply(task_id="t1", verdict="approved"),
        Reply(task_id="t1", verdict="refused", text="listed"),
        Reply(task_id="t1", calls={"k": True}, by="ada"),
        Reply(task_id="t1", calls={"k": CallReply(approved=False, reason="listed")}),
    ],
)
async def test_the_same_reply_about_calls_sent_twice_is_one(reply: Reply) -> None:
    other = Reply(task_id="t1", calls={"k": CallReply(approved=True, reason="but carefully")})
    nothing = Reply(task_id="t1", calls={})
    asking = Supervisor(CREW, synthesizer=Merge())
    await asking.run(plan=plan(task("t1")), run_id=RUN)
    with pytest.raises(InputError, match="decides about no call: give `calls`"):
        await replied(asking, RUN, nothing)
    answer = await replied(asking, RUN, reply)
    assert await replied(asking, RUN, reply) == answer
    with pytest.raises(InputError, match="asks nothing about task 't1'"):
        await replied(asking, RUN, other)


def test_a_worker_of_a_nested_team_pauses_as_well() -> None:
    asked: list[str | None] = []
    events: list[Event] = []

    async def person(question: Question) -> Reply:
        asked.append(question.task_id)
        refused = CallReply(approved=False, reason="listed")
        return Reply(task_id=question.task_id, calls={"k": refused})

    outer = Team("outer", workers=(Worker("crew", "Takes houses down", team=CREW),))
    doing = supervisor(outer, person, MemoryJournal())
    answer = run_virtual(
        doing.run(plan=plan(task("t1", worker="crew")), run_id=RUN, listener=events.append)
    )
    assert asked == ["t1/worker"]
    assert "['so far'] False" in answer.answer
    (gap,) = answer.gaps
    assert gap.task_id == "t1/worker"
    assert gap.why == 'not done: a person refused the call demolish {"house": 1}: listed'
    inner = RunHistory.of(events).tasks["t1"].attempts[0].nested
    assert inner is not None
    ends = [(one.number, one.end) for one in inner.tasks["worker"].attempts]
    assert ends == [(1, "paused"), (1, "completed")]
    (question,) = inner.questions
    assert (question.verdict, question.replies["k"].reason) == ("declined", "listed")
