"""The time of model calls. Pure."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class CallTimes:
    """Model calls of one phase, and the time that they and their waits fill."""

    took_s: float = 0.0
    """All calls one after the other, without their waits."""
    filled: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """Disjoint intervals in which any call ran or waited, in order."""

    def add(self, ended_s: float, *, took_s: float, queued_s: float) -> None:
        """Add a call that ended after all the others."""
        self.took_s += took_s
        started_s = ended_s - took_s - queued_s
        while self.filled and self.filled[-1][1] >= started_s:
            started_s = min(started_s, self.filled.pop()[0])
        self.filled.append((started_s, ended_s))

    def worked_s(self, phase_s: float) -> float:
        """The work in a phase of that length, its calls one after the other and without waits."""
        return self.took_s + max(0.0, phase_s - sum(end - start for start, end in self.filled))
