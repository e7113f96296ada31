"""Calls of a journal that block neither the event loop nor a deadline."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from typing import TypeVar

from leadhand.errors import JournalError
from leadhand.ports import Journal
from leadhand.workers.threads import DaemonThreads

PATIENCE_S = 60.0
"""How long a call may take without a deadline."""
RELEASE_S = 0.5
"""How long the end of a run waits for its release, which continues in its thread."""

A = TypeVar("A")
R = TypeVar("R")

_threads = DaemonThreads(idle_s=1.0)


async def call_journal(
    journal: Journal, function: Callable[[A], R], argument: A, *, limit_s: float | None = None
) -> R:
    """`function(argument)`, a method of `journal`; in a thread if the journal `blocks`.

    Raises `JournalError` if that takes longer than `limit_s`, by default `PATIENCE_S`.
    """
    if not journal.blocks:
        return function(argument)
    limit_s = PATIENCE_S if limit_s is None else limit_s
    try:
        async with asyncio.timeout(limit_s):
            return await _threads.call(function, argument, name="the journal", quiet=True)
    except TimeoutError:
        raise JournalError(
            f"the journal did not answer within {limit_s:g} s: try again once it does"
        ) from None


@contextlib.asynccontextmanager
async def hold_run(
    journal: Journal, run_id: str, *, limit_s: float | None = None
) -> AsyncGenerator[None]:
    """`journal.hold` by `call_journal`. Raises `JournalError` after `limit_s`."""
    hold = contextlib.ExitStack()
    given_up = False

    def take(run_id: str) -> None:
        hold.enter_context(journal.hold(run_id))
        if given_up:
            hold.close()

    try:
        await call_journal(journal, take, run_id, limit_s=limit_s)
    except BaseException:
        given_up = True
        raise
    try:
        yield
    finally:
        with contextlib.suppress(JournalError):
            await call_journal(journal, lambda _: hold.close(), None, limit_s=RELEASE_S)
