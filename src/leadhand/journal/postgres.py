"""The store in Postgres, for many machines: the schema `leadhand` in a database."""

import contextlib
import datetime as dt
from collections.abc import Generator, Mapping, Sequence
from typing import Final, LiteralString

from leadhand.contracts.events import Event
from leadhand.contracts.people import RunMessage
from leadhand.contracts.summary import Inspection, RunFilter, RunSummary
from leadhand.errors import RunTaken
from leadhand.journal.codec import Redact, decode_message, encode_message
from leadhand.journal.group_commit import EventBatch, GroupCommit
from leadhand.journal.integrity import Stored, inspect_run, last_seq, read_events
from leadhand.journal.notes import prefixed
from leadhand.journal.postgres_database import STEPS, PostgresDatabase, Row
from leadhand.journal.postgres_holds import LAST, described
from leadhand.journal.postgres_sessions import SessionPool
from leadhand.journal.postgres_writer import PostgresWriter
from leadhand.journal.summaries import run_summary

CLOSING_S: Final = 0.5
_DELETED_AT_ONCE: Final = 100
"""Each needs a lock on the server for a moment."""
READERS: Final = 4
_DIGEST: Final = "SELECT digest FROM leadhand.runs WHERE run = %s"
_EVENTS: Final = """
    SELECT seq, body, data, checksum FROM leadhand.events LEFT JOIN leadhand.blobs USING (run, seq)
    WHERE run = %s AND seq > %s ORDER BY seq
"""
_RUNS: Final = """
    SELECT run, updated_at, digest, host IS NOT NULL
    FROM leadhand.runs LEFT JOIN leadhand.held USING (run)
    WHERE %s::text IS NULL OR began < (SELECT began FROM leadhand.runs WHERE run = %s)
    ORDER BY began DESC LIMIT %s
"""
_PAGE: Final = 1_000
"""How many runs are looked at in one query."""
_DELETE: Final = """
    WITH old AS MATERIALIZED (
        SELECT run FROM leadhand.runs
        WHERE run = ANY (%s) AND updated_at < coalesce(%s::timestamptz, 'infinity')
    ), gone AS (
        DELETE FROM leadhand.runs USING old
        WHERE runs.run = old.run AND pg_try_advisory_xact_lock(leadhand.key(old.run))
        RETURNING runs.run, began
    ), events AS (
        DELETE FROM leadhand.events USING gone WHERE events.run = gone.run
    ), blobs AS (
        DELETE FROM leadhand.blobs USING gone WHERE blobs.run = gone.run
    ), messages AS (
        DELETE FROM leadhand.messages USING gone WHERE messages.run = gone.run
    ), holders AS (
        DELETE FROM leadhand.holders USING gone WHERE holders.run = gone.run
    ), notes AS (
        DELETE FROM leadhand.notes USING gone WHERE starts_with(key, 'run/' || gone.run || '/')
    )
    SELECT run FROM gone ORDER BY began
"""
_KEEP_NOTE: Final = """
    INSERT INTO leadhand.notes (key, data) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING key
"""
_SWAP_NOTE: Final = "UPDATE leadhand.notes SET data = %s WHERE key = %s AND data = %s RETURNING key"
_DROP_NOTE: Final = "DELETE FROM leadhand.notes WHERE key = %s AND data = %s RETURNING key"


