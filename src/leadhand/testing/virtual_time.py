"""Virtual time: an event loop on which hours of waiting take no time at all.

Nothing here patches anything: every sleep, timeout and deadline on that loop takes exactly as
long as it says, and no real time.
"""

import asyncio
import datetime as dt
import selectors
from collections.abc import Coroutine
from typing import TypeVar

T = TypeVar("T")


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock stands still while work is done, and jumps when all is waiting."""

    def __init__(self) -> None:
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


def run_virtual(work: Coroutine[object, object, T]) -> T:
    """What `work` returns, run to its end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(work)
