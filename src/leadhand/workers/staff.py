"""The staff of a run: a runner for each worker of a team, with their threads and processes."""

import os
from types import TracebackType

from leadhand.attempts import Slots
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.team import Team
from leadhand.ports import Runner
from leadhand.workers.function import FunctionWorker
from leadhand.workers.processes import ProcessPool, ProcessWorker
from leadhand.workers.threads import DaemonThreads


class Staff:
    """Runners by worker name. Threads and processes end with the `async with` block."""

    def __init__(self, team: Team, *, processes: int | None = None) -> None:
        """`processes` is how many worker processes there may be; by default one a processor.

        Raises `InputError` for a function that can't be run in a process.
        """
        self._processes = processes or processors()
        self._threads = DaemonThreads()
        self._pool: ProcessPool | None = None
        self.runners: dict[str, Runner] = {}
        self.slots: dict[str, tuple[Slots, ...]] = {}
        """What a task of a worker takes besides the run's own slot: a process, if it needs one."""
        shared = (Slots(self._processes),)
        for worker in team.workers:
            if worker.run is None:
                continue
            if worker.isolate == "process":
                self._pool = self._pool or ProcessPool(self._processes)
                self.runners[worker.name] = ProcessWorker(worker.run, self._pool)
                self.slots[worker.name] = shared
            else:
                self.runners[worker.name] = FunctionWorker(worker.run, threads=self._threads)

    @property
    def abandoned(self) -> tuple[Handoff, ...]:
        """What sync workers still work on though nobody waits for it."""
        calls = self._threads.abandoned
        return tuple(call.argument for call in calls if isinstance(call.argument, Handoff))

    async def __aenter__(self) -> "Staff":
        if self._pool is not None:
            await self._pool.warm(self._processes)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._threads.close()
        if self._pool is not None:
            await self._pool.close()


def processors() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
