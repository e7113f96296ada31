"""Virtual time beside threads, which take real time."""

import asyncio
import threading
import time

import pytest

from leadhand.testing import run_virtual
from leadhand.workers.threads import DaemonThreads


def test_the_clock_stands_still_while_a_thread_works() -> None:
    threads = DaemonThreads()

    async def work() -> float:
        async with asyncio.timeout(1):
            await threads.call(time.sleep, 0.05, name="slow")
        return asyncio.get_running_loop().time()

    assert run_virtual(work()) == 0.0


def test_time_passes_beside_a_thread_that_is_stuck() -> None:
    threads = DaemonThreads()
    never = threading.Event()

    async def work() -> None:
        async with asyncio.timeout(3600):
            await threads.call(lambda _: never.wait(), None, name="stuck", quiet=True)

    with pytest.raises(TimeoutError):
        run_virtual(work(), stuck_s=0.01)
    never.set()
