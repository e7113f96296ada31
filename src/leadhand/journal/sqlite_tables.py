"""The SQL about runs and their events, which opens and commits nothing."""

import datetime as dt
import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from leadhand.contracts.summary import Inspection, RunSummary
from leadhand.errors import JournalError
from leadhand.journal.codec import BLOB_CHARS, Redact, compress
from leadhand.journal.integrity import checksum, inspect_run, last_seq, read_events
from leadhand.journal.notes import notes_of, prefixed
from leadhand.journal.sqlite_database import is_damaged
from leadhand.journal.summaries import StoredSummary, run_summary

if TYPE_CHECKING:
    from leadhand.contracts.events import Event

Row = tuple["Event", str]
Value = str | bytes | int | None

_ROWS = 200
"""By one statement: SQLite once allowed no more than 999 values."""
_UPDATED = """ON CONFLICT (run_id) DO UPDATE
    SET updated_at = excluded.updated_at, digest = excluded.digest"""


def events(connection: sqlite3.Connection, run_id: str, after_seq: int = 0) -> "Iterator[Event]":
    """Raises `DamagedRun` if they are not intact."""
    last = _digest_seq(connection, run_id)  # first: more may be written meanwhile
    stored = _stored(connection, run_id, after_seq)
    return read_events(run_id, stored, after_seq=after_seq, last=last or 0)


def last_seq_of(connection: sqlite3.Connection, run_id: str) -> int:
    """0 if there is no such run."""
    seq = _digest_seq(connection, run_id)
    if seq != 0:
        return seq or 0
    (last,) = connection.execute(
        "SELECT max(seq) FROM runs JOIN events ON run = id WHERE run_id = ?", (run_id,)
    ).fetchone()
    return last or 1


