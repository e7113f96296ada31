"""Runs and their events in SQLite's tables: all the SQL about them. It opens and commits nothing.

A run goes by a number in its events. Its digest is kept up to date as they are written.
"""

import datetime as dt
import sqlite3
from collections.abc import Iterator, Sequence

from leadhand.contracts.event import Event
from leadhand.errors import JournalError
from leadhand.journal.codec import BLOB_CHARS, Redact, compressed, decode, expanded
from leadhand.journal.summaries import Digest

Row = tuple[Event, str]
"""An event and its body."""


def has(connection: sqlite3.Connection, run_id: str) -> bool:
    """Whether there is such a run."""
    found = connection.execute("SELECT 1 FROM runs WHERE run_id = ?", (run_id,))
    return found.fetchone() is not None


def events(connection: sqlite3.Connection, run_id: str) -> Iterator[Event]:
    """The events of a run in order."""
    rows = connection.execute(
        """SELECT seq, body, data FROM runs JOIN events ON events.run = runs.id
        LEFT JOIN blobs USING (run, seq) WHERE run_id = ? ORDER BY seq""",
        (run_id,),
    )
    for seq, body, data in rows:
        yield decode(run_id, seq, body if body is not None else expanded(data or b""))


def insert(
    connection: sqlite3.Connection, run_id: str, rows: Sequence[Row], *, redact: Redact | None
) -> None:
    """Add a run's next events, and what follows from them for its digest."""
    known = connection.execute("SELECT id, digest FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    if known is None and rows[0][0].seq > 1:
        raise JournalError(f"the beginning of run {run_id!r} is gone: its file was replaced")
    number, digest = (known[0], Digest.read(known[1])) if known else (None, Digest.of(rows[0][0]))
    for position, (event, _) in enumerate(rows):
        digest.add(
            event,
            before=lambda end=position: [
                *events(connection, run_id),
                *(event for event, _ in rows[:end]),
            ],
            redact=redact,
        )
    values = (run_id, _text(digest.updated_at), digest.write())
    if number is None:
        number = connection.execute(
            "INSERT INTO runs (run_id, updated_at, digest) VALUES (?, ?, ?)", values
        ).lastrowid
    else:
        connection.execute(
            "UPDATE runs SET updated_at = ?, digest = ? WHERE id = ?", (*values[1:], number)
        )
    connection.executemany(
        "INSERT INTO events (run, seq, body) VALUES (?, ?, ?)",
        [(number, one.seq, body if len(body) <= BLOB_CHARS else None) for one, body in rows],
    )
    connection.executemany(
        "INSERT INTO blobs (run, seq, data) VALUES (?, ?, ?)",
        [(number, one.seq, compressed(body)) for one, body in rows if len(body) > BLOB_CHARS],
    )


def digests(connection: sqlite3.Connection, *, limit: int | None) -> list[tuple[str, Digest]]:
    """The runs, the one begun last first."""
    rows = connection.execute(
        "SELECT run_id, digest FROM runs ORDER BY id DESC LIMIT ?",
        (-1 if limit is None else limit,),
    )
    return [(run_id, Digest.read(digest)) for run_id, digest in rows]


def older(connection: sqlite3.Connection, before: dt.datetime) -> list[str]:
    """The runs whose last event is older."""
    rows = connection.execute(
        "SELECT run_id FROM runs WHERE updated_at < ? ORDER BY id", (_text(before),)
    )
    return [run_id for (run_id,) in rows]


def remove(connection: sqlite3.Connection, run_id: str, before: dt.datetime) -> bool:
    """Delete a run and what belongs to it, where its last event is older."""
    found = connection.execute(
        "DELETE FROM runs WHERE run_id = ? AND updated_at < ? RETURNING id", (run_id, _text(before))
    ).fetchone()
    if found is None:
        return False
    connection.execute("DELETE FROM events WHERE run = ?", found)
    connection.execute("DELETE FROM blobs WHERE run = ?", found)
    connection.execute("DELETE FROM messages WHERE run_id = ?", (run_id,))
    return True


def _text(at: dt.datetime) -> str:
    """A time such that the order of the texts is that of the times."""
    return at.astimezone(dt.UTC).isoformat(timespec="microseconds")
