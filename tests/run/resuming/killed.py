"""The story in a process of its own that may be killed: each piece of work leaves a line on disk.

    killed:tell HOME LEDGER            begins the run
    killed:go_on HOME LEDGER           goes on with it

The answer is printed, as a document of JSON.
"""

import asyncio
import os
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from leadhand import Supervisor
from leadhand.contracts.answer import Answer
from leadhand.contracts.outcome import Handoff
from leadhand.journal import StoreJournal, open_store
from tests.handles import resumed
from tests.run.resuming import story

BACKOFF_S = (0.05, 0.1)
CONCURRENCY = 4


@dataclass
class Ledger(story.Workshop):
    """The workers of the story, each of which takes a moment and then leaves a line."""

    path: Path = Path()

    async def work(self, handoff: Handoff) -> None:
        """Take a moment; what is on the disk then has been done."""
        await asyncio.sleep(0.002)
        line = f"{handoff.key} {handoff.attempt}\n".encode()
        file = os.open(self.path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
        os.write(file, line)
        os.fsync(file)
        os.close(file)


def lines(path: Path) -> list[tuple[str, int]]:
    """The work that is done: the way of its task, and the attempt."""
    if not path.exists():
        return []
    rows = [line.split() for line in path.read_text().splitlines()]
    return [(key.removeprefix(f"{story.RUN}/"), int(attempt)) for key, attempt in rows]


async def told(home: Path, ledger: Path, *, resume: bool) -> Answer:
    """The answer of the story, begun or gone on with."""
    with closing(open_store(home)) as journal:
        supervisor = Supervisor(
            story.team(Ledger(path=ledger), backoff_s=BACKOFF_S),
            journal=StoreJournal(journal),
            remedies=story.remedies(),
            concurrency=CONCURRENCY,
        )
        if resume:
            return await resumed(supervisor, story.RUN)
        return await supervisor.run(plan=story.plan(), amend=True, run_id=story.RUN)


def tell() -> None:
    """Begin the story."""
    _print(resume=False)


def go_on() -> None:
    """Go on with it."""
    _print(resume=True)


def _print(*, resume: bool) -> None:
    home, ledger = (Path(one) for one in sys.argv[1:])
    print(asyncio.run(told(home, ledger, resume=resume)).model_dump_json())
