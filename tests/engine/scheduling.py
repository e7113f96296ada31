"""Runs a plan through the real scheduler with a scripted worker."""

from collections.abc import Awaitable, Callable

from leadhand.contracts.outcome import Handoff, Outcome
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.engine.scheduler import Scheduler
from leadhand.engine.shared_workers import Slots
from leadhand.ports import Person, Remedies
from leadhand.testing import ScriptedRunner
from tests.plans.samples import accepted, team
from tests.recorders import LogRecorder

Script = Callable[[Handoff], Awaitable[Outcome] | Outcome]


async def schedule(
    the_plan: Plan,
    script: Script,
    *,
    concurrency: int = 64,
    the_team: Team | None = None,
    deadline_s: float | None = None,
    shared_slots: dict[str, tuple[Slots, ...]] | None = None,
    remedies: Remedies | None = None,
    person: Person | None = None,
    approved: bool = False,
    amend: bool = True,
) -> LogRecorder:
    """Run a plan, `approved` by a person or not, with every worker following the script."""
    recorder = accepted(the_plan, approved=approved, amend=amend)
    the_team = the_team or team()
    runner = ScriptedRunner(script)
    scheduler = Scheduler(
        recorder,
        the_team,
        {worker.name: runner for worker in the_team.workers},
        concurrency=concurrency,
        shared_slots=shared_slots,
        remedies=remedies,
        person=person,
    )
    await scheduler.run(work_ends_s=deadline_s)
    return recorder
