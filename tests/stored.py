"""What a supervisor has stored, for tests that read it in any thread and without an event loop."""

from typing import Any

from leadhand import Supervisor
from leadhand.journal import StoreJournal
from leadhand.journal.store import Store


def store_of(supervisor: Supervisor[Any]) -> Store:
    """The store of its journal."""
    journal = supervisor.journal
    assert isinstance(journal, StoreJournal)
    return journal.store
