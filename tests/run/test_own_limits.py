"""The limits of a run of its own: it keeps them when it is resumed."""

import math
from pathlib import Path

import pytest

from leadhand import Budget, Supervisor
from leadhand.contracts.events import RunResumed
from tests.handles import replied, resumed
from tests.run.people.desk import PAINT, RUN, Desk, answered


@pytest.mark.parametrize("resumed_by", ["resume", "answer", "interrupted", "join"])
async def test_a_run_keeps_the_limits_that_it_was_started_with(resumed_by: str) -> None:
    """Not those of the supervisor that resumes it."""
    own = Budget(tokens=5_000)
    supervisor = Supervisor(Desk().team(), approve=["escalation"], budget=Budget(usd=9.0))
    for run_id, deadline_s in (("limited", 90.0), ("free", math.inf)):
        await supervisor.run(plan=PAINT, run_id=run_id, deadline_s=deadline_s, budget=own)
        await supervisor.handle(run_id).reply(answered("blue"), resume=False)
        match resumed_by:
            case "resume":
                await resumed(supervisor, run_id)
            case "answer":
                await replied(supervisor, run_id, answered("blue"))
            case "join":
                await supervisor.run(plan=PAINT, run_id=run_id, if_exists="join", deadline_s=None)
            case _:
                await supervisor.resume_interrupted()
                assert [event async for event in supervisor.handle(run_id).events()]
        (later,) = [
            event
            for event in await supervisor.journal.events(run_id)
            if isinstance(event, RunResumed)
        ]
        assert later.deadline_s == (None if run_id == "free" else 90.0)
        assert later.budget == own


async def test_limits_that_a_run_is_resumed_with_replace_its_own_from_then_on() -> None:
    supervisor = Supervisor(Desk().team(), approve=["escalation"], budget=Budget(usd=9.0))
    await supervisor.run(plan=PAINT, run_id=RUN, deadline_s=90)
    for deadline_s, budget in ((30, Budget(tokens=70)), (None, None), (math.inf, None)):
        await resumed(supervisor, RUN, deadline_s=deadline_s, budget=budget)
    events = await supervisor.journal.events(RUN)
    later = [event for event in events if isinstance(event, RunResumed)]
    assert [event.deadline_s for event in later] == [30, 30, None]
    assert [event.budget for event in later] == [Budget(tokens=70)] * 3


async def test_limits_of_a_supervisor_are_those_of_the_one_that_resumes_the_run(
    tmp_path: Path,
) -> None:
    def supervisor(deadline_s: float, tokens: int) -> Supervisor:
        budget = Budget(tokens=tokens)
        return Supervisor(
            Desk().team(),
            approve=["escalation"],
            home=tmp_path,
            deadline_s=deadline_s,
            budget=budget,
        )

    first, second = supervisor(5, 10), supervisor(60, 999)
    await first.run(plan=PAINT, run_id=RUN, deadline_s=7)
    await resumed(second, RUN)
    await resumed(second, RUN, budget=Budget(tokens=70))
    await resumed(first, RUN)
    events = await first.journal.events(RUN)
    later = [event for event in events if isinstance(event, RunResumed)]
    assert [event.deadline_s for event in later] == [7, 7, 7]
    assert [event.budget for event in later] == [
        Budget(tokens=999),
        Budget(tokens=70),
        Budget(tokens=70),
    ]
    await first.close()
    await second.close()
