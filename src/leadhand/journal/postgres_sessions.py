"""Sessions of a Postgres journal, opened again if they are lost; their limits are the client's."""

import contextlib
import os
import queue
import socket
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Final, LiteralString

import psycopg

from leadhand.errors import JournalError
from leadhand.journal.postgres_database import Connection, PostgresDatabase, Row

ANSWER_LIMIT_S: Final = 20.0
"""How long the server may take; longer than a statement waits for a lock."""
LONG_LIMIT_S: Final = 90.0
"""The same for large reads and deletes; longer than the server's statement timeout."""

Query = tuple[LiteralString, Sequence[object]]


class PostgresSession:
    """A session that is opened when it is needed, and again after it was lost, for one thread at a
    time.

    Raises what psycopg raises; see `PostgresDatabase.explained`.
    """

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database
        self._connection: Connection | None = None
        self._busy = False
        self._closed = False

    @property
    def connection(self) -> Connection:
        if self._closed:
            raise JournalError("the journal is closed: open it again")
        if self._connection is None or self._connection.closed:
            self._connection = self._database.connect_migrated()
        return self._connection

    @property
    def lost(self) -> bool:
        return self._connection is not None and self._connection.closed

    def ask(
        self,
        query: LiteralString,
        *parameters: object,
        again: bool = True,
        limit_s: float = ANSWER_LIMIT_S,
    ) -> list[Row]:
        return self.ask_all((query, parameters), again=again, limit_s=limit_s)[0]

    def ask_all(
        self, *queries: Query, again: bool = True, limit_s: float = ANSWER_LIMIT_S
    ) -> list[list[Row]]:
        """The rows of each query, in one round trip if libpq can do that.

        `again`: repeat them if the session turns out to be lost. After `limit_s` the session is
        ended, because a frozen server sends nothing.
        """
        self._busy = True
        try:
            connection = self.connection
            try:
                return _rows(connection, queries, limit_s)
            except psycopg.OperationalError:
                if not (again and connection.closed):
                    raise
            return _rows(self.connection, queries, limit_s)
        finally:
            self._busy = False
            if self._closed:
                self.close()

    def close(self) -> None:
        """Close it for good, from any thread; while it is asked something, after that."""
        self._closed = True
        if self._connection is not None and not self._busy:
            self._connection.close()


class SessionPool:
    """A few sessions for any thread. One is opened only while all open ones are busy."""

    def __init__(self, database: PostgresDatabase, *, size: int) -> None:
        self._sessions = [PostgresSession(database) for _ in range(size)]
        self._idle = queue.LifoQueue[PostgresSession]()
        for session in self._sessions:
            self._idle.put(session)

    def ask_all(self, *queries: Query, again: bool = True) -> list[list[Row]]:
        session = self._idle.get()
        try:
            return session.ask_all(*queries, again=again, limit_s=LONG_LIMIT_S)
        finally:
            self._idle.put(session)

    def close(self) -> None:
        for session in self._sessions:
            session.close()


def _rows(connection: Connection, queries: Sequence[Query], limit_s: float) -> list[list[Row]]:
    pipelined = len(queries) > 1 and psycopg.Pipeline.is_supported()
    with _ended_after(limit_s, connection):
        with connection.pipeline() if pipelined else contextlib.nullcontext():
            cursors = [connection.execute(query, parameters) for query, parameters in queries]
        return [[] if one.description is None else one.fetchall() for one in cursors]


@contextmanager
def _ended_after(limit_s: float, connection: Connection) -> Generator[None]:
    lock = threading.Lock()
    over = late = False

    def end() -> None:
        nonlocal late
        with lock:
            if not over:  # later the descriptor may belong to another file
                late = True
                with contextlib.suppress(OSError), socket.socket(fileno=os.dup(handle)) as one:
                    one.shutdown(socket.SHUT_RDWR)

    handle = connection.fileno()
    timer = threading.Timer(limit_s, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    except psycopg.OperationalError as error:
        if late:
            raise psycopg.OperationalError(f"no answer within {limit_s:g} s") from error
        raise
    finally:
        with lock:
            over = True
        timer.cancel()
