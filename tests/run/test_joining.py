"""Callers that join a run: those who reply to it at once, and those who start it twice."""

import asyncio
from pathlib import Path

import pytest

from leadhand import Answer, InputError, Supervisor, Team, Worker
from leadhand.contracts.events import ApprovalGiven, RunResumed, RunStarted
from leadhand.contracts.outcome import Completed, Escalated, Handoff, Outcome, Result
from leadhand.contracts.task import Plan
from leadhand.errors import RunExists, RunTaken
from tests.handles import interrupted, replied, resumed, streamed
from tests.plans.samples import plan, task
from tests.run.people.desk import FILE, PAINT, RUN, Desk, answered

TWELVE = [f"t{number}" for number in range(12)]


def desk_of(home: Path | None = None) -> tuple[Desk, Supervisor]:
    """A desk whose escalations go to a person who is away, and its supervisor."""
    desk = Desk()
    return desk, Supervisor(desk.team(), approve=["escalation"], home=home)


# Replies


@pytest.mark.parametrize("stored", [False, True])
async def test_twelve_replies_at_once_are_all_read_by_the_one_that_resumes_the_run(
    tmp_path: Path, *, stored: bool
) -> None:
    _, supervisor = desk_of(tmp_path if stored else None)
    twelve = plan(*(task(id, worker="painter") for id in TWELVE))
    parked = await supervisor.run(plan=twelve, run_id=RUN)
    assert len(parked.waiting) == 12
    replies = [replied(supervisor, RUN, answered(f"c{id}", id)) for id in TWELVE]
    answers = await asyncio.gather(*replies)
    assert await supervisor.journal.messages(RUN) == []
    events = await supervisor.journal.events(RUN)
    given = [event.task_id for event in events if isinstance(event, ApprovalGiven)]
    assert sorted(filter(None, given)) == sorted(TWELVE)
    final = await supervisor.handle(RUN).view()
    assert final.status == "complete"
    assert final.answer is not None
    assert final.answer.output == {id: f"c{id}" for id in TWELVE}
    await supervisor.close()
    assert len(answers) == 12
    assert answers[-1].status == "complete"


async def test_a_reply_that_comes_as_the_run_stops_to_wait_resumes_it_again() -> None:
    """The run has looked for replies for the last time, and is not released yet."""
    _, supervisor = desk_of()
    two = plan(task("t1", worker="painter"), task("t2", worker="painter"))
    calls: list[asyncio.Task[Answer]] = []
    await supervisor.run(plan=two, run_id=RUN)
    async for event in supervisor.handle(RUN).events():
        if event.type == "run_waiting":
            of = "t1" if not calls else "t2"
            reply = replied(supervisor, RUN, answered(f"for {of}", of))
            calls.append(asyncio.create_task(reply))
    answers = await asyncio.gather(*calls)
    assert answers[-1].output == {"t1": "for t1", "t2": "for t2"}


async def test_the_same_reply_sent_twice_is_one_and_another_one_is_too_late() -> None:
    _, supervisor = desk_of()
    await supervisor.run(plan=PAINT, run_id=RUN)
    answer = await replied(supervisor, RUN, answered("blue"))
    assert await replied(supervisor, RUN, answered("blue")) == answer
    with pytest.raises(InputError, match="asks nothing about task 't1'"):
        await replied(supervisor, RUN, answered("red"))
    at_once = [replied(supervisor, RUN, answered("blue")) for _ in range(5)]
    assert await asyncio.gather(*at_once) == [answer] * 5


async def test_several_replies_are_given_in_one_call() -> None:
    _, supervisor = desk_of()
    two = plan(task("t1", worker="painter"), task("t2", worker="painter"))
    await supervisor.run(plan=two, run_id=RUN)
    assert (await replied(supervisor, RUN, answered("blue"), answered("red", "t2"))).output == {
        "t1": "blue",
        "t2": "red",
    }


