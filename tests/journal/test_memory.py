"""The journal in memory: the contract, and that it does not grow for ever."""

import pytest

from leadhand.journal import MemoryJournal, MemoryStore
from leadhand.journal.store import Store
from leadhand.testing.journal_stories import Story, keep
from leadhand.testing.journals import JournalConformance
from tests.journal.blocking import Blocking


class TestMemoryJournal(JournalConformance):
    @pytest.fixture
    def journal(self) -> Store:
        return Blocking(MemoryJournal())

    def test_it_remembers_the_last_runs_only(self) -> None:
        journal = MemoryStore(keep_runs=3)
        for number in range(5):
            keep(journal, Story(f"r{number}").whole("a"))
        assert [run.run_id for run in journal.runs()] == ["r4", "r3", "r2"]
        assert journal.last_seq("r0") == 0
