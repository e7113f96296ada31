"""The runs that a process holds in Postgres: locks of one session, taken again if it is lost.

A process that takes a run replaces its row in `holders`. That row tells a process which lost its
connection whether another process took the run meanwhile (F48).
"""

import contextlib
import datetime as dt
import os
import socket
from dataclasses import dataclass
from typing import Final

import psycopg

from leadhand.journal.locks import describe_holder
from leadhand.journal.postgres_database import PostgresSession

_LOCK: Final = "SELECT pg_try_advisory_lock(leadhand.key(%s))"
_UNLOCK: Final = "SELECT pg_advisory_unlock(leadhand.key(%s))"
_SIGN: Final = """
    INSERT INTO leadhand.holders (run, backend, host, pid) VALUES (%s, pg_backend_pid(), %s, %s)
    ON CONFLICT (run) DO UPDATE SET backend = excluded.backend, host = excluded.host,
        pid = excluded.pid, since = clock_timestamp()
    RETURNING backend, since
"""
_UNSIGN: Final = """
    DELETE FROM leadhand.holders WHERE run = %s AND backend = pg_backend_pid()
"""
_HOLDER: Final = "SELECT backend, since, host, pid FROM leadhand.holders WHERE run = %s"
_END: Final = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid = %s AND backend_start <= %s AND application_name = 'leadhand'
"""
"""Ends our own lost session if the server has not noticed that the client is gone."""


@dataclass(slots=True)
class _Hold:
    backend: int
    """The server process of the session that has the lock."""
    since: dt.datetime
    taken_by: str | None = None
    """The other process that has the run now, described in words."""


class Holds:
    """The runs that one session holds. For one thread at a time; raises what psycopg raises."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session
        self._held: dict[str, _Hold] = {}

    def __contains__(self, run_id: object) -> bool:
        return run_id in self._held

    def take(self, run_id: str) -> bool:
        """Hold a run; False if it is held already, even by this process."""
        if run_id in self._held:
            return False
        if self._session.ask(_LOCK, run_id) != [(True,)]:
            return False
        try:
            self._held[run_id] = self._signed(run_id)
        except BaseException:
            self._unlock(run_id)
            raise
        return True

    def release(self, run_id: str) -> None:
        """Release a run."""
        hold = self._held.pop(run_id)
        if hold.taken_by is None and not self._session.lost:
            self._unlock(run_id)

    def taken_by(self, run_id: str) -> str | None:
        """The other process that took a run which was held here, if any."""
        hold = self._held.get(run_id)
        return hold.taken_by if hold is not None else None

    def mark(self, run_id: str) -> tuple[int, dt.datetime]:
        """What identifies this hold of a run: its backend, and when it began."""
        hold = self._held[run_id]
        return hold.backend, hold.since

    def restore(self) -> None:
        """Take the runs again that a lost session held.

        Raises `psycopg.OperationalError` if the server can't be reached, or still serves the lost
        session: try again in a moment.
        """
        backend = self._session.connection.info.backend_pid
        for run_id, hold in self._held.items():
            if hold.backend != backend and hold.taken_by is None:
                self._take_again(run_id, hold)

    def _take_again(self, run_id: str, hold: _Hold) -> None:
        locked = self._session.ask(_LOCK, run_id, again=False) == [(True,)]
        rows = self._session.ask(_HOLDER, run_id, again=False)
        if not rows or rows[0][:2] != (hold.backend, hold.since):
            if locked:
                self._unlock(run_id)
            hold.taken_by = _words(rows[0]) if rows else "another process, which has ended since,"
        elif locked:
            again = self._signed(run_id)
            hold.backend, hold.since = again.backend, again.since
        else:
            self._session.ask(_END, hold.backend, hold.since, again=False)
            raise psycopg.OperationalError("the server still serves the session that was cut off")

    def _signed(self, run_id: str) -> _Hold:
        ((backend, since),) = self._session.ask(
            _SIGN, run_id, socket.gethostname(), os.getpid(), again=False
        )
        assert isinstance(backend, int)
        assert isinstance(since, dt.datetime)
        return _Hold(backend, since)

    def _unlock(self, run_id: str) -> None:
        with contextlib.suppress(psycopg.Error):  # the session is lost, and the lock with it
            self._session.ask(_UNLOCK, run_id, again=False)
            self._session.ask(_UNSIGN, run_id, again=False)


def _words(row: tuple[object, ...]) -> str:
    _, since, host, pid = row
    assert isinstance(since, dt.datetime)
    assert isinstance(pid, int)
    return describe_holder(pid, str(host), since.astimezone())
