"""Callers that wait for runs of a supervisor, and the work that they begin.

Any number may wait for a run; one of them does it, here or in another process.
"""

import asyncio
import datetime as dt
import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TypeVar

from leadhand.contracts.answer import Answer
from leadhand.errors import JournalError, RunInterrupted
from leadhand.ports import Journal

Work = asyncio.Task[Answer]
"""Works on a run, or waits for its answer, on behalf of a caller."""

T = TypeVar("T")

_log = logging.getLogger("leadhand")


class Callers:
    """The program's calls that wait for runs, and the work that they begin, which lasts when they
    leave. All end when the supervisor is shut down."""

    def __init__(self) -> None:
        self.closed = False
        self._callers: dict[asyncio.Future[None], tuple[str, asyncio.Timeout]] = {}
        """By what is set at its end: a caller's run, and the timeout, at first without a time, that
        interrupts it when the supervisor is shut down."""
        self._works: set[Work] = set()
        self._awaited: list[Work] = []

    def __contains__(self, run_id: object) -> bool:
        return any(waited == run_id for waited, _ in self._callers.values())

    def check_open(self, run_id: str) -> None:
        """Raises `RunInterrupted` if the supervisor was shut down."""
        if self.closed:
            raise RunInterrupted(run_id)

    @asynccontextmanager
    async def waiting(self, run_id: str) -> AsyncGenerator[None]:
        """Raises `RunInterrupted`."""
        self.check_open(run_id)
        timeout, ended = asyncio.timeout(None), asyncio.get_running_loop().create_future()
        try:
            async with timeout:
                self._callers[ended] = run_id, timeout
                yield
        except TimeoutError:
            if not timeout.expired():
                raise
            raise RunInterrupted(run_id) from None
        finally:
            self._callers.pop(ended, None)
            ended.set_result(None)

    async def wait(self, limit_s: float | None = None) -> None:
        if self._callers:
            await asyncio.wait([*self._callers], timeout=limit_s)

    async def interrupt(self) -> None:
        """End all waits with `RunInterrupted`, and return once they have ended."""
        for _, timeout in self._callers.values():
            if timeout.when() is None:  # another shutdown may be ending it already
                timeout.reschedule(asyncio.get_running_loop().time())
        await self.wait()

    async def begin(
        self,
        run_id: str,
        work: Callable[[], Coroutine[object, object, Answer]],
        under_way: asyncio.Event,
    ) -> Work:
        """The task of `work`, once the run is `under_way`. Raises what `work` raises before."""

        async def done() -> Answer:
            async with self.waiting(run_id):
                return await work()

        def ended(_: Work) -> None:
            self._works.discard(task)
            error = None if task.cancelled() else task.exception()
            unheard = under_way.is_set() and task not in self._awaited
            if unheard and error is not None and not isinstance(error, RunInterrupted):
                _log.error("the work on run %s failed: %s", run_id, error)
            under_way.set()

        task = asyncio.create_task(done())
        self._works.add(task)
        task.add_done_callback(ended)
        try:
            await under_way.wait()  # set at a new run's first commit, see `RunHost._recorder`
        except asyncio.CancelledError:
            await cancelled(task)
            raise
        if task.done() and not task.cancelled():
            task.result()
        return task

    async def until_ended(self, run_id: str, work: Work) -> None:
        """A caller waits for `work`, which ends at a shutdown, and hears of its failure."""
        self.check_open(run_id)
        self._awaited.append(work)
        try:
            await asyncio.wait([work])
        finally:
            self._awaited.remove(work)


async def cancelled(work: Work) -> None:
    """Cancel `work`, and let it end."""
    work.cancel()
    await asyncio.wait([work])


async def answer_within(limit_s: float | None, answer: Awaitable[T]) -> T:
    """Raises `JournalError` after `limit_s`."""
    timeout = asyncio.timeout(limit_s)
    try:
        async with timeout:
            return await answer
    except TimeoutError:
        if not timeout.expired():
            raise
        raise JournalError(
            f"the journal did not answer within {limit_s:g} s: try again once it does"
        ) from None


def new_run_id(now: dt.datetime) -> str:
    return f"run-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


INBOX_POLL_S = 0.5


class HeldRuns:
    """The runs that this supervisor holds in the journal while it works on them."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._released: dict[str, tuple[asyncio.AbstractEventLoop, asyncio.Event]] = {}
        """By run: the event loop that works on it, and the event set at its end."""

    def __contains__(self, run_id: object) -> bool:
        return run_id in self._released

    @asynccontextmanager
    async def hold(self, run_id: str, *, limit_s: float | None) -> AsyncGenerator[int]:
        """`Journal.hold`. Raises `RunTaken`, and `JournalError` after `limit_s`."""
        held = asyncio.get_running_loop(), asyncio.Event()
        try:
            async with AsyncExitStack() as stack:
                taken = stack.enter_async_context(self._journal.hold(run_id))
                last_seq = await answer_within(limit_s, taken)
                self._released[run_id] = held
                yield last_seq
        finally:
            # The next call may hold it already.
            if self._released.get(run_id) is held:
                del self._released[run_id]
            held[1].set()

    async def until_released(
        self, run_id: str, *, on_wait: Callable[[], object] = lambda: None
    ) -> None:
        """Return once no process holds the run. `on_wait` is called if one does."""
        while True:
            loop, released = self._released.get(run_id, (None, None))
            if released is not None:
                on_wait()
            if released is not None and loop is asyncio.get_running_loop():
                await released.wait()
                return
            # An event of another loop does not wake this one.
            if released is None and await self._journal.holder(run_id) is None:
                return
            on_wait()
            await asyncio.sleep(INBOX_POLL_S)
