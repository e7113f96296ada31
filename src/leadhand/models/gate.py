"""The gate in front of a model: who may call it now, after it asked everyone to wait.

A model that is overloaded is overloaded for all: one pause holds back every call to it, and after
the pause calls go through one, two, four, ... at a time, as TCP's slow start does (RFC 5681), so
that whoever waited does not knock it down again. Whoever has somewhere else to go need not wait
through pause after pause.
"""

import asyncio
from collections import deque
from collections.abc import Callable

MAX_PAUSE_S = 60.0
"""However long a model asks us to wait, nobody waits longer than this at once."""
_FIRST_PAUSE_S = 0.5
_WIDE = 1024
"""Calls at once from which the gate is wide open again."""


class Gate:
    """Lets calls through to one model. For the tasks of one event loop."""

    __slots__ = ("_failures", "_inside", "_jitter", "_opens_at_s", "_round", "_waiting", "_width")

    def __init__(self, jitter: Callable[[], float]) -> None:
        """`jitter` gives a number from 0 to 1, another one each time."""
        self._jitter = jitter
        self._opens_at_s = 0.0
        self._width: int | None = None
        self._inside = 0
        self._failures = 0
        self._round = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def round(self) -> int:
        """How often the model has asked everyone to wait so far."""
        return self._round

    async def enter(self, *, until_round: int | None = None) -> int | None:
        """Wait for a place; gives the round it is in. To be followed by `leave`.

        None, and no place, where `until_round` comes first.
        """
        loop = asyncio.get_running_loop()
        try:
            while until_round is None or self._round < until_round:
                pause_s = self._opens_at_s - loop.time()
                if pause_s > 0:
                    await asyncio.sleep(pause_s)
                elif self._width is None or self._inside < self._width:
                    self._inside += 1
                    return self._round
                else:
                    place: asyncio.Future[None] = loop.create_future()
                    self._waiting.append(place)
                    await place
        except asyncio.CancelledError:
            self._wake(1)  # the place may have been meant for the one that leaves
            raise
        self._wake(1)
        return None

    def leave(self, round: int, *, answered: bool) -> None:
        """Give the place back. An answer shows that the model can take one more.

        Not so an answer to a call that went in before the last pause (`round`).
        """
        self._inside -= 1
        if answered and round == self._round:
            self._failures = 0
            if self._width is not None:
                self._width = self._width + 1 if self._width < _WIDE else None
        free = len(self._waiting) if self._width is None else self._width - self._inside
        self._wake(free)

    def overloaded(self, round: int, *, asked_s: float | None) -> float:
        """Hold everyone back: for `asked_s` seconds, else twice as long as last time.

        Gives the seconds until the gate opens. Calls that went in before the last pause (`round`)
        add nothing to it: they report what is known.
        """
        if round == self._round or asked_s is not None:
            if round == self._round:
                self._failures += 1
                self._round += 1
            self._close_for(pause_s(asked_s, self._failures, self._jitter()))
        return max(0.0, self._opens_at_s - asyncio.get_running_loop().time())

    def _close_for(self, seconds: float) -> None:
        opens_at_s = asyncio.get_running_loop().time() + seconds
        self._opens_at_s = max(self._opens_at_s, opens_at_s)
        self._width = 1
        self._wake(len(self._waiting))  # they see for themselves whether to go on waiting

    def _wake(self, count: int) -> None:
        while count > 0 and self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                count -= 1


def pause_s(asked_s: float | None, failures: int, jitter: float) -> float:
    """Seconds to wait before the next try, from 0 to `MAX_PAUSE_S`.

    As long as was asked for but no less than half a second, or half a second, one, two, ... with
    the number of `failures`; up to a quarter more by `jitter`, 0 to 1, so that not everyone comes
    back at once.
    """
    if asked_s is None:
        wait_s = _FIRST_PAUSE_S * 2.0 ** min(max(failures, 1) - 1, 10)
    else:
        wait_s = asked_s if asked_s > _FIRST_PAUSE_S else _FIRST_PAUSE_S  # NaN is not greater
    return min(wait_s * (1 + jitter / 4), MAX_PAUSE_S)
