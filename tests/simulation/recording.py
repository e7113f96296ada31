"""What is known of a simulated run, process by process; its store, and its event loop."""

import asyncio
from collections.abc import Callable, Sequence
from contextvars import Context
from dataclasses import dataclass, field
from typing import TypeVarTuple, Unpack

from leadhand.contracts.answer import Answer
from leadhand.contracts.events import Event
from leadhand.journal.store_journal import MemoryStore
from leadhand.state.fold import RunState
from leadhand.testing import VirtualTimeLoop
from tests.simulation.scenario import Process, Scenario

Ts = TypeVarTuple("Ts")

ENDLESS_S = 100_000.0
"""No simulated run takes that long; one that does, waits for what never comes."""


class Stalled(Exception):
    """A run that never ends."""


class SimulatedLoop(VirtualTimeLoop):
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
        handle = super().call_at(when, callback, *args, context=context)
        task = asyncio.current_task(self) if self.is_running() else None
        self._timers.append((task.get_name() if task is not None else "", handle))
        return handle

    def jump(self, seconds: float) -> None:
        super().jump(seconds)
        if self.time() >= ENDLESS_S:
            raise Stalled(f"after {ENDLESS_S:,.0f} virtual seconds the run still goes on")

    def timers_left(self) -> list[str]:
        """By whose name each timer was set that is still to fire."""
        now_s = self.time()
        return [name for name, one in self._timers if not one.cancelled() and one.when() > now_s]


class MortalStore(MemoryStore):
    """A store in memory whose process may be lost at one of its commits."""

    def __init__(self, past: Sequence[Event] = (), *, lost_at: int | None = None) -> None:
        """`lost_at` is the number of the commit after which nothing is kept any more."""
        super().__init__()
        self.lost = False
        self.on_lost: Callable[[], object] = bool
        self._commits_left = lost_at
        self._unsafe = False
        for event in past:
            super().append(event)

    def append(self, event: Event) -> None:
        if not self.lost:
            self._unsafe = True
            super().append(event)

    async def commit(self, run_id: str | None = None) -> None:
        if not self._unsafe or self.lost:
            return
        self._unsafe = False
        await super().commit(run_id)
        if self._commits_left is not None:
            self._commits_left -= 1
            self.lost = self._commits_left == 0
        if self.lost:
            self.on_lost()


@dataclass(slots=True)
class Recording:
    """One simulated run as it went, up to the end of one of its processes."""

    process: Process
    before: "Recording | None" = None
    events: tuple[Event, ...] = ()
    state: RunState = field(default_factory=RunState)
    answer: Answer | None = None
    error: BaseException | None = None
    """What came out of the run in place of an answer."""
    noticed: list[str] = field(default_factory=list[str])
    """What was seen to be wrong while it went on."""
    returned: list[tuple[int, str, int]] = field(default_factory=list[tuple[int, str, int]])
    """Whenever a worker returned: the last event before, the path of its task, the attempt."""
    ended_s: float = 0.0
    left: list[str] = field(default_factory=list[str])
    """Tasks and timers that were there after the run."""
    seq_at_end: int = 0
    """The last event when the run returned."""
    stopped: bool = False
    store: MortalStore = field(default_factory=MortalStore)

    @property
    def scenario(self) -> Scenario:
        return self.process.made

    @property
    def was_cancelled(self) -> bool:
        """Whether the run's own task was cancelled, so that no answer can be asked of it."""
        return isinstance(self.error, asyncio.CancelledError)