class PostgresStore:
    """Keeps runs in a Postgres database, for any number of processes on any number of machines.

    It needs the right to create a schema. A connection pooler must use session pooling, because
    locks belong to sessions.
    """

    blocks = True

    def __init__(
        self,
        url: str,
        *,
        redact: Redact | None = None,
        steps: Sequence[LiteralString] = STEPS,
        patience_s: float = 3_600.0,
    ) -> None:
        """`url` as libpq takes it: `postgresql://user:password@host:5432/database`.

        Connects on first use. `steps` are the migrations. If the connection is lost, a commit is
        retried for `patience_s` while a run waits for it. Raises `JournalError` if the URL can't be
        read.
        """
        self._database = PostgresDatabase(url, steps=steps)
        self._redact = redact
        self._sessions = SessionPool(self._database, size=READERS)
        """For everything except events and holds, so that nothing waits for a long commit."""
        self._writer = PostgresWriter(
            self._database, redact=redact, kept=self._kept, patience_s=patience_s
        )
        self._queue = GroupCommit(self._write, name="leadhand journal")

    def append(self, event: Event) -> None:
        self._queue.append(event)

    async def commit(self, run_id: str | None = None) -> None:
        await self._queue.commit(run_id)

    def events(self, run_id: str, *, after_seq: int = 0) -> Sequence[Event]:
        # Uncommitted events first: a commit meanwhile puts events in both.
        uncommitted = self._queue.uncommitted(run_id)
        events = self._kept(run_id, after_seq=after_seq)
        last = events[-1].seq if events else after_seq
        return [*events, *(event for event in uncommitted if event.seq > last)]

    def check(self) -> None:
        self.last_seq("")

    def last_seq(self, run_id: str) -> int:
        if uncommitted := self._queue.uncommitted(run_id):
            return uncommitted[-1].seq
        rows = self._read(LAST, [run_id])
        return last_seq(rows[0][1]) or rows[0][2] if rows else 0

    @contextlib.contextmanager
    def hold(self, run_id: str) -> Generator[int]:
        """A lock that may be lost with the connection. If no other process takes the run, the
        next connection holds it again."""
        last_seq = self._writer.take(run_id)
        if last_seq is None:
            raise RunTaken(run_id, self.holder(run_id) or "another process")
        try:
            yield last_seq
        finally:
            self._queue.forget(run_id)
            self._writer.release(run_id)

    def holder(self, run_id: str) -> str | None:
        rows = self._read("SELECT since, host, pid FROM leadhand.held WHERE run = %s", run_id)
        return described(*rows[0]) if rows else None

    def post(self, message: RunMessage) -> None:
        body = encode_message(message, redact=self._redact)
        self._change(
            "INSERT INTO leadhand.messages (run, body) VALUES (%s, %s)", message.run_id, body
        )

    def messages(self, *run_ids: str) -> Sequence[RunMessage]:
        query = "SELECT id, run, body FROM leadhand.messages WHERE run = ANY (%s) ORDER BY id"
        rows = self._read(query, [*run_ids])
        return [decode_message(*row) for row in rows]

    def drop(self, message: RunMessage) -> None:
        """Delete a message, unless another process has taken the run meanwhile."""
        if not self._writer.drop(message.run_id, message.id):
            self._change("DELETE FROM leadhand.messages WHERE id = %s", message.id)

    def taken_by(self, *run_ids: str) -> Mapping[str, str]:
        return self._writer.taken_by(run_ids)

    def runs(
        self, *, limit: int | None = None, cursor: str | None = None, where: RunFilter | None = None
    ) -> Sequence[RunSummary]:
        found: list[RunSummary] = []
        while limit is None or len(found) < limit:
            size = None if where is None and limit is None else _PAGE if where else limit
            page = [
                run_summary(id, str(at), digest, held=lambda _, held=held: held)
                for id, at, digest, held in self._read(_RUNS, cursor, cursor, size)
            ]
            found += filter(where, page)
            if size is None or len(page) < size:
                break
            cursor = page[-1].run_id
        return found[:limit]

    def inspect(self, run_id: str) -> Inspection:
        digest, rows = self._rows_of(run_id)
        if digest is None:
            return Inspection(run_id)
        return inspect_run(run_id, rows, digest=digest)

    def delete(self, run_ids: Sequence[str], *, before: dt.datetime | None = None) -> Sequence[str]:
        return [
            id
            for start in range(0, len(run_ids), _DELETED_AT_ONCE)
            for (id,) in self._change(_DELETE, [*run_ids[start : start + _DELETED_AT_ONCE]], before)
        ]

    def notes(self, prefix: str) -> Mapping[str, bytes]:
        query = "SELECT key, data FROM leadhand.notes WHERE key >= %s AND key < %s ORDER BY key"
        return dict(self._read(query, *prefixed(prefix)))

    def swap_note(self, key: str, known: bytes | None, new: bytes | None) -> bool:
        if known is None and new is None:
            return key not in self.notes(key)
        if known is None:
            return bool(self._change(_KEEP_NOTE, key, new))
        if new is None:
            return bool(self._change(_DROP_NOTE, key, known))
        return bool(self._change(_SWAP_NOTE, new, key, known))

    def close(self) -> None:
        """Close the connections; uncommitted events are dropped. A connection whose server does
        not answer stays open until the process ends."""
        self._writer.stop_retrying()
        self._queue.close(limit_s=CLOSING_S)
        self._writer.close(limit_s=CLOSING_S)
        self._sessions.close()

    def _write(self, batch: EventBatch) -> Mapping[str, str]:
        return self._writer.write(batch, self._queue.is_waited_for)

    def _kept(self, run_id: str, *, after_seq: int = 0) -> list[Event]:
        """Raises `DamagedRun` unless they are intact."""
        digest, rows = self._rows_of(run_id, after_seq)
        return [*read_events(run_id, rows, after_seq=after_seq, last=last_seq(digest or ""))]

    def _rows_of(self, run_id: str, after_seq: int = 0) -> tuple[str | None, Sequence[Stored]]:
        """A run's stored summary, if there is such a run, and its rows after `after_seq`."""
        with self._database.explained("can't be read"):
            # The summary first: more may be committed meanwhile.
            known, rows = self._sessions.ask_all(
                (_DIGEST, [run_id]), (_EVENTS, [run_id, after_seq])
            )
        return known[0][0] if known else None, rows

    def _read(self, query: LiteralString, *parameters: object) -> list[Row]:
        with self._database.explained("can't be read"):
            return self._sessions.ask_all((query, parameters))[0]

    def _change(self, query: LiteralString, *parameters: object) -> list[Row]:
        # Not repeated if the session was lost: the change may have been made.
        with self._database.explained("can't be written"):
            return self._sessions.ask_all((query, parameters), again=False)[0]
