"""`max_concurrency` limits the tasks of all runs of a supervisor together."""

import asyncio

import pytest

from leadhand import InputError, Supervisor, Team, Worker
from tests.run.test_shared_limits import Desk, tasks


def office(desk: Desk, *, concurrency: int | None = None) -> Team:
    """Two workers at one desk, one of them in a nested team."""
    inner = Team("inner", workers=(Worker("clerk", "d", run=desk),))
    clerk = Worker("clerk", "d", run=desk, concurrency=concurrency)
    return Team("office", workers=(clerk, Worker("annex", "d", team=inner)))


async def test_all_runs_together_work_on_no_more_tasks_at_once_nested_ones_included() -> None:
    desk = Desk()
    supervisor = Supervisor(office(desk), max_concurrency=3, concurrency=2)
    plans = [tasks("clerk", 4), tasks("annex", 2), tasks("clerk", 4), tasks("annex", 3)]
    assert {
        answer.status
        for answer in (await asyncio.gather(*(supervisor.run(plan=one) for one in plans)))
    } == {"complete"}
    assert desk.most == 3


async def test_a_small_run_does_not_wait_for_all_tasks_of_a_large_one() -> None:
    desk = Desk()
    supervisor = Supervisor(office(desk), max_concurrency=1)
    large = asyncio.create_task(supervisor.run(plan=tasks("clerk", 9), run_id="large"))
    await asyncio.sleep(0.5)
    small = await supervisor.run(plan=tasks("clerk"), run_id="small")
    assert small.status == "complete"
    assert (await large).status == "complete"
    assert desk.order.index("small") <= 2


async def test_a_run_whose_worker_is_busy_leaves_its_turn_to_others() -> None:
    """Its one clerk has a limit of its own; the annex has none."""
    desk = Desk()
    supervisor = Supervisor(office(desk, concurrency=1), max_concurrency=2)
    runs = [supervisor.run(plan=tasks("clerk", 3)) for _ in range(2)]
    runs += [supervisor.run(plan=tasks("annex", 6))]
    answers = await asyncio.gather(*runs)
    assert {answer.status for answer in answers} == {"complete"}
    assert asyncio.get_running_loop().time() <= 9, "no place stays empty while the annex has work"
    assert desk.most == 2


async def test_a_run_that_is_cancelled_frees_its_places() -> None:
    desk = Desk(seconds=100.0)
    supervisor = Supervisor(office(desk), max_concurrency=2)
    first = asyncio.create_task(supervisor.run(plan=tasks("clerk", 5), run_id="first"))
    second = asyncio.create_task(supervisor.run(plan=tasks("clerk", 2), run_id="second"))
    await asyncio.sleep(1)
    await supervisor.handle("first").cancel()
    assert (await first).status == "cancelled"
    assert (await second).status == "complete"
    assert desk.most == 2


@pytest.mark.parametrize("wrong", [0, -1, 1.5, "3"])
def test_a_limit_that_no_run_can_have_is_an_error(wrong: object) -> None:
    with pytest.raises(InputError, match="max_concurrency is"):
        Supervisor(office(Desk()), max_concurrency=wrong)  # pyright: ignore[reportArgumentType]
