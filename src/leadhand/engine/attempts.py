"""Attempts: one worker at one task, held on a leash, with every way it can end made a value.

asyncio ends a task only when its coroutine does: one that swallows every `CancelledError` would
hold the run, and `asyncio.run` at its end, for ever. Hence the leash.
"""

import asyncio
import ctypes
import functools
import math
from collections import deque
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from leadhand.contracts import events
from leadhand.contracts.event_fields import AttemptTimes
from leadhand.contracts.outcome import Completed, Escalated, Failed, Handoff, Outcome, Result
from leadhand.contracts.task import Limits
from leadhand.contracts.task_events import stuck_message
from leadhand.contracts.team import Rung, Worker
from leadhand.engine.failures import failure_of
from leadhand.engine.quarantine import Quarantine, inside_worker
from leadhand.engine.recorder import Recorder
from leadhand.engine.shared_workers import SharedWorker, Waiter
from leadhand.engine.stopwatch import Stopwatch
from leadhand.engine.time_left import attempt_time
from leadhand.ports import Runner
from leadhand.state.fold import TaskState

T_co = TypeVar("T_co", covariant=True)

GRACE_S = 0.25
"""How long an attempt that was told to stop may take to clean up."""


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
class ReadyQueue:
    """The tasks that are ready for one worker, and the slots that each of them takes."""

    worker: Worker
    runner: Runner
    slots: tuple[Slots, ...]
    shared: SharedWorker
    """What other runs share of its worker."""
    waiter: Waiter
    """The run."""
    ready: list[tuple[float, int, str]] = field(default_factory=list[tuple[float, int, str]])
    """A heap of (minus the remaining path, order of arrival, task id)."""

    @property
    def has_room(self) -> bool:
        """Whether the run itself may have one more of its tasks run."""
        return min([slots.free for slots in self.slots]) > 0

    def open(self) -> bool:
        """Whether one more of its tasks may run."""
        return self.has_room and self.shared.may_start(self.waiter)


class AbandonableTask(Generic[T_co]):
    """Awaits `work` step by step, and times it. After `abandon`, the next cancellation is final."""

    __slots__ = ("_begun", "_held", "_work", "watch")

    def __init__(self, work: Coroutine[object, object, T_co]) -> None:
        self._work = work
        self.watch = Stopwatch()
        self._begun = False
        self._held = True

    def abandon(self) -> None:
        """From now on a cancellation ends the wait; the coroutine stays where it stands."""
        self._held = False

    def drop(self) -> None:
        """End work that was never begun, so that nobody misses its beginning."""
        if not self._begun:
            self._work.close()

    def __await__(self) -> Generator[object, object, T_co]:
        work, watch = self._work, self.watch
        self._begun = True
        watch.start()
        thrown: BaseException | None = None
        while True:
            try:
                waits_for = work.send(None) if thrown is None else work.throw(thrown)
            except StopIteration as stop:
                return stop.value
            watch.pause(ready=waits_for is None)
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
            watch.resume()


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
    queue: ReadyQueue
    limits: Limits
    abandonable: AbandonableTask[Outcome]
    work: asyncio.Task[None] | None = None
    begun: bool = False
    timer: asyncio.TimerHandle | None = None
    stop_requested: str | None = None
    """Why it was cancelled: `timeout`, or the reason why the run stops."""

    def ended(self, outcome: Outcome | None) -> Outcome | None:
        """How it ended, given what came back; none where the run stopped it."""
        if self.stop_requested == "timeout":
            message = f"no answer within {self.limits.timeout_s:g} s"
            left = partial(outcome)
            return Failed(kind="timeout", message=message, partial=left, transient=True)
        if self.stop_requested is not None:
            return None
        return outcome or Failed(kind="error", message="the worker's task was cancelled")


@dataclass(slots=True, eq=False)
class PastAttempt:
    """An attempt that has come back, while it is decided what follows."""

    task: TaskState
    number: int
    worker: str
    limits: Limits
    work: AttemptTimes
    """What it took."""
    ruled_out: frozenset[Rung] = frozenset()
    """Rungs of the ladder that nobody had anything to say for after it."""


