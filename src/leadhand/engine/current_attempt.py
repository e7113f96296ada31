"""The attempt on whose behalf code runs, and the time left to it.

That is real time, even in a virtual event loop: processes and threads know no other.
"""

import math
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # processes that tools start have no need of the engine
    from leadhand.engine.recorder import Recorder


@dataclass(frozen=True, slots=True, eq=False)
class CurrentAttempt:
    recorder: "Recorder"
    task_id: str
    number: int
    worker: str

    def record_stuck(self, message: str) -> None:
        """Record that the worker is stuck, unless its run is over."""
        if self.recorder.state.answer is not None:
            return
        from leadhand.contracts import events

        stamp = self.recorder.task_stamp(self.task_id, self.number)
        self.recorder.record(events.WorkerStuck(**stamp, worker=self.worker, message=message))


current_attempt: ContextVar[CurrentAttempt | None] = ContextVar("current_attempt", default=None)
"""Inherited by the tasks and callbacks that the attempt's code starts."""


class _Limit:
    __slots__ = ("ends_s", "pause")

    def __init__(self, ends_s: float, pause: "Pause") -> None:
        self.ends_s = ends_s
        self.pause = pause


Pause = Callable[[], AbstractContextManager[None]]
"""Returns a block in which the time limit of an attempt does not count down."""


_LIMIT: ContextVar[_Limit | None] = ContextVar("attempt_time", default=None)


@contextmanager
def attempt_time(seconds: float, *, pause: Pause = nullcontext) -> Generator[None]:
    """There are `seconds` left within the block, and in threads with its context.

    Afterwards there is no time left, which ends abandoned threads. `pause` is what
    `time_limit_paused` does within the block.
    """
    limit = _Limit(time.monotonic() + min(seconds, time_left_s()), pause)
    token = _LIMIT.set(limit)
    try:
        yield
    finally:
        limit.ends_s = -math.inf
        _LIMIT.reset(token)


def time_left_s() -> float:
    """Seconds left to the attempt; infinite outside one, minus infinite after its end."""
    limit = _LIMIT.get()
    return math.inf if limit is None else limit.ends_s - time.monotonic()


def time_limit_paused() -> AbstractContextManager[None]:
    """Does not count against the attempt's time limit, only against the deadline: for what leadhand
    has to do first, such as starting a process."""
    limit = _LIMIT.get()
    return nullcontext() if limit is None else limit.pause()
