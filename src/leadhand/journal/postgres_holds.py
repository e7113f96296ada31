"""The runs that a process holds in Postgres: locks of one session, taken again if it is lost.

A process that takes a run replaces its row in `holders`, which tells the other that it was taken
(F48).
"""

import contextlib
import datetime as dt
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import psycopg

from leadhand.errors import JournalError
from leadhand.journal.locks import describe_holder
from leadhand.journal.postgres_sessions import PostgresSession

_SIGN: Final = """
    INSERT INTO leadhand.holders (run, backend, host, pid)
    SELECT run, pg_backend_pid(), %s, %s FROM locked
    ON CONFLICT (run) DO UPDATE SET backend = excluded.backend, host = excluded.host,
        pid = excluded.pid, since = clock_timestamp()
    RETURNING run, backend, since
"""
_LOCK_AND_SIGN: Final = f"""
    WITH locked AS MATERIALIZED (
        SELECT run FROM unnest(%s::text[]) AS run WHERE pg_try_advisory_lock(leadhand.key(run))
    ) {_SIGN}
"""
_SIGN_AGAIN: Final = f"WITH locked (run) AS (VALUES (%s)) {_SIGN}"
_LOCK: Final = "SELECT pg_try_advisory_lock(leadhand.key(%s))"
LAST: Final = """
    SELECT run, digest, (
        SELECT coalesce(max(seq), 1) FROM leadhand.events WHERE events.run = runs.run
    ) FROM leadhand.runs WHERE run = ANY (%s)
"""
"""Each run's stored summary, and the position of its last event if the summary does not have it."""
_UNSIGN: Final = """
    DELETE FROM leadhand.holders WHERE run = ANY (%s) AND backend = pg_backend_pid()
"""
_UNLOCK: Final = "SELECT pg_advisory_unlock(leadhand.key(run)) FROM unnest(%s::text[]) AS run"
_HOLDER: Final = "SELECT backend, since, host, pid FROM leadhand.holders WHERE run = %s"
_END: Final = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE pid = %s AND backend_start <= %s AND application_name = 'leadhand'
"""
"""Ends our own lost session if the server has not noticed that the client is gone."""


@dataclass(slots=True)
class _Hold:
    backend: int
    since: dt.datetime
    taken_by: str | None = None
    """The other process that has the run now, described in words."""


class Holds:
    """For one thread at a time; raises what psycopg raises."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session
        self._held: dict[str, _Hold] = {}

    def __contains__(self, run_id: object) -> bool:
        return run_id in self._held

    def take(self, run_ids: Sequence[str]) -> Mapping[str, tuple[str, int] | None]:
        """Hold runs that are not held already. Values are the row of `LAST`; `None` for a new
        run."""
        free = [id for id in run_ids if id not in self._held]
        lock = (_LOCK_AND_SIGN, [free, *_this_process()])
        try:
            # The lock first: until then another process may write the run.
            taken, known = self._session.ask_all(lock, (LAST, [free]))
        except BaseException:
            self._unlock(free)
            raise
        self._held |= {id: _Hold(backend, since) for id, backend, since in taken}
        last = {id: (digest, seq) for id, digest, seq in known}
        return {id: last.get(id) for id, *_ in taken}

    def release(self, run_ids: Sequence[str]) -> None:
        holds = {id: self._held.pop(id) for id in run_ids}
        ours = [id for id, hold in holds.items() if hold.taken_by is None]
        if ours:
            self._unlock(ours)

    def taken_by(self, run_id: str) -> str | None:
        """The other process that took a run which was held here, if any."""
        hold = self._held.get(run_id)
        return hold.taken_by if hold is not None else None

    def mark(self, run_id: str) -> tuple[int, dt.datetime]:
        """What identifies this hold of a run: its backend, and when it began."""
        hold = self._held[run_id]
        return hold.backend, hold.since

    def restore(self) -> None:
        """Take the runs again that a lost session held. Raises `psycopg.OperationalError` if the
        server can't be reached, or still serves the lost session."""
        backend = self._session.connection.info.backend_pid
        for run_id, hold in self._held.items():
            if hold.backend != backend and hold.taken_by is None:
                self._take_again(run_id, hold)

    def _take_again(self, run_id: str, hold: _Hold) -> None:
        locked = self._session.ask(_LOCK, run_id, again=False) == [(True,)]
        rows = self._session.ask(_HOLDER, run_id, again=False)
        if not rows or rows[0][:2] != (hold.backend, hold.since):
            if locked:
                self._unlock([run_id])
            other = described(*rows[0][1:]) if rows else "another process, which has ended since,"
            hold.taken_by = other
        elif locked:
            sign = (_SIGN_AGAIN, run_id, *_this_process())
            ((_, hold.backend, hold.since),) = self._session.ask(*sign, again=False)
        else:
            self._session.ask(_END, hold.backend, hold.since, again=False)
            raise psycopg.OperationalError("the server still serves the session that was cut off")

    def _unlock(self, run_ids: Sequence[str]) -> None:
        if not self._session.lost:  # else the locks are
            with contextlib.suppress(psycopg.Error, JournalError):
                # The row first: who locks the run next replaces it.
                mine = [[*run_ids]]
                self._session.ask_all((_UNSIGN, mine), (_UNLOCK, mine), again=False)


def _this_process() -> tuple[str, int]:
    return socket.gethostname(), os.getpid()


def described(since: dt.datetime, host: str, pid: int) -> str:
    return describe_holder(pid, host, since.astimezone())
