"""What a log has said of one task, in plain words of its own."""

from collections.abc import Mapping
from dataclasses import dataclass

from leadhand.contracts.events import TaskFailed
from leadhand.contracts.task import Task
from leadhand.engine.shared_workers import MAX_CRASHES


@dataclass(slots=True)
class Seen:
    """What the log has said of one task."""

    task: Task
    worker: str
    before: int = 0
    """Attempts at the tasks that it is a part of."""
    attempts: int = 0
    started: bool = False
    """Whether it was ever dispatched."""
    running: bool = False
    interrupted: bool = False
    """Whether the run put an end to the last attempt, so that it may be made once more."""
    undecided: bool = False
    """Whether nothing was said yet about what follows from the last attempt."""
    retryable: bool = False
    """Whether it ended for want of budget, or by a failure that was said to pass."""
    forgiven: int = 0
    """Attempts before the run went on after such a failure."""
    crashes: int = 0
    """How often in a row the process had died while it ran, as the run was resumed last."""
    dispatched_s: float = 0.0
    failed_last: bool = False
    second_opinion: bool = False
    status: str = "pending"
    splits: int = 0

    @property
    def ended(self) -> bool:
        """Whether its final state is known."""
        return self.status != "pending"

    def given_up_as_crashed(self, event: TaskFailed) -> bool:
        """Whether it fails because the process died so often while it ran. Each of these attempts
        was numbered as the first of them, and each counts now."""
        return event.kind == "crashed" and not self.running and self.crashes >= MAX_CRASHES


def ancestors(id: str, tasks: Mapping[str, Seen]) -> set[str]:
    """All tasks that this one needs, directly or not."""
    found: set[str] = set()
    stack = [id]
    while stack:
        for needed in tasks[stack.pop()].task.depends_on:
            if needed not in found:
                found.add(needed)
                stack.append(needed)
    return found
