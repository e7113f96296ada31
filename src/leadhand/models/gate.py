"""The gate in front of a model: who may call it now, after it refused some calls.

A refusal (429, 529, 503 with Retry-After) may be a stray one, or a limit that holds for all. What
tells them apart is how many of four calls in a row were refused:

- one or two: only the refused calls wait, and nobody else does;
- three: half as many calls may be under way, and each answer admits one more, since work offered
  to whom it is too much has to shrink in proportion (AIMD: Chiu & Jain 1989);
- all four: the gate closes for everyone until the time that the model asked for. Then calls
  go through one, two, four, ... at a time, as TCP's slow start does (RFC 5681), so that whoever
  waited does not knock the model down again; until one is answered, a refusal closes it again.

The row is the order in which calls went in. Refusals come fast and answers slowly: a call that is
still under way when a later one is refused was let in.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

MAX_PAUSE_S = 60.0
"""However long a model asks us to wait, nobody waits longer than this at once."""
IN_A_ROW = 4
"""So many calls, all refused, show a limit for all. Where one call in ten is refused by
chance, four in a row are one in ten thousand."""
MAX_CLOSINGS = 4
"""How often the gate closes, without an answer between, before those who wait give up."""
_FIRST_PAUSE_S = 0.5
_WIDE = 1024
"""Calls at once from which the gate is wide open again."""

Ending = Literal["answered", "refused", "lost"]
"""What became of a call; `lost` is neither of the others, a connection reset say."""


@dataclass(frozen=True, slots=True)
class GatePass:
    """Leave to make one call."""

    number: int
    """Counts the calls that went in, from 1."""
    round: int
    """How often the gate had closed before."""


class Gate:
    """Lets calls through to one model. For the tasks of one event loop."""

    __slots__ = (
        "_answered_round",
        "_entered",
        "_inside",
        "_jitter",
        "_opens_at_s",
        "_refused",
        "_round",
        "_waiting",
        "_width",
    )

    def __init__(self, jitter: Callable[[], float]) -> None:
        """`jitter` gives a number from 0 to 1, another one each time."""
        self._jitter = jitter
        self._opens_at_s = 0.0
        self._width: int | None = None
        self._inside = 0
        self._entered = 0
        self._refused: deque[int] = deque(maxlen=_WIDE)
        """The numbers of the calls refused last."""
        self._round = 0
        self._answered_round = 0
        """The last round in which a call was answered."""
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def round(self) -> int:
        """How often the gate has closed so far."""
        return self._round

    @property
    def closed_s(self) -> float:
        """Seconds until anybody may go in."""
        return max(0.0, self._opens_at_s - asyncio.get_running_loop().time())

    async def enter(self, *, since: int | None = None) -> GatePass | None:
        """Wait for permission to make a call; must be followed by `leave`.

        None, without permission, if the gate has closed `MAX_CLOSINGS` times since round `since`
        and no call was answered meanwhile, so that the caller can try another model.
        """
        loop = asyncio.get_running_loop()
        try:
            while since is None or self._round - max(since, self._answered_round) < MAX_CLOSINGS:
                if (closed_s := self.closed_s) > 0:
                    await asyncio.sleep(closed_s)
                elif self._width is None or self._inside < self._width:
                    self._inside += 1
                    self._entered += 1
                    return GatePass(self._entered, self._round)
                else:
                    turn: asyncio.Future[None] = loop.create_future()
                    self._waiting.append(turn)
                    await turn
        except asyncio.CancelledError:
            self._wake(1)  # the turn may have been meant for the one that leaves
            raise
        self._wake(1)
        return None

    def leave(self, place: GatePass, ending: Ending, *, asked_s: float | None = None) -> None:
        """Give a place back. A model that refuses may ask to be left alone for `asked_s` seconds.

        Calls that went in before the gate last closed neither widen nor narrow it: they report
        what is known.
        """
        self._inside -= 1
        is_news = place.round == self._round
        if ending == "answered" and is_news:
            self._answered_round = self._round
            if self._width is not None:
                self._width = self._width + 1 if self._width < _WIDE else None
        elif ending == "refused":
            self._refused.append(place.number)
            if is_news:
                self._hold_back(place, asked_s)
            elif self.closed_s and asked_s is not None:
                self._close_for(asked_s)
        free = len(self._waiting) if self._width is None else self._width - self._inside
        self._wake(free)

    def _hold_back(self, place: GatePass, asked_s: float | None) -> None:
        refused = max(
            sum(place.number - back + along in self._refused for along in range(IN_A_ROW))
            for back in range(IN_A_ROW)
        )
        probing = self._answered_round < self._round
        if probing or refused == IN_A_ROW:
            self._round += 1
            self._width = 1
            self._close_for(asked_s)
        elif refused > IN_A_ROW / 2:
            narrow = max(1, self._inside // 2)
            self._width = narrow if self._width is None else min(self._width, narrow)

    def _close_for(self, asked_s: float | None) -> None:
        wait_s = pause_s(asked_s, self._round - self._answered_round, self._jitter())
        opens_at_s = asyncio.get_running_loop().time() + wait_s
        self._opens_at_s = max(self._opens_at_s, opens_at_s)
        self._wake(len(self._waiting))  # they see for themselves whether to go on waiting

    def _wake(self, count: int) -> None:
        while count > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                count -= 1


def pause_s(asked_s: float | None, failures: int, jitter: float) -> float:
    """Seconds to wait before the next try, from 0 to `MAX_PAUSE_S`.

    Half a second, one, two, ... with the number of `failures`, or as long as was asked for where
    that is longer; up to a quarter more by `jitter`, 0 to 1, so that not everyone comes back at
    once.
    """
    wait_s = _FIRST_PAUSE_S * 2.0 ** min(max(failures, 1) - 1, 10)
    if asked_s is not None:
        wait_s = max(wait_s, asked_s)  # in this order NaN does not count
    return min(wait_s * (1 + jitter / 4), MAX_PAUSE_S)
