"""The queue of runs: how many work at once, how many may wait, and whose turn is next.

Many runs that begin in one moment keep the event loop from all else, such as its requests, for
seconds. So a few work at once in any case, and more begin one by one while the loop is on time: all
that may, if they mostly wait for models.
"""

import asyncio
from collections import deque
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from leadhand.errors import InputError, QueueFull

MAX_RETRY_S = 600.0
AT_ONCE = 8
"""So many work whatever the event loop has to do."""
PACE_S = 0.01
"""More begin at this interval, unless the event loop is later than that."""
_NEW = 0.2
"""How much the last run counts in what runs take."""


class RunQueue:
    """Lets runs begin, in turn by the value that their origins have for a name.

    Give the same one to several supervisors of an event loop to count their runs together.
    """

    def __init__(self, running: int, *, waiting: int = 100, by: str = "tenant") -> None:
        """`running` runs work at once and `waiting` more wait; a new run beyond that is refused,
        unless fewer of its value of `by` wait than an equal share of `waiting`: no value shuts out
        another.

        Resumed runs are never refused. Values of `by` take turns, however many runs each has.
        """
        if running < 1 or waiting < 0:
            raise InputError(f"RunQueue({running!r}, waiting={waiting!r}): one run must be able to")
        self._running, self._waiting, self._by = running, waiting, by
        self._free = running
        self._lines: dict[str, deque[asyncio.Event]] = {}
        """Of each value, those who wait; the value whose turn it is comes first."""
        self._since_s: dict[asyncio.Event, float] = {}
        self._takes_s = 1.0
        self._looks: asyncio.TimerHandle | None = None

    @property
    def running(self) -> int:
        return self._running - self._free

    @property
    def waiting(self) -> int:
        return sum(map(len, self._lines.values()))

    @property
    def oldest_wait_s(self) -> float:
        """How long the run waits that has waited longest; 0 if none does."""
        waiting = [self._since_s[turn] for line in self._lines.values() for turn in line]
        return asyncio.get_running_loop().time() - min(waiting) if waiting else 0.0

    @contextmanager
    def place(self, origin: Mapping[str, object], *, may_refuse: bool) -> Generator[asyncio.Event]:
        """A place for a run during the block, whose turn it is once the event is set. Raises
        `QueueFull`."""
        value = repr(origin.get(self._by))
        if may_refuse and not self._free and self._is_full_for(value):
            retry_s = self._takes_s * (self.waiting + 1) / self._running
            raise QueueFull(self.waiting, retry_after_s=min(max(retry_s, 1.0), MAX_RETRY_S))
        loop, turn = asyncio.get_running_loop(), asyncio.Event()
        self._lines.setdefault(value, deque()).append(turn)
        self._since_s[turn] = loop.time()
        self._next()
        try:
            yield turn
        finally:
            since_s = self._since_s.pop(turn)
            if turn.is_set():
                self._free += 1
                self._takes_s += _NEW * (loop.time() - since_s - self._takes_s)
            else:
                self._lines[value].remove(turn)
                if not self._lines[value]:
                    del self._lines[value]
            self._next()

    def _is_full_for(self, value: str) -> bool:
        share = self._waiting // len({value, *self._lines})
        return self.waiting >= self._waiting and len(self._lines.get(value, ())) >= share

    def _next(self) -> None:
        while self.running < min(AT_ONCE, self._running) and self._lines:
            self._begin()
        if self._looks is None and self._free and self._lines:
            loop = asyncio.get_running_loop()
            self._looks = loop.call_later(PACE_S, self._look, loop.time() + PACE_S)
        elif self._looks is not None and not self._lines:
            self._looks.cancel()
            self._looks = None

    def _look(self, due_s: float) -> None:
        self._looks = None
        late_s = asyncio.get_running_loop().time() - due_s
        if late_s <= PACE_S and self._free and self._lines:
            self._begin()
        self._next()

    def _begin(self) -> None:
        value = next(iter(self._lines))
        line = self._lines.pop(value)
        turn = line.popleft()
        if line:
            self._lines[value] = line  # behind the others
        self._since_s[turn] = asyncio.get_running_loop().time()
        self._free -= 1
        turn.set()
