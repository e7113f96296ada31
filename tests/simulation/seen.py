"""What a log has said of one task, in plain words of its own."""

from dataclasses import dataclass

from leadhand.contracts.task import Task


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
    dispatched_s: float = 0.0
    failed_last: bool = False
    second_opinion: bool = False
    status: str = "pending"
    splits: int = 0

    @property
    def ended(self) -> bool:
        """Whether its final state is known."""
        return self.status != "pending"
