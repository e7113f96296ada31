"""How long a call in a thread works, without its waits for the interpreter lock.

The system reports a thread's CPU time, but not its waits for the interpreter lock. Their possible
range follows from what other threads did meanwhile; it is exact if the call only computed, or only
waited for its own work.
"""

import os
import sys
import time
from dataclasses import dataclass
from typing import NamedTuple

EXACT = 0.01
"""A range narrower than this share of the time counts as exact."""


class Turns(NamedTuple):
    """A thread's turns on the CPU, as the system reports them."""

    taken: int
    """Number of turns."""
    queued_s: float
    """How long it was ready and waited for a turn."""


@dataclass(frozen=True, slots=True)
class ThreadUsage:
    """Measurements of a finished call in a thread."""

    wall_s: float
    cpu_s: float
    """CPU time of its thread."""
    process_cpu_s: float
    """CPU time of the whole process meanwhile."""
    turns: Turns | None
    """`None` if the system does not report them."""
    beside: float
    """Calls in other threads at the same time, on average."""

    def worked(self, turn_s: float) -> tuple[float, float]:
        """The least and the most that the call can have worked; `turn_s` is how long a thread may
        keep the interpreter lock while others wait for it."""
        others_s = max(self.process_cpu_s - self.cpu_s, 0.0)
        blocked_s = max(self.wall_s - self.cpu_s, 0.0)
        if self.turns is None:
            return self.wall_s - min(blocked_s, others_s), self.wall_s
        # A thread that waits for the lock asks for it again after each turn of another one.
        asked_s = self.turns.taken * turn_s + self.turns.queued_s
        # With those in threads, the event loop's own thread may want it too.
        fair = 2 * self.cpu_s * (self.beside + 1) >= others_s > 0
        if fair and EXACT * self.wall_s < blocked_s <= asked_s:
            # It wanted the CPU all the time and waited for nothing else. Other programs slow work
            # down at any concurrency: at least as much as all threads together, at most as much as
            # this one, unless the threads kept several CPUs busy.
            low_s = self.cpu_s * max(self.wall_s / self.process_cpu_s, 1.0)
            alone = self.process_cpu_s <= self.wall_s
            high_s = min(self.cpu_s + self.turns.queued_s, self.wall_s) if alone else low_s
            return low_s, max(low_s, high_s)
        if self.cpu_s > 0:
            others_s *= 1 + self.turns.queued_s / self.cpu_s
        return self.wall_s - min(blocked_s, others_s, asked_s), self.wall_s


class ThreadCalls:
    """Counts calls in threads, without a lock: a count may be off by one or two."""

    calls = 0
    """Running now."""
    _seconds = 0.0
    _until_s = 0.0

    @classmethod
    def changed(cls, by: int, now_s: float) -> float:
        """Total seconds of all calls so far; `by` calls begin (or end) now."""
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

    def __exit__(self, *_: object) -> None:
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
        """The least and the most that the call worked, until now if it has not ended."""
        facts = self._facts
        if facts is None:
            if not self._started[2]:
                return 0.0, 0.0
            wall_s = time.perf_counter() - self._started[2]
            facts = ThreadUsage(wall_s, 0.0, time.process_time() - self._started[0], None, 0)
        return facts.worked(sys.getswitchinterval())


def _turns() -> Turns | None:
    """This thread's turns since it began; Linux reports them, if it counts them at all."""
    try:
        file = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
    except OSError:
        return None
    try:
        _, queued_ns, count = os.read(file, 100).split()
    finally:
        os.close(file)
    return Turns(int(count), int(queued_ns) / 1e9)
