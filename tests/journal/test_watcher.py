"""One thread looks at a journal for all runs of a program, however many there are."""

import asyncio
import threading
from contextlib import AsyncExitStack, closing
from pathlib import Path

from leadhand.contracts.people import RunMessage
from leadhand.errors import JournalError
from leadhand.journal.sqlite import SqliteJournal
from leadhand.journal.watcher import RunActivity, Watcher

RUNS = 100


class Counting(SqliteJournal):
    """Notes which threads read messages; those of one run can't be read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.readers: set[int] = set()

    def messages(self, run_id: str) -> list[RunMessage]:
        """The messages of a run."""
        self.readers.add(threading.get_ident())
        if run_id == "run-7":
            raise JournalError("they are damaged")
        return [*super().messages(run_id)]


def test_one_thread_looks_for_all_runs_and_one_run_s_trouble_is_its_own(tmp_path: Path) -> None:
    async def watch() -> dict[str, RunActivity]:
        seen: dict[str, RunActivity] = {}
        all_seen = asyncio.Event()

        async with AsyncExitStack() as stack:
            for number in range(RUNS):
                run_id = f"run-{number}"

                def hear(one: RunActivity, run_id: str = run_id) -> None:
                    seen[run_id] = one
                    if len(seen) == RUNS:
                        all_seen.set()

                await stack.enter_async_context(Watcher.watch(journal, run_id, hear))
            await all_seen.wait()
        return seen

    with closing(Counting(tmp_path)) as journal:
        journal.post(RunMessage(run_id="run-3", reason="enough"))
        seen = asyncio.run(watch())
    assert len(journal.readers) == 1
    assert [message.reason for message in seen["run-3"].messages] == ["enough"]
    assert str(seen["run-7"].error) == "they are damaged"
    assert seen["run-8"] == RunActivity([])
