"""The handle of a run: who may leave it, what stops it, and what is told and deleted at its end."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import cast

import pytest

from leadhand import Answer, Handoff, InputError, Run, Supervisor, Team, Worker
from leadhand.contracts.events import Event, RunFinished
from leadhand.errors import PlanError, RunInterrupted, RunTaken
from tests.handles import interrupted, replied
from tests.plans.samples import plan, task
from tests.run.people.desk import PAINT, RUN, Desk, answered

ONE = plan(task("t1", worker="worker"))


class Shop:
    """Its worker has begun, and waits until it may go on."""

    def __init__(self) -> None:
        self.begun, self.open = asyncio.Event(), asyncio.Event()
        self.finished: list[Answer] = []

    async def work(self, handoff: Handoff) -> str:
        self.begun.set()
        await self.open.wait()
        return "done"

    def supervisor(self, home: Path | None = None) -> Supervisor:
        team = Team("shop", workers=[Worker("worker", "Works", run=self.work)])
        return Supervisor(team, home=home, on_finished=self.finished.append)


async def test_a_run_that_is_started_is_stored_and_goes_on_when_its_callers_leave() -> None:
    shop = Shop()
    supervisor = shop.supervisor()
    run = await supervisor.start(plan=ONE, run_id=RUN)
    assert (run.id, (await run.view()).status) == (RUN, "running")
    leaving = asyncio.create_task(run.answer())
    await shop.begun.wait()
    leaving.cancel()
    async for _ in run.events():
        break
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(supervisor.handle(RUN).answer(), 5)
    shop.open.set()
    assert (await run.answer()).status == "complete"
    assert await supervisor.handle(RUN).answer() == await run.answer()


async def test_a_start_that_can_not_be_raises_at_once() -> None:
    supervisor = Shop().supervisor()
    with pytest.raises(PlanError):
        await supervisor.start(plan=plan(task("t1", worker="nobody")))
    with pytest.raises(InputError, match="there is no run 'gone'"):
        await supervisor.handle("gone").answer()
    with pytest.raises(TypeError, match="colour"):
        await supervisor.start("x", **cast("Mapping[str, str]", {"colour": "red"}))  # pyright: ignore[reportArgumentType, reportCallIssue]


async def test_cancelling_the_caller_of_run_stops_what_it_started_and_not_what_it_joined() -> None:
    shop = Shop()
    supervisor = shop.supervisor()
    first = asyncio.create_task(supervisor.run(plan=ONE, run_id=RUN))
    await shop.begun.wait()
    joined = asyncio.create_task(supervisor.run(plan=ONE, run_id=RUN, if_exists="join"))
    await asyncio.sleep(1)
    joined.cancel()
    await asyncio.wait([joined])
    assert (await supervisor.handle(RUN).view()).status == "running"
    waiting = asyncio.create_task(supervisor.handle(RUN).answer())
    await asyncio.sleep(1)
    first.cancel()
    await asyncio.wait([first])
    assert (await supervisor.handle(RUN).view()).status == "interrupted"
    with pytest.raises(RunInterrupted, match="no process works on it; resume it"):
        await waiting
    assert shop.finished == []


def test_a_run_in_memory_lasts_as_long_as_its_event_loop(tmp_path: Path) -> None:
    """And so does a stored one, which can be resumed."""
    for home in (None, tmp_path):
        shop = Shop()
        supervisor = shop.supervisor(home)

        async def leave(supervisor: Supervisor = supervisor, shop: Shop = shop) -> Run:
            run = await supervisor.start(plan=ONE, run_id=RUN)
            await shop.begun.wait()
            return run

        run = asyncio.run(leave())
        assert asyncio.run(run.view()).status == "interrupted"
        with pytest.raises(RunInterrupted):
            asyncio.run(run.answer())
        shop.open = asyncio.Event()
        shop.open.set()

        async def resumed(run: Run = run) -> Answer:
            await run.resume()
            return await run.answer()

        assert asyncio.run(resumed()).status == "complete"
        asyncio.run(supervisor.close())


async def test_a_handle_of_another_process_cancels_and_reads_a_run(tmp_path: Path) -> None:
    shop = Shop()
    here, there = shop.supervisor(tmp_path), shop.supervisor(tmp_path)
    await here.start(plan=ONE, run_id=RUN)
    await shop.begun.wait()
    other = there.handle(RUN)
    with pytest.raises(RunTaken):
        await other.resume()
    reading = asyncio.create_task(all_of(other))
    await other.cancel("changed my mind")
    answer = await other.answer()
    assert (answer.status, answer.gaps[0].why) == ("cancelled", "changed my mind")
    assert isinstance((await reading)[-1], RunFinished)
    assert shop.finished == [answer], "told once, where the run ended"
    await asyncio.gather(here.close(), there.close())


async def all_of(run: Run) -> list[Event]:
    return [event async for event in run.events()]


async def test_replies_are_recorded_all_or_none_and_the_same_handle_then_has_the_answer() -> None:
    supervisor = Supervisor(Desk().team(), approve=["escalation"])
    run = await supervisor.start(plan=PAINT, run_id=RUN)
    assert (await run.answer()).status == "waiting"
    with pytest.raises(InputError, match="asks nothing about task 't9'"):
        await run.reply(answered("blue"), answered("red", "t9"))
    assert await supervisor.journal.messages(RUN) == []
    await run.reply(answered("blue"))
    assert (await run.answer()).answer == "blue"


async def test_the_end_of_every_run_is_told_also_of_one_that_is_resumed_or_cancelled() -> None:
    told: list[tuple[str, str]] = []

    async def note(answer: Answer) -> None:
        told.append((answer.run_id, answer.status))
        if answer.status == "cancelled":
            raise RuntimeError("no room")

    supervisor = Supervisor(Desk().team(), approve=["escalation"], on_finished=note)
    for run_id in ("one", "two"):
        assert (await supervisor.run(plan=PAINT, run_id=run_id)).waiting
    assert told == []
    answer = await replied(supervisor, "one", answered("blue"))
    await supervisor.handle("two").cancel()
    assert told == [("one", "complete"), ("two", "cancelled")]
    run = supervisor.handle("one")
    await run.resume()
    assert await run.answer() == answer
    assert len(told) == 2, "nothing was left to do"


@pytest.mark.parametrize("stored", [False, True])
async def test_runs_are_deleted_by_id_or_origin_unless_a_process_works_on_one(
    tmp_path: Path, *, stored: bool
) -> None:
    shop = Shop()
    supervisor = shop.supervisor(tmp_path if stored else None)
    shop.open.set()
    for number in range(4):
        origin = {"tenant": "a" if number < 3 else "b"}
        await supervisor.run(plan=ONE, run_id=f"r{number}", origin=origin)
    for nothing in (
        supervisor.delete(),
        supervisor.delete(origin={}),
        supervisor.delete("r1", origin={"tenant": "a"}),
    ):
        with pytest.raises(InputError, match="which runs are to be deleted"):
            await nothing
    with pytest.raises(InputError, match="there is no run 'gone'"):
        await supervisor.delete("gone")
    assert await supervisor.delete("r0") == ["r0"]
    shop.open.clear()
    run = await supervisor.start(plan=ONE, run_id="r9", origin={"tenant": "a"})
    for refused in (supervisor.delete("r9"), supervisor.delete(origin={"tenant": "a"})):
        with pytest.raises(RunTaken, match="run 'r9' is under way"):
            await refused
    shop.open.set()
    await run.answer()
    assert sorted(await supervisor.delete(origin={"tenant": "a"})) == ["r1", "r2", "r9"]
    assert [one.run_id for one in await supervisor.runs()] == ["r3"]
    await interrupted(supervisor, at="run_started", plan=ONE, run_id="left")
    assert await supervisor.delete("left") == ["left"]
    await supervisor.close()
