"""What writes runs to Postgres, which is also what holds them: one session.

Its end, however it comes, ends both. So whoever has lost a run to another process can't write it.
"""

import contextlib
import os
import socket
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import psycopg

from leadhand.contracts.event import Event
from leadhand.errors import JournalError
from leadhand.journal.codec import BLOB_CHARS, Redact, compressed, encode
from leadhand.journal.group_commit import Batch
from leadhand.journal.postgres_database import Connection, Database, Session
from leadhand.journal.summaries import Digest

_SIGN: Final = """
    INSERT INTO leadhand.holders (run, backend, host, pid) VALUES (%s, pg_backend_pid(), %s, %s)
    ON CONFLICT (run) DO UPDATE SET backend = excluded.backend, host = excluded.host,
        pid = excluded.pid, since = excluded.since
"""
_UNSIGN: Final = """
    DELETE FROM leadhand.holders WHERE run = %s AND backend = pg_backend_pid()
"""
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
    INSERT INTO leadhand.events (run, seq, body)
    SELECT * FROM unnest(%s::text[], %s::bigint[], %s::text[])
"""
"""One statement: one transaction, and one round trip."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """What is to be written of one run."""

    digest: Digest
    bodies: Sequence[tuple[int, str]]
    """Each with its position."""


class Pen:
    """Holds runs and writes their events. Safe to use from any thread."""

    def __init__(
        self, database: Database, *, redact: Redact | None, kept: Callable[[str], Iterable[Event]]
    ) -> None:
        """`kept` reads the events of a run that are safe. It opens its session when needed."""
        self._database = database
        self._redact = redact
        self._kept = kept
        self._lock = threading.Lock()
        self._session = Session(database)
        self._held: dict[str, Connection] = {}
        """The runs that are held here, by the session that does."""
        self._digests: dict[str, Digest] = {}
        """Of the runs that are held here, which nobody else can change."""

    def take(self, run_id: str) -> bool:
        """Hold a run; False where somebody does, be it this process."""
        with self._lock, self._database.explained(f"can't lock run {run_id!r}"):
            if run_id in self._held:
                return False
            locked = self._session.ask("SELECT pg_try_advisory_lock(leadhand.key(%s))", run_id)
            if locked != [(True,)]:
                return False
            self._held[run_id] = self._session.connection
            try:
                self._session.ask(_SIGN, run_id, socket.gethostname(), os.getpid(), again=False)
            except BaseException:
                self._unlock(run_id)
                raise
            return True

    def release(self, run_id: str) -> None:
        """Hold a run no more."""
        with self._lock:
            self._digests.pop(run_id, None)
            self._unlock(run_id)

    def write(self, batch: Batch) -> Mapping[str, str]:
        """Make events safe, all in one transaction; where that fails, each run's by itself.

        Gives the runs that could not be written, and why.
        """
        with self._lock:
            failed: dict[str, str] = {}
            ready: dict[str, _Entry] = {}
            for run_id, events in batch.items():
                try:
                    ready[run_id] = self._entry(run_id, events)
                except JournalError as error:
                    failed[run_id] = str(error)
            failed |= self._insert(ready)
            for run_id in failed:
                self._digests.pop(run_id, None)
            return failed

    def close(self) -> None:
        """End the session, and with it the holds."""
        with self._lock:
            self._session.close()

    def _unlock(self, run_id: str) -> None:
        connection = self._held.pop(run_id)
        with contextlib.suppress(psycopg.Error):  # the session is lost, and the lock with it
            connection.execute("SELECT pg_advisory_unlock(leadhand.key(%s))", (run_id,))
            connection.execute(_UNSIGN, (run_id,))

    def _entry(self, run_id: str, events: Sequence[Event]) -> _Entry:
        bodies = encode(events, redact=self._redact)
        digest = self._digest(run_id) or Digest.of(events[0])
        for position, event in enumerate(events):
            digest.add(
                event,
                before=lambda end=position: [*self._kept(run_id), *events[:end]],
                redact=self._redact,
            )
        if run_id in self._held:
            self._digests[run_id] = digest
        seqs = (event.seq for event in events)
        return _Entry(digest, [*zip(seqs, bodies, strict=True)])

    def _digest(self, run_id: str) -> Digest | None:
        if run_id in self._digests:
            return self._digests[run_id]
        with self._database.explained(f"can't be asked about run {run_id!r}"):
            rows = self._session.ask("SELECT digest FROM leadhand.runs WHERE run = %s", run_id)
        return Digest.read(str(rows[0][0])) if rows else None

    def _insert(self, ready: Mapping[str, _Entry]) -> dict[str, str]:
        lost = [id for id in ready if id in self._held and self._held[id].closed]
        failed = {
            id: _told(id, f"the connection to {self._database.where} was lost") for id in lost
        }
        ready = {id: entry for id, entry in ready.items() if id not in failed}
        if not ready:
            return failed
        try:
            self._session.ask(_KEEP, *_columns(ready), again=False)
        except JournalError as error:
            failed |= {id: _told(id, str(error)) for id in ready}
        except (psycopg.Error, UnicodeError) as error:
            if len(ready) > 1 and not self._session.lost:
                for id, entry in ready.items():
                    failed |= self._insert({id: entry})
            else:
                failed |= {id: _told(id, self._why(error)) for id in ready}
        return failed

    def _why(self, error: Exception) -> str:
        if isinstance(error, psycopg.errors.UniqueViolation):
            return "another process has written it meanwhile"
        return f"{self._database.where} says: {self._database.words(error)}"


def _columns(ready: Mapping[str, _Entry]) -> tuple[list[object], ...]:
    """The parameters of `_KEEP`."""
    bodies = [(id, seq, body) for id, entry in ready.items() for seq, body in entry.bodies]
    long = [row for row in bodies if len(row[2]) > BLOB_CHARS]
    return (
        [*ready],
        [entry.digest.updated_at for entry in ready.values()],
        [entry.digest.write() for entry in ready.values()],
        [id for id, _, _ in long],
        [seq for _, seq, _ in long],
        [compressed(body) for _, _, body in long],
        [id for id, _, _ in bodies],
        [seq for _, seq, _ in bodies],
        [body if len(body) <= BLOB_CHARS else None for _, _, body in bodies],
    )


def _told(run_id: str, why: str) -> str:
    """Why a run can't be written, as a person is told."""
    return (
        f"run {run_id!r} can't be kept: {why}; what was committed stands: mend it, then"
        f" `leadhand resume {run_id}`"
    )
