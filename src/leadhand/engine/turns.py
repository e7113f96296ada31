"""Turns: steps of runs that take milliseconds, one in each cycle of the event loop.

Without them, responses to many runs at once would be handled before anything else, such as the
program's own requests.
"""

import asyncio
from collections import deque
from weakref import WeakKeyDictionary

from leadhand.engine.stopwatch import ExcludedTime


class _Turns:
    __slots__ = ("taken", "waiting")

    def __init__(self) -> None:
        self.taken = False
        self.waiting: deque[asyncio.Future[None]] = deque()

    def next(self) -> None:
        while self.waiting:
            first = self.waiting.popleft()
            if not first.done():  # otherwise its task was cancelled
                first.set_result(None)
                asyncio.get_running_loop().call_soon(self.next)
                return
        self.taken = False


_shared: WeakKeyDictionary[asyncio.AbstractEventLoop, _Turns] = WeakKeyDictionary()


async def turn() -> None:
    """Return when the caller may take a few milliseconds: first come, first served."""
    loop = asyncio.get_running_loop()
    if (turns := _shared.get(loop)) is None:
        turns = _shared[loop] = _Turns()
    if not turns.taken:
        turns.taken = True
        loop.call_soon(turns.next)
        return
    future: asyncio.Future[None] = loop.create_future()
    turns.waiting.append(future)
    with ExcludedTime():
        await future
