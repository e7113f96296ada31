"""How long the attempt under way may still take, for tools that divide their time.

It is real time, whatever the event loop's clock is: processes and threads know no other.
"""

import math
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar


class _Limit:
    __slots__ = ("until_s",)

    def __init__(self, until_s: float) -> None:
        self.until_s = until_s


_CURRENT: ContextVar[_Limit | None] = ContextVar("attempt_time", default=None)


@contextmanager
def attempt_time(seconds: float) -> Generator[None]:
    """Within the block, and in threads that it starts with its context, there are `seconds` left.

    After the block there is no time left, which ends threads that nobody waits for any more.
    """
    limit = _Limit(time.monotonic() + min(seconds, time_left_s()))
    token = _CURRENT.set(limit)
    try:
        yield
    finally:
        limit.until_s = -math.inf
        _CURRENT.reset(token)


def time_left_s() -> float:
    """Seconds that are left to the attempt; infinite outside one, minus infinite after its end."""
    limit = _CURRENT.get()
    return math.inf if limit is None else limit.until_s - time.monotonic()
