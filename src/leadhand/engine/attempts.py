"""Attempts: each way in which work on a task can end becomes a value.

An asyncio task ends only when its coroutine does: one that swallows `CancelledError` would block
the run, and `asyncio.run` at its end, for ever. So attempts are abandonable tasks.
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

from leadhand.contracts.events.fields import AttemptTimes
from leadhand.contracts.events.task import stuck_message
from leadhand.contracts.ladder import Rung
from leadhand.contracts.outcome import Completed, Escalated, Failed, Handoff, Outcome, Result
from leadhand.contracts.task import Limits
from leadhand.engine.current_attempt import CurrentAttempt, attempt_time, current_attempt
from leadhand.engine.failures import failure_of
from leadhand.engine.recorder import Recorder
from leadhand.engine.shared_workers import Quarantine, ReadyQueue, inside_worker
from leadhand.engine.stopwatch import Stopwatch
from leadhand.ports import Runner
from leadhand.state.fold import TaskState

T_co = TypeVar("T_co", covariant=True)

GRACE_S = 0.25


class AbandonableTask(Generic[T_co]):
    """Awaits `work` and times it. After `abandon`, the next cancellation ends the wait for it."""

    __slots__ = ("_abandoned", "_begun", "_work", "watch")

    def __init__(self, work: Coroutine[object, object, T_co]) -> None:
        self._work = work
        self.watch = Stopwatch()
        self._begun = False
        self._abandoned = False

    def abandon(self) -> None:
        """Let the next cancellation end the wait, even if the coroutine ignores it."""
        self._abandoned = True

    def drop(self) -> None:
        """Close work that never began, which would otherwise warn."""
        if not self._begun:
            self._work.close()

    def __await__(self) -> Generator[object, object, T_co]:
        self._begun = True
        self.watch.start()
        try:
            return (yield from self._steps())
        finally:
            self.watch.stop()

    def _steps(self) -> Generator[object, object, T_co]:
        work, loop = self._work, asyncio.get_running_loop()
        thrown: BaseException | None = None
        while True:
            try:
                waits_for = work.send(None) if thrown is None else work.throw(thrown)
            except StopIteration as stop:
                return stop.value
            paused_s = loop.time()
            try:
                yield waits_for
                thrown = None
            except asyncio.CancelledError as cancelled:
                if self._abandoned:
                    _never_collect(work)
                    raise
                thrown = cancelled
            except BaseException as error:
                thrown = error
            self.watch.resume(paused_s, ready=waits_for is None)


def _never_collect(work: object) -> None:
    """Keep `work` alive even through the interpreter's own clean-up.

    Collecting a coroutine throws `GeneratorExit` into it. If it ignores that as it ignored its
    cancellation, the process would never exit.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(work))


@dataclass(slots=True, eq=False)
class Attempt:
    """An attempt that has been dispatched and not yet handled."""

    task: TaskState
    number: int
    queue: ReadyQueue
    limits: Limits
    abandonable: AbandonableTask[Outcome]
    work: asyncio.Task[None] | None = None
    begun: bool = False
    timer: asyncio.TimerHandle | None = None
    stop_requested: str | None = None
    """Why it was cancelled: `timeout`, or why the run stops."""

    def outcome(self, returned: Outcome | None) -> Outcome | None:
        """How the attempt ended, given what its work returned; `None` if the run stopped it."""
        if self.stop_requested == "timeout":
            message = f"no answer within {self.limits.timeout_s:g} s"
            return Failed(
                kind="timeout", message=message, partial=partial_result(returned), transient=True
            )
        if self.stop_requested is not None:
            return None
        return returned or Failed(kind="error", message="the worker's task was cancelled")


@dataclass(slots=True, eq=False)
class EndedAttempt:
    """An attempt that has ended, for recovery and second opinions."""

    task: TaskState
    number: int
    worker: str
    limits: Limits
    times: AttemptTimes
    ruled_out: frozenset[Rung] = frozenset()
    """Rungs that got no advice after it."""


