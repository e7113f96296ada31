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

pytestmark = pytest.mark.wall_clock


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


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def queue(disk: Disk) -> Generator[GroupCommit]:
    with queue_to(disk.write) as queue:
        yield queue


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


async def test_what_gathers_during_a_write_is_written_together(
    disk: Disk, queue: GroupCommit
) -> None:
    first = await busy_with(disk, queue, Story("first"))
    waiting = [first]
    for number in range(100):
        queue.append(Story(f"r{number % 10}").started())
        waiting += commits(queue, f"r{number % 10}")
    await asyncio.sleep(0)
    disk.may_go_on.set()
    await asyncio.gather(*waiting)
    assert disk.batches == [{"first": [1]}, {f"r{number}": [1] * 10 for number in range(10)}]


async def test_the_commit_of_a_run_leaves_what_others_have_begun(
    disk: Disk, queue: GroupCommit
) -> None:
    """Else a part of what another run appends between two commits could be kept alone."""
    one, other = Story("one"), Story("other")
    queue.append(other.started())
    queue.append(one.started())
    await queue.commit("one")
    queue.append(other.dispatched("a"))
    assert len(queue.uncommitted("other")) == 2
    await queue.commit("other")
    assert queue.uncommitted("other") == []
    assert disk.batches == [{"one": [1]}, {"other": [1, 2]}]


async def test_without_anything_to_write_there_is_no_thread(disk: Disk, queue: GroupCommit) -> None:
    await queue.commit()
    queue.append(Story("r").started())
    await queue.commit("other")
    assert "test journal" not in {thread.name for thread in threading.enumerate()}
    assert disk.batches == []


async def test_a_run_that_fails_takes_what_it_has_queued_with_it(
    disk: Disk, queue: GroupCommit
) -> None:
    """Who waits for it is told the same at once; the others' events are written nevertheless."""
    bad, good = Story("bad"), Story("good")
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
    ended += await asyncio.gather(queue.commit("bad"), return_exceptions=True)
    queue.forget("good")
    queue.forget("bad")
    await queue.commit("bad")
    assert [str(error) for error in ended] == ["no room"] * 4
    assert disk.batches == [{"bad": [1]}, {"good": [1]}]


async def test_a_write_that_raises_hangs_nobody() -> None:
    """A fault of our own is told like any other, and the thread goes on."""
    broken = [True]

    def write(batch: EventBatch) -> dict[str, str]:
        if broken.pop():
            raise ZeroDivisionError("a fault")
        return {}

    with queue_to(write) as queue:
        queue.append(Story("one").started())
        with pytest.raises(JournalError, match="ZeroDivisionError: a fault"):
            await queue.commit("one")
        broken.append(False)
        queue.append(Story("other").started())
        await queue.commit("other")


async def test_closing_tells_those_who_still_wait(disk: Disk, queue: GroupCommit) -> None:
    """What is being written is finished; whoever came later is told, and that is not written."""
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
    assert disk.batches == [{"first": [1]}]


async def test_giving_a_run_up_waits_for_what_is_being_written(
    disk: Disk, queue: GroupCommit
) -> None:
    """Else the next holder could read the run before, and its first write would collide."""
    story = Story("r")
    first = await busy_with(disk, queue, story)
    first.cancel()
    queue.append(story.dispatched("a"))
    forgetting = asyncio.ensure_future(asyncio.to_thread(queue.forget, "r"))
    disk.may_go_on.set()
    await forgetting
    assert disk.batches == [{"r": [1]}]
    assert queue.uncommitted("r") == []


async def test_giving_a_run_up_does_not_wait_for_its_turn(disk: Disk, queue: GroupCommit) -> None:
    """A loop that ends many runs at once would stand still meanwhile."""
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
    assert disk.batches == [{"first": [1]}]


async def test_a_write_that_gives_nothing_is_a_failure_of_the_journal() -> None:
    forgetful = cast("Callable[[EventBatch], dict[str, str]]", lambda batch: None)  # pyright: ignore[reportUnknownLambdaType]
    with queue_to(forgetful) as queue:
        for _ in range(2):  # the thread is still there
            queue.append(Story("r").started())
            with pytest.raises(JournalError, match="the journal failed: AttributeError"):
                await queue.commit("r")
            queue.forget("r")


def test_a_loop_that_has_ended_hurts_no_other(disk: Disk, queue: GroupCommit) -> None:
    """Its commit is written all the same."""

    async def leave() -> None:
        commit = await busy_with(disk, queue, Story("left"))
        commit.cancel()

    async def stay() -> None:
        queue.append(Story("stays").started())
        waiting = commits(queue, "stays")
        await asyncio.sleep(0)
        disk.may_go_on.set()
        await asyncio.gather(*waiting)

    asyncio.run(leave())
    asyncio.run(stay())
    assert disk.batches == [{"left": [1]}, {"stays": [1]}]
