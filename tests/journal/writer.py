"""A process that writes a run and is killed at it: `python -m tests.journal.writer HOME RUN`.

It prints the position of each event once that is committed.
"""

import asyncio
import itertools
import sys

from leadhand.journal import open_store
from leadhand.testing.journal_stories import Story


async def write(home: str, run_id: str) -> None:
    """Hold the run and commit one event after the other, for ever."""
    journal = open_store(home)
    story = Story(run_id)
    with journal.hold(run_id):
        journal.append(story.started())
        for number in itertools.count():
            await journal.commit()
            print(story.seq, flush=True)
            journal.append(story.dispatched(f"t{number}"))
            journal.append(story.completed(f"t{number}"))


if __name__ == "__main__":
    asyncio.run(write(*sys.argv[1:]))
