"""The deadline of a run: when its work has to stop, and when its answer is due."""

from dataclasses import dataclass, replace

RESERVE = 0.2
"""The share of the time that is kept for a synthesis by a model."""
MAX_RESERVE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadline:
    """Its times are seconds into the run, as in the events."""

    limit_s: float | None = None
    """How many seconds the run has, from when it starts or is resumed; `None` for no limit."""
    due_s: float | None = None
    """When the answer is due."""
    reserve_s: float = 0.0
    """How long before that work stops, to leave time for the synthesis."""

    @classmethod
    def of(cls, limit_s: float | None, *, now_s: float, reserve: bool) -> "Deadline":
        """The deadline `limit_s` seconds from now; with `reserve` for a synthesis by a model."""
        if limit_s is None:
            return cls()
        reserve_s = min(RESERVE * limit_s, MAX_RESERVE_S) if reserve else 0.0
        return cls(limit_s=limit_s, due_s=now_s + limit_s, reserve_s=reserve_s)

    @property
    def work_ends_s(self) -> float | None:
        """When work has to stop."""
        return None if self.due_s is None else self.due_s - self.reserve_s

    def without_reserve(self) -> "Deadline":
        """All the time is for work: the synthesis calls no model."""
        return replace(self, reserve_s=0.0)

    def extended(self, seconds: float) -> "Deadline":
        """The deadline after `seconds` in which the run only waited for a person."""
        return self if self.due_s is None else replace(self, due_s=self.due_s + seconds)
