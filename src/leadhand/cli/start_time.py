"""When the program began, which is when a deadline begins to count. Imports next to nothing."""

import time

LEAST_S = 1.0
"""What a run gets however late it is, if its deadline is no shorter: time for code that stands in
for a model, and for the journal."""
_loaded_s = time.monotonic()
_started_s: float | None = None


def begin() -> None:
    """The program begins: with its imports, or now where it was imported for something else too."""
    global _started_s
    _started_s = _loaded_s if _started_s is None else time.monotonic()


def left_of(deadline_s: float) -> float:
    """Seconds that are left of a deadline; all of them where this is not the program."""
    if _started_s is None:
        return deadline_s
    left_s = round(deadline_s - (time.monotonic() - _started_s), 1)
    return max(left_s, min(LEAST_S, deadline_s))
