"""One SQLite file: opened with care, brought to the version of this code, failures put in words.

It knows nothing of runs but how their tables are made. All of it blocks.
"""

import contextlib
import os
import sqlite3
import stat
import threading
import time
from collections.abc import Generator, Sequence
from pathlib import Path

from leadhand.errors import JournalError

Step = Sequence[str]
"""The statements that make one version of the tables of the one before."""

STEPS: Sequence[Step] = (
    (
        # The digest is what a list says of a run; ids are in the order in which runs began.
        """CREATE TABLE runs (
            id INTEGER PRIMARY KEY,
            run_id TEXT NOT NULL UNIQUE,
            updated_at TEXT NOT NULL,
            digest TEXT NOT NULL
        )""",
        # Where there is no body, there is a blob.
        "CREATE TABLE events (run INTEGER, seq INTEGER, body TEXT, PRIMARY KEY (run, seq))",
        "CREATE TABLE blobs (run INTEGER, seq INTEGER, data BLOB NOT NULL, PRIMARY KEY (run, seq))",
        "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT, body TEXT)",
    ),
    # Of an event and its blob; events that were there before have none.
    ("ALTER TABLE events ADD COLUMN checksum INTEGER",),
)
"""How the tables came to be what they are. Never changed, only added to."""


APPLICATION_ID = int.from_bytes(b"lead", "big")
"""What the header of a file says whose it is; the first files say nothing."""
_TABLES = {"runs", "events", "blobs", "messages"}
"""By these the first files are known."""


class SqliteDatabase:
    """A file that is made when it is first written to, and not before."""

    def __init__(
        self, path: Path, *, busy_timeout_s: float = 10.0, steps: Sequence[Step] = STEPS
    ) -> None:
        self.path = path.absolute()
        self._busy_timeout_s = busy_timeout_s
        self._steps = steps
        self._writing = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._file: os.stat_result | None = None
        """What the connection writes to."""

    @contextlib.contextmanager
    def transaction(self) -> Generator[sqlite3.Connection]:
        """Everything that the block writes, or nothing; safe on the disk when the block is over.

        Raises what SQLite and the operating system raise: `explain` puts it in words.
        """
        with self._writing:
            connection = self._connection
            if connection is None:
                self._make()
                connection = self._connection = self._opened()
                self._file = self.path.stat()
            try:
                self._check_place()
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # A new connection is the one thing that is sure to have nothing left over.
                self._connection = None
                connection.close()
                raise

    @contextlib.contextmanager
    def reading(self) -> Generator[sqlite3.Connection | None]:
        """A connection that sees what is committed; none where there is no file.

        Raises `JournalError` for all that goes wrong in the block.
        """
        try:
            if not self.path.exists():
                yield None
                return
            with contextlib.closing(self._opened(self._reading_mode())) as connection:
                yield connection
        except (sqlite3.Error, OSError) as error:
            why, remedy = explain(error)
            raise JournalError(f"{self.path} can't be read: {why}; {remedy}") from error

    def _check_place(self) -> None:
        """Raises `JournalError` where whoever opens the file would not find what is written now."""
        try:
            if self._file is not None and os.path.samestat(self._file, self.path.stat()):
                return
        except FileNotFoundError:
            pass
        raise JournalError(
            f"{self.path} was deleted or replaced while runs were written to it: put it back, "
            "or begin them anew"
        )

    def shrink(self) -> None:
        """Give the room of what was deleted back to the disk, as far as others let us."""
        with self._writing, contextlib.suppress(sqlite3.Error):
            if self._connection is not None:
                # As a script: `execute` takes one step of a vacuum, and that frees one page.
                self._connection.executescript(
                    "PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)"
                )

    def close(self) -> None:
        """Let go of the file; what is written later opens it again."""
        with self._writing:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _make(self) -> None:
        """An empty file that nobody else can read, where there is none."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))

    def _reading_mode(self) -> str:
        """How to open a file that is only read: it may be one that we can't write.

        SQLite writes beside the file even to read it, unless it is told that nobody changes it.
        """
        if all(os.access(place, os.W_OK) for place in (self.path, self.path.parent)):
            return "mode=rw"
        log = self.path.with_name(f"{self.path.name}-wal")
        return "mode=ro" if log.exists() else "mode=ro&immutable=1"

    def _opened(self, mode: str = "mode=rw") -> sqlite3.Connection:
        if not stat.S_ISREG(self.path.stat().st_mode):
            raise JournalError(
                f"{self.path} is no regular file: move it away, or give another --home"
            )
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?{mode}",
            uri=True,
            timeout=self._busy_timeout_s,
            isolation_level=None,
            check_same_thread=False,
        )
        # What is not UTF-8 is damage of one event, found by its checksum, and not of the file.
        connection.text_factory = _text
        try:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA fullfsync = ON")  # else macOS leaves it in the disk's cache
            self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> None:
        """Bring the tables to this code's version, in one transaction."""
        if self._version(connection) == len(self._steps):
            return
        if self._version(connection) == 0:
            self._set_up(connection)
        connection.execute("BEGIN IMMEDIATE")
        for step in self._steps[self._version(connection) :]:
            for statement in step:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(self._steps)}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("COMMIT")

    def _version(self, connection: sqlite3.Connection) -> int:
        """The version of the tables. Raises `JournalError` for what is not ours, or not yet."""
        inside = connection.in_transaction
        if not inside:
            connection.execute("BEGIN")  # all of it as of one moment: others may be making the file
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (owner,) = connection.execute("PRAGMA application_id").fetchone()
        names = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        if not inside:
            connection.execute("COMMIT")
        ours = owner == APPLICATION_ID or (owner == 0 and names >= _TABLES)
        if version < 0 or (not ours if version else owner or names):
            raise JournalError(f"{self.path} is no journal of leadhand: give another --home")
        if version > len(self._steps):
            raise JournalError(
                f"{self.path} was written by a newer leadhand (its version is {version}, "
                f"{len(self._steps)} can be read): update leadhand, or give another --home"
            )
        return version

    def _set_up(self, connection: sqlite3.Connection) -> None:
        """Choose how an empty file is kept. SQLite waits for nobody here, so this does."""
        give_up_s = time.monotonic() + self._busy_timeout_s
        while True:
            try:
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() > give_up_s:
                    raise
                time.sleep(0.01)
            else:
                return


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def is_busy(error: Exception) -> bool:
    """Whether another connection kept the file locked for too long."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_damaged(error: Exception) -> bool:
    """Whether a part of the file is not what SQLite wrote."""
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def explain(error: Exception) -> tuple[str, str]:
    """Why a file can't be read or written, and what to do about it."""
    match _code(error):
        case sqlite3.SQLITE_FULL:
            return "the disk is full", "free some space"
        case sqlite3.SQLITE_IOERR:
            return f"the disk refuses ({error})", "see that it has space and works"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "another process keeps it locked", "wait for that process, or end it"
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return f"it is damaged ({error})", "put a copy of it back, or move it away"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return f"it is not open to us ({error})", "make the file and its folder writable"
        case sqlite3.SQLITE_CONSTRAINT:
            return f"another process wrote to the run ({error})", "make sure that one ended"
        case _:
            return str(error), "make sure that the file is in its place and can be written"


def _code(error: Exception) -> int:
    """SQLite's primary result code; 0 where the error is not SQLite's."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
