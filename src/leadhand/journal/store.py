"""The public protocol of a journal: what a storage of your own implements."""

import datetime as dt
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from leadhand.contracts.people import RunMessage
from leadhand.contracts.summary import Inspection, RunFilter, RunSummary
from leadhand.ports import Log

if TYPE_CHECKING:
    from leadhand.contracts.events import Event


class Store(Log, Protocol):
    """Stores runs. Raises `JournalError` for everything that it can't do.

    Any thread may call it. All methods but `append` and `commit` may block: leadhand calls them in
    threads. `leadhand.testing.JournalConformance` tests all that is said here.
    """

    @property
    def blocks(self) -> bool:
        """Whether they wait for a disk or a network. If not, they are called in the event loop."""
        ...

    def check(self) -> None:
        """Raises `JournalError` if runs can't be read or written now. Creates nothing."""
        ...

    def events(self, run_id: str, *, after_seq: int = 0) -> "Sequence[Event]":
        """The events of a run after `after_seq` in order, also uncommitted ones."""
        ...

    def last_seq(self, run_id: str) -> int:
        """The `seq` of the run's last event, committed or not; 0 if there is no such run."""
        ...

    def hold(self, run_id: str) -> AbstractContextManager[int]:
        """A lock on the run: the right to write its events while the block lasts.

        Gives `last_seq`. At its end, uncommitted events are dropped. The lock ends with the process
        at the latest. Raises `RunTaken` if another process has it.
        """
        ...

    def holder(self, run_id: str) -> str | None:
        """A description of the process that holds the lock; None if none does."""
        ...

    def taken_by(self, *run_ids: str) -> Mapping[str, str]:
        """Those of these runs that are held here and were taken over, each with the other
        process."""
        ...

    def post(self, message: RunMessage) -> None:
        """Leave a message for the process that holds the run, now or later."""
        ...

    def messages(self, *run_ids: str) -> Sequence[RunMessage]:
        """The messages for these runs that were not dropped, the oldest first."""
        ...

    def drop(self, message: RunMessage) -> None:
        """Delete a message, after its effects are committed."""
        ...

    def runs(
        self, *, limit: int | None = None, cursor: str | None = None, where: RunFilter | None = None
    ) -> Sequence[RunSummary]:
        """The stored runs that `where` accepts, the latest first.

        With a `cursor`, the id of a run, those that began before it.
        """
        ...

    def inspect(self, run_id: str) -> Inspection:
        """What can be read of a run, and whether it is intact."""
        ...

    def delete(self, run_ids: Sequence[str], *, before: dt.datetime | None = None) -> Sequence[str]:
        """Delete these runs and all about them, except held ones; returns the ids of the deleted.

        Notes go with them whose keys begin with `notes_of(run_id)`. With `before`, only runs whose
        last event is older.
        """
        ...

    def notes(self, prefix: str) -> Mapping[str, bytes]:
        """What is kept beside the events under keys that begin with `prefix`, sorted by key.

        A store without this and `swap_note` keeps runs, but no files and no shared budgets.
        """
        ...

    def swap_note(self, key: str, known: bytes | None, new: bytes | None) -> bool:
        """Keep `new` under `key`, durably, if `known` is what is kept there; None is nothing.

        Returns whether it was. Of two calls at once that know the same, one does.
        """
        ...

    def close(self) -> None:
        """Close files and connections. Events that were not committed are lost."""
        ...
