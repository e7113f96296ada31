"""Reading runs: one as it is, many in a list, and the events of one as they happen."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from leadhand import InputError, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.events import Event, RunFinished, RunResumed, RunStarted
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.people import Reply
from leadhand.run.handle import Run
from leadhand.run.reading import MAX_EVENTS, FollowedRun
from tests.handles import replied, resumed, streamed
from tests.plans.samples import plan, task
from tests.run.people.desk import FILE, PAINT, RUN, Desk, answered

TWO = plan(task("t1", worker="painter"), task("t2", worker="clerk"))


def desk_of(home: Path | None = None, **fields: object) -> Supervisor:
    """The desk's supervisor, whose escalations go to a person who is away."""
    return Supervisor(Desk().team(), approve=["escalation"], home=home, **fields)  # pyright: ignore[reportArgumentType]


# One run


async def test_a_run_is_read_while_it_works_while_it_waits_and_when_it_is_finished() -> None:
    supervisor = desk_of()
    origin = {"customer": 7}
    seen: list[str] = []
    async for event in streamed(supervisor, plan=TWO, run_id=RUN, origin=origin):
        if event.type == "task_dispatched" and not seen:
            view = await supervisor.handle(RUN).view()
            assert (view.status, view.answer, view.origin) == ("running", None, origin)
            assert [one.status for one in view.tasks] == ["running", "pending"]
        seen.append(event.type)
    view = await supervisor.handle(RUN).view()
    assert (view.status, view.team, view.request) == ("waiting", "desk", TWO.goal)
    assert view.answer is not None
    assert view.answer.waiting == view.questions
    assert [one.task_id for one in view.questions] == ["t1"]
    assert [(one.id, one.status, one.output) for one in view.tasks] == [
        ("t1", "pending", None),
        ("t2", "completed", "t2 is filed"),
    ]
    answer = await replied(supervisor, RUN, answered("blue"))
    view = await supervisor.handle(RUN).view()
    assert (view.status, view.answer, view.questions) == ("complete", answer, ())
    assert view.updated_at >= view.started_at


async def test_a_run_that_there_is_not_is_an_error() -> None:
    supervisor = desk_of()
    for call in (supervisor.handle("gone").view(), anext(supervisor.handle("gone").events())):
        with pytest.raises(InputError, match="there is no run 'gone'"):
            await call
    with pytest.raises(InputError, match="which is the cursor"):
        await supervisor.runs(cursor="gone")
    with pytest.raises(InputError, match="status is 'done'; it must be 'complete', 'partial'"):
        await supervisor.runs(status="done")  # pyright: ignore[reportArgumentType]


# Many


@pytest.mark.parametrize("stored", [False, True])
async def test_runs_are_listed_by_what_is_asked_for_page_after_page(
    tmp_path: Path, *, stored: bool
) -> None:
    supervisor = desk_of(tmp_path if stored else None)

    async def ids(**asked: object) -> list[str]:
        return [run.run_id for run in await supervisor.runs(**asked)]  # pyright: ignore[reportArgumentType]

    for number in range(6):
        of = {"customer": number % 2, "thread": "a b"}
        the_plan = PAINT if number == 3 else FILE
        await supervisor.run(plan=the_plan, run_id=f"r{number}", origin=of)
    assert await ids() == ["r5", "r4", "r3", "r2", "r1", "r0"]
    assert await ids(status="waiting") == ["r3"]
    assert await ids(team="nobody") == []
    odd = {"customer": 1}
    assert await ids(origin=odd, team="desk") == ["r5", "r3", "r1"]
    assert await ids(origin=odd, limit=2) == ["r5", "r3"]
    assert await ids(origin=odd, limit=2, cursor="r3") == ["r1"]
    assert await ids(cursor="r0") == []
    assert await ids(origin={"customer": 1, "thread": "c"}) == []
    assert (await supervisor.runs(limit=1))[0].origin == {"customer": 1, "thread": "a b"}
    await supervisor.close()


# The events of one


async def gather(supervisor: Supervisor, *, after_seq: int = 0) -> list[Event]:
    """All events of the run."""
    return [event async for event in supervisor.handle(RUN).events(after_seq=after_seq)]


def positions(events: Sequence[Event]) -> list[int]:
    """Where they are in the log."""
    return [event.seq for event in events]


