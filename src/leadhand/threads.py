"""Daemon threads for workers that block.

The standard executor joins its threads when the process ends, so a worker that never returns would
keep the process alive. A call that is cancelled is abandoned here.
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

A = TypeVar("A")
R = TypeVar("R")

_log = logging.getLogger("leadhand")
_awaited = weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, int]()


@contextlib.contextmanager
def awaiting_outside_work() -> Generator[None]:
    """A block in which the running loop waits for one of our threads or processes."""
    loop = asyncio.get_running_loop()
    _awaited[loop] = _awaited.get(loop, 0) + 1
    try:
        yield
    finally:
        _awaited[loop] -= 1


def outside_work_awaited(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether `loop` waits in such a block: a virtual clock must not run ahead of it."""
    return _awaited.get(loop, 0) > 0


@dataclass(frozen=True, slots=True)
class AbandonedCall:
    """A call that still runs though its caller has stopped waiting."""

    name: str
    argument: object
    since_s: float
    """When it was abandoned, by `time.monotonic()`."""


class _ThreadTime:
    """Times a call in its thread; any thread may read it."""

    __slots__ = ("_before", "_worked")

    def __init__(self) -> None:
        self._before: tuple[float, float, float] | None = None
        self._worked: tuple[float, float] | None = None

    def __enter__(self) -> None:
        self._before = time.process_time(), time.thread_time(), time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._worked = self._until_now(in_thread=True)

    def worked(self) -> tuple[float, float]:
        """The least and the most that the call worked, until now if it has not ended."""
        return self._until_now(in_thread=False) if self._worked is None else self._worked

    def _until_now(self, *, in_thread: bool) -> tuple[float, float]:
        if self._before is None:
            return 0.0, 0.0
        process_s, thread_s, started_s = self._before
        took_s = time.perf_counter() - started_s
        cpu_s = time.thread_time() - thread_s if in_thread else 0.0
        # While it did not compute, it may have waited for the interpreter as long as others did.
        others_s = max(time.process_time() - process_s - cpu_s, 0.0)
        return took_s - min(max(took_s - cpu_s, 0.0), others_s), took_s


@dataclass(slots=True, eq=False)
class _Call:
    name: str
    argument: object
    function: Callable[[], object]
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[tuple[object, BaseException | None]]
    time: _ThreadTime = field(default_factory=_ThreadTime)
    abandoned: AbandonedCall | None = None
    ended: bool = False


_Inbox = queue.SimpleQueue[_Call | None]


class DaemonThreads:
    """A pool of daemon threads that grows with the number of concurrent calls."""

    def __init__(self, *, idle_s: float = 10.0) -> None:
        """`idle_s` is how long a thread waits for its next call before it ends."""
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._idle: list[_Inbox] = []
        self._abandoned: dict[_Call, AbandonedCall] = {}
        self._started = 0
        self._closed = False

    @property
    def abandoned(self) -> tuple[AbandonedCall, ...]:
        """The abandoned calls that have not ended yet, oldest first."""
        with self._lock:
            return tuple(self._abandoned.values())

    async def call(
        self, function: Callable[[A], R], argument: A, *, name: str, quiet: bool = False
    ) -> R:
        """`function(argument)`, run in a thread with the caller's context variables.

        If the awaiting task is cancelled, the thread continues outside the pool, and its late
        result is dropped, which is logged unless `quiet`.
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
        """Let idle threads end now, and busy ones after their call, without waiting."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for inbox in idle:
            inbox.put(None)

    def _hand_over(self, call: _Call) -> None:
        with self._lock:
            if self._idle:
                # Under the lock, so that a thread whose wait times out sees the call.
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
            call.abandoned = AbandonedCall(call.name, call.argument, time.monotonic())
            self._abandoned[call] = call.abandoned
        if not quiet:
            _log.warning(
                "%s did not stop when cancelled: it runs until it returns or the program ends, "
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
            # Raised if the loop is closed, and then nothing waits for the result.
            with contextlib.suppress(RuntimeError):
                call.loop.call_soon_threadsafe(_settle, call.future, value, error)
            # An idle thread must not keep a caller's data alive.
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
    # The error is a value, because a future refuses `StopIteration`, and a `CancelledError` that
    # the function raised would cancel it.
    if not future.done():
        future.set_result((value, error))
