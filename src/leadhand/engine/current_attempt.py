"""The attempt on whose behalf code runs: a blocked event loop is noticed from another thread."""

from contextvars import ContextVar
from dataclasses import dataclass

from leadhand.contracts import events
from leadhand.engine.recorder import Recorder


@dataclass(frozen=True, slots=True, eq=False)
class CurrentAttempt:
    """A worker's attempt at a task, while its code runs."""

    recorder: Recorder
    task_id: str
    number: int
    worker: str

    def record_stuck(self, message: str) -> None:
        """Record that the worker is stuck, unless its run is over."""
        if self.recorder.state.answer is not None:
            return
        stamp = self.recorder.task_stamp(self.task_id, self.number)
        self.recorder.record(events.WorkerStuck(**stamp, worker=self.worker, message=message))


current_attempt: ContextVar[CurrentAttempt | None] = ContextVar("current_attempt", default=None)
"""Inherited by the tasks and callbacks that the attempt's code starts."""
