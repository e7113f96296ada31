"""Virtual time: an event loop on which hours of waiting take no time at all.

Nothing here patches anything: every sleep, timeout and deadline on that loop takes exactly as
long as it says, and no real time. The clock stands still while a thread or a worker's process
works for the loop: one of leadhand's, of `asyncio.to_thread` or of `anyio.to_thread`, where
pydantic-ai runs plain functions.
"""

import asyncio
import datetime as dt
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import TypeVar, TypeVarTuple, Unpack

import anyio
import anyio.to_thread

from leadhand.workers.threads import outside_work_awaited

R = TypeVar("R")
T = TypeVar("T")
Ts = TypeVarTuple("Ts")
STUCK_S = 60.0
"""Real seconds after which a thread counts as stuck: the clock no longer waits for it."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock stands still while work is done, and jumps when all is waiting."""

    def __init__(self, *, stuck_s: float = STUCK_S) -> None:
        """`stuck_s`: real seconds that the clock stands still for a thread; 0 if the threads are
        known to be stuck."""
        self.stuck_s = stuck_s
        self.anyio_threads: anyio.CapacityLimiter | None = None
        self._virtual_s = 0.0
        self._in_executors = 0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._virtual_s

    def jump(self, seconds: float) -> None:
        """Let `seconds` pass at once."""
        self._virtual_s += seconds

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[Unpack[Ts]], R], *args: *Ts
    ) -> asyncio.Future[R]:
        """The same; the clock stands still until `func` has returned."""
        future = super().run_in_executor(executor, func, *args)
        self._in_executors += 1
        future.add_done_callback(self._left_executor)
        return future

    def awaits_threads(self) -> bool:
        """Whether a thread or a process outside this loop is at work for it."""
        borrowed = self.anyio_threads.borrowed_tokens if self.anyio_threads else 0
        return borrowed > 0 or self._in_executors > 0 or outside_work_awaited(self)

    def _left_executor(self, _: asyncio.Future[R]) -> None:
        self._in_executors -= 1


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
        if not ready and timeout > 0 and self._loop.stuck_s and self._loop.awaits_threads():
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
    loop = VirtualTimeLoop(stuck_s=stuck_s)

    async def watched() -> T:
        loop.anyio_threads = anyio.to_thread.current_default_thread_limiter()
        return await work

    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(watched())
