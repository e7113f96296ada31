"""How long tests wait for what has to come: so long that only a hang reaches it."""

import time
from collections.abc import Callable

HANG_S = 300.0


def wait_until(holds: Callable[[], bool]) -> None:
    """Look again until it holds: what threads and other processes do can't be awaited."""
    until_s = time.monotonic() + HANG_S
    while not holds():
        assert time.monotonic() < until_s, "it never came to hold"
        time.sleep(0.002)
