"""What the first run of a process does besides its work, done beforehand.

Libraries are imported on first use, and build the schemas of their types then: with a model the
first run takes ten times the CPU time of the second. A rehearsal, a run of a small team with a
model that answers in memory, goes the same way. Nothing of the user is called, and no model.
"""

import asyncio
import threading

from leadhand.contracts.answer import Answer
from leadhand.contracts.task import PlanRequest
from leadhand.contracts.team import Team, Worker
from leadhand.engine.recorder import Recorder, SystemClock
from leadhand.engine.shared_workers import SharedWorkers
from leadhand.journal.memory import MemoryJournal
from leadhand.plans.nesting import nested_teams
from leadhand.run.context import Capacity
from leadhand.run.roles import open_roles
from leadhand.run.run import Execution
from leadhand.run.stopping import ActiveRun
from leadhand.workers.runners import needs_model

_DEADLINE_S = 60.0


async def prepare(team: Team) -> None:
    """Prepare this process for runs of `team`. Raises `InputError` for a tool that is wrong."""
    if not needs_model(team):
        return
    # In a thread, which has an event loop of its own: it takes seconds.
    await asyncio.to_thread(lambda: asyncio.run(rehearse()))
    for one in (team, *(inner.team for inner in nested_teams(team))):
        factory = one.worker_factory
        catalogue = [] if factory is None else [Worker("any", "Any", tools=factory.tools)]
        for worker in (*one.workers, *catalogue):
            _prepare_worker(worker)


def _prepare_worker(worker: Worker) -> None:
    from leadhand.threads import DaemonThreads
    from leadhand.workers.endings import final_answer
    from leadhand.workers.toolsets import toolset_of

    final_answer(worker.output)
    toolset_of([tool for tool in worker.tools if not isinstance(tool, str)], DaemonThreads())


async def rehearse() -> Answer:
    """The answer of a rehearsal."""
    from leadhand.models.rehearsal import rehearsal_model

    def note(text: str) -> str:
        """Note something."""
        return text

    worker = Worker("writer", "Writes", instructions="Write.", tools=(note,))
    team = Team("rehearsal", workers=(worker,), model=rehearsal_model(worker.name))
    recorder = Recorder("rehearsal", MemoryJournal(), clock=SystemClock())
    async with open_roles(team, recorder, request="Rehearse.") as roles:
        shared_workers = SharedWorkers(team, lock=threading.RLock())
        run = Execution(
            team,
            recorder,
            roles,
            active=ActiveRun(),
            deadline_s=_DEADLINE_S,
            capacity=Capacity.of(2, shared_workers),
        )
        return await run.to_answer(PlanRequest("Rehearse."))
