"""One call looks at a journal for all runs of a program, however many there are."""

import asyncio
from contextlib import AsyncExitStack, closing
from pathlib import Path

from leadhand.contracts.people import RunMessage
from leadhand.errors import JournalError
from leadhand.journal import MemoryJournal, StoreJournal
from leadhand.journal.sqlite import SqliteStore
from leadhand.journal.watcher import RunActivity, Watcher
from leadhand.testing import run_virtual

RUNS = 100


class Counting(SqliteStore):
    """Notes for which runs messages are read; those of one run can't be read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.looks: list[int] = []

    def messages(self, *run_ids: str) -> list[RunMessage]:
        """The messages of the runs."""
        self.looks.append(len(run_ids))
        if "run-7" in run_ids:
            raise JournalError("they are damaged")
        return [*super().messages(*run_ids)]


def test_one_call_looks_for_all_runs_and_one_run_s_trouble_is_its_own(tmp_path: Path) -> None:
    async def watch(journal: StoreJournal) -> dict[str, RunActivity]:
        seen: dict[str, RunActivity] = {}
        all_seen = asyncio.Event()

        async with AsyncExitStack() as stack:
            for number in range(RUNS):
                run_id = f"run-{number}"

                async def hear(one: RunActivity, run_id: str = run_id) -> None:
                    seen[run_id] = one
                    if len(seen) == RUNS:
                        all_seen.set()

                await stack.enter_async_context(Watcher.watch(journal, run_id, hear))
            await all_seen.wait()
        return seen

    with closing(Counting(tmp_path)) as store:
        store.post(RunMessage(run_id="run-3", reason="enough"))
        seen = asyncio.run(watch(StoreJournal(store)))
    assert store.looks[0] == RUNS
    assert [message.reason for message in seen["run-3"].messages] == ["enough"]
    assert str(seen["run-7"].error) == "they are damaged"
    assert seen["run-8"] == RunActivity([])


class Unreadable(MemoryJournal):
    """Can't be read at all."""

    async def messages(self, *run_ids: str) -> list[RunMessage]:
        raise JournalError(f"the messages of {run_ids[0]} are damaged")


def test_a_journal_is_polled_twice_a_second_until_the_last_run_leaves() -> None:
    polls: list[tuple[str, float]] = []

    async def watch(journal: MemoryJournal) -> None:
        clock = asyncio.get_running_loop().time
        start_s = clock()

        async def hear(one: RunActivity) -> None:
            polls.append((str(one.error or one.messages), clock() - start_s))

        async with Watcher.watch(journal, "r", hear):
            await asyncio.sleep(1.2)
        await asyncio.sleep(5)

    run_virtual(watch(MemoryJournal()))
    assert polls == [("[]", 0.5), ("[]", 1.0)]
    polls.clear()
    run_virtual(watch(Unreadable()))
    assert polls == [("the messages of r are damaged", at_s) for at_s in (0.5, 1.0)]
