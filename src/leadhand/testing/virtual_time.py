"""Virtual time: an event loop on which hours of waiting take no real time.

Every sleep, timeout and deadline takes exactly its duration in virtual time. The clock stands still
while a thread of leadhand, of `asyncio.to_thread` or of `anyio.to_thread`, or a worker's process,
works for the loop.
"""

import asyncio
import datetime as dt
import math
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import TypeVar, TypeVarTuple, Unpack

import anyio
import anyio.to_thread

from leadhand.threads import outside_work_awaited

R = TypeVar("R")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")
STUCK_S = 60.0
"""Real seconds after which a thread counts as stuck, so that the clock no longer waits for it."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock stands still during work, and jumps when everything waits."""

    def __init__(self, *, stuck_s: float = STUCK_S) -> None:
        """`stuck_s`: real seconds to stand still for a thread; 0 if threads are known to be
        stuck."""
        self.stuck_s = stuck_s
        self.anyio_threads: anyio.CapacityLimiter | None = None
        self._virtual_s = 0.0
        self._in_executors = 0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._virtual_s

    def jump(self, seconds: float) -> None:
        later_s = self._virtual_s + seconds
        # After half a year a nanosecond, by which asyncio calls a timer due, is lost in rounding.
        self._virtual_s = later_s if later_s + 1e-9 > later_s else math.nextafter(later_s, math.inf)

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], R], *args: *Ts
    ) -> asyncio.Future[R]:
        """As in asyncio; the clock stands still until `func` has returned."""
        future = super().run_in_executor(executor, func, *args)
        self._in_executors += 1
        future.add_done_callback(self._left_executor)
        return future

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Wait in real time, without the limit of newer Pythons, which would pass at once."""
        await super().shutdown_default_executor()

    def awaits_threads(self) -> bool:
        borrowed = self.anyio_threads.borrowed_tokens if self.anyio_threads else 0
        return borrowed > 0 or self._in_executors > 0 or outside_work_awaited(self)

    def _left_executor(self, _: asyncio.Future[R]) -> None:
        self._in_executors -= 1


class _JumpingSelector(selectors.DefaultSelector):
    """Moves the loop's clock to the next timer instead of waiting for it."""

    def __init__(self, loop: VirtualTimeLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            # Nothing is scheduled: only something outside the loop, such as a thread, can wake it.
            return super().select(None)
        ready = super().select(0)
        if not ready and timeout > 0 and self._loop.stuck_s and self._loop.awaits_threads():
            ready = super().select(self._loop.stuck_s)
            if not ready:
                self._loop.stuck_s = 0.0
        if not ready and timeout > 0:
            self._loop.jump(timeout)
        return ready


class VirtualClock:
    """A clock with the time of a virtual-time loop, which starts on 2000-01-01 in UTC."""

    def now(self) -> dt.datetime:
        start = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
        return start + dt.timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()


def run_virtual(work: Coroutine[object, object, T], *, stuck_s: float = STUCK_S) -> T:
    """Run `work` in virtual time and return its result; `stuck_s` as in `VirtualTimeLoop`."""
    loop = VirtualTimeLoop(stuck_s=stuck_s)

    async def watched() -> T:
        loop.anyio_threads = anyio.to_thread.current_default_thread_limiter()
        return await work

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(watched())
