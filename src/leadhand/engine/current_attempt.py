"""The attempt on whose behalf code runs, and the time left to it.

That is real time, even in a virtual event loop: processes and threads know no other.
"""

import math
import time
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # processes that tools start have no need of the engine
    from leadhand.engine.recorder import Recorder


@dataclass(slots=True, kw_only=True, eq=False)
class CurrentAttempt:
    recorder: "Recorder"
    task_id: str
    number: int
    worker: str
    in_worker: bool = True
    """Whether a worker runs the code, not only a nested team."""
    ends_s: float = math.inf
    """When its time is up, by `time.monotonic`; minus infinite once it has ended, which ends
    abandoned threads."""

    def record_stuck(self, message: str) -> None:
        """Record that the worker is stuck, unless its run is over."""
        if self.recorder.state.answer is not None:
            return
        from leadhand.contracts import events

        stamp = self.recorder.task_stamp(self.task_id, self.number)
        self.recorder.record(events.WorkerStuck(**stamp, worker=self.worker, message=message))

    def paused(self) -> AbstractContextManager[None]:
        """A block in which its time limit does not count down."""
        return nullcontext()


current_attempt: ContextVar[CurrentAttempt | None] = ContextVar("current_attempt", default=None)
"""Inherited by the tasks and callbacks that the attempt's code starts, and by its threads."""


def time_left_s() -> float:
    """Seconds left to the attempt; infinite outside one, minus infinite after its end."""
    current = current_attempt.get()
    return math.inf if current is None else current.ends_s - time.monotonic()


def time_limit_paused() -> AbstractContextManager[None]:
    """Does not count against the attempt's time limit, only against the deadline: for what leadhand
    has to do first, such as starting a process."""
    current = current_attempt.get()
    return nullcontext() if current is None else current.paused()
