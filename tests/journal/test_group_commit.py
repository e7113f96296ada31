"""Group commit: what gathers while a write is under way, and that nobody ever hangs."""

import asyncio
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import cast

import pytest

from leadhand.errors import JournalError
from leadhand.journal.group_commit import EventBatch, GroupCommit
from leadhand.testing.journal_stories import Story


class Disk:
    """Writes when it is let to, and takes down what it was given."""

    def __init__(self) -> None:
        self.batches: list[dict[str, list[int]]] = []
        self.bad: dict[str, str] = {}
        self.at_it = threading.Event()
        self.may_go_on = threading.Event()
        self.may_go_on.set()

    def write(self, batch: EventBatch) -> dict[str, str]:
        self.at_it.set()
        assert self.may_go_on.wait(600)
        self.batches.append({id: [one.seq for one in events] for id, events in batch.items()})
        return {id: why for id, why in self.bad.items() if id in batch}


@contextmanager
def queue_to(write: Callable[[EventBatch], dict[str, str]]) -> Generator[GroupCommit]:
    queue = GroupCommit(write, name="test journal")
    try:
        yield queue
    finally:
        queue.close()


def commits(queue: GroupCommit, *run_ids: str | None) -> list[asyncio.Future[None]]:
    return [asyncio.ensure_future(queue.commit(id)) for id in run_ids]


async def busy_with(disk: Disk, queue: GroupCommit, story: Story) -> asyncio.Future[None]:
    """The commit of one event, which the disk is at and does not get done."""
    disk.may_go_on.clear()
    disk.at_it.clear()
    queue.append(story.started())
    (commit,) = commits(queue, story.run_id)
    await asyncio.to_thread(disk.at_it.wait, 600)
    return commit


async def until_closed(queue: GroupCommit) -> None:
    """Commit nothing, which returns at once, until that is refused."""
    while True:
        await queue.commit("nothing")
        await asyncio.sleep(0)


def test_what_gathers_during_a_write_is_written_together() -> None:
    disk = Disk()

    async def main(queue: GroupCommit) -> None:
        first = await busy_with(disk, queue, Story("first"))
        waiting = [first]
        for number in range(100):
            queue.append(Story(f"r{number % 10}").started())
            waiting += commits(queue, f"r{number % 10}")
        await asyncio.sleep(0)
        disk.may_go_on.set()
        await asyncio.gather(*waiting)

    with queue_to(disk.write) as queue:
        asyncio.run(main(queue))
    assert disk.batches == [{"first": [1]}, {f"r{number}": [1] * 10 for number in range(10)}]


def test_the_commit_of_a_run_leaves_what_others_have_begun() -> None:
    """Else a part of what another run appends between two commits could be kept alone."""
    disk = Disk()
    one, other = Story("one"), Story("other")

    async def main(queue: GroupCommit) -> None:
        queue.append(other.started())
        queue.append(one.started())
        await queue.commit("one")
        queue.append(other.dispatched("a"))
        assert len(queue.uncommitted("other")) == 2
        await queue.commit("other")
        assert queue.uncommitted("other") == []

    with queue_to(disk.write) as queue:
        asyncio.run(main(queue))
    assert disk.batches == [{"one": [1]}, {"other": [1, 2]}]


def test_without_anything_to_write_there_is_no_thread() -> None:
    disk = Disk()
    with queue_to(disk.write) as queue:
        asyncio.run(queue.commit())
        queue.append(Story("r").started())
        asyncio.run(queue.commit("other"))
        assert "test journal" not in {thread.name for thread in threading.enumerate()}
    assert disk.batches == []


def test_a_run_that_fails_takes_what_it_has_queued_with_it() -> None:
    """Who waits for it is told the same at once; the others' events are written nevertheless."""
    disk = Disk()
    bad, good = Story("bad"), Story("good")

    async def main(queue: GroupCommit) -> list[BaseException | None]:
        first = await busy_with(disk, queue, bad)
        queue.append(bad.dispatched("a"))
        queue.append(good.started())
        waiting = [first, *commits(queue, "bad", None)]
        await asyncio.sleep(0)
        disk.bad = {"bad": "no room"}
        disk.may_go_on.set()
        ended = await asyncio.gather(*waiting, return_exceptions=True)
        await queue.commit("good")
        queue.append(bad.dispatched("b"))
        assert queue.uncommitted("bad") == []
        return [*ended, *await asyncio.gather(queue.commit("bad"), return_exceptions=True)]

    with queue_to(disk.write) as queue:
        ended = asyncio.run(main(queue))
        queue.forget("good")
        queue.forget("bad")
        asyncio.run(queue.commit("bad"))
    assert [str(error) for error in ended] == ["no room"] * 4
    assert disk.batches == [{"bad": [1]}, {"good": [1]}]


