"""Virtual time: an event loop on which hours of waiting take no time at all.

Nothing here patches anything: every sleep, timeout and deadline on that loop takes exactly as
long as it says, and no real time. The clock stands still while a worker's thread or process works.
"""

import asyncio
import datetime as dt
import selectors
from collections.abc import Coroutine
from typing import TypeVar

from leadhand.workers.threads import outside_work_awaited

T = TypeVar("T")
STUCK_S = 60.0
"""Real seconds after which a thread counts as stuck: the clock no longer waits for it."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock stands still while work is done, and jumps when all is waiting."""

    def __init__(self, *, stuck_s: float = STUCK_S) -> None:
        """`stuck_s`: real seconds that the clock stands still for a thread; 0 if the threads are
        known to be stuck."""
        self.stuck_s = stuck_s
        self._virtual_s = 0.0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._virtual_s

    def jump(self, seconds: float) -> None:
        """Let `seconds` pass at once."""
        self._virtual_s += seconds


class _JumpingSelector(selectors.DefaultSelector):
    """Instead of waiting for a timer, moves the loop's clock to it."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """The files that are ready now; where there are none, the time waited for has passed."""
        if timeout is None:
            # Nothing is scheduled: only something outside the loop, a thread say, can go on.
            return super().select(None)
        ready = super().select(0)
        if not ready and timeout > 0 and self._loop.stuck_s and outside_work_awaited(self._loop):
            ready = super().select(self._loop.stuck_s)
            if not ready:
                self._loop.stuck_s = 0.0
        if not ready and timeout > 0:
            self._loop.jump(timeout)
        return ready


class VirtualClock:
    """A clock that shows a virtual-time loop's time, from the first second of 2000 in UTC."""

    def now(self) -> dt.datetime:
        """The wall clock, in UTC."""
        start = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
        return start + dt.timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        """The running loop's time, in seconds."""
        return asyncio.get_running_loop().time()


def run_virtual(work: Coroutine[object, object, T], *, stuck_s: float = STUCK_S) -> T:
    """What `work` returns, run to its end in virtual time; `stuck_s` as in `VirtualTimeLoop`."""
    with asyncio.Runner(loop_factory=lambda: VirtualTimeLoop(stuck_s=stuck_s)) as runner:
        return runner.run(work)
