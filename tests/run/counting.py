"""A journal that counts how often the events of its runs are read, and gone through."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from leadhand.contracts.events import Event
from leadhand.journal.sqlite import SqliteStore


class ReadEvents(list[Event]):
    """The events of a run, and how often they were gone through: a fold does that once."""

    passes = 0

    def __iter__(self) -> Iterator[Event]:
        self.passes += 1
        return super().__iter__()


class CountingJournal(SqliteStore):
    """Keeps what it gave: one entry for each time that events were read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.given: list[ReadEvents] = []

    def events(self, run_id: str, *, after_seq: int = 0) -> Sequence[Event]:
        """The events of a run in order."""
        self.given.append(ReadEvents(super().events(run_id, after_seq=after_seq)))
        return self.given[-1]

    def passes(self) -> list[int]:
        """For each time that events were read: how often they were gone through."""
        return [one.passes for one in self.given]
