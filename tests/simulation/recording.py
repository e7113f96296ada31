"""What is known of a simulated run, process by process, and the journal that it was kept in."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from leadhand.contracts.answer import Answer
from leadhand.contracts.events import Event
from leadhand.contracts.outcome import Handoff
from leadhand.journal import MemoryJournal
from leadhand.state.fold import RunState
from tests.simulation.processes import Process
from tests.simulation.scenario import Scenario


class MortalJournal(MemoryJournal):
    """A journal in memory whose process may be lost at one of its commits."""

    def __init__(self, past: Sequence[Event] = (), *, lost_at: int | None = None) -> None:
        """`lost_at` is the number of the commit after which nothing is kept any more."""
        super().__init__()
        self.lost = False
        self.on_lost: Callable[[], object] = bool
        self._commits_left = lost_at
        self._wake_up = False
        for event in past:
            super().append(event)

    def append(self, event: Event) -> None:
        """Keep an event, as long as there is a process."""
        if not self.lost:
            self._wake_up = True
            super().append(event)

    async def commit(self, run_id: str | None = None) -> None:
        """The same; one that has nothing to make safe does not count."""
        if not self._wake_up or self.lost:
            return
        self._wake_up = False
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
    """The same up to the end of the process before."""
    events: tuple[Event, ...] = ()
    """All that is kept, of the processes before too."""
    state: RunState = field(default_factory=RunState)
    answer: Answer | None = None
    error: BaseException | None = None
    """What came out of the run in place of an answer."""
    given: list[tuple[int, str, Handoff]] = field(default_factory=list[tuple[int, str, Handoff]])
    """Every handoff: the last event before, the whole way of its task, and what was handed over."""
    noticed: list[str] = field(default_factory=list[str])
    """What was seen to be wrong while it went on."""
    returned: list[tuple[int, str, int]] = field(default_factory=list[tuple[int, str, int]])
    """Whenever a worker returned: the last event before, the way of its task, the attempt."""
    revised: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    """Each time the plan was revised: the last event before, and the last one meanwhile."""
    ended_s: float = 0.0
    left: list[str] = field(default_factory=list[str])
    """Tasks and timers that were there after the run."""
    seq_at_end: int = 0
    """The last event when the run returned."""
    whole: bool = False
    stopped: bool = False
    """Whether it was told to stop before it was over."""
    journal: MortalJournal = field(default_factory=MortalJournal)

    @property
    def scenario(self) -> Scenario:
        """What the process was to do."""
        return self.process.made

    @property
    def was_cancelled(self) -> bool:
        """Whether the run's own task was cancelled, so that no answer can be asked of it."""
        return isinstance(self.error, asyncio.CancelledError)
