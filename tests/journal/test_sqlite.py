"""The SQLite journal: the contract, its files, and that it costs no more than it must."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leadhand.journal import open_journal
from leadhand.ports import Journal
from tests.journal.conformance import DurableConformance


@pytest.fixture
def reopened(tmp_path: Path) -> Iterator[Callable[[], Journal]]:
    """Opens the journal in the test's folder, as often as it is called."""
    opened: list[Journal] = []

    def reopen() -> Journal:
        opened.append(open_journal(tmp_path / "home"))
        return opened[-1]

    yield reopen
    for journal in opened:
        journal.close()


@pytest.fixture
def journal(reopened: Callable[[], Journal]) -> Journal:
    return reopened()


class TestSqliteJournal(DurableConformance):
    pass
