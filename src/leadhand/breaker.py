"""The breaker of a worker: closed while it works, open after too many failures in a row. Pure.

While it is open the worker's tasks go to its fallback. After a pause it is half open: one task, the
probe, is given to the worker again, and what becomes of it closes the breaker or opens it anew.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from leadhand.contracts.team import Ladder


MAX_DOUBLINGS = 6
"""How often the pause is doubled at most."""


@dataclass(slots=True)
class Breaker:
    """What is known of how a worker fares. It changes by events alone."""

    failures: int = 0
    """In a row."""
    openings: int = 0
    """In a row; 0 while it is closed."""
    until_s: float = 0.0
    """Seconds into the run at which the pause ends."""
    probe: str | None = None
    """The task that the worker was given to prove itself, while it works on it."""

    @property
    def status(self) -> Literal["closed", "open", "half_open"]:
        """In one word."""
        if not self.openings:
            return "closed"
        return "open" if self.probe is None else "half_open"

    def admits(self, now_s: float) -> bool:
        """Whether the worker may be given a task now."""
        return not self.openings or (self.probe is None and now_s >= self.until_s)

    def open(self, now_s: float, pause_s: float) -> None:
        """The worker rests for `pause_s`."""
        self.openings += 1
        self.until_s = now_s + pause_s
        self.probe = None

    def succeeded(self) -> None:
        """The worker gave an outcome of its own."""
        self.failures = 0
        self.probe = None

    def failed(self, task_id: str) -> None:
        """The worker failed at a task."""
        self.failures += 1
        if self.probe == task_id:
            self.probe = None


def admits(breakers: Mapping[str, Breaker], worker: str, now_s: float) -> bool:
    """Whether `worker` may be given a task now."""
    breaker = breakers.get(worker)
    return breaker is None or breaker.admits(now_s)


def pause_due(breaker: Breaker, ladder: "Ladder", now_s: float) -> float | None:
    """For how many seconds a worker that has just failed has to rest; none where it need not."""
    if breaker.openings:
        opens = breaker.probe is None and now_s >= breaker.until_s
    else:
        opens = breaker.failures >= ladder.breaker_failures
    return ladder.breaker_pause_s * 2 ** min(breaker.openings, MAX_DOUBLINGS) if opens else None
