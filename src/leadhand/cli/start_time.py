"""When the program started, which is when a deadline starts to count. Imports almost nothing."""

import time

LEAST_S = 1.0
"""However late it starts, unless its deadline is shorter: for offline code and for the journal."""
_loaded_s = time.monotonic()
_started_s: float | None = None


def begin() -> None:
    """The program starts: with its imports, or now if this process has run a command before."""
    global _started_s
    _started_s = _loaded_s if _started_s is None else time.monotonic()


def remaining_s(deadline_s: float) -> float:
    """All of it in another program."""
    if _started_s is None:
        return deadline_s
    left_s = round(deadline_s - (time.monotonic() - _started_s), 1)
    return max(left_s, min(LEAST_S, deadline_s))
