"""Stopping at the worst moments: a run always comes back, whoever is just about to start."""

import asyncio

import pytest

from leadhand import Handoff, Plan, Supervisor, Team, Worker
from leadhand.contracts.events import Event, TaskDispatched
from leadhand.contracts.task import PlanRequest
from leadhand.run.step_context import ROLE_GRACE_S
from leadhand.testing import run_virtual
from leadhand.testing.virtual_time import VirtualTimeLoop
from tests.plans.samples import plan, task

PLAN = plan(task("a", worker="first"), task("b", "a", worker="second"))


async def quick(handoff: Handoff) -> str:
    return handoff.task_id


async def blocking(handoff: Handoff) -> str:
    """Blocks the loop for half a second: time passes, and nothing else has a turn."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop)
    loop.jump(0.5)
    return handoff.task_id


async def test_a_run_told_to_stop_before_a_task_takes_its_first_step_comes_back() -> None:
    """F37: the task was dispatched and never began; it is cancelled all the same."""
    workers = (Worker("first", "First", run=quick), Worker("second", "Second", run=quick))
    supervisor = Supervisor(Team("pair", workers=workers))

    def listen(event: Event) -> None:
        if isinstance(event, TaskDispatched) and event.task_id == "b":
            asyncio.get_running_loop().call_soon(supervisor.cancel)

    answer = await asyncio.wait_for(supervisor.run(plan=PLAN, listener=listen), 5)
    assert [answer.status, *(task.status for task in answer.tasks)] == [
        "cancelled",
        "completed",
        "cancelled",
    ]


def test_a_worker_that_blocks_past_the_deadline_does_not_hold_the_run() -> None:
    """F38: when the loop is free again the deadline is over, and the next task never begins."""
    workers = (Worker("first", "First", run=blocking), Worker("second", "Second", run=quick))
    supervisor = Supervisor(Team("pair", workers=workers), deadline_s=0.2)
    answer = run_virtual(supervisor.run(plan=PLAN))
    assert answer.status == "partial"
    assert [task.status for task in answer.tasks] == ["completed", "cancelled"]


class StubbornPlanner:
    """Never plans, and ignores its cancellation until it is released."""

    name = "stubborn"
    released = False

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        while not self.released:
            try:
                await asyncio.get_running_loop().create_future()
            except asyncio.CancelledError:
                continue
        return PLAN


async def test_a_run_cancelled_again_while_it_stops_its_planner_leaves_no_task() -> None:
    """F37: the deadline had cancelled the planner when the program cancelled the run."""
    planner = StubbornPlanner()
    loop = asyncio.get_running_loop()
    team = Team("pair", workers=(Worker("first", "First", run=quick),))
    supervisor = Supervisor(team, planner=planner, deadline_s=1.0)
    run = loop.create_task(supervisor.run("Do both parts."))
    loop.call_later(1.0 + ROLE_GRACE_S / 2, run.cancel)
    with pytest.raises(asyncio.CancelledError):
        await run
    left = asyncio.all_tasks() - {asyncio.current_task()}
    planner.released = True  # else what is left would never end
    assert left == set()
