"""How long an attempt works, without its waits for rates, locks, the event loop or the interpreter.

`ExcludedTime` finds the attempt's stopwatch wherever it waits. If a wait can't be told from work,
the stopwatch keeps both ends of the possible range.
"""

import asyncio
from collections import deque
from contextvars import ContextVar
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from leadhand.contracts.events.fields import AttemptTimes

EXACT = 0.01
"""A range narrower than this share of the time counts as exact."""
_ROUNDS = 3
"""So many rounds after an answer its reader may step: the loop finds it at the end of one, wakes
the reader in the next, and the marker lies across two."""
_CURRENT: ContextVar["Stopwatch | None"] = ContextVar("stopwatch", default=None)


@dataclass(slots=True, eq=False)
class _Rounds:
    """When the last rounds of an event loop began, by a marker in its queue.

    What runs before the marker was ready when the marker was queued.
    """

    began_s: deque[float] = field(default_factory=lambda: deque(maxlen=_ROUNDS + 1))
    left: int = 0

    def step(self) -> None:
        if self.left:
            self.left = _ROUNDS
            return
        self.began_s.clear()
        self.left = _ROUNDS + 1
        self._go_round()

    def _go_round(self) -> None:
        loop = asyncio.get_running_loop()
        self.began_s.append(loop.time())
        self.left -= 1
        if self.left:
            loop.call_soon(self._go_round)


_ROUNDS_OF: WeakKeyDictionary[asyncio.AbstractEventLoop, _Rounds] = WeakKeyDictionary()


def _now() -> float:
    return asyncio.get_running_loop().time()


@dataclass(slots=True, eq=False)
class Stopwatch:
    """The time of one attempt, on the event loop's clock."""

    waited_s: float = 0.0
    """The least that it waited."""
    waited_high_s: float = 0.0
    """The most."""
    shorter_s: float = 0.0
    """By how much the longest chain of its work is shorter than the work."""
    aside: int = 0
    _rounds: _Rounds = field(init=False)
    _started_s: float | None = None
    _ended_s: float | None = None

    def start(self) -> None:
        _CURRENT.set(self)
        loop = asyncio.get_running_loop()
        rounds = _ROUNDS_OF.get(loop)
        self._rounds = rounds or _ROUNDS_OF.setdefault(loop, _Rounds())
        self._rounds.step()
        self._started_s = loop.time()

    def resume(self, paused_s: float, *, ready: bool) -> None:
        """Begin a step after the one that ended at `paused_s`. If it was not `ready` at once, what
        it awaited came in one of the last rounds."""
        self._rounds.step()
        if not self.aside:
            now_s, began_s = _now(), self._rounds.began_s
            self.waited_s += now_s - (paused_s if ready else max(began_s[-1], paused_s))
            self.waited_high_s += now_s - (paused_s if ready else max(began_s[0], paused_s))

    def stop(self) -> None:
        self._ended_s = _now()

    def work(self) -> AttemptTimes:
        """How long the attempt worked, until now if it has not ended."""
        if self._started_s is None:
            return AttemptTimes(worked_s=0.0, worked_high_s=None, path_s=None)
        took_s = (_now() if self._ended_s is None else self._ended_s) - self._started_s
        high_s = max(took_s - self.waited_s, 0.0)
        low_s = min(max(took_s - self.waited_high_s, 0.0), high_s)
        exact = high_s - low_s <= EXACT * high_s
        worked_s = high_s if exact else low_s
        return AttemptTimes(
            worked_s=worked_s,
            worked_high_s=None if exact else high_s,
            path_s=max(worked_s - self.shorter_s, 0.0) if self.shorter_s else None,
        )


class ExcludedTime:
    """`with ExcludedTime(): await a_queue()` is not work, apart from what `took` counts. Outside an
    attempt it only measures."""

    __slots__ = ("_first", "_started_s", "_watch", "_worked", "elapsed_s")

    def __init__(self) -> None:
        self._worked: tuple[float, float, float | None] = (0.0, 0.0, None)
        # Of nested or overlapping blocks only the first one counts.
        self._watch, self._first = _CURRENT.get(), False
        self._started_s = self.elapsed_s = 0.0  # `elapsed_s`: how long the block took, once over

    def took(self, low_s: float, high_s: float, *, path_s: float | None = None) -> None:
        """Count `low_s` to `high_s` for the block, but never more than it took; `path_s` is the
        longest chain of concurrent work."""
        self._worked = (low_s, high_s, path_s)

    def __enter__(self) -> "ExcludedTime":
        if self._watch is not None:
            self._first = self._watch.aside == 0
            self._watch.aside += 1
        self._started_s = _now()
        return self

    def __exit__(self, *_: object) -> None:
        self.elapsed_s = took_s = _now() - self._started_s
        if (watch := self._watch) is None:
            return
        watch.aside -= 1
        if self._first:
            low_s, high_s, path_s = self._worked
            if path_s is None:
                path_s = low_s = min(low_s, took_s)
                high_s = min(high_s, took_s)
            watch.waited_s += took_s - high_s
            watch.waited_high_s += took_s - low_s
            watch.shorter_s += low_s - path_s
