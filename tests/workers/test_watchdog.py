"""A worker that blocks the event loop is reported, at once in the log and later in the run."""

import asyncio
import logging
import threading
import time
from collections.abc import Iterator
from itertools import pairwise

import pytest

from leadhand.workers.watchdog import Watchdog
from tests.patience import HANG_S


class Heard(logging.Handler):
    """Knows when the watchdog has logged something."""

    def __init__(self) -> None:
        super().__init__()
        self.event = threading.Event()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())
        self.event.set()

    def of(self, name: str) -> list[str]:
        """What was logged of the task of that name; of others a slow machine may have it speak."""
        return [message for message in self.messages if message.startswith(f"{name!r} has ")]

    def block_until_named(self, name: str) -> None:
        """Block until the watchdog, which must not need the loop for it, has spoken of it."""
        while not self.of(name):
            assert self.event.wait(HANG_S)
            self.event.clear()


@pytest.fixture
def heard() -> Iterator[Heard]:
    handler = Heard()
    logger = logging.getLogger("leadhand")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)


def test_the_task_that_blocks_the_loop_is_named_once_a_blockage(heard: Heard) -> None:
    """F38."""
    reports: list[tuple[str, float]] = []
    reported = asyncio.Event()
    names = ["task:t1", "task:t2"]

    def report(name: str, blocked_s: float) -> None:
        if name in names:
            reports.append((name, blocked_s))
            reported.set()

    async def block(name: str) -> None:
        heard.block_until_named(name)

    async def main() -> None:
        with Watchdog(report, threshold_s=0.05):
            for name in names:
                await asyncio.create_task(block(name), name=name)
                await reported.wait()
                reported.clear()

    asyncio.run(main())
    assert [name for name, _ in reports] == names
    assert all(blocked_s > 0.05 for _, blocked_s in reports)
    ((first,), (_,)) = (heard.of(name) for name in names)
    assert first.startswith("'task:t1' has blocked the event loop for ")
    assert "in Event.wait" in first or "in Condition.wait" in first


def test_a_callback_that_blocks_is_reported_as_one(heard: Heard) -> None:
    async def main() -> None:
        with Watchdog(threshold_s=0.05):
            asyncio.get_running_loop().call_soon(heard.block_until_named, "a callback")
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    asyncio.run(main())
    assert len(heard.of("a callback")) == 1


def test_nothing_is_said_of_a_loop_that_turns(heard: Heard) -> None:
    reports: list[str] = []
    turned_s: list[float] = []

    async def main() -> None:
        with Watchdog(lambda name, blocked_s: reports.append(name), threshold_s=0.2):
            for _ in range(40):
                turned_s.append(time.monotonic())
                await asyncio.sleep(0.01)

    asyncio.run(main())
    # On a machine that stood still, the loop may not have turned.
    if max(later - earlier for earlier, later in pairwise(turned_s)) < 0.2:
        assert (reports, heard.messages) == ([], [])


def test_its_thread_ends_when_it_is_stopped() -> None:
    async def main() -> threading.Thread:
        with Watchdog(threshold_s=0.04):
            return next(t for t in threading.enumerate() if t.name == "leadhand-watchdog")

    thread = asyncio.run(main())
    thread.join(HANG_S)
    assert not thread.is_alive()


def test_a_blockage_that_outlasts_the_loop_is_still_logged(heard: Heard) -> None:
    async def block() -> None:
        heard.block_until_named("task:last")
        raise RuntimeError

    async def main() -> None:
        Watchdog(lambda name, blocked_s: None, threshold_s=0.05).start()
        await asyncio.create_task(block(), name="task:last")

    with pytest.raises(RuntimeError):
        asyncio.run(main())
    assert len(heard.of("task:last")) == 1
