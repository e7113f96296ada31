"""Attempts: each way in which work on a task can end becomes a value.

An asyncio task ends only when its coroutine does: one that swallows `CancelledError` would block
the run, and `asyncio.run` at its end, for ever. So attempts are abandonable tasks.
"""

import asyncio
import ctypes
import math
import time
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
from leadhand.engine.current_attempt import CurrentAttempt, current_attempt
from leadhand.engine.failures import failure_of
from leadhand.engine.recorder import Recorder
from leadhand.engine.shared_workers import Quarantine, ReadyQueue
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
        work, watch, now = self._work, self.watch, asyncio.get_running_loop().time
        thrown: BaseException | None = None
        watch.start()
        try:
            while True:
                try:
                    waits_for = work.send(None) if thrown is None else work.throw(thrown)
                except StopIteration as stop:
                    return stop.value
                paused_s = now()
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
                watch.resume(paused_s, ready=waits_for is None)
        finally:
            watch.stop()


def _never_collect(work: object) -> None:
    """Keep `work` alive even through the interpreter's own clean-up.

    Collecting a coroutine throws `GeneratorExit` into it. If it ignores that as it ignored its
    cancellation, the process would never exit.
    """
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(work))


@dataclass(slots=True, kw_only=True, eq=False)
class Attempt(CurrentAttempt):
    """An attempt that has been dispatched and not yet handled."""

    attempts: "Attempts"
    task: TaskState
    queue: ReadyQueue
    limits: Limits
    abandonable: AbandonableTask[Outcome]
    work: asyncio.Task[None] | None = None
    begun: bool = False
    due_s: float = math.inf
    """When it is stopped or, once it was, abandoned, in the event loop's time."""
    stop_requested: str | None = None
    """Why it was cancelled: `timeout`, or why the run stops."""

    @contextmanager
    def paused(self) -> Generator[None]:
        if self.stop_requested is not None:
            yield
            return
        now = asyncio.get_running_loop().time
        left_s, self.due_s = self.due_s - now(), math.inf
        try:
            yield
        finally:
            if self.stop_requested is None:
                self.attempts.look_at(self, now() + left_s)

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
    _looks_s: float = field(init=False, default=math.inf)
    _alarm: asyncio.TimerHandle | None = field(init=False, default=None)
    """For whichever attempt is due first, at `_looks_s`."""

    @property
    def works(self) -> list[asyncio.Task[None]]:
        """The work of the running attempts whose dispatch is committed."""
        return [one.work for one in self.running.values() if one.work is not None]

    @property
    def any_working(self) -> bool:
        """Whether a worker of this run, other than a nested team, is working."""
        return any(one.queue.worker.team is None for one in self.running.values())

    def add(
        self,
        task: TaskState,
        number: int,
        queue: ReadyQueue,
        limits: Limits,
        work: Coroutine[object, object, Outcome],
    ) -> None:
        """Take the slots for an attempt; its work starts with the next `begin`."""
        attempt = Attempt(
            recorder=self.recorder,
            task_id=task.id,
            number=number,
            worker=queue.worker.name,
            attempts=self,
            task=task,
            queue=queue,
            limits=limits,
            abandonable=AbandonableTask(work),
        )
        self.running[task.id] = attempt
        self._to_begin.append(attempt)
        for slots in queue.slots:
            slots.free -= 1
        if queue.worker.team is None:
            self.quarantine.enter()

    def begin(self) -> None:
        """Start the work of the attempts added since the last call, unless they were stopped."""
        added, self._to_begin = self._to_begin, []
        loop, outer = asyncio.get_running_loop(), current_attempt.get()
        now_s, real_s, path = loop.time(), time.monotonic(), self.recorder.path
        ends_s = real_s + self.recorder.time_left_s
        if outer is not None:
            ends_s = min(ends_s, outer.ends_s)
        for attempt in added:
            if attempt.stop_requested is not None:
                continue
            limit_s = attempt.limits.timeout_s or math.inf
            attempt.ends_s = min(real_s + limit_s, ends_s)
            if attempt.queue.worker.team is not None:
                attempt.in_worker = outer is not None and outer.in_worker
            name = f"task:{path}{attempt.task_id}"
            attempt.work = loop.create_task(self._work(attempt), name=name)
            self.look_at(attempt, now_s + limit_s)

    def look_at(self, attempt: Attempt, due_s: float) -> None:
        """Stop the attempt at `due_s`, or abandon it if it was stopped before."""
        attempt.due_s = due_s
        if due_s < self._looks_s:
            self.cancel_alarm()
            self._looks_s = due_s
            self._alarm = asyncio.get_running_loop().call_at(due_s, self._look)

    def _look(self) -> None:
        now_s, self._looks_s = self._looks_s, math.inf
        for attempt in [*self.running.values()]:
            if attempt.due_s > now_s:
                self.look_at(attempt, attempt.due_s)
                continue
            attempt.due_s = math.inf
            if attempt.stop_requested is None:
                self.request_stop(attempt, "timeout")
            else:
                self.abandon(attempt)

    def cancel_alarm(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()

    def release(self, attempt: Attempt) -> bool:
        """Free its slots. False if that was done before: an attempt ends once."""
        if self.running.pop(attempt.task_id, None) is None:
            return False
        attempt.work = None  # whose context has the attempt
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
        if attempt.work is not None:  # its dispatch is committed
            self.look_at(attempt, asyncio.get_running_loop().time() + self.grace_s)
            attempt.work.cancel()
        if not attempt.begun:  # cancelled before its first step, its work would never report
            attempt.abandonable.drop()
            self._end(attempt, None)

    def abandon(self, attempt: Attempt) -> None:
        attempt.abandonable.abandon()
        if attempt.work is not None and attempt.work.cancel():
            attempt.record_stuck(stuck_message(attempt.worker, attempt.task_id))

    async def _work(self, attempt: Attempt) -> None:
        attempt.begun = True
        current_attempt.set(attempt)
        try:
            outcome = await attempt.abandonable
        except asyncio.CancelledError:
            outcome = None  # `Attempt.outcome` says what that means
        finally:
            attempt.ends_s = -math.inf
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