async def test_a_reply_to_a_run_under_way_reaches_it_and_its_caller_gets_that_runs_answer() -> None:
    release = asyncio.Event()

    async def slow(handoff: Handoff) -> str:
        await release.wait()
        return "done"

    desk = Desk()
    workers = (*desk.team().workers, Worker("slow", "takes long", run=slow))
    supervisor = Supervisor(Team("desk", workers=workers), approve=["escalation"])
    two = plan(task("t1", worker="painter"), task("t2", worker="slow"))
    running = asyncio.create_task(supervisor.run(plan=two, run_id=RUN))
    joined: asyncio.Task[Answer] | None = None
    await asyncio.sleep(0)
    async for event in supervisor.handle(RUN).events():
        if event.type == "approval_requested":
            with pytest.raises(RunTaken):
                await resumed(supervisor, RUN)
            joined = asyncio.create_task(replied(supervisor, RUN, answered("blue")))
        if event.type == "task_completed":
            release.set()
    assert joined is not None
    assert await joined == await running
    events = await supervisor.journal.events(RUN)
    assert not any(isinstance(event, RunResumed) for event in events)


# Starting a run twice


def counted() -> tuple[list[str], Supervisor]:
    """A supervisor, and the intents of the tasks that it had done."""
    done: list[str] = []

    async def work(handoff: Handoff) -> str:
        await asyncio.sleep(1)
        done.append(handoff.intent)
        return "done"

    return done, Supervisor(Team("t", workers=(Worker("worker", "w", run=work),)))


async def test_a_run_that_is_started_many_times_at_once_is_done_once() -> None:
    done, supervisor = counted()
    calls = [supervisor.run("do it", run_id=RUN, if_exists="join") for _ in range(12)]
    answers = await asyncio.gather(*calls)
    assert [answer == answers[0] for answer in answers] == [True] * 12
    assert answers[0].status == "complete"
    assert await supervisor.run("do it", run_id=RUN, if_exists="join") == answers[0]
    assert await supervisor.run("do it", run_id=RUN, if_exists="return") == answers[0]
    events = await supervisor.journal.events(RUN)
    assert sum(isinstance(event, RunStarted) for event in events) == 1
    assert len(done) == 1


async def test_a_run_that_exists_is_an_error_unless_the_caller_says_otherwise() -> None:
    _, supervisor = counted()
    running = asyncio.create_task(supervisor.run("do it", run_id=RUN))
    await asyncio.sleep(0.5)
    for call in (
        supervisor.run("do it", run_id=RUN),
        supervisor.run("do it", run_id=RUN, if_exists="return"),
    ):
        with pytest.raises(RunExists, match="run 'asked' exists already") as raised:
            await call
        assert raised.value.run_id == RUN
    await running
    with pytest.raises(RunExists):
        await supervisor.run("do it", run_id=RUN)


@pytest.mark.parametrize("if_exists", ["error", "join", "return"])
async def test_the_same_id_with_another_request_is_always_an_error(if_exists: str) -> None:
    _, supervisor = counted()
    other_plan = plan(task("other"))
    await supervisor.run("do it", run_id=RUN)
    other: tuple[tuple[str | None, Plan | None], ...] = (
        ("do that", None),
        ("do it", other_plan),
        (None, other_plan),
    )
    for request, of in other:
        with pytest.raises(RunExists):
            await supervisor.run(request, plan=of, run_id=RUN, if_exists=if_exists)  # pyright: ignore[reportArgumentType]
        with pytest.raises(RunExists):
            await supervisor.start(request, plan=of, run_id=RUN, if_exists=if_exists)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("if_exists", ["join", "return"])
async def test_a_run_that_was_started_for_another_customer_is_not_joined(if_exists: str) -> None:
    done, supervisor = counted()
    theirs = await supervisor.run("do it", run_id=RUN, origin={"customer": "c-1"})
    again = await supervisor.run("do it", run_id=RUN, origin={"customer": "c-1"}, if_exists="join")
    assert again == theirs
    unsaid = await supervisor.run("do it", run_id=RUN, if_exists="join")
    assert unsaid == theirs
    for origin in ({"customer": "c-2"}, {}):
        with pytest.raises(RunExists, match="another request or origin"):
            await supervisor.run("do it", run_id=RUN, origin=origin, if_exists=if_exists)  # pyright: ignore[reportArgumentType]
    assert len(done) == 1


