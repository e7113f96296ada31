"""A run whose journal is lost at any commit ends with the journal's error (F31, F48)."""

import asyncio

import pytest

from leadhand import Handoff, Plan, Supervisor, Task, Team, Worker
from leadhand.contracts.events import TaskDispatched
from leadhand.errors import JournalError
from leadhand.journal import MemoryJournal


class _Lost(MemoryJournal):
    """Another process takes the run over before the dispatch of one task is committed."""

    async def commit(self, run_id: str | None = None) -> None:
        """Raises `JournalError` at that dispatch and from then on."""
        last = self.store.events(run_id or "")[-1:]
        if last and isinstance(last[0], TaskDispatched) and last[0].task_id == "b":
            raise JournalError("another process has taken it over")
        await super().commit(run_id)


def test_a_run_lost_while_a_dispatch_is_committed_ends_with_the_journal_s_error() -> None:
    """F48: a dispatched task that never began is nothing to wait for."""
    done: list[str] = []

    def work(handoff: Handoff) -> str:
        done.append(handoff.task_id)
        return "done"

    tasks = (
        Task(id="a", worker="work", intent="Do this first"),
        Task(id="b", worker="work", intent="Do this next", depends_on=("a",)),
    )
    team = Team("lost", workers=(Worker("work", "Works", run=work),))
    supervisor = Supervisor(team, journal=_Lost())

    with pytest.raises(JournalError, match="taken it over"):
        asyncio.run(supervisor.run(plan=Plan(goal="Do both", tasks=tasks)))
    assert done == ["a"]
