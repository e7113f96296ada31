"""The writer of runs to Postgres: one session writes and holds them, so a lost run is not
written."""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import psycopg

from leadhand.contracts.events import Event
from leadhand.errors import JournalError
from leadhand.journal.codec import BLOB_CHARS, Redact, compress, encode
from leadhand.journal.combined import Combined
from leadhand.journal.group_commit import EventBatch
from leadhand.journal.integrity import checksum
from leadhand.journal.postgres_database import PostgresDatabase
from leadhand.journal.postgres_holds import Holds
from leadhand.journal.postgres_sessions import PostgresSession
from leadhand.journal.summaries import StoredSummary

_KEEP: Final = """
    WITH digests AS (
        INSERT INTO leadhand.runs (run, updated_at, digest)
        SELECT run, updated_at, digest
        FROM unnest(%s::text[], %s::timestamptz[], %s::text[])
            WITH ORDINALITY AS new (run, updated_at, digest, n) ORDER BY n
        ON CONFLICT (run) DO UPDATE SET updated_at = excluded.updated_at, digest = excluded.digest
    ), blobs AS (
        INSERT INTO leadhand.blobs (run, seq, data)
        SELECT * FROM unnest(%s::text[], %s::bigint[], %s::bytea[])
    )
    INSERT INTO leadhand.events (run, seq, body, checksum)
    SELECT * FROM unnest(%s::text[], %s::bigint[], %s::text[], %s::bigint[])
"""
"""One statement: one transaction, and one round trip."""
_DROP: Final = """
    WITH mine AS (
        SELECT run FROM leadhand.holders WHERE run = %s AND backend = %s AND since = %s FOR SHARE
    )
    DELETE FROM leadhand.messages USING mine WHERE messages.id = %s
"""
_TRANSIENT: Final = (
    psycopg.errors.LockNotAvailable,
    psycopg.errors.QueryCanceled,
    psycopg.errors.DeadlockDetected,
    psycopg.errors.CannotConnectNow,
    psycopg.errors.TooManyConnections,
)
"""Errors of a server that is busy or about to stop."""
PAUSE_S: Final = 0.2
"""Between two attempts to reach the database."""


@dataclass(frozen=True, slots=True)
class _Entry:
    digest: StoredSummary
    bodies: Sequence[tuple[int, str]]


