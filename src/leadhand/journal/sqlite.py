"""The journal that needs no server: one SQLite file in a folder, and the locks beside it.

Any number of processes may use the folder at once, each for runs of its own.
"""

import contextlib
import datetime as dt
import sqlite3
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from leadhand.contracts.inspection import Inspection
from leadhand.contracts.people import RunMessage
from leadhand.contracts.summary import RunSummary
from leadhand.errors import JournalError, RunTaken
from leadhand.journal import sqlite_tables as tables
from leadhand.journal.codec import Redact, decode_message, encode, encode_message
from leadhand.journal.group_commit import EventBatch, GroupCommit
from leadhand.journal.locks import Locks
from leadhand.journal.sqlite_database import STEPS, SqliteDatabase, Step, explain, is_busy

if TYPE_CHECKING:
    from leadhand.contracts.events import Event

FILE = "leadhand.db"
_PRUNED_AT_ONCE = 100
_TROUBLE = (sqlite3.Error, OSError, JournalError)


class SqliteJournal:
    """Keeps runs in `leadhand.db` in a folder; both are made when something is first written."""

    blocks = True

    def __init__(
        self,
        folder: Path,
        *,
        redact: Redact | None = None,
        busy_timeout_s: float = 10.0,
        steps: Sequence[Step] = STEPS,
    ) -> None:
        """`redact` takes secrets out of whatever is written. `busy_timeout_s` is how long to wait
        for another process that writes; `steps` are the versions of the tables."""
        self._database = SqliteDatabase(folder / FILE, busy_timeout_s=busy_timeout_s, steps=steps)
        self._redact = redact
        self._locks = Locks(self._database.path.parent / "locks")
        self._queue = GroupCommit(self._write, name="leadhand journal")

    def append(self, event: "Event") -> None:
        """Queue an event; it is safe once the next `commit` returns."""
        self._queue.append(event)

    async def commit(self, run_id: str | None = None) -> None:
        """Return once everything appended to the run before is safe; without one, to any run.

        Raises `JournalError` where it can't be kept; from then on every commit of the run does,
        as long as it is held.
        """
        await self._queue.commit(run_id)

    def events(self, run_id: str) -> "Sequence[Event]":
        """The events of a run in order, those that are not committed yet too."""
        unsafe = self._queue.unsafe(run_id)  # first: what is committed meanwhile is then in both
        with self._database.reading() as connection:
            events = [] if connection is None else [*tables.events(connection, run_id)]
        last = events[-1].seq if events else 0
        return [*events, *(event for event in unsafe if event.seq > last)]

    def has(self, run_id: str) -> bool:
        """Whether there is such a run."""
        if self._queue.unsafe(run_id):
            return True
        with self._database.reading() as connection:
            return connection is not None and tables.has(connection, run_id)

    def last_seq(self, run_id: str) -> int:
        """The `seq` of the run's last event, committed or not; 0 if there is no such run."""
        if unsafe := self._queue.unsafe(run_id):
            return unsafe[-1].seq
        with self._database.reading() as connection:
            return 0 if connection is None else tables.last_seq_of(connection, run_id)

    @contextlib.contextmanager
    def hold(self, run_id: str) -> Generator[None]:
        """The right to write the run's events, for as long as the block lasts, or the process.

        What was appended and not committed when it ends is gone. Raises `RunTaken`.
        """
        with self._locks.hold(run_id):
            try:
                yield
            finally:
                self._queue.forget(run_id)

    def holder(self, run_id: str) -> str | None:
        """Who has that right now, in words; none where nobody has."""
        return self._locks.holder(run_id)

    def taken_by(self, run_id: str) -> str | None:
        """`None`: a locked file is taken by no other."""
        return None

    def post(self, message: RunMessage) -> None:
        """Leave a message for whoever holds the run, or will."""
        body = encode_message(message, redact=self._redact)
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO messages (run_id, body) VALUES (?, ?)", (message.run_id, body)
            )

    def messages(self, run_id: str) -> Sequence[RunMessage]:
        """The messages for a run, the oldest first."""
        with self._database.reading() as connection:
            if connection is None:
                return []
            rows = connection.execute(
                "SELECT id, body FROM messages WHERE run_id = ? ORDER BY id", (run_id,)
            )
            return [decode_message(id, run_id, body) for id, body in rows]

    def drop(self, message: RunMessage) -> None:
        """Forget a message."""
        with self._transaction() as connection:
            connection.execute("DELETE FROM messages WHERE id = ?", (message.id,))

    def runs(self, *, limit: int | None = None) -> Sequence[RunSummary]:
        """What is kept, the run begun last first. Reads no events."""
        held = self._locks.held()
        with self._database.reading() as connection:
            if connection is None:
                return []
            return tables.summaries(connection, limit=limit, held=lambda id: id in held)

    def inspect(self, run_id: str) -> Inspection:
        """What can be read of a run, and whether it is what was written."""
        with self._database.reading() as connection:
            if connection is None:
                return Inspection(run_id)
            return tables.inspection(connection, run_id)

    def prune(self, *, before: dt.datetime) -> Sequence[str]:
        """Forget the runs whose last event is older; gives their ids. Those held are kept."""
        with self._database.reading() as connection:
            old = [] if connection is None else tables.older(connection, before)
        pruned: list[str] = []
        for start in range(0, len(old), _PRUNED_AT_ONCE):
            with contextlib.ExitStack() as held:
                ids = [id for id in old[start : start + _PRUNED_AT_ONCE] if self._take(id, held)]
                with self._transaction() as connection:
                    pruned += [id for id in ids if tables.remove(connection, id, before)]
        if pruned:
            self._database.shrink()
        return pruned

    def close(self) -> None:
        """Let go of the file. What was not committed is gone."""
        self._queue.close()
        self._database.close()

    def _take(self, run_id: str, held: contextlib.ExitStack) -> bool:
        """Hold a run for as long as others are; False where somebody has it."""
        try:
            held.enter_context(self._locks.hold(run_id))
        except RunTaken:
            return False
        return True

    def _write(self, batch: EventBatch) -> dict[str, str]:
        """Write all runs in one transaction; where that fails, each by itself."""
        failed: dict[str, str] = {}
        ready: dict[str, list[tables.Row]] = {}
        for run_id, events in batch.items():
            try:
                bodies = encode(events, redact=self._redact)
                ready[run_id] = [*zip(events, bodies, strict=True)]
            except JournalError as error:
                failed[run_id] = str(error)
        try:
            self._insert(ready)
        except _TROUBLE as error:
            alone = len(ready) == 1 or is_busy(error)
            failed |= self._told(ready, error) if alone else self._one_by_one(ready)
        return failed

    def _one_by_one(self, ready: Mapping[str, Sequence[tables.Row]]) -> dict[str, str]:
        failed: dict[str, str] = {}
        for run_id, rows in ready.items():
            try:
                self._insert({run_id: rows})
            except _TROUBLE as error:
                failed |= self._told({run_id: rows}, error)
        return failed

    def _insert(self, ready: Mapping[str, Sequence[tables.Row]]) -> None:
        with self._database.transaction() as connection:
            for run_id, rows in ready.items():
                tables.insert(connection, run_id, rows, redact=self._redact)

    def _told(self, ready: Mapping[str, Sequence[tables.Row]], error: Exception) -> dict[str, str]:
        """Why runs can't be written, as a person is told."""
        if isinstance(error, JournalError):
            return dict.fromkeys(ready, str(error))
        why, remedy = explain(error)
        path = self._database.path
        told = {id: f"run {id!r} can't be kept in {path}: {why}; {remedy}" for id in ready}
        for id, rows in ready.items():
            if rows[0][0].seq > 1:  # what came before it is kept
                told[id] += f", then `leadhand resume {id}`"
        return told

    @contextlib.contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        try:
            with self._database.transaction() as connection:
                yield connection
        except (sqlite3.Error, OSError) as error:
            why, remedy = explain(error)
            path = self._database.path
            raise JournalError(f"{path} can't be written: {why}; {remedy}") from error
