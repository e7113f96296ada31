"""The breaker of a worker: closed while it works, open after too many failures in a row. Pure.

While it is open the worker gets no task: its fallback does, or the task fails at once. After a
pause one task, the probe, is given to the worker; its outcome closes the breaker or opens it again.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from leadhand.contracts.team import Ladder

BreakerStatus = Literal["closed", "open", "half_open"]

MAX_DOUBLINGS = 6
"""How often the pause is doubled at most."""
_MAX_WHY = 300


@dataclass(slots=True)
class Breaker:
    """What is known of how a worker does. Seconds are of one clock that never goes back."""

    failures: int = 0
    """Tasks in a row that failed, each counted once however often it was tried."""
    openings: int = 0
    """In a row; 0 while it is closed."""
    until_s: float = 0.0
    """When the pause ends."""
    probe: str | None = None
    """The task that the worker was given to prove itself, while it works on it."""
    why: str = ""
    """The last failure."""
    _counted: set[str] = field(default_factory=set[str])
    """The tasks that were counted since the last success; empty while it is open."""

    @property
    def status(self) -> BreakerStatus:
        """In one word."""
        if not self.openings:
            return "closed"
        return "open" if self.probe is None else "half_open"

    def admits(self, now_s: float, *, retry: bool = False) -> bool:
        """Whether the worker may be given a task now.

        A `retry` is a sound probe before the first pause has ended: its task was begun in good
        faith, and what made many fail at once is often gone by then.
        """
        if not self.openings:
            return True
        return self.probe is None and (now_s >= self.until_s or (retry and self.openings == 1))

    def dispatched(self, task: str) -> None:
        """The worker was given a task; if the breaker is open it is the probe."""
        if self.openings and self.probe is None:
            self.probe = task

    def succeeded(self) -> bool:
        """The worker gave an outcome of its own; tells whether that closes the breaker."""
        was_open = self.openings > 0
        self.failures, self.openings, self.probe = 0, 0, None
        self._counted.clear()
        return was_open

    def failed(self, task: str, why: str, ladder: "Ladder", now_s: float) -> float | None:
        """The worker failed in a way that a retry could cure; gives the pause if it opens now.

        Late failures of tasks begun before it opened say nothing new.
        """
        if self.openings:
            if self.probe != task:
                return None
        elif task in self._counted:
            return None
        self._counted.add(task)
        self.failures += 1
        self.why = " ".join(why.split())[:_MAX_WHY]
        if not self.openings and self.failures < ladder.breaker_failures:
            return None
        pause_s = ladder.breaker_pause_s * 2 ** min(self.openings, MAX_DOUBLINGS)
        self.openings += 1
        self.until_s, self.probe = now_s + pause_s, None
        self._counted.clear()
        return pause_s

    def released(self, task: str) -> None:
        """A task ended in a way that says nothing of the worker; another may be the probe."""
        if self.probe == task:
            self.probe = None

    @property
    def reason(self) -> str:
        """Why it is open."""
        return f"{self.failures} tasks in a row failed, the last with: {self.why}"
