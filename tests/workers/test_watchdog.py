"""A worker that blocks the event loop is named, in the log while it does and to the run after."""

import asyncio
import logging
import threading
from collections.abc import Iterator

import pytest

from leadhand.workers.watchdog import Watchdog


class Heard(logging.Handler):
    """Knows when the watchdog has logged something."""

    def __init__(self) -> None:
        super().__init__()
        self.event = threading.Event()
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())
        self.event.set()


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

    def report(name: str, blocked_s: float) -> None:
        reports.append((name, blocked_s))
        reported.set()

    async def block() -> None:
        # Blocks the loop until the watchdog, which must not need the loop for it, has spoken.
        heard.event.wait(20)
        heard.event.clear()

    async def main() -> None:
        with Watchdog(report, patience_s=0.05):
            for number in (1, 2):
                await asyncio.create_task(block(), name=f"task:t{number}")
                await reported.wait()
                reported.clear()

    asyncio.run(main())
    assert [name for name, _ in reports] == ["task:t1", "task:t2"]
    assert all(0.05 < blocked_s < 20 for _, blocked_s in reports)
    assert len(heard.messages) == 2
    assert heard.messages[0].startswith("'task:t1' has blocked the event loop for ")
    assert "in Event.wait" in heard.messages[0] or "in Condition.wait" in heard.messages[0]


def test_a_callback_that_blocks_is_reported_as_one(heard: Heard) -> None:
    async def main() -> None:
        with Watchdog(patience_s=0.05):
            asyncio.get_running_loop().call_soon(heard.event.wait, 20)
            await asyncio.sleep(0)
            await asyncio.sleep(0)

    asyncio.run(main())
    assert heard.messages[0].startswith("'a callback' has blocked")


def test_nothing_is_said_of_a_loop_that_turns(heard: Heard) -> None:
    reports: list[str] = []

    async def main() -> None:
        with Watchdog(lambda name, blocked_s: reports.append(name), patience_s=1.0):
            for _ in range(60):
                await asyncio.sleep(0.01)

    asyncio.run(main())
    assert (reports, heard.messages) == ([], [])


def test_its_thread_ends_when_it_is_stopped() -> None:
    async def main() -> threading.Thread:
        with Watchdog(patience_s=0.04):
            return next(t for t in threading.enumerate() if t.name == "leadhand-watchdog")

    thread = asyncio.run(main())
    thread.join(10)
    assert not thread.is_alive()


def test_a_blockage_that_outlasts_the_loop_is_still_logged(heard: Heard) -> None:
    async def block() -> None:
        heard.event.wait(20)
        raise RuntimeError

    async def main() -> None:
        Watchdog(lambda name, blocked_s: None, patience_s=0.05).start()
        await asyncio.create_task(block(), name="task:last")

    with pytest.raises(RuntimeError):
        asyncio.run(main())
    assert heard.messages[0].startswith("'task:last' has")
