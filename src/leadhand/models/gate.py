"""The gate in front of a model: limits calls after the model refused some of them.

A refusal (429, 529, 503 with Retry-After) may be a single one, or a limit that holds for all calls.
The gate tells them apart by how many of four consecutive calls were refused:

- one or two: only the refused calls wait;
- three: half as many calls may be in flight, and each answer admits one more, because the load on
  an overloaded server has to shrink in proportion (AIMD: Chiu & Jain 1989);
- all four: the gate closes for all calls until the time that the model asked for. Then it admits
  one, two, four, ... calls at a time, like TCP's slow start (RFC 5681), so that the waiting calls
  do not overload the model again; until one is answered, a refusal closes it again.

Calls are counted in the order in which they entered. Refusals are fast and answers slow: a call
that is still in flight when a later one is refused counts as accepted.
"""

import asyncio
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

MAX_PAUSE_S = 60.0
"""The longest single wait, even if a model asks for more."""
IN_A_ROW = 4
"""This many refused calls in a row mean a limit for all. If one call in ten is refused by chance,
four in a row occur once in ten thousand calls."""
MAX_CLOSINGS = 4
"""How often the gate closes without an answer in between before waiting calls give up."""
_FIRST_PAUSE_S = 0.5
_WIDE = 1024
"""The number of concurrent calls at which the gate removes its limit."""

Ending = Literal["answered", "refused", "lost"]
"""`lost` is anything else, such as a connection reset."""


@dataclass(frozen=True, slots=True)
class GatePass:
    number: int
    """Counts the calls that entered, from 1."""
    round: int
    """How often the gate had closed before."""


class Gate:
    """Admits calls to one model. For the tasks of one event loop."""

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
        """`jitter` returns a random number from 0 to 1."""
        self._jitter = jitter
        self._opens_at_s = 0.0
        self._width: int | None = None
        self._inside = 0
        self._entered = 0
        self._refused: deque[int] = deque(maxlen=_WIDE)
        """The numbers of the latest refused calls."""
        self._round = 0
        self._answered_round = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def round(self) -> int:
        """How often the gate has closed so far."""
        return self._round

    @property
    def closed_s(self) -> float:
        """Seconds until the gate opens."""
        return max(0.0, self._opens_at_s - asyncio.get_running_loop().time())

    async def enter(
        self, *, since: int | None = None, patient_until_s: float = -math.inf
    ) -> GatePass | None:
        """Wait for permission to make a call; must be followed by `leave`.

        None, without permission, if the gate has closed `MAX_CLOSINGS` times since round `since`
        without an answer, so that the caller can try another model; not before `patient_until_s`.
        """
        loop = asyncio.get_running_loop()
        try:
            while (
                since is None
                or self._round - max(since, self._answered_round) < MAX_CLOSINGS
                or loop.time() < patient_until_s
            ):
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
            self._wake(1)  # this call may have been woken already: pass the turn on
            raise
        self._wake(1)
        return None

    def leave(self, gate_pass: GatePass, ending: Ending, *, asked_s: float | None = None) -> None:
        """Report how a call ended; `asked_s` is the wait that the model asked for.

        Calls from before the gate last closed say nothing new about its width.
        """
        self._inside -= 1
        is_current = gate_pass.round == self._round
        if ending == "answered" and is_current:
            self._answered_round = self._round
            if self._width is not None:
                self._width = self._width + 1 if self._width < _WIDE else None
        elif ending == "refused":
            self._refused.append(gate_pass.number)
            if is_current:
                self._narrow(gate_pass, asked_s)
            elif self.closed_s and asked_s is not None:
                self._close_for(asked_s)
        free = len(self._waiting) if self._width is None else self._width - self._inside
        self._wake(free)

    def _narrow(self, gate_pass: GatePass, asked_s: float | None) -> None:
        refused = max(
            sum(gate_pass.number - back + along in self._refused for along in range(IN_A_ROW))
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
        self._wake(len(self._waiting))  # each of them checks whether it has to wait again

    def _wake(self, count: int) -> None:
        while count > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                count -= 1


def pause_s(asked_s: float | None, failures: int, jitter: float) -> float:
    """Seconds to wait before the next try, from 0 to `MAX_PAUSE_S`.

    Half a second, one, two, ... with the number of `failures`, or `asked_s` if that is longer; up
    to a quarter more by `jitter`, so that not all calls return at once.
    """
    wait_s = _FIRST_PAUSE_S * 2.0 ** min(max(failures, 1) - 1, 10)
    if asked_s is not None:
        wait_s = max(wait_s, asked_s)  # in this order NaN does not count
    return min(wait_s * (1 + jitter / 4), MAX_PAUSE_S)
