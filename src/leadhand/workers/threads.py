"""Daemon threads of our own, for workers that block.

The standard executor joins its threads when the process ends; one worker that never returns would
keep it alive for ever. These are never joined: a call that nobody waits for any more is abandoned.
"""

import asyncio
import contextlib
import contextvars
import logging
import queue
import threading
import time
import weakref
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TypeVar, cast

from leadhand.engine.stopwatch import ExcludedTime
from leadhand.engine.thread_time import ThreadTime

A = TypeVar("A")
R = TypeVar("R")

_log = logging.getLogger("leadhand")
_awaited = weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, int]()


@contextlib.contextmanager
def awaiting_outside_work() -> Generator[None]:
    """A block in which the running loop waits for a thread or a process of ours."""
    loop = asyncio.get_running_loop()
    _awaited[loop] = _awaited.get(loop, 0) + 1
    try:
        yield
    finally:
        _awaited[loop] -= 1


def outside_work_awaited(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether anything on `loop` waits like that: a virtual clock must not run ahead of it."""
    return _awaited.get(loop, 0) > 0


@dataclass(frozen=True, slots=True)
class Abandoned:
    """A call that still runs though nobody waits for it."""

    name: str
    """What the caller named it: worker and task."""
    argument: object
    """What the function was called with."""
    since_s: float
    """When it was abandoned, as `time.monotonic()` counts."""


@dataclass(slots=True, eq=False)
class _Call:
    name: str
    argument: object
    function: Callable[[], object]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[tuple[object, BaseException | None]]
    time: ThreadTime = field(default_factory=ThreadTime)
    abandoned: Abandoned | None = None
    ended: bool = False


_Inbox = queue.SimpleQueue[_Call | None]


class DaemonThreads:
    """A pool of daemon threads that grows with the calls made at once and reuses idle threads.

    May be used from several event loops, in turn or at once.
    """

    def __init__(self, *, idle_s: float = 10.0) -> None:
        """`idle_s` is how long a thread waits for its next call before it ends."""
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._idle: list[_Inbox] = []
        self._abandoned: dict[_Call, Abandoned] = {}
        self._started = 0
        self._closed = False

    @property
    def abandoned(self) -> tuple[Abandoned, ...]:
        """The calls that were abandoned and have not ended since, the oldest first."""
        with self._lock:
            return tuple(self._abandoned.values())

    async def call(
        self, function: Callable[[A], R], argument: A, *, name: str, quiet: bool = False
    ) -> R:
        """`function(argument)`, run in a thread with the caller's context variables.

        If the awaiting task is cancelled, the call is abandoned: its thread continues outside the
        pool, and what it returns or raises late is dropped. That is logged, unless it is `quiet`:
        it ends soon by itself, or the caller reports it.
        """
        loop = asyncio.get_running_loop()
        context = contextvars.copy_context()
        call = _Call(
            name, argument, lambda: context.run(function, argument), loop, loop.create_future()
        )
        with ExcludedTime() as block:
            self._hand_over(call)
            try:
                with awaiting_outside_work():
                    value, error = await call.future
            except BaseException:
                self._abandon(call, quiet=quiet)
                raise
            finally:
                block.took(*call.time.worked())
        if error is not None:
            try:
                raise error
            finally:
                # The error's traceback holds this frame: don't let the frame hold the error.
                error = None
        return cast("R", value)

    def close(self) -> None:
        """Let idle threads end, and busy ones after their call. Waits for none."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for inbox in idle:
            inbox.put(None)

    def _hand_over(self, call: _Call) -> None:
        with self._lock:
            if self._idle:
                # Under the lock, so that a thread that gives up waiting sees the call.
                self._idle.pop().put(call)
                return
            self._started += 1
            number = self._started
        inbox: _Inbox = queue.SimpleQueue()
        inbox.put(call)
        threading.Thread(
            target=self._serve, args=(inbox,), name=f"leadhand-{number}", daemon=True
        ).start()

    def _abandon(self, call: _Call, *, quiet: bool) -> None:
        with self._lock:
            if call.ended:
                return
            call.abandoned = Abandoned(call.name, call.argument, time.monotonic())
            self._abandoned[call] = call.abandoned
        if not quiet:
            _log.warning(
                "%s did not stop when told to: it runs on until it returns or the program ends, "
                "and its result is ignored",
                call.name,
            )

    def _serve(self, inbox: _Inbox) -> None:
        while (call := self._next(inbox)) is not None:
            value: object = None
            error: BaseException | None = None
            if call.abandoned is None:
                with call.time:
                    try:
                        value = call.function()
                    except BaseException as raised:
                        error = raised
            if not self._end(call, inbox):
                return
            # Raised where the loop is closed, and then nobody waits.
            with contextlib.suppress(RuntimeError):
                call.loop.call_soon_threadsafe(_settle, call.future, value, error)
            # An idle thread keeps nobody's data alive.
            del call, value, error

    def _next(self, inbox: _Inbox) -> _Call | None:
        try:
            return inbox.get(timeout=self._idle_s)
        except queue.Empty:
            with self._lock:
                if inbox in self._idle:
                    self._idle.remove(inbox)
                    return None
            return inbox.get()

    def _end(self, call: _Call, inbox: _Inbox) -> bool:
        """Whether the thread stays in the pool and the result is wanted."""
        with self._lock:
            call.ended = True
            if call.abandoned is not None:
                del self._abandoned[call]
                return False
            if self._closed:
                inbox.put(None)
            else:
                self._idle.append(inbox)
            return True


def _settle(
    future: asyncio.Future[tuple[object, BaseException | None]],
    value: object,
    error: BaseException | None,
) -> None:
    # As a value, since a future refuses `StopIteration` and would itself be cancelled by a
    # `CancelledError` that the function raised.
    if not future.done():
        future.set_result((value, error))
