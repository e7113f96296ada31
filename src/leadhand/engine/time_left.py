"""The time left to the current attempt, for tools that divide their time; and why a run's ends.

The first is real time, even in a virtual event loop, because processes and threads know no other.
"""

import math
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

from leadhand.state.run_state import RunState


class _Limit:
    __slots__ = ("ends_s", "pause")

    def __init__(self, ends_s: float, pause: "Pause") -> None:
        self.ends_s = ends_s
        self.pause = pause


Pause = Callable[[], AbstractContextManager[None]]
"""Returns a block in which the time limit of an attempt does not count down."""


_CURRENT: ContextVar[_Limit | None] = ContextVar("attempt_time", default=None)


@contextmanager
def attempt_time(seconds: float, *, pause: Pause = nullcontext) -> Generator[None]:
    """Within the block, and in threads that it starts with its context, there are `seconds` left.

    After the block there is no time left, which ends abandoned threads. `pause` is what
    `time_limit_paused` does within the block.
    """
    limit = _Limit(time.monotonic() + min(seconds, time_left_s()), pause)
    token = _CURRENT.set(limit)
    try:
        yield
    finally:
        limit.ends_s = -math.inf
        _CURRENT.reset(token)


def time_left_s() -> float:
    """Seconds left to the attempt; infinite outside one, minus infinite after its end."""
    limit = _CURRENT.get()
    return math.inf if limit is None else limit.ends_s - time.monotonic()


def time_limit_paused() -> AbstractContextManager[None]:
    """A block that does not count against the attempt's time limit, only against the deadline.

    It is for what leadhand itself has to do first, such as starting a process.
    """
    limit = _CURRENT.get()
    return nullcontext() if limit is None else limit.pause()


def why_work_ends(state: RunState, work_ends_s: float) -> str:
    """Why a run's work stops, so many seconds into the run."""
    due_s = state.due_s or work_ends_s
    given_s = due_s - state.resumed_s
    why = f"the run's deadline of {round(given_s, 1 if given_s >= 1 else 3):g} s"
    early_s = due_s - work_ends_s
    if early_s > 0.01:
        return f"stopped {early_s:.2g} s before {why} to leave time for the answer"
    return f"{why} was reached"
