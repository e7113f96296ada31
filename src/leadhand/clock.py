"""The clock of real runs: the system's wall clock and the event loop's time."""

import asyncio
import datetime as dt
import time


class SystemClock:
    """The real time; under an event loop with virtual time, durations are virtual too."""

    def now(self) -> dt.datetime:
        """The wall clock, in UTC."""
        return dt.datetime.now(dt.UTC)

    def monotonic(self) -> float:
        """The running event loop's time in seconds; outside of one, the system's monotonic clock,
        which asyncio's own loops use."""
        try:
            return asyncio.get_running_loop().time()
        except RuntimeError:
            return time.monotonic()
