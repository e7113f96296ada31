"""The breakers of a simulated run's workers, as its log says; one for each worker, in all its runs.

Like the log it is told of events alone, and knows nothing of the engine's own breakers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from leadhand.contracts.events import (
    BreakerOpened,
    Event,
    OpinionJudged,
    RunFinished,
    TaskCancelled,
    TaskCompleted,
    TaskDispatched,
    TaskEscalated,
    TaskFailed,
)
from leadhand.contracts.team import Ladder, Worker

Key = tuple[str, ...]
"""A task, with those that it is within."""


@dataclass(slots=True)
class Watched:
    """One worker's breaker."""

    counted: set[Key] = field(default_factory=set[Key])
    failures: int = 0
    openings: int = 0
    until_s: float = 0.0
    probe: Key | None = None
    due: bool = False
    """Whether it has to open before anything else is given to the worker."""
    closing: bool = False
    """Whether it may be said to have closed."""

    def succeeded(self) -> None:
        """The worker gave an outcome of its own."""
        closing = self.closing or self.openings > 0
        self.__init__()
        self.closing = closing

    def failed(self, task: Key, ladder: Ladder) -> None:
        """The worker failed in a way that a retry could cure."""
        if self.openings:
            if self.probe != task:
                return
            self.due, self.probe = True, None
        elif task in self.counted:
            return
        self.counted.add(task)
        self.failures += 1
        self.due = self.due or self.failures >= ladder.breaker_failures

    def released(self, task: Key) -> None:
        """A task ended in a way that says nothing of the worker."""
        if self.probe == task:
            self.probe = None

    def opened(self, event: BreakerOpened) -> Iterator[str]:
        """What is wrong with its opening."""
        if event.failures != self.failures:
            yield f"{self.failures} tasks in a row failed, not {event.failures}"
        if not self.due:
            yield f"its breaker opened after {event.failures} failures"
        self.openings += 1
        self.until_s = event.elapsed_s + event.pause_s
        self.counted, self.due, self.probe = set(), False, None

    def closed(self) -> Iterator[str]:
        """What is wrong with its closing."""
        if not self.openings and not self.closing:
            yield "the breaker closed, and it had no reason to"
        self.succeeded()
        self.closing = False

    def admits(self, now_s: float, *, retry: bool) -> bool:
        """Whether the worker may be given a task."""
        early = retry and self.openings == 1
        return not self.openings or (self.probe is None and (now_s >= self.until_s or early))

    def given(self, task: Key, worker: Worker, now_s: float, *, retry: bool) -> Iterator[str]:
        """What is wrong with giving the worker a task."""
        if self.due:
            yield f"{worker.name} failed too often in a row, and its breaker did not open"
        has_code = worker.offline is not None and worker.run is None
        if not self.admits(now_s, retry=retry) and not has_code:
            yield f"the breaker of {worker.name} is open"
        if self.openings and self.probe is None:
            self.probe = task


def second_results(
    events: Sequence[Event], returned: Sequence[tuple[int, str, int]]
) -> dict[int, list[str]]:
    """By the last event before it: the tasks whose second result came, to be judged.

    The breaker counts a worker's success at once; the log tells of it with the judge's verdict.
    """
    found: dict[int, list[str]] = {}
    since: dict[str, TaskDispatched] = {}
    finished = [
        (event.seq, "/".join(event.within), 0) for event in events if isinstance(event, RunFinished)
    ]
    for event in events:
        if isinstance(event, TaskDispatched):
            since[event.task_id] = event
        elif isinstance(event, OpinionJudged) and (start := since.pop(event.task_id, None)):
            came = [
                seq
                for seq, way, attempt in (*returned, *finished)
                if way == event.task_id
                and attempt in (start.attempt, 0)
                and start.seq <= seq < event.seq
            ]
            found.setdefault(max(came, default=event.seq - 1), []).append(event.task_id)
        elif isinstance(event, (TaskCancelled, TaskCompleted, TaskEscalated, TaskFailed)):
            since.pop(event.task_id, None)
    return found