@dataclass(slots=True, eq=False)
class Attempts:
    """The attempts of one run: starts, stops and abandons their work."""

    recorder: Recorder
    wake_up: asyncio.Event
    quarantine: Quarantine
    grace_s: float
    running: dict[str, Attempt] = field(init=False, default_factory=dict)
    """By task id, until they are released."""
    ended: deque[tuple[Attempt, Outcome | None]] = field(init=False, default_factory=deque)
    """Attempts to be handled, with what their work returned."""
    _to_begin: list[Attempt] = field(init=False, default_factory=list)

    @property
    def works(self) -> list[asyncio.Task[None]]:
        """The work of the running attempts whose dispatch is committed."""
        return [one.work for one in self.running.values() if one.work is not None]

    @property
    def any_working(self) -> bool:
        """Whether a worker of this run, other than a nested team, is working."""
        return any(one.queue.worker.team is None for one in self.running.values())

    def add(self, attempt: Attempt) -> None:
        """Take the slots for an attempt; its work starts with the next `begin`."""
        self.running[attempt.task.id] = attempt
        self._to_begin.append(attempt)
        for slots in attempt.queue.slots:
            slots.free -= 1
        if attempt.queue.worker.team is None:
            self.quarantine.enter()

    def begin(self) -> None:
        """Start the work of the attempts added since the last call, unless they were stopped."""
        added, self._to_begin = self._to_begin, []
        for attempt in added:
            if attempt.stop_requested is None:
                self._begin(attempt)

    def _begin(self, attempt: Attempt) -> None:
        id = attempt.task.id
        loop = asyncio.get_running_loop()
        name = f"task:{self.recorder.path}{id}"
        attempt.work = loop.create_task(self._work(attempt), name=name)
        if attempt.limits.timeout_s is not None:
            attempt.timer = loop.call_later(
                attempt.limits.timeout_s, self.request_stop, attempt, "timeout"
            )

    @contextmanager
    def _paused(self, attempt: Attempt) -> Generator[None]:
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
        """Free its slots. False if that was done before: an attempt ends once."""
        if self.running.pop(attempt.task.id, None) is None:
            return False
        if attempt.timer is not None:
            attempt.timer.cancel()
        queue = attempt.queue
        taken_s = self.recorder.elapsed_s() - attempt.task.dispatched_s
        queue.release(taken_s)
        for slots in queue.slots:
            slots.release(self.wake_up)
        if queue.worker.team is None:
            self.quarantine.leave()
        return True

    def request_stop(self, attempt: Attempt, why: str) -> None:
        """Cancel an attempt; after the grace period it is abandoned."""
        if attempt.stop_requested is not None or (attempt.work and attempt.work.done()):
            return
        attempt.stop_requested = why
        if attempt.work is None:  # its dispatch is not committed yet
            attempt.abandonable.drop()
            self._end(attempt, None)
            return
        if attempt.timer is not None:
            attempt.timer.cancel()
        loop = asyncio.get_running_loop()
        attempt.timer = loop.call_later(self.grace_s, self.abandon, attempt)
        attempt.work.cancel()
        if not attempt.begun:  # cancelled before its first step, its work would never report
            attempt.abandonable.drop()
            self._end(attempt, None)

    def abandon(self, attempt: Attempt) -> None:
        attempt.abandonable.abandon()
        if attempt.work is None or not attempt.work.cancel():
            return
        current = self._current(attempt)
        current.record_stuck(stuck_message(current.worker, current.task_id))

    def _current(self, attempt: Attempt) -> CurrentAttempt:
        id, worker = attempt.task.id, attempt.queue.worker.name
        return CurrentAttempt(self.recorder, id, attempt.number, worker)

    async def _work(self, attempt: Attempt) -> None:
        attempt.begun = True
        current_attempt.set(self._current(attempt))
        inside_worker.set(attempt.queue.worker.team is None or inside_worker.get())
        left_s = min(attempt.limits.timeout_s or math.inf, self.recorder.time_left_s)
        with attempt_time(left_s, pause=functools.partial(self._paused, attempt)):
            try:
                outcome = await attempt.abandonable
            except asyncio.CancelledError:
                outcome = None  # `Attempt.outcome` says what that means
        self._end(attempt, outcome)

    def _end(self, attempt: Attempt, outcome: Outcome | None) -> None:
        self.ended.append((attempt, outcome))
        self.wake_up.set()


async def run_safely(runner: Runner, given: Handoff) -> Outcome:
    """The runner's outcome; anything else that it raises or returns becomes a failure."""
    try:
        outcome = await runner.run(given)
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return failure_of(error)
    # Runners are user code: their return type is checked here.
    if type(outcome) in (Completed, Escalated, Failed):
        return outcome
    kind = type(outcome).__name__
    return Failed(kind="invalid_output", message=f"the worker returned {kind}, not an outcome")


def partial_result(outcome: Outcome | None) -> Result | None:
    if outcome is None:
        return None
    return outcome.result if isinstance(outcome, Completed) else outcome.partial
