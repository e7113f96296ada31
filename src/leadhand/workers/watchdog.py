"""Reports what blocks the event loop, and the worker whose code does.

An async worker that never awaits stops everything in its loop, so a thread watches. It blames a
worker only if its code is on the stack: leadhand or the program around it may block, too.
"""

import asyncio
import logging
import sys
import threading
import time
from asyncio.events import Handle
from collections.abc import Callable
from contextvars import Context
from itertools import pairwise
from types import FrameType
from typing import cast

from leadhand.engine.current_attempt import CurrentAttempt, current_attempt

THRESHOLD_S = 1.0

_OURS = {"leadhand", "pydantic_ai", "pydantic", "anyio", "rapidfuzz"}
_CALLERS = ("leadhand.workers.", "pydantic_ai._function_schema", "pydantic_ai.tool")
"""The modules that call functions and tools of workers."""
_LOOP = ("asyncio.base_events", "asyncio.runners")

_log = logging.getLogger("leadhand")


class Watchdog:
    """Watches the running event loop within `with` blocks, by one thread for those at once and for
    those that soon follow."""

    def __init__(self, *, threshold_s: float = THRESHOLD_S) -> None:
        """A loop that runs no callback within `threshold_s` is blocked. That is logged at once,
        because it may never end, and recorded by the run as soon as it is over."""
        self._threshold_s = threshold_s
        self._interval_s = threshold_s / 4
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        self._asked_s = 0.0
        self._responded = True
        self._users = 0
        self._watches = False

    @classmethod
    def shared(cls) -> "Watchdog":
        """The watchdog of the running loop, for all its runs."""
        return _shared.setdefault(asyncio.get_running_loop(), cls())

    def __enter__(self) -> "Watchdog":
        with _lock:
            self._users += 1
            starts, self._watches = not self._watches, True
        if starts:
            threading.Thread(target=self._watch, name="leadhand-watchdog", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._users -= 1  # without users the thread ends, and is not waited for

    def _respond(self) -> None:
        self._responded = True

    def _watch(self) -> None:
        reported, self._responded = False, True
        slept_at = time.monotonic()
        while self._is_used():
            now = time.monotonic()
            # If this thread is late too, the whole machine stood still, not only the loop.
            in_time = now - slept_at < self._interval_s + self._threshold_s / 2
            slept_at = now
            if self._responded:
                reported, self._responded, self._asked_s = False, False, now
                if not self._call(self._respond):
                    return
            elif in_time and not reported and now - self._asked_s > self._threshold_s:
                reported = True
                self._report(self._asked_s)

    def _is_used(self) -> bool:
        """Whether there are users after the next interval; if not, the thread ends."""
        time.sleep(self._interval_s)
        with _lock:
            self._watches = self._users > 0
            if not self._watches and _shared.get(self._loop) is self:
                del _shared[self._loop]
            return self._watches

    def _call(self, callback: Callable[[], None]) -> bool:
        """Have the loop run `callback`; False if the loop is closed."""
        try:
            self._loop.call_soon_threadsafe(callback)
        except RuntimeError:
            return False
        return True

    def _report(self, since_s: float) -> None:
        if self._loop.is_closed():
            return
        task = asyncio.current_task(self._loop)
        stack = _stack(self._loop_thread)
        attempt = _attempt_on(stack, task) if _has_worker_code(stack) else None
        place = _place(stack)
        if self._responded:
            # The loop resumed meanwhile, so all this may be about another task.
            return
        blocked_s = time.monotonic() - since_s
        if attempt is None:
            name = "a callback" if task is None else f"task {task.get_name()!r}"
            _log.warning("%s has blocked the event loop for %.1f s, at %s", name, blocked_s, place)
            return
        id = f"{attempt.recorder.path}{attempt.task_id}"

        def record() -> None:
            if self._users:
                took = f"{time.monotonic() - since_s:.1f} s"
                blame = f"worker {attempt.worker!r} blocked the event loop"
                attempt.record_stuck(f"{blame} for {took} in {id!r}, at {place}")

        # Before it is logged: once that is seen, the attempt may end at any moment.
        self._call(record)
        _log.warning(
            "worker %r has blocked the event loop for %.1f s in task %r, at %s; run it as a sync "
            "function, in a thread, or in a process",
            attempt.worker,
            blocked_s,
            id,
            place,
        )


_shared: dict[asyncio.AbstractEventLoop, Watchdog] = {}
_lock = threading.Lock()


def _stack(thread: int) -> list[FrameType]:
    """The frames that the loop of a thread runs, the innermost first."""
    frame = sys._current_frames().get(thread)  # pyright: ignore[reportPrivateUsage]
    found: list[FrameType] = []
    while frame is not None and _module(frame) not in _LOOP:
        found.append(frame)
        frame = frame.f_back
    return found


def _place(stack: list[FrameType]) -> str:
    if not stack:
        return "an unknown place"
    code = stack[0].f_code
    return f"{code.co_filename}:{stack[0].f_lineno} in {code.co_qualname}"


def _has_worker_code(stack: list[FrameType]) -> bool:
    modules = [_module(frame) for frame in stack]
    beside = [one for one in modules if one.partition(".")[0] not in sys.stdlib_module_names]
    return any(
        caller.startswith(_CALLERS) and not _is_ours(called) for called, caller in pairwise(beside)
    )


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _is_ours(module: str) -> bool:
    # The workers of ready-made teams are workers like any others.
    return module.partition(".")[0] in _OURS and not module.startswith("leadhand.teams.")


def _attempt_on(stack: list[FrameType], task: asyncio.Task[object] | None) -> CurrentAttempt | None:
    """The attempt in whose context the loop runs the task or callback."""
    context = task.get_context() if task is not None and sys.version_info >= (3, 12) else None
    for frame in stack:
        if context is None and frame.f_code is Handle._run.__code__:  # pyright: ignore[reportPrivateUsage]
            context = cast("Context", frame.f_locals["self"]._context)
    return context.get(current_attempt) if context is not None else None
