"""A run looks for messages in its journal as long as it lasts, and says nothing about that."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from leadhand import Supervisor, Team, Worker
from leadhand.contracts.outcome import Handoff
from leadhand.contracts.people import RunMessage
from leadhand.journal import MemoryStore, StoreJournal
from tests.plans.samples import plan, task


class _FarAway(MemoryStore):
    """A store in which a look for messages takes longer than the run."""

    blocks = True

    def __init__(self) -> None:
        super().__init__()
        self.looked = threading.Event()
        self.may_end = threading.Event()

    def messages(self, *run_ids: str) -> Sequence[RunMessage]:
        """What is there, in the end."""
        if threading.current_thread() is not threading.main_thread():
            self.looked.set()
            self.may_end.wait(60)
        return super().messages(*run_ids)


def test_a_look_that_outlasts_its_run_is_let_go_of_without_a_word(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = _FarAway()

    async def until_it_is_looked(handoff: Handoff) -> str:
        await asyncio.to_thread(store.looked.wait, 60)
        return "done"

    team = Team("t", workers=(Worker("worker", "waits for the look", run=until_it_is_looked),))
    supervisor = Supervisor(team, journal=StoreJournal(store))
    answer = asyncio.run(supervisor.run(plan=plan(task("t1"))))
    store.may_end.set()
    assert (answer.status, store.looked.is_set()) == ("complete", True)
    assert "did not stop" not in caplog.text
