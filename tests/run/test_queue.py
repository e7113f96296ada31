"""The queue of runs: bounded, fair to tenants, stored, and gone through after a restart."""

import asyncio
import time
from collections import defaultdict
from pathlib import Path

import pytest

from leadhand import (
    Handoff,
    InputError,
    Plan,
    PlanError,
    Run,
    RunInterrupted,
    Supervisor,
    Task,
    Team,
    Worker,
)
from leadhand.contracts.events import RunQueued, RunResumed, RunStarted
from leadhand.errors import QueueFull
from leadhand.run.queue import AT_ONCE, RunQueue


class Desk:
    """A team whose one worker notes what it begins, and is done once it may be."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self._has_begun = defaultdict[str, asyncio.Event](asyncio.Event)
        self.may_end = asyncio.Event()

    async def work(self, handoff: Handoff) -> str:
        self.begun.append(handoff.run_id)
        self._has_begun[handoff.run_id].set()
        await self.may_end.wait()
        return handoff.intent

    async def has_begun(self, run_id: str) -> None:
        await self._has_begun[run_id].wait()

    def team(self, name: str = "desk") -> Team:
        return Team(name, workers=(Worker("clerk", "Does it", run=self.work),))


def of(tenant: str) -> dict[str, str]:
    return {"tenant": tenant}


async def test_runs_wait_for_their_turn_and_tenants_take_turns() -> None:
    """However many runs one of them has, and whichever supervisor they belong to."""
    desk, queue = Desk(), RunQueue(1, waiting=6)
    one, other = (Supervisor(desk.team(name), queue=queue) for name in ("one", "other"))
    runs = [await one.start("Do it.", run_id=f"a{n}", origin=of("a")) for n in range(4)]
    runs += [await other.start("Do it.", run_id=f"b{n}", origin=of("b")) for n in range(2)]
    runs.append(await other.start("Do it.", run_id="c0", origin=of("c")))
    assert (queue.running, queue.waiting) == (1, 6)
    view = await runs[1].view()
    assert (view.status, view.queued) == ("running", True)
    assert [run.run_id for run in await one.runs() if run.queued] == ["a3", "a2", "a1"]
    with pytest.raises(QueueFull) as refused:
        await one.start("Do it.", run_id="a4", origin=of("a"))
    assert refused.value.retry_after_s >= 1
    assert await one.journal.last_seq("a4") == 0
    desk.may_end.set()
    assert [(await run.answer()).status for run in runs] == ["complete"] * 7
    assert desk.begun == ["a0", "a1", "b0", "c0", "a2", "b1", "a3"]
    assert (queue.running, queue.waiting, queue.oldest_wait_s) == (0, 0, 0.0)
    assert not any(run.queued for run in await one.runs())


async def test_a_tenant_that_fills_the_queue_keeps_no_other_from_an_equal_share_of_it() -> None:
    desk, queue = Desk(), RunQueue(1, waiting=4)
    supervisor = Supervisor(desk.team(), queue=queue)

    async def taken(tenant: str) -> int:
        """How many more runs of the tenant are taken."""
        for n in range(9):
            try:
                runs.append(await supervisor.start("Do it.", origin=of(tenant)))
            except QueueFull:
                return n
        return 9

    runs: list[Run] = []
    assert [await taken(tenant) for tenant in "abcdea"] == [5, 2, 1, 1, 0, 0]
    assert queue.waiting == 8
    desk.may_end.set()
    assert {(await run.answer()).status for run in runs} == {"complete"}
    assert queue.waiting == 0


async def test_the_deadline_counts_from_the_turn_and_the_wait_is_no_time_of_the_run() -> None:
    desk, queue = Desk(), RunQueue(1)
    supervisor = Supervisor(desk.team(), queue=queue)
    first = await supervisor.start("Do it.", deadline_s=100)
    plan = Plan(goal="Do that.", tasks=(Task(id="t", worker="clerk", intent="Do that."),))
    second = await supervisor.start(plan=plan, deadline_s=10)
    assert queue.waiting == 1
    assert (await first.answer()).ended_by == "deadline"
    await asyncio.sleep(1)
    desk.may_end.set()
    answer = await second.answer()
    assert (answer.status, answer.output) == ("complete", "Do that.")
    assert answer.metrics.makespan_s == pytest.approx(1, abs=0.2)
    events = [event async for event in second.events()]
    assert [type(event) for event in events[:4:3]] == [RunStarted, RunResumed]
    assert events[1].type == "plan_proposed"
    assert isinstance(events[2], RunQueued)


async def test_a_run_that_waits_can_be_cancelled_and_a_wrong_plan_does_not_wait() -> None:
    desk, queue = Desk(), RunQueue(1, waiting=1)
    supervisor = Supervisor(desk.team(), queue=queue)
    first = await supervisor.start("Do it.")
    wrong = Plan(goal="Do it.", tasks=(Task(id="t", worker="nobody", intent="Do that."),))
    with pytest.raises(PlanError):
        await supervisor.start(plan=wrong)
    second = await supervisor.start("Do that.")
    await second.cancel("not needed")
    answer = await second.answer()
    assert (answer.status, answer.ended_by) == ("cancelled", "person")
    third = await supervisor.start("Do that.")  # its place is free
    desk.may_end.set()
    assert [(await run.answer()).status for run in (first, third)] == ["complete"] * 2
    assert len(desk.begun) == 2


@pytest.mark.wall_clock
async def test_a_few_runs_begin_at_once_and_more_only_while_the_event_loop_is_on_time() -> None:
    desk, queue = Desk(), RunQueue(AT_ONCE + 2)
    supervisor = Supervisor(desk.team(), queue=queue)
    busy = asyncio.create_task(_keep_busy())
    runs = [await supervisor.start("Do it.") for _ in range(AT_ONCE + 3)]
    for _ in range(5):
        await asyncio.sleep(0)
    assert (queue.running, queue.waiting) == (AT_ONCE, 3)
    busy.cancel()
    await asyncio.gather(*(desk.has_begun(run.id) for run in runs[:-1]))
    assert (queue.running, queue.waiting) == (AT_ONCE + 2, 1)
    desk.may_end.set()
    assert {(await run.answer()).status for run in runs} == {"complete"}
    assert (queue.running, queue.waiting) == (0, 0)


async def _keep_busy() -> None:
    """Block each turn of the event loop for longer than it may be late."""
    while True:
        time.sleep(0.03)  # noqa: ASYNC251
        await asyncio.sleep(0)


async def test_runs_that_waited_are_resumed_after_a_restart_though_the_queue_is_full(
    tmp_path: Path,
) -> None:
    desk = Desk()
    supervisor = Supervisor(desk.team(), home=tmp_path, queue=RunQueue(1))
    plan = Plan(goal="Do that.", tasks=(Task(id="own", worker="clerk", intent="Do that."),))
    runs = [await supervisor.start(plan=plan, run_id=f"r{n}", origin=of("a")) for n in range(3)]
    await supervisor.shutdown(grace_s=0)
    for run in runs:
        with pytest.raises(RunInterrupted):
            await run.answer()
    assert {(run.status, run.queued) for run in await supervisor.runs()} == {
        ("interrupted", True),
        ("interrupted", False),
    }
    await supervisor.close()
    desk.may_end.set()
    again = Supervisor(desk.team(), home=tmp_path, queue=RunQueue(1, waiting=0))
    assert sorted(await again.resume_interrupted()) == ["r0", "r1", "r2"]
    answers = [await again.handle(f"r{n}").answer() for n in range(3)]
    assert [[task.id for task in answer.tasks] for answer in answers] == [["own"]] * 3
    assert {answer.status for answer in answers} == {"complete"}
    await again.close()


def test_a_queue_lets_at_least_one_run_work() -> None:
    with pytest.raises(InputError, match=r"RunQueue\(0"):
        RunQueue(0)
