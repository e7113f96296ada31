"""Code that runs on behalf of an attempt, without a scheduler."""

import math
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from leadhand.engine.current_attempt import CurrentAttempt, current_attempt
from tests.recorders import LogRecorder


class _Timed(CurrentAttempt):
    pause: Callable[[], AbstractContextManager[None]] = nullcontext

    def paused(self) -> AbstractContextManager[None]:
        return self.pause()


@contextmanager
def attempt_time(
    seconds: float, *, pause: Callable[[], AbstractContextManager[None]] = nullcontext
) -> Generator[None]:
    """There are `seconds` left within the block, and in threads with its context."""
    attempt = _Timed(recorder=LogRecorder(), task_id="a", number=1, worker="worker")
    attempt.ends_s, attempt.pause = time.monotonic() + seconds, pause
    token = current_attempt.set(attempt)
    try:
        yield
    finally:
        attempt.ends_s = -math.inf
        current_attempt.reset(token)
