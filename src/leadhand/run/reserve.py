"""The time that is kept before a run's deadline for the offline code of workers.

A model that does not answer may use up all the time for work. The run stops asking models while
there is still time for the offline code of the tasks that are left.
"""

import asyncio

from leadhand.contracts.team import Worker
from leadhand.engine.shared_workers import SharedWorker
from leadhand.plans import graph
from leadhand.run.context import StepContext
from leadhand.workers.offline import CODE_SLACK_S, DEFAULT_CODE_S
from leadhand.workers.runners import own_code

MAX_SHARE = 0.5
"""Of the time for work: models have at least the other half."""
_SOON_S = 0.05


class OfflineReserve:
    """Stops asking models in time, while the block lasts; needs a running event loop."""

    def __init__(self, context: StepContext) -> None:
        self._context = context
        self._offline_switch = context.roles.offline_switch
        self._state = context.recorder.state
        self._workers = {worker.name: worker for worker in context.team.all_workers}
        self._started_s = context.recorder.elapsed_s()
        self._timer: asyncio.TimerHandle | None = None
        self.used = False
        """Whether models were given up to leave time for code."""

    def __enter__(self) -> None:
        if any(self._has_both(worker) for worker in self._workers.values()):
            self._look()

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for name, took_s in self._offline_switch.code_took_s.items():
            self._shared(self._workers[name]).code_s = took_s

    def _look(self) -> None:
        """Stop asking models if it is time, else come back when it will be."""
        deadline = self._context.deadline
        until_s = deadline.work_ends_s
        if until_s is None or self._offline_switch.why is not None:
            return
        seconds = {
            id: 0.0 if task.ended else self._seconds(self._workers[task.worker])
            for id, task in self._state.tasks.items()
        }
        if not any(seconds.values()):
            return
        tasks = [task.task for task in self._state.tasks.values()]
        needed_s = max(graph.remaining_path(tasks, seconds).values()) + CODE_SLACK_S
        kept_s = min(needed_s, MAX_SHARE * (until_s - self._started_s))
        left_s = until_s - kept_s - self._context.recorder.elapsed_s()
        if left_s > _SOON_S:
            loop = asyncio.get_running_loop()
            self._offline_switch.models_until_s = loop.time() + left_s
            self._timer = loop.call_later(left_s, self._look)
            return
        self.used = True
        self._offline_switch.switch_on(
            f"no model answered until {kept_s:.2g} s before work had to stop, with the run's "
            f"deadline of {deadline.limit_s:g} s: the rest is for offline code"
        )

    def _seconds(self, worker: Worker) -> float:
        """How long code takes for a task of a worker; 0 where a model or a team does it."""
        shared = self._shared(worker)
        if not self._has_both(worker):
            return (shared.latency_s or 0.0) if callable(worker.run) else 0.0
        known_s = max(self._offline_switch.code_took_s.get(worker.name, 0.0), shared.code_s or 0.0)
        return worker.offline_s or known_s or DEFAULT_CODE_S

    def _shared(self, worker: Worker) -> SharedWorker:
        capacity = self._context.capacity
        return capacity.shared_workers.of(capacity.team_path, worker)

    def _has_both(self, worker: Worker) -> bool:
        """Whether a worker has a model and offline code."""
        by_model = worker.team is None and own_code(worker, self._context.team) is None
        return by_model and worker.offline is not None
