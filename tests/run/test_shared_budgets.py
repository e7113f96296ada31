"""Budgets with a scope: reserved and settled over the runs of a journal, whatever process dies."""

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from leadhand import Answer, Budget, InputError, Supervisor
from leadhand.errors import BudgetSpent
from leadhand.testing import ScriptedServer
from tests.patience import wait_until
from tests.programs import forkserver
from tests.run.resuming.processes import Processes
from tests.run.spending import ACME, RUN, SHARED, TWO, At, plan, team

pytestmark = pytest.mark.wall_clock  # requests go to a real server
HANG = {"match": {"role": "worker"}, "reply": {"misbehave": {"latency_ms": 600_000}}}


@pytest.fixture(name="processes")
def _processes() -> Iterator[Processes]:
    server = forkserver()
    yield Processes(server)
    server.clear()


async def test_what_runs_spent_is_gone_for_their_tenant_until_the_next_month(
    model_server: ScriptedServer,
) -> None:
    clock = At("2026-01-31")
    supervisor = Supervisor(team(), budget=[TWO, SHARED], clock=clock)
    for _ in range(3):
        assert (await supervisor.run(plan=plan(), origin=ACME)).status == "complete"
    with pytest.raises(BudgetSpent) as refused:
        await supervisor.start(plan=plan(), origin=ACME)
    assert str(refused.value) == (
        "the budget of 4 requests for each tenant and month has 1 request left that no run has "
        "reserved, and this run may take 2 requests"
    )
    assert len(await supervisor.runs()) == 3
    assert (await supervisor.run(plan=plan(), origin={"tenant": "other"})).status == "complete"
    assert (await supervisor.run(plan=plan(), origin=ACME, budget=Budget(requests=1))).output
    with pytest.raises(BudgetSpent, match="used up, or reserved by runs under way"):
        await supervisor.start(plan=plan(), origin=ACME, budget=Budget(requests=1))
    clock.day = "2026-02-01"
    assert (await supervisor.run(plan=plan(), origin=ACME)).status == "complete"


async def test_a_run_without_a_limit_of_its_own_reserves_what_is_left_and_ends_there(
    model_server: ScriptedServer,
) -> None:
    """The tighter of several budgets counts, of a run and of its supervisor."""
    supervisor = Supervisor(team(), budget=SHARED)
    day = Budget(requests=3, scope="tenant", per="day")
    first = await supervisor.start(plan=plan(9), origin=ACME, budget=[day])
    with pytest.raises(BudgetSpent):
        await supervisor.start(plan=plan(), origin=ACME, budget=Budget(requests=2))
    answer = await first.answer()
    assert (answer.status, answer.ended_by) == ("partial", "budget")
    assert model_server.stats().requests <= 3
    with pytest.raises(InputError, match="counts by 'tenant', which the run's origin lacks"):
        await supervisor.start(plan=plan())


async def test_a_run_that_can_t_begin_gives_back_what_it_reserved(
    model_server: ScriptedServer,
) -> None:
    supervisor = Supervisor(team(), budget=[Budget(requests=4), SHARED])
    wrong = plan().model_copy(
        update={"tasks": (plan().tasks[0].model_copy(update={"worker": "x"}),)}
    )
    for _ in range(3):
        with pytest.raises(InputError, match="plan rejected"):
            await supervisor.start(plan=wrong, origin=ACME)
    assert (await supervisor.run(plan=plan(), origin=ACME)).status == "complete"


@pytest.mark.parametrize("end", ["resumed", "cancelled", "deleted"])
async def test_a_reservation_stays_with_a_run_whose_process_was_killed(
    processes: Processes, model_server: ScriptedServer, tmp_path: Path, end: str
) -> None:
    """Until it is resumed, cancelled or deleted. What it had spent stays spent (F29)."""
    home = tmp_path / "home"
    model_server.configure(script=[HANG])
    child = processes.start(
        "tests.run.spending:work", str(home), folder=tmp_path, env=model_server.env()
    )
    wait_until(lambda: model_server.stats().requests > 0)
    child.kill(signal.SIGKILL)
    child.ended()
    model_server.configure(script=None)
    supervisor = Supervisor(team(), home=home, budget=[Budget(requests=3), SHARED])
    with pytest.raises(BudgetSpent, match="has 2 requests left"):
        await supervisor.start(plan=plan(), origin=ACME)
    run = supervisor.handle(RUN)
    if end == "resumed":
        await run.resume()
        assert (await run.answer()).status == "complete"
    elif end == "cancelled":
        await run.cancel()
    else:
        await supervisor.delete(RUN)
    spent = 1 if end == "resumed" else 0  # a request without an answer is not recorded
    left = Budget(requests=4 - spent)
    with pytest.raises(BudgetSpent):
        await supervisor.start(plan=plan(), origin=ACME, budget=Budget(requests=5 - spent))
    assert (await supervisor.run(plan=plan(), origin=ACME, budget=left)).status == "complete"
    await supervisor.close()


async def test_a_run_that_was_never_stored_keeps_no_reservation(
    processes: Processes, model_server: ScriptedServer, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    ended = processes.run(
        "tests.run.spending:reserve", str(home), folder=tmp_path, env=model_server.env()
    )
    assert ended.status == -signal.SIGKILL
    supervisor = Supervisor(team(), home=home, budget=[TWO, SHARED])
    (note,) = (await supervisor.journal.notes("budget/")).values()
    assert RUN.encode() in note
    assert (await supervisor.run(plan=plan(), origin=ACME)).status == "complete"
    assert RUN.encode() not in b"".join((await supervisor.journal.notes("budget/")).values())
    await supervisor.close()


def test_what_no_budget_can_be_is_refused() -> None:
    with pytest.raises(InputError, match="for a shared budget: give a scope"):
        Budget(usd=1, per="day")
    with pytest.raises(InputError, match="has no amount"):
        Budget(scope="tenant")
    with pytest.raises(InputError, match="2 budgets without a scope"):
        Supervisor(team(), budget=[TWO, TWO])


def test_many_runs_of_two_supervisors_at_once_never_reserve_more_than_there_is(
    model_server: ScriptedServer, tmp_path: Path
) -> None:
    shared = Budget(requests=10, scope="tenant")

    async def all_of_them() -> list[object]:
        both = [Supervisor(team(), home=tmp_path, budget=[TWO, shared]) for _ in range(2)]
        runs = [one.run(plan=plan(2), origin=ACME) for one in both for _ in range(8)]
        ended = await asyncio.gather(*runs, return_exceptions=True)
        for one in both:
            await one.close()
        return [one.status if isinstance(one, Answer) else type(one).__name__ for one in ended]

    ended = asyncio.run(all_of_them())
    assert {*ended} <= {"complete", "partial", "BudgetSpent"}
    assert model_server.stats().requests <= 10
    assert ended.count("BudgetSpent") <= 16 - 5
