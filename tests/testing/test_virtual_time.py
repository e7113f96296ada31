"""Virtual time beside threads, which take real time."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable

import anyio.to_thread
import pytest

from leadhand.testing import run_virtual
from leadhand.threads import DaemonThreads


async def in_a_thread_of_ours(seconds: float) -> None:
    await DaemonThreads().call(time.sleep, seconds, name="slow")


async def in_an_anyio_thread(seconds: float) -> None:
    await anyio.to_thread.run_sync(time.sleep, seconds)


async def in_an_asyncio_thread(seconds: float) -> None:
    await asyncio.to_thread(time.sleep, seconds)


@pytest.mark.parametrize("slow", [in_a_thread_of_ours, in_an_anyio_thread, in_an_asyncio_thread])
async def test_the_clock_stands_still_while_a_thread_works(
    slow: Callable[[float], Awaitable[None]],
) -> None:
    async with asyncio.timeout(1):
        await slow(0.05)
    assert asyncio.get_running_loop().time() == 0.0


def test_the_clock_continues_after_a_thread() -> None:
    async def work() -> float:
        await asyncio.to_thread(time.sleep, 0.01)
        await anyio.to_thread.run_sync(time.sleep, 0.01)
        await asyncio.sleep(60)
        return asyncio.get_running_loop().time()

    assert run_virtual(work(), stuck_s=3600) == 60.0


def test_time_passes_beside_a_thread_that_is_stuck() -> None:
    threads = DaemonThreads()
    never = threading.Event()

    async def work() -> None:
        async with asyncio.timeout(3600):
            await threads.call(lambda _: never.wait(), None, name="stuck", quiet=True)

    with pytest.raises(TimeoutError):
        run_virtual(work(), stuck_s=0.01)
    never.set()


async def test_years_pass_as_well() -> None:
    await asyncio.sleep(1e9)
    await asyncio.sleep(1e9)
    assert asyncio.get_running_loop().time() == pytest.approx(2e9)
