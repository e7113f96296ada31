"""Reports the task that blocks the event loop.

An async worker that never awaits stops everything in its loop, timeouts and deadline included. Code
in the loop cannot notice that, so a thread does.
"""

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Callable

from leadhand.contracts import events
from leadhand.engine.recorder import Recorder
from leadhand.state.fold import find_task

Report = Callable[[str, float], None]
"""Takes the name of the asyncio task and the seconds that it has blocked the loop for."""

_log = logging.getLogger("leadhand")


class Watchdog:
    """Watches the running event loop from `start` to `stop`, or within a `with` block."""

    def __init__(self, report: Report | None = None, *, threshold_s: float = 1.0) -> None:
        """`report` is called in the loop, once for each blockage, as soon as it is over.

        The loop is blocked if it does not run a callback within `threshold_s`. That is logged at
        once, because `report` is never called if the blockage does not end.
        """
        self._report = report
        self._threshold_s = threshold_s
        self._interval_s = threshold_s / 4
        self._stopped = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._loop_thread = 0
        self._asked_s = 0.0
        self._responded = True
        """Whether the loop has run the last callback."""

    def __enter__(self) -> "Watchdog":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start watching this thread's running loop. A watchdog starts once."""
        self._loop = asyncio.get_running_loop()
        self._loop_thread = threading.get_ident()
        threading.Thread(target=self._watch, name="leadhand-watchdog", daemon=True).start()

    def stop(self) -> None:
        """Stop watching, without waiting for the thread."""
        self._stopped.set()

    def _respond(self) -> None:
        self._responded = True

    def _watch(self) -> None:
        reported = False
        slept_at = time.monotonic()
        while not self._stopped.wait(self._interval_s):
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
                self._report_blocker(self._asked_s)

    def _call(self, callback: Callable[[], None]) -> bool:
        """Have the loop run `callback`; False if the loop is closed."""
        try:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(callback)
        except RuntimeError:
            return False
        return True

    def _report_blocker(self, since_s: float) -> None:
        loop = self._loop
        if loop is None or loop.is_closed():
            return
        task = asyncio.current_task(loop)
        place = _place(self._loop_thread)
        if self._responded:
            # The loop resumed meanwhile, so the name may be another task's.
            return
        name = "a callback" if task is None else task.get_name()
        _log.warning(
            "%r has blocked the event loop for %.1f s, at %s; run it as a sync function, in a "
            "thread, or in a process",
            name,
            time.monotonic() - since_s,
            place,
        )

        def report() -> None:
            if self._report is not None and not self._stopped.is_set():
                self._report(name, time.monotonic() - since_s)

        self._call(report)


def stuck_worker_report(recorder: Recorder) -> Report:
    """A report that records `WorkerStuck` for the task that blocked the loop."""

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
    """The line of code that a thread is at."""
    frame = sys._current_frames().get(thread)  # pyright: ignore[reportPrivateUsage]
    if frame is None:
        return "an unknown place"
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_qualname}"