@pytest.mark.parametrize("stored", [False, True])
async def test_events_are_read_from_any_position_to_the_end_without_gaps_or_doubles(
    tmp_path: Path, *, stored: bool
) -> None:
    """Readers come before the run, in the middle, while it waits, and when it is over."""
    supervisor = desk_of(tmp_path if stored else None)
    readers: list[asyncio.Task[list[Event]]] = []

    def read() -> None:
        readers.append(asyncio.create_task(gather(supervisor)))

    async for event in streamed(supervisor, plan=TWO, run_id=RUN):
        if event.type in ("run_started", "task_dispatched"):
            read()
    read()
    asked = (await supervisor.handle(RUN).view()).questions
    assert [one.task_id for one in asked] == ["t1"]
    assert not any(one.done() for one in readers), "it has only stopped to wait"
    assert (await resumed(supervisor, RUN)).waiting
    answer = await replied(supervisor, RUN, answered("blue"))
    read()
    found = [await one for one in readers]
    events = await supervisor.journal.events(RUN)
    assert all(one == list(events) for one in found)
    assert positions(events) == [*range(1, len(events) + 1)]
    assert isinstance(events[-1], RunFinished)
    assert events[-1].answer == answer
    middle = len(events) // 2
    assert positions(await gather(supervisor, after_seq=middle)) == positions(events)[middle:]
    assert await gather(supervisor, after_seq=len(events)) == []
    assert await gather(supervisor, after_seq=10_000) == []
    await supervisor.close()


async def test_a_finished_run_that_is_resumed_is_read_to_its_last_end() -> None:
    supervisor = desk_of()
    await supervisor.run(plan=FILE, run_id=RUN)
    await resumed(supervisor, RUN, from_task="t1")
    types = [type(event) for event in await gather(supervisor)]
    assert types.count(RunFinished) == 2
    assert types.index(RunFinished) < types.index(RunResumed)


async def test_leaving_the_events_of_a_run_does_not_stop_it() -> None:
    supervisor = desk_of()
    running = asyncio.create_task(supervisor.run(plan=FILE, run_id=RUN))
    await asyncio.sleep(0)
    async for event in supervisor.handle(RUN).events():
        assert isinstance(event, RunStarted)
        break
    assert (await running).status == "complete"


async def test_events_arrive_while_the_run_works() -> None:
    """The worker waits until a reader has seen that it works."""
    seen: list[str] = []
    reached, go = asyncio.Event(), asyncio.Event()

    async def slow(handoff: Handoff) -> str:
        reached.set()
        await go.wait()
        return "done"

    supervisor = Supervisor(Team("t", workers=(Worker("worker", "w", run=slow),)))
    running = asyncio.create_task(supervisor.run(plan=plan(task("t1")), run_id=RUN))
    await reached.wait()
    async for event in supervisor.handle(RUN).events():
        seen.append(event.type)
        if event.type == "task_dispatched":
            go.set()
    await running
    assert seen[-1] == "run_finished"


@pytest.mark.parametrize("stored", [False, True])
async def test_a_slow_reader_misses_nothing_and_holds_no_more_than_a_limit(
    tmp_path: Path, *, stored: bool
) -> None:
    supervisor = desk_of(tmp_path if stored else None)
    tasks = [task(f"t{number}", worker="clerk") for number in range(600)]
    run = await supervisor.start(plan=plan(*tasks), run_id=RUN)
    slow = run.events()
    found = [await anext(slow)]
    assert (await run.answer()).status == "complete"
    found += [event async for event in slow]
    assert len(found) > MAX_EVENTS
    assert positions(found) == [*range(1, len(found) + 1)]
    live = FollowedRun(str, found)
    for event in found:
        live.add(event)
    assert live.events(0) == found[-MAX_EVENTS:]
    await supervisor.close()


async def test_secrets_are_in_no_event_of_a_run_under_way_whoever_follows_it(
    tmp_path: Path,
) -> None:
    """F36: an event is read before the journal, which has no secrets, gives it back."""
    secret = f"ghp_{'a1B2' * 9}"
    supervisor = desk_of(tmp_path)
    given = Plan(goal="Use it", tasks=(Task(id="t1", worker="clerk", intent=f"Use {secret}"),))
    run = await supervisor.start(plan=given)
    reading = asyncio.gather(*(_all(run) for _ in range(2)))
    for found in await reading:
        assert secret not in str(found)
        assert "Use [redacted]" in str(found)
        assert found == await supervisor.journal.events(run.id)
    await supervisor.close()


async def _all(run: Run) -> list[Event]:
    return [event async for event in run.events()]


async def test_events_of_a_run_that_was_lost_give_way_to_those_of_its_resumption(
    tmp_path: Path,
) -> None:
    supervisor = desk_of(tmp_path)
    await supervisor.run(plan=PAINT, run_id=RUN)
    known = await supervisor.journal.events(RUN)
    live = FollowedRun(str, known[:5])
    live.add(known[3])
    live.add(known[4])
    assert live.events(2) == known[3:5]
    await supervisor.close()


async def test_a_wrong_reply_does_not_reach_the_run() -> None:
    supervisor = desk_of()
    await supervisor.run(plan=PAINT, run_id=RUN)
    for wrong in (answered("x", "t9"), Reply(verdict="approved")):
        with pytest.raises(InputError, match="asks nothing about"):
            await replied(supervisor, RUN, wrong)
    with pytest.raises(InputError, match="nothing to reply"):
        await replied(supervisor, RUN)
    assert await supervisor.journal.messages(RUN) == []
