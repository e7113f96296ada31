"""How long an attempt works, without its waits for rates, the event loop or the interpreter.

One stopwatch belongs to one attempt; `ExcludedTime` finds it wherever the attempt waits. If a wait
can't be told from work, the stopwatch keeps both ends of the possible range.
"""

import asyncio
import time
from collections.abc import Callable
from contextvars import ContextVar

from leadhand.contracts.event_fields import AttemptTimes

EXACT = 0.01
"""A range narrower than this share of the time counts as exact."""
_CURRENT: ContextVar["Stopwatch | None"] = ContextVar("stopwatch", default=None)


class Stopwatch:
    """The time of one attempt, from its first step to its end, on the event loop's clock.

    Between steps the attempt waits for its own work, such as a request, or for the loop, and the
    loop does not tell which. It can't have waited longer than the loop worked for others.
    """

    steps_s = 0.0
    """The steps of all attempts of this process together."""

    __slots__ = (
        "_aside", "_clock", "_cpu_s", "_ended_s", "_paused", "_ready", "_real", "_shorter_s",
        "_since_s", "_started_s", "_steps_s", "_waited_high_s", "_waited_s",
    )  # fmt: skip

    def __init__(self) -> None:
        self._clock: Callable[[], float] | None = None
        self._started_s = self._since_s = self._cpu_s = self._steps_s = 0.0
        self._ended_s: float | None = None
        self._ready = self._real = self._paused = False
        self._aside = 0
        self._waited_s = self._waited_high_s = 0.0
        self._shorter_s = 0.0

    def start(self) -> None:
        """Begin the first step, in the task of the attempt."""
        _CURRENT.set(self)
        self._clock = asyncio.get_running_loop().time
        self._started_s = self._since_s = self._clock()
        # Virtual time passes only while everything waits: the work of others takes none of it.
        self._real = abs(self._started_s - time.monotonic()) < 1.0

    def pause(self, *, ready: bool) -> None:
        """End a step. `ready`: the next could begin at once, so all time until then is waiting."""
        if self._clock is None:
            return
        now_s = self._clock()
        Stopwatch.steps_s += now_s - self._since_s
        self._paused, self._ready, self._since_s = True, ready, now_s
        self._cpu_s, self._steps_s = time.thread_time(), Stopwatch.steps_s

    def resume(self) -> None:
        """Begin the next step."""
        if self._clock is None:
            return
        now_s = self._clock()
        self._paused = False
        passed_s, self._since_s = now_s - self._since_s, now_s
        if self._aside:
            return
        if self._ready:
            self._waited_s += passed_s
            self._waited_high_s += passed_s
        else:
            # Other programs slow steps down: their wall time counts, not only their CPU time.
            others_s = Stopwatch.steps_s - self._steps_s
            if self._real:
                others_s = max(others_s, time.thread_time() - self._cpu_s)
            self._waited_high_s += min(passed_s, others_s)

    def stop(self) -> None:
        """End the last step."""
        if self._clock is not None and self._ended_s is None:
            self._ended_s = self._clock()
            if not self._paused:
                Stopwatch.steps_s += self._ended_s - self._since_s

    def work(self) -> AttemptTimes:
        """How long the attempt worked, until now if it has not ended."""
        if self._clock is None:
            return AttemptTimes(worked_s=0.0, worked_high_s=None, path_s=None)
        ended_s = self._clock() if self._ended_s is None else self._ended_s
        took_s = ended_s - self._started_s
        high_s = max(took_s - self._waited_s, 0.0)
        low_s = min(max(took_s - self._waited_high_s, 0.0), high_s)
        exact = high_s - low_s <= EXACT * high_s
        worked_s = high_s if exact else low_s
        return AttemptTimes(
            worked_s=worked_s,
            worked_high_s=None if exact else high_s,
            path_s=max(worked_s - self._shorter_s, 0.0) if self._shorter_s else None,
        )

    def set_aside(self, change: int) -> int:
        """Change the number of `ExcludedTime` blocks that are open, and return it."""
        self._aside += change
        return self._aside

    def correct(self, passed_s: float, low_s: float, high_s: float, shorter_s: float) -> None:
        """Count `low_s` to `high_s` for `passed_s`; the longest chain is `shorter_s` less."""
        self._waited_s += passed_s - high_s
        self._waited_high_s += passed_s - low_s
        self._shorter_s += shorter_s


class ExcludedTime:
    """Time that does not count as work: `with ExcludedTime() as waiting: await a_queue()`.

    `took` makes a part of it count. Outside an attempt it only measures.
    """

    __slots__ = ("_clock", "_started_s", "_watch", "_worked", "elapsed_s")

    def __init__(self) -> None:
        self._clock = asyncio.get_running_loop().time
        self._worked: tuple[float, float, float | None] = (0.0, 0.0, None)
        self._started_s = 0.0
        self._watch: Stopwatch | None = None
        self.elapsed_s = 0.0
        """How long the block took, once it is over."""

    def took(self, low_s: float, high_s: float) -> None:
        """Count `low_s` to `high_s` for the block, but never more than it took."""
        self._worked = (low_s, high_s, None)

    def took_all(self, low_s: float, high_s: float, *, path_s: float) -> None:
        """Count `low_s` to `high_s` for concurrent work, which may exceed the block's length;
        `path_s` is its longest chain."""
        self._worked = (low_s, high_s, path_s)

    def __enter__(self) -> "ExcludedTime":
        watch = _CURRENT.get()
        # Of nested or overlapping blocks only the first one counts.
        if watch is not None and watch.set_aside(+1) == 1:
            self._watch = watch
        self._started_s = self._clock()
        return self

    def __exit__(self, *_: object) -> None:
        self.elapsed_s = self._clock() - self._started_s
        watch = _CURRENT.get()
        if watch is not None:
            watch.set_aside(-1)
        if self._watch is None:
            return
        low_s, high_s, path_s = self._worked
        if path_s is None:
            low_s, high_s = min(low_s, self.elapsed_s), min(high_s, self.elapsed_s)
            path_s = low_s
        self._watch.correct(self.elapsed_s, low_s, high_s, low_s - path_s)
