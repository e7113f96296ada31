"""Attempts: one worker at one task, held on a leash, with every way it can end made a value.

asyncio ends a task only when its coroutine does: one that swallows every `CancelledError` would
hold the run, and `asyncio.run` at its end, for ever. Hence the leash.
"""

import asyncio
import ctypes
from collections.abc import Coroutine, Generator
from dataclasses import dataclass
from typing import Generic, TypeVar

from leadhand.contracts.outcome import Completed, Escalated, Failed, Handoff, Outcome, Result
from leadhand.contracts.task import Limits
from leadhand.contracts.team import Worker
from leadhand.ports import Runner
from leadhand.state import TaskState

T = TypeVar("T")


class Slots:
    """How many tasks may run at once; several lanes can share one, of nested runs too."""

    __slots__ = ("free", "users")

    def __init__(self, count: int) -> None:
        self.free = count
        self.users: list[asyncio.Event] = []
        """What wakes the schedulers that may wait for one."""

    def give_back(self, by: asyncio.Event) -> None:
        """One is free again; every user is told but the one who gave it back."""
        self.free += 1
        for user in self.users:
            if user is not by:
                user.set()


@dataclass(slots=True, eq=False)
class Lane:
    """The tasks that are ready for one worker, and the slots that each of them takes."""

    worker: Worker
    runner: Runner
    slots: tuple[Slots, ...]
    ready: list[tuple[float, int, str]]
    """A heap of (minus the remaining path, order of arrival, task id)."""

    def open(self) -> bool:
        """Whether one more of its tasks may run."""
        return min([slots.free for slots in self.slots]) > 0


class Leash(Generic[T]):
    """Awaits `work` step by step. After `let_go`, the next cancellation is final."""

    __slots__ = ("_held", "_work")

    def __init__(self, work: Coroutine[object, object, T]) -> None:
        self._work = work
        self._held = True

    def let_go(self) -> None:
        """From now on a cancellation ends the wait; the coroutine stays where it stands."""
        self._held = False

    def __await__(self) -> Generator[object, object, T]:
        work = self._work
        thrown: BaseException | None = None
        while True:
            try:
                waits_for = work.send(None) if thrown is None else work.throw(thrown)
            except StopIteration as stop:
                return stop.value
            try:
                yield waits_for
                thrown = None
            except asyncio.CancelledError as cancelled:
                if not self._held:
                    _never_collect(work)
                    raise
                thrown = cancelled
            except BaseException as error:
                thrown = error


def _never_collect(work: object) -> None:
    """Keep `work` past even the interpreter's own clean-up.

    Collecting a suspended coroutine throws `GeneratorExit` into it. One that ignores cancellation
    is likely to ignore that too, and then the process would never exit.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(work))


@dataclass(slots=True, eq=False)
class Attempt:
    """One attempt while it runs."""

    task: TaskState
    number: int
    lane: Lane
    limits: Limits
    leash: Leash[Outcome]
    work: asyncio.Task[None] | None = None
    timer: asyncio.TimerHandle | None = None
    told_to_stop: str | None = None
    """Why it was cancelled: `timeout`, or the reason why the run stops."""

    def ended(self, outcome: Outcome | None) -> Outcome | None:
        """How it ended, given what came back; none where the run stopped it."""
        if self.told_to_stop == "timeout":
            message = f"no answer within {self.limits.timeout_s:g} s"
            return Failed(kind="timeout", message=message, partial=partial(outcome))
        if self.told_to_stop is not None:
            return None
        return outcome or Failed(kind="error", message="the worker's task was cancelled")


async def contained(runner: Runner, given: Handoff) -> Outcome:
    """The runner's outcome; whatever else it raises or returns becomes a failure."""
    try:
        outcome = await runner.run(given)
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return Failed(kind="error", message=f"{type(error).__name__}: {error}"[:2_000])
    # The type says what a runner should give; this is where it is held to it.
    if type(outcome) in (Completed, Escalated, Failed):
        return outcome
    kind = type(outcome).__name__
    return Failed(kind="invalid_output", message=f"the worker returned {kind}, not an outcome")


def partial(outcome: Outcome | None) -> Result | None:
    """What an attempt that was told to stop handed in all the same."""
    if outcome is None:
        return None
    return outcome.result if isinstance(outcome, Completed) else outcome.partial
