"""The runs that are kept of each release, in `tests/journal/old`, and the team that does them.

    python -m tests.run.resuming.old > tests/journal/old/VERSION.sql

writes those of the release that it is run with. Files of releases that are out never change.
"""

import asyncio
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from leadhand import Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.events import Event, TaskCompleted, TaskEscalated
from leadhand.contracts.outcome import Completed, Escalated, Handoff, Outcome, Result
from leadhand.contracts.team import TaskTemplate
from leadhand.journal import MemoryJournal, open_store
from leadhand.journal.sqlite import FILE
from leadhand.testing import VirtualClock, run_virtual

FINISHED, ON_THE_LADDER, ASKING, NESTED = "finished", "on-the-ladder", "asking", "nested"
RUNS = (FINISHED, ON_THE_LADDER, ASKING, NESTED)


@dataclass
class Hands:
    """The workers; they remember what they were given."""

    given: list[Handoff] = field(default_factory=list[Handoff])

    async def clerk(self, handoff: Handoff) -> str:
        """Does it."""
        self.given.append(handoff)
        return f"{handoff.task_id} is filed"

    async def guesser(self, handoff: Handoff) -> Outcome:
        """Is not sure."""
        self.given.append(handoff)
        guess = Result(output="it may be blue", confidence=20)
        return Escalated(reason="low_confidence", message="too dark to say", partial=guess)

    async def expert(self, handoff: Handoff) -> Outcome:
        """Is sure."""
        self.given.append(handoff)
        return Completed(result=Result(output="it is green", confidence=90))

    async def painter(self, handoff: Handoff) -> Outcome:
        """Has to be told the colour."""
        self.given.append(handoff)
        if "says: " in handoff.intent:
            return Completed(result=Result(output=handoff.intent.rpartition("says: ")[2]))
        return Escalated(reason="ambiguous_input", message="which colour?")

    def keys(self) -> list[str]:
        """What was worked on: the whole ways of the tasks."""
        return [handoff.key.partition("/")[2] for handoff in self.given]


def team(hands: Hands, *, without: str = "", template: tuple[TaskTemplate, ...] = ()) -> Team:
    """The team, perhaps without a worker, in the team or in the one within it."""
    shop = (
        Worker("clerk", "files", run=hands.clerk),
        Worker("filer", "files more", run=hands.clerk),
    )
    entries = [
        TaskTemplate(id=f"t{n}", worker=one.name, intent="file it") for n, one in enumerate(shop)
    ]
    within = tuple(one for one in shop if f"annex/{one.name}" != without)
    workers = [
        Worker("clerk", "files", run=hands.clerk),
        Worker("guesser", "guesses", run=hands.guesser, fallback="expert"),
        Worker("expert", "knows", run=hands.expert),
        Worker("painter", "paints", run=hands.painter),
        Worker(
            "annex",
            "files in two parts",
            team=Team("annex", workers=within, template=tuple(entries) if len(within) == 2 else ()),
        ),
    ]
    kept = tuple(one for one in workers if one.name != without)
    return Team("gallery", workers=kept, template=template)


def plan(*workers: str) -> Plan:
    """A task for each of them, and one after all."""
    tasks = [Task(id=f"of-{name}", worker=name, intent=f"see to it: {name}") for name in workers]
    after = tuple(task.id for task in tasks)
    last = Task(id="last", worker="clerk", intent="put it together", depends_on=after)
    return Plan(goal="see to the picture", tasks=(*tasks, last))


def _until(events: Iterable[Event], last: Callable[[Event], bool]) -> list[Event]:
    """The events as far as that one."""
    kept: list[Event] = []
    for event in events:
        kept.append(event)
        if last(event):
            return kept
    raise AssertionError("the run has no such event")


def _runs() -> dict[str, list[Event]]:
    """The events of each run."""
    plans = {
        FINISHED: plan("expert"),
        ON_THE_LADDER: plan("expert", "guesser"),
        ASKING: plan("expert", "painter"),
        NESTED: plan("expert", "annex"),
    }
    journal = MemoryJournal()
    supervisor = Supervisor(
        team(Hands()), journal=journal, approve=["escalation"], clock=VirtualClock()
    )
    for run_id, its_plan in plans.items():
        run_virtual(supervisor.run(plan=its_plan, run_id=run_id))
    runs = {run_id: [*journal.store.events(run_id)] for run_id in plans}
    runs[ON_THE_LADDER] = _until(
        runs[ON_THE_LADDER], lambda event: isinstance(event, TaskEscalated)
    )
    runs[NESTED] = _until(
        runs[NESTED], lambda event: isinstance(event, TaskCompleted) and bool(event.within)
    )
    return runs


async def _keep(home: Path, runs: Mapping[str, Sequence[Event]]) -> None:
    with closing(open_store(home)) as journal:
        for run_id, events in runs.items():
            with journal.hold(run_id):
                for event in events:
                    journal.append(event)
                await journal.commit(run_id)


def load(dump: Path, home: Path) -> None:
    """Make a journal of what was written by `main`."""
    home.mkdir()
    with closing(sqlite3.connect(home / FILE)) as connection:
        connection.executescript(dump.read_text(encoding="utf-8"))


def main() -> None:
    """Write the journal as SQL."""
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(_keep(Path(folder), _runs()))
        with closing(sqlite3.connect(Path(folder) / FILE)) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            lines = [*connection.iterdump(), f"PRAGMA user_version = {version};"]
    sys.stdout.write("-- Written by `python -m tests.run.resuming.old`, and not to be changed.\n")
    sys.stdout.write("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
