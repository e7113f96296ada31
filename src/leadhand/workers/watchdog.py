"""Names the task that blocks the event loop.

An async worker that never awaits stops everything in its loop, timeouts and deadline included. No
code in the loop can notice that; a thread can, and it tells which task is to blame.
"""

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType

from leadhand.contracts import events
from leadhand.engine.recorder import Recorder
from leadhand.state.fold import find_task

Report = Callable[[str, float], None]
"""Takes the name of the asyncio task and the seconds that it has blocked the loop for."""

_log = logging.getLogger("leadhand")


class Watchdog:
    """Watches the running event loop from `start` to `stop`, or within a `with` block."""

    def __init__(self, report: Report | None = None, *, patience_s: float = 1.0) -> None:
        """`report` is called in the loop, once a blockage, as soon as that is over.

        A blockage is `patience_s` without a turn of the loop, after it was asked for one. It is
        logged as it happens, since one that never ends lets nothing run in the loop any more.
        """
        self._report = report
        self._patience_s = patience_s
        self._interval_s = patience_s / 4
        self._stopped = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread = 0
        self._asked_s = 0.0
        self._responded = True
        """Whether the loop has turned since it was asked to."""

    def __enter__(self) -> "Watchdog":
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Begin to watch the loop that is running in this thread. A watchdog starts once."""
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        threading.Thread(target=self._watch, name="leadhand-watchdog", daemon=True).start()

    def stop(self) -> None:
        """Watch no longer. Waits for nothing."""
        self._stopped.set()

    def _hear(self) -> None:
        self._responded = True

    def _watch(self) -> None:
        reported = False
        slept_at = time.monotonic()
        while not self._stopped.wait(self._interval_s):
            now = time.monotonic()
            # Where this thread is late too, it was the machine that stood still, not the loop.
            in_time = now - slept_at < self._interval_s + self._patience_s / 2
            slept_at = now
            if self._responded:
                reported, self._responded, self._asked_s = False, False, now
                if not self._call(self._hear):
                    return
            elif in_time and not reported and now - self._asked_s > self._patience_s:
                reported = True
                self._name_the_blocker(self._asked_s)

    def _call(self, callback: Callable[[], None]) -> bool:
        """Have the loop call it at its next turn; False where it was closed meanwhile."""
        try:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(callback)
        except RuntimeError:
            return False
        return True

    def _name_the_blocker(self, since_s: float) -> None:
        loop = self._loop
        if loop is None or loop.is_closed():
            return
        task = asyncio.current_task(loop)
        place = _place(self._loop_thread)
        if self._responded:
            # It went on while it was looked at, so the names may be another's.
            return
        name = "a callback" if task is None else task.get_name()
        _log.warning(
            "%r has blocked the event loop for %.1f s, at %s; run it as a sync function, in a "
            "thread, or in a process",
            name,
            time.monotonic() - since_s,
            place,
        )
        self._call(lambda: self._tell(name, since_s))

    def _tell(self, name: str, since_s: float) -> None:
        if self._report is not None and not self._stopped.is_set():
            self._report(name, time.monotonic() - since_s)


def naming(recorder: Recorder) -> Report:
    """What the watchdog calls with the name of the asyncio task that blocked the loop."""

    def report(task_name: str, blocked_s: float) -> None:
        id = task_name.removeprefix("task:")
        within, task = find_task(recorder.state, id)
        if task is None:
            return
        message = f"worker {task.worker!r} blocked the event loop for {blocked_s:.1f} s in {id!r}"
        recorder.record(
            events.WorkerStuck(
                **recorder.task_stamp(id, task.attempts),
                within=within,
                worker=task.worker,
                message=message,
            )
        )

    return report


def _place(thread: int) -> str:
    """Where in the code a thread is now."""
    frame = sys._current_frames().get(thread)  # pyright: ignore[reportPrivateUsage]
    if frame is None:
        return "an unknown place"
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_qualname}"
