"""The event loop of a simulated run: virtual time that can run out, and a list of its timers."""

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import TypeVarTuple, Unpack

from leadhand.testing import VirtualTimeLoop

Ts = TypeVarTuple("Ts")

ENDLESS_S = 100_000.0
"""No simulated run takes that long; one that does, waits for what never comes."""


class Stalled(Exception):
    """A run that never ends."""


class SimulatedLoop(VirtualTimeLoop):
    """Virtual time up to `ENDLESS_S`."""

    def __init__(self) -> None:
        self._timers: list[tuple[str, asyncio.TimerHandle]] = []
        super().__init__()
        # While there is one timer, the loop jumps rather than waits for ever.
        self._last = super().call_at(ENDLESS_S, self.stop)

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[Ts]], object],
        *args: *Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """The same, and whose timer it is."""
        handle = super().call_at(when, callback, *args, context=context)
        task = asyncio.current_task(self) if self.is_running() else None
        self._timers.append((task.get_name() if task is not None else "", handle))
        return handle

    def jump(self, seconds: float) -> None:
        """Let `seconds` pass at once, unless there are no more."""
        super().jump(seconds)
        if self.time() >= ENDLESS_S:
            raise Stalled(f"after {ENDLESS_S:,.0f} virtual seconds the run still goes on")

    def timers_left(self) -> list[str]:
        """By whose name each timer was set that is still to fire."""
        now_s = self.time()
        return [name for name, one in self._timers if not one.cancelled() and one.when() > now_s]
