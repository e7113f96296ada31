"""Times of a run that its state adds up: of model calls, and of waits for a person. Pure."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leadhand.contracts.events import Event
    from leadhand.state.run_state import RunState


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


MOMENT_S = 0.1
"""Shorter times between two events are not looked at: a run of many tasks has too many of them."""


@dataclass(slots=True)
class PersonTime:
    """The time that no work of a run fills while a question to a person is open."""

    waits: list[tuple[float, float]] = field(default_factory=list[tuple[float, float]])
    """Disjoint intervals, in order."""
    last_s: float = 0.0
    """When the last event was recorded."""
    asked: bool = False
    """Whether the run, or one within it, ever asked a person."""

    @property
    def waited_s(self) -> float:
        return sum(end - start for start, end in self.waits)

    def add(self, state: "RunState", event: "Event") -> None:
        """Add the time before `event`, which is not applied to `state` yet."""
        if event.elapsed_s - self.last_s >= MOMENT_S and _only_asks(state):
            self.waits.append((self.last_s, event.elapsed_s))
        # A call or a decision is known when it ends; questions may have been asked and answered
        # meanwhile.
        took_s = None
        if event.type == "model_called":
            took_s = event.duration_s
        elif event.type == "round_decided":
            took_s = event.took_s
        began_s = event.elapsed_s - (took_s or 0.0)
        while self.waits and self.waits[-1][1] > began_s:
            start_s, _ = self.waits.pop()
            if start_s < began_s:
                self.waits.append((start_s, began_s))


def _only_asks(state: "RunState") -> bool:
    """Whether a question is open, no task runs or waits to be retried, and no answer is written.

    O(tasks).
    """
    if state.synthesis_started_s is not None:
        return False
    busy = [one for one in state.tasks.values() if one.status == "running" or one.retry_in_s]
    return bool(state.questions or busy) and all(
        # An earlier attempt may have left a nested run with its question.
        task.nested is not None
        and task.nested.person_time.last_s >= task.dispatched_s
        and _only_asks(task.nested)
        for task in busy
    )


def why_work_ends(state: "RunState", work_ends_s: float) -> str:
    """Why a run's work stops, so many seconds into the run."""
    due_s = state.due_s or work_ends_s
    given_s = due_s - state.resumed_s
    why = f"the run's deadline of {round(given_s, 1 if given_s >= 1 else 3):g} s"
    early_s = due_s - work_ends_s
    if early_s > 0.01:
        return f"stopped {early_s:.2g} s before {why} to leave time for the answer"
    return f"{why} was reached"