def test_a_write_that_raises_hangs_nobody() -> None:
    """A fault of our own is told like any other, and the thread goes on."""
    broken = [True]

    def write(batch: EventBatch) -> dict[str, str]:
        if broken.pop():
            raise ZeroDivisionError("a fault")
        return {}

    async def main(queue: GroupCommit) -> None:
        queue.append(Story("one").started())
        with pytest.raises(JournalError, match="ZeroDivisionError: a fault"):
            await queue.commit("one")
        broken.append(False)
        queue.append(Story("other").started())
        await queue.commit("other")

    with queue_to(write) as queue:
        asyncio.run(main(queue))


def test_closing_tells_those_who_still_wait() -> None:
    """What is being written is finished; whoever came later is told, and that is not written."""
    disk = Disk()

    async def main(queue: GroupCommit) -> None:
        first = await busy_with(disk, queue, Story("first"))
        queue.append(Story("late").started())
        (late,) = commits(queue, "late")
        await asyncio.sleep(0)
        closing = asyncio.ensure_future(asyncio.to_thread(queue.close))
        with pytest.raises(JournalError, match="closed"):
            await until_closed(queue)
        disk.may_go_on.set()
        await closing
        ended = await asyncio.gather(first, late, return_exceptions=True)
        assert ended[0] is None
        assert "closed" in str(ended[1])

    with queue_to(disk.write) as queue:
        asyncio.run(main(queue))
    assert disk.batches == [{"first": [1]}]


def test_giving_a_run_up_waits_for_what_is_being_written() -> None:
    """Else the next holder could read the run before, and its first write would collide."""
    disk = Disk()

    async def main(queue: GroupCommit) -> None:
        story = Story("r")
        first = await busy_with(disk, queue, story)
        first.cancel()
        queue.append(story.dispatched("a"))
        forgetting = asyncio.ensure_future(asyncio.to_thread(queue.forget, "r"))
        disk.may_go_on.set()
        await forgetting
        assert disk.batches == [{"r": [1]}]
        assert queue.uncommitted("r") == []

    with queue_to(disk.write) as queue:
        asyncio.run(main(queue))


def test_giving_a_run_up_does_not_wait_for_its_turn() -> None:
    """A loop that ends many runs at once would stand still meanwhile."""
    disk = Disk()

    async def main(queue: GroupCommit) -> None:
        first = await busy_with(disk, queue, Story("first"))
        queue.append(Story("r").started())
        (waiting,) = commits(queue, "r")
        await asyncio.sleep(0)
        queue.forget("r")  # on the loop, while the disk is busy with another run
        with pytest.raises(JournalError, match="'r' was given up"):
            await waiting
        assert queue.uncommitted("r") == []
        assert not first.done()
        disk.may_go_on.set()
        await first

    with queue_to(disk.write) as queue:
        asyncio.run(main(queue))
    assert disk.batches == [{"first": [1]}]


def test_a_write_that_gives_nothing_is_a_failure_of_the_journal() -> None:
    async def main(queue: GroupCommit) -> None:
        for _ in range(2):  # the thread is still there
            queue.append(Story("r").started())
            with pytest.raises(JournalError, match="the journal failed: AttributeError"):
                await queue.commit("r")
            queue.forget("r")

    forgetful = cast("Callable[[EventBatch], dict[str, str]]", lambda batch: None)  # pyright: ignore[reportUnknownLambdaType]
    with queue_to(forgetful) as queue:
        asyncio.run(main(queue))


def test_a_loop_that_has_ended_hurts_no_other() -> None:
    """Its commit is written all the same."""
    disk = Disk()

    async def leave(queue: GroupCommit) -> None:
        commit = await busy_with(disk, queue, Story("left"))
        commit.cancel()

    async def stay(queue: GroupCommit) -> None:
        queue.append(Story("stays").started())
        waiting = commits(queue, "stays")
        await asyncio.sleep(0)
        disk.may_go_on.set()
        await asyncio.gather(*waiting)

    with queue_to(disk.write) as queue:
        asyncio.run(leave(queue))
        asyncio.run(stay(queue))
    assert disk.batches == [{"left": [1]}, {"stays": [1]}]
