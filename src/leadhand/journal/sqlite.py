"""The store in SQLite: one file in a folder, with lock files beside it, for many processes."""

import contextlib
import datetime as dt
import itertools
import json
import sqlite3
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from leadhand.contracts.people import RunMessage
from leadhand.contracts.summary import Inspection, RunFilter, RunSummary
from leadhand.errors import JournalError, RunTaken
from leadhand.journal import sqlite_tables as tables
from leadhand.journal.codec import Redact, decode_message, encode, encode_message
from leadhand.journal.group_commit import EventBatch, GroupCommit
from leadhand.journal.locks import Locks
from leadhand.journal.sqlite_database import STEPS, SqliteDatabase, Step, explain, is_busy

if TYPE_CHECKING:
    from leadhand.contracts.events import Event

FILE = "leadhand.db"
_DELETED_AT_ONCE = 100
_ERRORS = (sqlite3.Error, OSError, JournalError)


class SqliteStore:
    """Keeps runs in `leadhand.db` in a folder; both are created at the first write."""

    blocks = True

    def __init__(
        self,
        folder: Path,
        *,
        redact: Redact | None = None,
        busy_timeout_s: float = 10.0,
        steps: Sequence[Step] = STEPS,
    ) -> None:
        """`busy_timeout_s` is how long to wait for another writer; `steps` are the migrations."""
        self.folder = folder
        self._database = SqliteDatabase(folder / FILE, busy_timeout_s=busy_timeout_s, steps=steps)
        self._redact = redact
        self._locks = Locks(self._database.path.parent / "locks")
        self._queue = GroupCommit(self._write, name="leadhand journal")

    def append(self, event: "Event") -> None:
        self._queue.append(event)

    async def commit(self, run_id: str | None = None) -> None:
        await self._queue.commit(run_id)

    def check(self) -> None:
        self.last_seq("")
        if self._database.path.exists():
            with self._transaction():
                pass

    def events(self, run_id: str, *, after_seq: int = 0) -> "Sequence[Event]":
        # Uncommitted events first: a commit meanwhile puts events in both.
        uncommitted = self._queue.uncommitted(run_id)
        with self._database.reading() as connection:
            events = [] if connection is None else [*tables.events(connection, run_id, after_seq)]
        last = events[-1].seq if events else after_seq
        return [*events, *(event for event in uncommitted if event.seq > last)]

    def last_seq(self, run_id: str) -> int:
        if uncommitted := self._queue.uncommitted(run_id):
            return uncommitted[-1].seq
        with self._database.reading() as connection:
            return 0 if connection is None else tables.last_seq_of(connection, run_id)

    @contextlib.contextmanager
    def hold(self, run_id: str) -> Generator[int]:
        with self._locks.hold(run_id):
            last_seq = self.last_seq(run_id)
            try:
                yield last_seq
            finally:
                self._queue.forget(run_id)

    def holder(self, run_id: str) -> str | None:
        return self._locks.holder(run_id)

    def taken_by(self, *run_ids: str) -> Mapping[str, str]:
        """None: no other process can take a locked file."""
        return {}

    def post(self, message: RunMessage) -> None:
        body = encode_message(message, redact=self._redact)
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO messages (run_id, body) VALUES (?, ?)", (message.run_id, body)
            )

    def messages(self, *run_ids: str) -> Sequence[RunMessage]:
        with self._database.reading() as connection:
            if connection is None:
                return []
            rows = connection.execute(
                "SELECT id, run_id, body FROM messages"
                " WHERE run_id IN (SELECT value FROM json_each(?)) ORDER BY id",
                (json.dumps(run_ids),),
            )
            return [decode_message(*row) for row in rows]

    def drop(self, message: RunMessage) -> None:
        with self._transaction() as connection:
            connection.execute("DELETE FROM messages WHERE id = ?", (message.id,))

    def runs(
        self, *, limit: int | None = None, cursor: str | None = None, where: RunFilter | None = None
    ) -> Sequence[RunSummary]:
        held = self._locks.held()
        with self._database.reading() as connection:
            if connection is None:
                return []
            found = tables.summaries(connection, cursor=cursor, held=lambda id: id in held)
            return [*itertools.islice(filter(where, found), limit)]

    def inspect(self, run_id: str) -> Inspection:
        with self._database.reading() as connection:
            if connection is None:
                return Inspection(run_id)
            return tables.inspection(connection, run_id)

    def delete(self, run_ids: Sequence[str], *, before: dt.datetime | None = None) -> Sequence[str]:
        gone: list[str] = []
        for start in range(0, len(run_ids), _DELETED_AT_ONCE):
            with contextlib.ExitStack() as held:
                some = run_ids[start : start + _DELETED_AT_ONCE]
                ids = [id for id in some if self._take(id, held)]
                with self._transaction() as connection:
                    gone += [id for id in ids if tables.remove(connection, id, before)]
        if gone:
            self._database.shrink()
        return gone

    def notes(self, prefix: str) -> Mapping[str, bytes]:
        with self._database.reading() as connection:
            return {} if connection is None else tables.notes(connection, prefix)

    def swap_note(self, key: str, known: bytes | None, new: bytes | None) -> bool:
        with self._transaction() as connection:
            return tables.swap_note(connection, key, known, new)

    def close(self) -> None:
        self._queue.close()
        self._database.close()

    def _take(self, run_id: str, held: contextlib.ExitStack) -> bool:
        """False if it is taken."""
        try:
            held.enter_context(self._locks.hold(run_id))
        except RunTaken:
            return False
        return True

    def _write(self, batch: EventBatch) -> dict[str, str]:
        """Write all runs in one transaction; if that fails, each in its own."""
        failed: dict[str, str] = {}
        ready: dict[str, list[tables.Row]] = {}
        for run_id, events in batch.items():
            try:
                bodies = encode(events, redact=self._redact)
                ready[run_id] = [*zip(events, bodies, strict=True)]
            except JournalError as error:
                failed[run_id] = str(error)
        return failed | self._try_insert(ready)

    def _try_insert(self, ready: Mapping[str, Sequence[tables.Row]]) -> dict[str, str]:
        try:
            self._insert(ready)
        except _ERRORS as error:
            if len(ready) == 1 or is_busy(error):
                return self._messages(ready, error)
            each = (self._try_insert({run_id: rows}) for run_id, rows in ready.items())
            return {run_id: why for failed in each for run_id, why in failed.items()}
        return {}

    def _insert(self, ready: Mapping[str, Sequence[tables.Row]]) -> None:
        with self._database.transaction() as connection:
            tables.insert(connection, ready, redact=self._redact)

    def _messages(
        self, ready: Mapping[str, Sequence[tables.Row]], error: Exception
    ) -> dict[str, str]:
        if isinstance(error, JournalError):
            return dict.fromkeys(ready, str(error))
        why, remedy = explain(error)
        path = self._database.path
        lines = {id: f"run {id!r} can't be kept in {path}: {why}; {remedy}" for id in ready}
        for id, rows in ready.items():
            if rows[0][0].seq > 1:  # earlier events are kept
                lines[id] += f", then `leadhand resume {id}`"
        return lines

    @contextlib.contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        try:
            with self._database.transaction() as connection:
                yield connection
        except (sqlite3.Error, OSError) as error:
            raise self._database.failure("written", error) from error