class Attempts:
    """The attempts under way."""

    def __init__(
        self,
        recorder: Recorder,
        wake_up: asyncio.Event,
        *,
        quarantine: Quarantine,
        grace_s: float,
    ) -> None:
        """`wake_up` is set when one has come back; `grace_s` is what each has to clean up."""
        self._recorder = recorder
        self._wake_up = wake_up
        self._quarantine = quarantine
        self._grace_s = grace_s
        self._to_begin: list[Attempt] = []
        self.running: dict[str, Attempt] = {}
        """By task id, until they are taken off."""
        self.back: deque[tuple[Attempt, Outcome | None]] = deque()
        """What came back and nobody has looked at yet."""

    @property
    def any_working(self) -> bool:
        """Whether a worker of this run, other than a team, is at work."""
        return any(one.queue.worker.team is None for one in self.running.values())

    def add(self, attempt: Attempt) -> None:
        """Take the slots of an attempt; its work starts with the next `begin`."""
        self.running[attempt.task.task.id] = attempt
        self._to_begin.append(attempt)
        for slots in attempt.queue.slots:
            slots.free -= 1
        if attempt.queue.worker.team is None:
            self._quarantine.enter()

    def begin(self) -> None:
        """Start the work of what was added and was not told to stop since."""
        added, self._to_begin = self._to_begin, []
        for attempt in added:
            if attempt.stop_requested is None:
                self._begin(attempt)

    def _begin(self, attempt: Attempt) -> None:
        """It is stopped at its timeout."""
        id = attempt.task.task.id
        loop = asyncio.get_running_loop()
        name = f"task:{self._recorder.path}{id}"
        attempt.work = loop.create_task(self._work(attempt), name=name)
        if attempt.limits.timeout_s is not None:
            attempt.timer = loop.call_later(
                attempt.limits.timeout_s, self.request_stop, attempt, "timeout"
            )

    @contextmanager
    def _paused(self, attempt: Attempt) -> Generator[None]:
        """Within the block the attempt's timeout does not count down."""
        timer = attempt.timer
        if timer is None or attempt.stop_requested is not None:
            yield
            return
        loop = asyncio.get_running_loop()
        left_s = timer.when() - loop.time()
        timer.cancel()
        try:
            yield
        finally:
            if attempt.stop_requested is None:
                attempt.timer = loop.call_later(left_s, self.request_stop, attempt, "timeout")

    def release(self, attempt: Attempt) -> bool:
        """Give its slots back. False where that was done before: an attempt ends once."""
        if self.running.pop(attempt.task.task.id, None) is None:
            return False
        if attempt.timer is not None:
            attempt.timer.cancel()
        queue = attempt.queue
        taken_s = self._recorder.elapsed_s() - attempt.task.dispatched_s
        queue.shared.give_back(queue.waiter, taken_s)
        for slots in queue.slots:
            slots.give_back(self._wake_up)
        if queue.worker.team is None:
            self._quarantine.leave()
        return True

    def request_stop(self, attempt: Attempt, why: str) -> None:
        """Cancel an attempt; after its grace it is abandoned."""
        if attempt.stop_requested is not None or (attempt.work and attempt.work.done()):
            return
        attempt.stop_requested = why
        if attempt.work is None:  # its dispatch is not safe yet
            attempt.abandonable.drop()
            self._came_back(attempt, None)
            return
        if attempt.timer is not None:
            attempt.timer.cancel()
        loop = asyncio.get_running_loop()
        attempt.timer = loop.call_later(self._grace_s, self.abandon, attempt)
        attempt.work.cancel()
        if not attempt.begun:  # cancelled before its first step, it would never come back
            attempt.abandonable.drop()
            self._came_back(attempt, None)

    def abandon(self, attempt: Attempt) -> None:
        """Wait for an attempt no more; its worker is named."""
        attempt.abandonable.abandon()
        if attempt.work is None or not attempt.work.cancel():
            return
        id, name = attempt.task.task.id, attempt.queue.worker.name
        self._recorder.record(
            events.WorkerStuck(
                **self._recorder.task_stamp(id, attempt.number),
                worker=name,
                message=stuck_message(name, id),
            )
        )

    async def _work(self, attempt: Attempt) -> None:
        attempt.begun = True
        inside_worker.set(attempt.queue.worker.team is None or inside_worker.get())
        left_s = min(attempt.limits.timeout_s or math.inf, self._recorder.time_left_s)
        with attempt_time(left_s, pause=functools.partial(self._paused, attempt)):
            try:
                outcome = await attempt.abandonable
            except asyncio.CancelledError:
                outcome = None  # `Attempt.ended` says what that means
        attempt.abandonable.watch.stop()
        self._came_back(attempt, outcome)

    def _came_back(self, attempt: Attempt, outcome: Outcome | None) -> None:
        self.back.append((attempt, outcome))
        self._wake_up.set()


async def contained(runner: Runner, given: Handoff) -> Outcome:
    """The runner's outcome; whatever else it raises or returns becomes a failure."""
    try:
        outcome = await runner.run(given)
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return failure_of(error)
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
