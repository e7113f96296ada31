"""The term of a run: when its work has to stop, and when its answer is due."""

from leadhand.engine.recorder import Recorder

RESERVE = 0.2
"""The share of the time that is kept for a synthesis by a model."""
MAX_RESERVE_S = 60.0


class Term:
    """Counts from the moment it is made. Its times are seconds into the run, as in the events."""

    def __init__(self, recorder: Recorder, deadline_s: float | None, *, reserve: bool) -> None:
        """`deadline_s` is seconds from now; none: there is no end. `reserve`: keep some of it."""
        self._recorder = recorder
        self.deadline_s = deadline_s
        kept_s = 0.0
        if deadline_s is not None and reserve:
            kept_s = min(RESERVE * deadline_s, MAX_RESERVE_S)
        self._kept_s = kept_s
        self.due_s = None if deadline_s is None else recorder.elapsed_s() + deadline_s

    @property
    def work_until_s(self) -> float | None:
        """When work has to stop, so that the synthesis has its time."""
        return None if self.due_s is None else self.due_s - self._kept_s

    def loop_time(self, elapsed_s: float | None) -> float | None:
        """The event loop's time at `elapsed_s` into the run."""
        return None if elapsed_s is None else self._recorder.monotonic(elapsed_s)

    def keep_nothing(self) -> None:
        """All the time is for work: the synthesis needs none."""
        self._kept_s = 0.0

    def extend(self, seconds: float) -> None:
        """Put off the end, by as long as nothing was done but to wait for a person."""
        if self.due_s is not None:
            self.due_s += seconds
