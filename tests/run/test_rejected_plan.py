"""A plan that a person hands in is binding: if it is rejected, no other takes its place."""

import asyncio
from pathlib import Path

import pytest

from leadhand import Handoff, InputError, PlanError, Supervisor, Task, Team, Worker
from leadhand.contracts.task import Plan
from leadhand.contracts.team import TaskTemplate
from tests.handles import resumed


def test_a_run_whose_own_plan_was_rejected_is_not_resumed_with_another(tmp_path: Path) -> None:
    ran: list[str] = []

    def count(handoff: Handoff) -> str:
        ran.append(handoff.task_id)
        return "1"

    team = Team(
        "t",
        workers=(Worker("count", "Counts", run=count),),
        template=(TaskTemplate("words", "count", "count"),),
    )
    tasks = [Task(id=a, worker="count", intent="count", depends_on=(b,)) for a, b in ("ab", "ba")]
    supervisor = Supervisor(team, home=tmp_path)
    with pytest.raises(PlanError, match="wait for each other"):
        asyncio.run(supervisor.run("count", plan=Plan(goal="count", tasks=(*tasks,)), run_id="r"))
    with pytest.raises(InputError, match=r"the plan that it was given was rejected .*each other"):
        asyncio.run(resumed(supervisor, "r"))
    assert ran == []
