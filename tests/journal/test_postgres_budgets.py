"""Budgets with a scope where several processes share a database."""

import asyncio
import signal
from pathlib import Path

import pytest

from leadhand import Supervisor
from leadhand.errors import BudgetSpent
from leadhand.testing import ScriptedServer
from tests.patience import wait_until
from tests.programs import forkserver
from tests.run.resuming.processes import Processes
from tests.run.spending import ACME, RUN, SHARED, TWO, plan, team

HANG = {"match": {"role": "worker"}, "reply": {"misbehave": {"latency_ms": 600_000}}}


@pytest.mark.wall_clock
async def test_what_runs_of_other_processes_reserved_is_gone_until_they_give_it_back(
    url: str, model_server: ScriptedServer, tmp_path: Path
) -> None:
    """Also what a killed one reserved, until its run is cancelled (F29)."""
    processes = Processes(forkserver())
    model_server.configure(script=[HANG])
    child = processes.start("tests.run.spending:work", url, folder=tmp_path, env=model_server.env())
    wait_until(lambda: model_server.stats().requests > 0)
    one, other = (Supervisor(team(), home=url, budget=[TWO, SHARED]) for _ in range(2))
    run = await one.start(plan=plan(), origin=ACME)
    await asyncio.to_thread(wait_until, lambda: model_server.stats().requests > 1)
    with pytest.raises(BudgetSpent, match="used up, or reserved by runs under way"):
        await other.start(plan=plan(), origin=ACME)
    await run.cancel()
    await run.answer()
    child.kill(signal.SIGKILL)
    child.ended()
    with pytest.raises(BudgetSpent, match="has 1 request left"):
        await other.start(plan=plan(), origin=ACME)
    await other.handle(RUN).cancel()
    # One is spent. Both begin at the same moment, and neither ends before the other has begun.
    begun = await asyncio.gather(
        *(at.start(plan=plan(), origin=ACME) for at in (one, other)),
        return_exceptions=True,
    )
    (refused,) = (found for found in begun if isinstance(found, BaseException))
    assert isinstance(refused, BudgetSpent)
    (started,) = (found for found in begun if not isinstance(found, BaseException))
    await started.cancel()
    await started.answer()
    model_server.configure(script=None)
    assert (await other.run(plan=plan(), origin=ACME)).status == "complete"
    for each in (one, other):
        await each.close()
    processes.server.clear()
