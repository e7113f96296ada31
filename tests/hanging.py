"""Runs in which something hangs, in virtual time, though a server or a thread is part of them.

The clock stands still until it hangs. From then on deadlines come at once, and after exactly the
seconds that they say, however slow the machine is.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import TypeVar

from leadhand.testing import run_virtual
from leadhand.testing.virtual_time import VirtualTimeLoop
from leadhand.threads import awaiting_outside_work
from tests.patience import wait_until

T = TypeVar("T")


def run_hanging(
    work: Coroutine[object, object, T],
    hangs: Callable[[], bool],
    *,
    until_set: asyncio.Event | None = None,
    threads_hang: bool = False,
) -> tuple[T, float]:
    """What `work` returns, and the virtual seconds that it took once `hangs` was true.

    `hangs` is called in a thread, again and again. Time passes `until_set`, or to the end. With
    `threads_hang` the clock waits for no thread after that.
    """

    async def main() -> tuple[T, float]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, VirtualTimeLoop)
        running = asyncio.ensure_future(work)
        with awaiting_outside_work():
            await asyncio.to_thread(wait_until, hangs)
        if threads_hang:
            loop.stuck_s = 0.0
        if until_set is not None:
            await until_set.wait()
            with awaiting_outside_work():
                return await running, loop.time()
        return await running, loop.time()

    return run_virtual(main())