def _digest_seq(connection: sqlite3.Connection, run_id: str) -> int | None:
    """From the run's stored summary: 0 if that does not have it, None if there is no such run."""
    known = connection.execute("SELECT digest FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    return last_seq(known[0]) if known else None


def inspection(connection: sqlite3.Connection, run_id: str) -> Inspection:
    try:
        known = connection.execute("SELECT digest FROM runs WHERE run_id = ?", (run_id,)).fetchone()
        if known is None:
            return Inspection(run_id)
        return inspect_run(run_id, _stored(connection, run_id), digest=known[0])
    except sqlite3.DatabaseError as error:
        return Inspection(run_id, damage=f"the file can't be read there ({error})")


def _stored(connection: sqlite3.Connection, run_id: str, after_seq: int = 0) -> sqlite3.Cursor:
    return connection.execute(
        """SELECT seq, body, data, checksum FROM runs JOIN events ON events.run = runs.id
        LEFT JOIN blobs USING (run, seq) WHERE run_id = ? AND seq > ? ORDER BY seq""",
        (run_id, after_seq),
    )


def insert(
    connection: sqlite3.Connection, batch: Mapping[str, Sequence[Row]], *, redact: Redact | None
) -> None:
    """Insert the next events of each run, and update its stored summary."""
    known, runs = _known(connection, batch), list[tuple[Value, ...]]()
    for run_id, rows in batch.items():
        first, (number, text) = rows[0][0], known.get(run_id, (None, ""))
        if number is None and first.seq > 1:
            raise JournalError(f"the beginning of run {run_id!r} is gone: its file was replaced")
        kept = partial(events, connection, run_id)
        digest = StoredSummary.before(first)
        if number is not None:
            digest = StoredSummary.read_or_of(text, lambda kept=kept: [*kept()])
        if 0 < digest.seq < first.seq - 1:
            raise JournalError(f"events of run {run_id!r} are missing after event {digest.seq}")
        digest.add_all([event for event, _ in rows], kept=kept, redact=redact)
        runs.append((run_id, _text(digest.updated_at), digest.write()))
    _insert(connection, "runs (run_id, updated_at, digest)", runs, then=_UPDATED)
    known |= _known(connection, batch.keys() - known.keys())
    written = [(known[id][0], id, event.seq, body) for id in batch for event, body in batch[id]]
    texts = [
        (number, seq, body if len(body) <= BLOB_CHARS else None, checksum(id, seq, body))
        for number, id, seq, body in written
    ]
    blobs = [(number, seq, compress(b)) for number, _, seq, b in written if len(b) > BLOB_CHARS]
    _insert(connection, "events (run, seq, body, checksum)", texts)
    _insert(connection, "blobs (run, seq, data)", blobs)


def _known(connection: sqlite3.Connection, run_ids: Collection[str]) -> dict[str, tuple[int, str]]:
    """The number and the stored summary of each run that is there."""
    if not run_ids:
        return {}
    (found,) = connection.execute(
        """SELECT json_group_object(run_id, json_array(id, digest)) FROM runs
        WHERE run_id IN (SELECT value FROM json_each(?))""",
        (json.dumps([*run_ids]),),
    ).fetchone()
    return {run_id: (number, text) for run_id, (number, text) in json.loads(found).items()}


def _insert(
    connection: sqlite3.Connection, into: str, rows: Sequence[tuple[Value, ...]], then: str = ""
) -> None:
    """Many rows by one statement: with each step the thread lets others run, and beside a busy
    event loop it waits 5 ms for its next turn."""
    for start in range(0, len(rows), _ROWS):
        some = rows[start : start + _ROWS]
        values = ", ".join([f"({', '.join('?' * len(some[0]))})"] * len(some))
        connection.execute(f"INSERT INTO {into} VALUES {values} {then}", [*chain(*some)])


def summaries(
    connection: sqlite3.Connection, *, cursor: str | None, held: Callable[[str], bool]
) -> Iterator[RunSummary]:
    """The runs that began before the run `cursor`, or all; the latest first."""
    query, seen = "SELECT run_id, updated_at, digest FROM runs", set[str]()
    before = "WHERE id < (SELECT id FROM runs WHERE run_id = ?)" if cursor is not None else ""
    given = (cursor,) if cursor is not None else ()
    try:
        for row in connection.execute(f"{query} {before} ORDER BY id DESC", given):
            yield run_summary(*row, held=held)
            seen.add(row[0])
    except sqlite3.DatabaseError as error:
        if not is_damaged(error):
            raise
        # A page of the table is damaged. The ids have their own index.
        ids = [id for (id,) in connection.execute("SELECT run_id FROM runs ORDER BY run_id DESC")]
        for id in ids[ids.index(cursor) + 1 :] if cursor in ids else ids:
            if id not in seen:
                yield run_summary(*_row(connection, f"{query} WHERE run_id = ?", id), held=held)


def _row(connection: sqlite3.Connection, query: str, run_id: str) -> tuple[str, str, str]:
    try:
        return connection.execute(query, (run_id,)).fetchone() or (run_id, "", "")
    except sqlite3.DatabaseError:
        return run_id, "", ""


def remove(connection: sqlite3.Connection, run_id: str, before: dt.datetime | None) -> bool:
    """Delete a run and everything about it, if its last event is older than `before`, if given."""
    older = "" if before is None else " AND updated_at < ?"
    values = (run_id,) if before is None else (run_id, _text(before))
    found = connection.execute(
        f"DELETE FROM runs WHERE run_id = ?{older} RETURNING id", values
    ).fetchone()
    if found is None:
        return False
    connection.execute("DELETE FROM events WHERE run = ?", found)
    connection.execute("DELETE FROM blobs WHERE run = ?", found)
    connection.execute("DELETE FROM messages WHERE run_id = ?", (run_id,))
    connection.execute("DELETE FROM notes WHERE key > ? AND key < ?", prefixed(notes_of(run_id)))
    return True


def notes(connection: sqlite3.Connection, prefix: str) -> dict[str, bytes]:
    query = "SELECT key, data FROM notes WHERE key >= ? AND key < ? ORDER BY key"
    return dict(connection.execute(query, prefixed(prefix)).fetchall())


def swap_note(
    connection: sqlite3.Connection, key: str, known: bytes | None, new: bytes | None
) -> bool:
    found = connection.execute("SELECT data FROM notes WHERE key = ?", (key,)).fetchone()
    if (found and found[0]) != known:
        return False
    if new is None:
        connection.execute("DELETE FROM notes WHERE key = ?", (key,))
    else:
        connection.execute("INSERT OR REPLACE INTO notes (key, data) VALUES (?, ?)", (key, new))
    return True


def _text(at: dt.datetime) -> str:
    """A time as text that sorts like the time."""
    return at.astimezone(dt.UTC).isoformat(timespec="microseconds")
