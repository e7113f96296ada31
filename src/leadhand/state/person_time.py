"""How long a run did nothing but wait for a person. Pure."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leadhand.contracts.events import Event
    from leadhand.state.run_state import RunState

MOMENT_S = 0.1
"""Shorter times between two events are not looked at: a run of many tasks has too many of them."""


@dataclass(slots=True)
class PersonTime:
    """The time that no work of a run fills while a question to a person is open."""

    waited_s: float = 0.0
    last_s: float = 0.0
    """When the last event was recorded."""
    asked: bool = False
    """Whether the run, or one within it, ever asked a person."""

    def add(self, state: "RunState", event: "Event") -> None:
        """Add the time before `event`, which is not applied to `state` yet."""
        passed_s, self.last_s = event.elapsed_s - self.last_s, event.elapsed_s
        if self.asked and passed_s >= MOMENT_S and _only_asks(state):
            called_s = event.duration_s if event.type == "model_called" else 0.0
            self.waited_s += max(0.0, passed_s - called_s)
        self.asked = self.asked or event.type == "approval_requested"


def _only_asks(state: "RunState") -> bool:
    """Whether a question is open, and no task runs or waits to be retried. O(tasks)."""
    busy = [one for one in state.tasks.values() if one.status == "running" or one.retry_in_s]
    return bool(state.questions or busy) and all(
        # An earlier attempt may have left a nested run with its question.
        task.nested is not None
        and task.nested.person_time.last_s >= task.dispatched_s
        and _only_asks(task.nested)
        for task in busy
    )
