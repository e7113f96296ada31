"""How long an attempt works, without its waits for rates, locks, the event loop or the interpreter.

One stopwatch belongs to one attempt; `ExcludedTime` finds it wherever the attempt waits. If a wait
can't be told from work, the stopwatch keeps both ends of the possible range.
"""

import asyncio
from collections import deque
from contextvars import ContextVar
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from leadhand.contracts.events.fields import AttemptTimes

EXACT = 0.01
"""A range narrower than this share of the time counts as exact."""
_ROUNDS = 3
"""An answer may have come as many rounds before its reader steps: the loop finds it at the end of
one, wakes the reader in the next, and the marker lies across two."""
_CURRENT: ContextVar["Stopwatch | None"] = ContextVar("stopwatch", default=None)


class _Queue:
    """The queue of an event loop, and how long its last rounds took.

    While attempts make steps a marker goes round in it. The queue keeps its order: what runs before
    the marker was ready when the marker was put there.
    """

    def __init__(self) -> None:
        self._put_s = 0.0
        self._left = 0
        self._rounds: deque[tuple[float, float]] = deque(maxlen=_ROUNDS)

    def ready_since(self) -> float:
        """When the step that begins now was ready at the latest."""
        if not self._left:
            self._rounds.clear()
            self._put()
        self._left = _ROUNDS
        return self._put_s

    def _put(self) -> None:
        self._put_s = _now()
        asyncio.get_running_loop().call_soon(self._passed)

    def _passed(self) -> None:
        self._rounds.append((self._put_s, _now()))
        self._left -= 1
        if self._left:
            self._put()

    def busy_s(self, since_s: float) -> float:
        """How long the last rounds took, from then on."""
        return sum(max(ended_s - max(put_s, since_s), 0.0) for put_s, ended_s in self._rounds)


_QUEUES: WeakKeyDictionary[asyncio.AbstractEventLoop, _Queue] = WeakKeyDictionary()


def _now() -> float:
    return asyncio.get_running_loop().time()


@dataclass(slots=True, eq=False)
class Stopwatch:
    """The time of one attempt, from its first step to its end, on the event loop's clock."""

    waited_s: float = 0.0
    """The least that it waited."""
    waited_high_s: float = 0.0
    """The most."""
    shorter_s: float = 0.0
    """By how much the longest chain of its work is shorter than the work."""
    aside: int = 0
    """The number of `ExcludedTime` blocks that are open."""
    _queue: _Queue | None = None
    _started_s: float = 0.0
    _paused_s: float = 0.0
    _ready: bool = False
    _ended_s: float | None = None

    def start(self) -> None:
        """Begin the first step, in the task of the attempt."""
        _CURRENT.set(self)
        loop = asyncio.get_running_loop()
        self._queue = _QUEUES.get(loop) or _QUEUES.setdefault(loop, _Queue())
        self._queue.ready_since()
        self._started_s = _now()

    def pause(self, *, ready: bool) -> None:
        """End a step. `ready`: the next could begin at once, so all time until then is waiting."""
        if self._queue is not None:
            self._paused_s, self._ready = _now(), ready

    def resume(self) -> None:
        """Begin the next step. What the attempt awaited came in one of the loop's last rounds."""
        if self._queue is None:
            return
        put_s = self._queue.ready_since()
        if not self.aside:
            ready_s = self._paused_s if self._ready else max(put_s, self._paused_s)
            least_s = _now() - ready_s
            self.waited_s += least_s
            maybe_s = 0.0 if self._ready else self._queue.busy_s(self._paused_s)
            self.waited_high_s += least_s + maybe_s

    def stop(self) -> None:
        """End the last step."""
        if self._queue is not None and self._ended_s is None:
            self._ended_s = _now()

    def work(self) -> AttemptTimes:
        """How long the attempt worked, until now if it has not ended."""
        if self._queue is None:
            return AttemptTimes(worked_s=0.0, worked_high_s=None, path_s=None)
        ended_s = _now() if self._ended_s is None else self._ended_s
        took_s = ended_s - self._started_s
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
    """Time that does not count as work: `with ExcludedTime() as waiting: await a_queue()`.

    `took` makes a part of it count. Outside an attempt it only measures.
    """

    __slots__ = ("_first", "_started_s", "_watch", "_worked", "elapsed_s")

    def __init__(self) -> None:
        self._worked: tuple[float, float, float | None] = (0.0, 0.0, None)
        self._watch, self._first = _CURRENT.get(), False
        self._started_s = self.elapsed_s = 0.0  # `elapsed_s`: how long the block took, once over

    def took(self, low_s: float, high_s: float) -> None:
        """Count `low_s` to `high_s` for the block, but never more than it took."""
        self._worked = (low_s, high_s, None)

    def took_all(self, low_s: float, high_s: float, *, path_s: float) -> None:
        """Count `low_s` to `high_s` for concurrent work, which may exceed the block's length;
        `path_s` is its longest chain."""
        self._worked = (low_s, high_s, path_s)

    def __enter__(self) -> "ExcludedTime":
        if self._watch is not None:
            # Of nested or overlapping blocks only the first one counts.
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
                low_s, high_s = min(low_s, took_s), min(high_s, took_s)
            watch.waited_s += took_s - high_s
            watch.waited_high_s += took_s - low_s
            watch.shorter_s += 0.0 if path_s is None else low_s - path_s
