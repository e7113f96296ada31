"""The journal over a store: the event loop's thread never calls the store."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import cast

import pytest

from leadhand import Supervisor, Team, Worker
from leadhand.errors import RunTaken
from leadhand.journal import MemoryStore, StoreJournal, open_store
from leadhand.journal.combined import Combined
from leadhand.journal.store import Store
from tests.handles import resumed
from tests.plans.samples import plan, task
from tests.run.people.desk import RUN, Desk, answered

pytestmark = pytest.mark.wall_clock

REPLIES = 12


class Noting:
    """A store that notes which threads call it."""

    blocks = True

    def __init__(self, store: Store) -> None:
        self.append, self.commit = store.append, store.commit
        self.threads: dict[str, set[int]] = {}
        self._store = store

    def __getattr__(self, name: str) -> Callable[..., object]:
        method = getattr(self._store, name)

        def call(*args: object, **options: object) -> object:
            self.note(name)
            return method(*args, **options)

        return call

    @contextlib.contextmanager
    def hold(self, run_id: str) -> Generator[int]:
        """The lock of the store."""
        with self._store.hold(run_id) as last_seq:
            self.note("hold")
            yield last_seq
        self.note("release")

    def note(self, name: str) -> None:
        """Add the calling thread."""
        self.threads.setdefault(name, set()).add(threading.get_ident())


@pytest.mark.parametrize("place", ["sqlite", "postgres"])
async def test_the_loop_s_thread_never_calls_the_store_and_replies_sent_at_once_arrive(
    place: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    home = tmp_path if place == "sqlite" else cast("str", request.getfixturevalue("url"))
    noting = Noting(open_store(home))
    desk = Desk()
    team = Team("desk", workers=(Worker("painter", "paints", run=desk.painter),))
    journal = StoreJournal(cast("Store", noting))
    ids = [f"t{number}" for number in range(REPLIES)]
    supervisor = Supervisor(team, journal=journal, approve=["escalation"])
    the_plan = plan(*(task(id, worker="painter") for id in ids))
    waiting = await supervisor.run(plan=the_plan, run_id=RUN)
    assert {question.task_id for question in waiting.waiting} == {*ids}
    await asyncio.gather(
        *(supervisor.handle(RUN).reply(answered(f"red {id}", id), resume=False) for id in ids)
    )
    answer = await resumed(supervisor, RUN)
    assert await journal.messages(RUN) == []
    assert [run.status for run in await journal.runs()] == ["complete"]
    await journal.close()
    assert answer.status == "complete"
    assert answer.output == {id: f"red {id}" for id in ids}
    expected = {"hold", "release", "events", "post", "messages", "drop", "runs", "close"}
    assert noting.threads.keys() >= expected
    loops = threading.get_ident()
    assert [name for name, threads in noting.threads.items() if loops in threads] == []


async def test_a_hold_that_is_given_up_is_released_when_it_is_taken_at_last() -> None:
    released = threading.Event()

    class Slow(MemoryStore):
        blocks = True

        @contextlib.contextmanager
        def hold(self, run_id: str) -> Generator[int]:
            asked.set()
            may_take.wait()
            with super().hold(run_id) as last_seq:
                yield last_seq
            released.set()

    asked, may_take, store = threading.Event(), threading.Event(), Slow()

    async def hold() -> None:
        async with StoreJournal(store).hold("r"):
            raise AssertionError

    holding = asyncio.ensure_future(hold())
    await asyncio.to_thread(asked.wait)
    holding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await holding
    may_take.set()
    await asyncio.to_thread(released.wait)
    assert store.holder("r") is None


async def test_a_run_that_is_taken_is_told_by_the_journal(tmp_path: Path) -> None:
    journal = StoreJournal(open_store(tmp_path))
    async with journal.hold("r") as last_seq:
        assert last_seq == 0
        with pytest.raises(RunTaken):
            async with journal.hold("r"):
                raise AssertionError


def test_each_of_many_combined_calls_gets_its_own_result() -> None:
    may_end, batches = threading.Event(), list[int]()

    def double(numbers: list[int]) -> list[int]:
        batches.append(len(numbers))
        may_end.wait()
        if 7 in numbers:
            raise ValueError("seven")
        return [2 * number for number in numbers]

    combined, results = Combined[int, int](lambda numbers: double([*numbers])), dict[int, object]()

    def call(number: int) -> None:
        try:
            results[number] = combined(number)
        except ValueError as error:
            results[number] = str(error)

    threads = [threading.Thread(target=call, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    may_end.set()
    for thread in threads:
        thread.join()
    assert results == {0: 0, 1: 2, 2: 4}
    assert sum(batches) == 3
    call(7)
    assert results[7] == "seven"