class PostgresWriter:
    """Safe to use from any thread."""

    def __init__(
        self,
        database: PostgresDatabase,
        *,
        redact: Redact | None,
        kept: Callable[[str], Iterable[Event]],
        patience_s: float,
    ) -> None:
        """A database that can't be reached or is locked is retried for `patience_s`."""
        self._database = database
        self._redact = redact
        self._kept = kept
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._session = PostgresSession(database)
        self._holds = Holds(self._session)
        self._closed = threading.Event()
        self._digests: dict[str, StoredSummary | None] = {}
        """Of the runs held here, which no other process can change; `None`: of a new run."""
        self._take = Combined(self._take_all)
        self.release = Combined(self._release_all)

    def take(self, run_id: str) -> int | None:
        """Hold a run and give the `seq` of its last event; `None` if it is held already."""
        with self._database.explained(f"can't lock run {run_id!r}"):
            return self._take(run_id)

    def taken_by(self, run_ids: Iterable[str]) -> Mapping[str, str]:
        """Those of the runs held here that another process took, and that process. Opens a lost
        session again. Empty while events are written, which notices the same."""
        if not self._lock.acquire(blocking=False):
            return {}
        try:
            with self._database.explained("can't be reached"):
                self._session.ask("SELECT")
                self._holds.restore()
            taken = {id: self._holds.taken_by(id) for id in run_ids}
            return {id: other for id, other in taken.items() if other is not None}
        finally:
            self._lock.release()

    def drop(self, run_id: str, message_id: int) -> bool:
        """Returns false if the run is not held here."""
        with self._database.explained("can't be written"), self._lock:
            if run_id not in self._holds:
                return False
            self._holds.restore()
            self._session.ask(_DROP, run_id, *self._holds.mark(run_id), message_id, again=False)
            return True

    def write(self, batch: EventBatch, waited_for: Callable[[], bool]) -> Mapping[str, str]:
        """Commit a batch in one transaction; if that fails, each run in its own.

        Returns the runs that could not be written, and why. A lost session is opened again while
        commits wait for the batch (`waited_for`).
        """
        with self._lock:
            until_s = time.monotonic() + self._patience_s
            unsure = False
            while True:
                try:
                    self._holds.restore()
                    return self._written(batch, unsure=unsure)
                except (psycopg.OperationalError, JournalError) as error:
                    for run_id in batch:
                        self._digests.pop(run_id, None)
                    why = str(error) if isinstance(error, JournalError) else self._why(error)
                    retryable = isinstance(error, JournalError) or self._is_transient(error)
                    if not retryable or time.monotonic() > until_s or not waited_for():
                        return {id: _message(id, why) for id in batch}
                    unsure = True
                if self._closed.wait(PAUSE_S):
                    return {id: _message(id, why) for id in batch}

    def stop_retrying(self) -> None:
        self._closed.set()

    def close(self, *, limit_s: float) -> None:
        """End the session and its holds; if it still writes after `limit_s`, once it does not."""
        if self._lock.acquire(timeout=limit_s):
            self._lock.release()
        self._session.close()

    def _take_all(self, run_ids: Sequence[str]) -> list[int | None]:
        with self._lock:
            taken = {id: self._known(id, last) for id, last in self._holds.take(run_ids).items()}
        # Of two that ask for one run at once, one gets it.
        return [taken.pop(id, None) for id in run_ids]

    def _known(self, run_id: str, last: tuple[str, int] | None) -> int:
        if last is None:
            self._digests[run_id] = None
            return 0
        with contextlib.suppress(JournalError):
            self._digests[run_id] = digest = StoredSummary.read(last[0])
            return digest.seq or last[1]
        return last[1]

    def _release_all(self, run_ids: Sequence[str]) -> list[None]:
        with self._lock:
            for run_id in run_ids:
                self._digests.pop(run_id, None)
            self._holds.release(run_ids)
        return [None for _ in run_ids]

    def _written(self, batch: EventBatch, *, unsure: bool) -> dict[str, str]:
        """Write a batch. `unsure`: an earlier attempt may have committed it."""
        failed: dict[str, str] = {}
        ready: dict[str, _Entry] = {}
        last = self._last(batch) if unsure else {}
        for run_id, events in batch.items():
            other = self._holds.taken_by(run_id)
            if other is not None:
                failed[run_id] = _message(run_id, f"{other} has taken it over")
            elif last.get(run_id, 0) < events[-1].seq:
                try:
                    ready[run_id] = self._entry(run_id, events)
                except JournalError as error:
                    failed[run_id] = str(error)
        failed |= self._insert(ready)
        for run_id in failed:
            self._digests.pop(run_id, None)
        return failed

    def _last(self, batch: EventBatch) -> dict[str, int]:
        """The position of each run's last committed event."""
        query = "SELECT run, max(seq) FROM leadhand.events WHERE run = ANY (%s) GROUP BY run"
        return dict(self._session.ask(query, [*batch]))

    def _entry(self, run_id: str, events: Sequence[Event]) -> _Entry:
        bodies = encode(events, redact=self._redact)
        digest = self._digest(run_id) or StoredSummary.before(events[0])
        digest.add_all(events, kept=lambda: self._kept(run_id), redact=self._redact)
        if run_id in self._holds:
            self._digests[run_id] = digest
        seqs = (event.seq for event in events)
        return _Entry(digest, [*zip(seqs, bodies, strict=True)])

    def _digest(self, run_id: str) -> StoredSummary | None:
        if run_id in self._digests:
            return self._digests[run_id]
        rows = self._session.ask("SELECT digest FROM leadhand.runs WHERE run = %s", run_id)
        if not rows:
            return None
        return StoredSummary.read_or_of(rows[0][0], lambda: [*self._kept(run_id)])

    def _insert(self, ready: Mapping[str, _Entry]) -> dict[str, str]:
        if not ready:
            return {}
        try:
            self._session.ask(_KEEP, *_columns(ready), again=False)
        except (psycopg.Error, UnicodeError) as error:
            if self._is_transient(error):
                raise
            if len(ready) == 1:
                return {id: _message(id, self._why(error)) for id in ready}
            failed: dict[str, str] = {}
            for id, entry in ready.items():
                failed |= self._insert({id: entry})
            return failed
        return {}

    def _is_transient(self, error: Exception) -> bool:
        return self._session.lost or isinstance(error, _TRANSIENT)

    def _why(self, error: Exception) -> str:
        if isinstance(error, psycopg.errors.UniqueViolation):
            return "another process has written it meanwhile"
        if self._session.lost:
            return f"lost the connection to {self._database.where}: {self._database.message(error)}"
        return f"{self._database.where} says: {self._database.message(error)}"


def _columns(ready: Mapping[str, _Entry]) -> tuple[list[object], ...]:
    bodies = [(id, seq, body) for id, entry in ready.items() for seq, body in entry.bodies]
    long = [row for row in bodies if len(row[2]) > BLOB_CHARS]
    return (
        [*ready],
        [entry.digest.updated_at for entry in ready.values()],
        [entry.digest.write() for entry in ready.values()],
        [id for id, _, _ in long],
        [seq for _, seq, _ in long],
        [compress(body) for _, _, body in long],
        [id for id, _, _ in bodies],
        [seq for _, seq, _ in bodies],
        [body if len(body) <= BLOB_CHARS else None for _, _, body in bodies],
        [checksum(id, seq, body) for id, seq, body in bodies],
    )


def _message(run_id: str, why: str) -> str:
    return (
        f"run {run_id!r} can't be kept: {why}; what was committed stands: fix it, then"
        f" `leadhand resume {run_id}`"
    )
