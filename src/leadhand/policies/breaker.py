"""The breaker of a worker: closed while it works, open after too many failures in a row. Pure.

While it is open, the worker's tasks go to its fallback, or fail at once. After a pause the worker
gets one task, the probe; its outcome closes the breaker or opens it again.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from leadhand.untrusted.cutting import cut

if TYPE_CHECKING:
    from leadhand.contracts.team import Ladder

BreakerStatus = Literal["closed", "open", "half_open"]

MAX_DOUBLINGS = 6
"""The pause is doubled at most this often."""
_MAX_WHY = 300


@dataclass(slots=True)
class Breaker:
    """The health of one worker. Times are seconds of a monotonic clock."""

    failures: int = 0
    """Tasks that failed in a row; a task counts once, however many attempts it had."""
    openings: int = 0
    """How often it opened in a row; 0 while it is closed."""
    pause_s: float = 0.0
    pause_ends_s: float = 0.0
    probe: str | None = None
    last_failure: str = ""
    _counted: set[str] = field(default_factory=set[str])
    """The tasks counted in `failures`; empty while it is open."""

    @property
    def status(self) -> BreakerStatus:
        """`half_open` while a probe runs."""
        if self.is_closed:
            return "closed"
        return "open" if self.probe is None else "half_open"

    @property
    def is_closed(self) -> bool:
        return self.openings == 0

    def admits(self, now_s: float, *, retry: bool = False) -> bool:
        """During the first pause a `retry` may probe: its task started before the breaker
        opened, and a short outage is often over by then."""
        if self.is_closed:
            return True
        return self.probe is None and (now_s >= self.pause_ends_s or (retry and self.openings == 1))

    def dispatched(self, task: str) -> None:
        """The task is the probe, if the breaker is open."""
        if not self.is_closed and self.probe is None:
            self.probe = task

    def succeeded(self) -> bool:
        """True if that closes the breaker."""
        closes = not self.is_closed
        self.failures, self.openings, self.probe = 0, 0, None
        self._counted.clear()
        return closes

    def failed(self, task: str, why: str, ladder: "Ladder", now_s: float) -> bool:
        """Note a retryable failure. True if that opens the breaker. While it is open, only the
        probe counts: other tasks started before."""
        if task in self._counted if self.is_closed else self.probe != task:
            return False
        self._counted.add(task)
        self.failures += 1
        self.last_failure = cut(" ".join(why.split()), _MAX_WHY)
        if self.is_closed and self.failures < ladder.breaker_failures:
            return False
        self.pause_s = ladder.breaker_pause_s * 2 ** min(self.openings, MAX_DOUBLINGS)
        self.openings += 1
        self.pause_ends_s, self.probe = now_s + self.pause_s, None
        self._counted.clear()
        return True

    def released(self, task: str) -> None:
        """Note that a task ended without saying anything about the worker: another may probe."""
        if self.probe == task:
            self.probe = None

    @property
    def reason(self) -> str:
        return f"{self.failures} tasks in a row failed, the last with: {self.last_failure}"