async def test_a_run_that_one_caller_resumes_and_another_one_joins_takes_a_reply_after_it() -> None:
    _, supervisor = desk_of()
    await supervisor.run(plan=PAINT, run_id=RUN)
    both = [resumed(supervisor, RUN), supervisor.run(plan=PAINT, run_id=RUN, if_exists="join")]
    parked = await asyncio.gather(*both, return_exceptions=True)
    for one in parked:
        assert isinstance(one, RunTaken) or (isinstance(one, Answer) and one.waiting)
    assert any(isinstance(one, Answer) for one in parked)
    assert (await replied(supervisor, RUN, answered("blue"))).status == "complete"


async def test_a_run_that_waits_is_joined_and_returned_as_it_waits_until_a_reply_comes() -> None:
    _, supervisor = desk_of()
    parked = await supervisor.run(plan=PAINT, run_id=RUN)
    for if_exists in ("join", "return"):
        again = await supervisor.run(plan=PAINT, run_id=RUN, if_exists=if_exists)
        assert again == parked
    await supervisor.handle(RUN).reply(answered("blue"), resume=False)
    answer = await supervisor.run(plan=PAINT, run_id=RUN, if_exists="join")
    assert answer.answer == "blue"


async def test_a_run_that_was_interrupted_goes_on_where_it_is_joined() -> None:
    desk, supervisor = desk_of()
    await interrupted(supervisor, at="task_dispatched", plan=FILE, run_id=RUN)
    assert (await supervisor.handle(RUN).view()).status == "interrupted"
    answer = await supervisor.run(plan=FILE, run_id=RUN, if_exists="join")
    assert answer.status == "complete"
    assert desk.tasks() == ["t1"], "it was left before the work began"


@pytest.mark.parametrize("if_exists", ["join", "return"])
async def test_the_stream_of_a_run_that_exists_has_all_its_events(if_exists: str) -> None:
    _, supervisor = counted()
    running = asyncio.create_task(supervisor.run("do it", run_id=RUN))
    await asyncio.sleep(0.5)
    if if_exists == "return":
        await running
    stream = streamed(supervisor, "do it", run_id=RUN, if_exists=if_exists)  # pyright: ignore[reportArgumentType]
    seen = [event async for event in stream]
    assert seen == list(await supervisor.journal.events(RUN))
    assert (await running).status == "complete"


def test_wrong_arguments_of_a_repeatable_start_are_errors() -> None:
    _, supervisor = counted()
    with pytest.raises(InputError, match="if_exists='join' is for a run_id of your own"):
        asyncio.run(supervisor.run("do it", if_exists="join"))
    with pytest.raises(
        InputError, match="if_exists is 'maybe'; it must be 'error', 'join' or 'return'"
    ):
        asyncio.run(supervisor.run("do it", run_id=RUN, if_exists="maybe"))  # pyright: ignore[reportArgumentType]


async def test_replies_to_a_run_that_asks_again_and_again_are_each_read() -> None:
    """Each answer of the painter brings the next question, and each caller replies to one."""

    async def picky(handoff: Handoff) -> Outcome:
        if handoff.attempt == 3:
            return Completed(result=Result(output="done"))
        return Escalated(reason="ambiguous_input", message=f"question {handoff.attempt}?")

    team = Team("desk", workers=(Worker("painter", "paints", run=picky),))
    supervisor = Supervisor(team, approve=["escalation"])
    answer = await supervisor.run(plan=PAINT, run_id=RUN)
    for number in (1, 2):
        assert f"question {number}?" in answer.waiting[0].text
        answer = await replied(supervisor, RUN, answered(f"reply {number}"))
    assert answer.status == "complete"
