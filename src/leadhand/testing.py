"""What tests of teams are made of: virtual time, and runners that do as they are told. Public.

Nothing here patches anything: virtual time is an event loop of its own, on which every sleep,
timeout and deadline takes exactly as long as it says and no real time at all.
"""

import asyncio
import datetime as dt
import selectors
from collections.abc import Awaitable, Callable, Coroutine
from typing import TypeVar

from leadhand.contracts.outcome import Completed, Handoff, Outcome, Result

T = TypeVar("T")


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock stands still while work is done, and jumps when all is waiting."""

    def __init__(self) -> None:
        self._virtual_s = 0.0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._virtual_s

    def jump(self, seconds: float) -> None:
        """Let `seconds` pass at once."""
        self._virtual_s += seconds


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


def run_virtual(work: Coroutine[object, object, T]) -> T:
    """What `work` returns, run to its end in virtual time."""
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(work)


class ScriptedRunner:
    """A worker's stand-in that does what a script says, by task id and attempt."""

    def __init__(self, script: Callable[[Handoff], Awaitable[Outcome] | Outcome]) -> None:
        self._script = script
        self.handoffs: list[Handoff] = []
        """Every handoff it was given, in order."""

    async def run(self, handoff: Handoff) -> Outcome:
        """Whatever the script gives for this handoff."""
        self.handoffs.append(handoff)
        outcome = self._script(handoff)
        return await outcome if isinstance(outcome, Awaitable) else outcome


def completed(output: str = "done") -> Completed:
    """A completed outcome with a text as its output."""
    return Completed(result=Result(output=output))
