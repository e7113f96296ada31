"""How long a call in a thread itself works, without waiting for the interpreter.

The system tells what a thread had of the processor, and nobody tells when it waited for the
interpreter's lock. What it can have waited follows from what others did meanwhile: a range, that
closes where the call only computed or only waited for something of its own.
"""

import os
import sys
import time
from dataclasses import dataclass
from types import TracebackType
from typing import NamedTuple

EXACT = 0.01
"""A range narrower than this share of the time is none."""


class Turns(NamedTuple):
    """What the system says of a thread's turns at the processor."""

    taken: int
    """How often it got one."""
    queued_s: float
    """How long it was ready and got none."""


@dataclass(frozen=True, slots=True)
class ThreadUsage:
    """What is known of a call in a thread once it is over."""

    wall_s: float
    cpu_s: float
    """Processor time of its thread."""
    process_cpu_s: float
    """Processor time of the whole process meanwhile."""
    turns: Turns | None
    """None where the system does not tell."""
    beside: float
    """Calls in other threads at the same time, on average."""

    def worked(self, turn_s: float) -> tuple[float, float]:
        """The least and the most that it can have taken itself; `turn_s` is how long a thread
        keeps the interpreter from others that want it."""
        others_s = max(self.process_cpu_s - self.cpu_s, 0.0)
        blocked_s = max(self.wall_s - self.cpu_s, 0.0)
        if self.turns is None:
            return self.wall_s - min(blocked_s, others_s), self.wall_s
        # Whoever waits for the interpreter asks for it again after each turn of another thread.
        asked_s = self.turns.taken * turn_s + self.turns.queued_s
        # With those in threads, the event loop's own thread may want it too.
        fair = 2 * self.cpu_s * (self.beside + 1) >= others_s > 0
        if fair and EXACT * self.wall_s < blocked_s <= asked_s:
            # It wanted the processor all the time, and waited for nothing else. What other
            # programs took slows work down at any concurrency: at least as it did all threads
            # together, at most as it did this one, unless they kept several processors busy.
            low_s = self.cpu_s * max(self.wall_s / self.process_cpu_s, 1.0)
            alone = self.process_cpu_s <= self.wall_s
            high_s = min(self.cpu_s + self.turns.queued_s, self.wall_s) if alone else low_s
            return low_s, max(low_s, high_s)
        if self.cpu_s > 0:
            others_s *= 1 + self.turns.queued_s / self.cpu_s
        return self.wall_s - min(blocked_s, others_s, asked_s), self.wall_s


class ThreadCalls:
    """How many calls there are in threads. They race for it: a count may be off by one or two."""

    calls = 0
    """Under way now."""
    _seconds = 0.0
    _until_s = 0.0

    @classmethod
    def changed(cls, by: int, now_s: float) -> float:
        """Seconds that all calls have taken together so far; `by` of them begin or end now."""
        cls._seconds += cls.calls * max(now_s - cls._until_s, 0.0)
        cls._until_s = now_s
        cls.calls += by
        return cls._seconds


class ThreadTime:
    """Times a call in the thread that makes it, within `with`. Readable from any thread."""

    __slots__ = ("_crowd_s", "_facts", "_started", "_turns")

    def __init__(self) -> None:
        self._crowd_s = 0.0
        self._started = (0.0, 0.0, 0.0)
        self._turns: Turns | None = None
        self._facts: ThreadUsage | None = None

    def __enter__(self) -> None:
        self._turns = _turns()
        self._started = time.process_time(), time.thread_time(), time.perf_counter()
        self._crowd_s = ThreadCalls.changed(+1, self._started[2])

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        now_s = time.perf_counter()
        wall_s = now_s - self._started[2]
        cpu_s = time.thread_time() - self._started[1]
        process_cpu_s = time.process_time() - self._started[0]
        turns = _turns()
        if turns is not None and self._turns is not None:
            before = self._turns
            turns = Turns(turns.taken - before.taken, turns.queued_s - before.queued_s)
        crowd_s = ThreadCalls.changed(-1, now_s) - self._crowd_s
        beside = max(crowd_s / wall_s - 1, 0.0) if wall_s > 0 else 0.0
        self._facts = ThreadUsage(wall_s, cpu_s, process_cpu_s, turns, beside)

    def worked(self) -> tuple[float, float]:
        """The least and the most that the call has taken itself, until now if it has not ended."""
        facts = self._facts
        if facts is None:
            if not self._started[2]:
                return 0.0, 0.0
            wall_s = time.perf_counter() - self._started[2]
            facts = ThreadUsage(wall_s, 0.0, time.process_time() - self._started[0], None, 0)
        return facts.worked(sys.getswitchinterval())


def _turns() -> Turns | None:
    """Of this thread, since it began. Linux tells, if it counts at all."""
    try:
        file = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
    except OSError:
        return None
    try:
        _, queued_ns, count = os.read(file, 100).split()
    finally:
        os.close(file)
    return Turns(int(count), int(queued_ns) / 1e9)
