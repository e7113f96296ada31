"""One SQLite file: opening, migrations, transactions, messages for its errors. Everything
blocks."""

import contextlib
import functools
import os
import sqlite3
import stat
import threading
import time
import weakref
from collections.abc import Generator, Sequence
from pathlib import Path

from leadhand.errors import JournalError, JournalLocked
from leadhand.journal.sqlite_opening import opening

Step = Sequence[str]
"""The statements that migrate the tables to the next version."""

STEPS: Sequence[Step] = (
    (
        # The digest is a `StoredSummary`; ids are in the order in which runs began.
        """CREATE TABLE runs (
            id INTEGER PRIMARY KEY,
            run_id TEXT NOT NULL UNIQUE,
            updated_at TEXT NOT NULL,
            digest TEXT NOT NULL
        )""",
        # An event without a body has a blob.
        "CREATE TABLE events (run INTEGER, seq INTEGER, body TEXT, PRIMARY KEY (run, seq))",
        "CREATE TABLE blobs (run INTEGER, seq INTEGER, data BLOB NOT NULL, PRIMARY KEY (run, seq))",
        "CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT, body TEXT)",
    ),
    # Of the event and its blob; older events have none.
    ("ALTER TABLE events ADD COLUMN checksum INTEGER",),
    ("CREATE TABLE notes (key TEXT PRIMARY KEY, data BLOB NOT NULL)",),
)
"""All migrations. Never change one, only add."""

APPLICATION_ID = int.from_bytes(b"lead", "big")
"""Marks the file as leadhand's; files of the first version lack it."""
_TABLES = {"runs", "events", "blobs", "messages"}
"""Identify files of the first version."""

_ACCEPT = "`leadhand runs check --accept-loss` continues without what was committed after that"


class SqliteDatabase:
    """A database file, created at the first write."""

    def __init__(
        self, path: Path, *, busy_timeout_s: float = 10.0, steps: Sequence[Step] = STEPS
    ) -> None:
        self.path = path.absolute()
        self._busy_timeout_s = busy_timeout_s
        self._steps = steps
        self._writing = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._opening = contextlib.ExitStack()
        self._file: os.stat_result | None = None

    @contextlib.contextmanager
    def transaction(self) -> Generator[sqlite3.Connection]:
        """Write everything in the block safely to disk, or nothing. Raises what SQLite and the
        system raise; see `explain`."""
        with self._writing:
            connection = self._connection
            if connection is None:
                self._make()
                connection = self._opening.enter_context(self._opened(writing=True))
                # A store that is forgotten is garbage whose parts are finalized in any order.
                self._opening.callback(weakref.finalize(self, connection.close).detach)
                self._connection = connection
                self._file = self.path.stat()
            try:
                self._check_file()
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # Only a new connection is sure to have no leftovers.
                self._close()
                raise

    @contextlib.contextmanager
    def reading(self) -> Generator[sqlite3.Connection | None]:
        """`None` if there is no file. Raises `JournalError` for every error in the block."""
        try:
            if not self.path.exists():
                yield None
                return
            with self._opened() as connection:
                yield connection
        except (sqlite3.Error, OSError) as error:
            raise self.failure("read", error) from error

    def _check_file(self) -> None:
        """Raise `JournalError` if the open file is no longer the one at `path`."""
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
        """Return the space of deleted data to the disk, unless other connections prevent it."""
        with self._writing, contextlib.suppress(sqlite3.Error):
            if self._connection is not None:
                # As a script: `execute` would do one step of the vacuum, which frees one page.
                self._connection.executescript(
                    "PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)"
                )

    def close(self) -> None:
        """A later write opens it again."""
        with self._writing:
            self._close()

    def damage(self, *, accept_loss: bool = False) -> str | None:
        """What is wrong with the log, unless others write to it. With `accept_loss`, what the
        damage hides is dropped. Raises `JournalError`."""
        if not self.path.exists() or self._reading_mode() != "mode=rw":
            return None
        try:
            with opening(self.path, self._busy_timeout_s, accept_loss=accept_loss) as damage:
                if damage is None or not accept_loss:
                    return damage and f"{damage}; {_ACCEPT}"
                with contextlib.closing(self._connected("mode=rw")) as connection:
                    self._version(connection)
                    (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except (sqlite3.Error, OSError) as error:
            raise self.failure("opened", error) from error
        if busy:
            raise JournalError(f"{damage}; other processes read it: end them, then try again")
        return f"{damage}; what was committed after that is dropped"

    def failure(self, what: str, error: Exception) -> JournalError:
        why, remedy = explain(error)
        kind = JournalLocked if is_busy(error) else JournalError
        return kind(f"{self.path} can't be {what}: {why}; {remedy}")

    def _close(self) -> None:
        self._connection = None
        self._opening.close()

    def _make(self) -> None:
        """Create an empty file that only this user can read, if there is none."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))

    def _reading_mode(self) -> str:
        """How to open a file for reading. Even to read, SQLite writes files beside it, unless
        told that the file does not change."""
        if all(os.access(place, os.W_OK) for place in (self.path, self.path.parent)):
            return "mode=rw"
        log = self.path.with_name(f"{self.path.name}-wal")
        return "mode=ro" if log.exists() else "mode=ro&immutable=1"

    @contextlib.contextmanager
    def _opened(self, *, writing: bool = False) -> Generator[sqlite3.Connection]:
        if not stat.S_ISREG(self.path.stat().st_mode):
            raise JournalError(
                f"{self.path} is no regular file: move it away, or give another --home"
            )
        with contextlib.ExitStack() as stack:
            mode = "mode=rw" if writing else self._reading_mode()
            damage = None
            if mode == "mode=rw":
                damage = stack.enter_context(opening(self.path, self._busy_timeout_s))
            if damage is not None and writing:
                raise JournalError(f"{damage}; {_ACCEPT}")
            # A connection that may write would delete the log at its end.
            mode = mode if damage is None else "mode=ro"
            connection = stack.enter_context(contextlib.closing(self._connected(mode)))
            try:
                self._migrate(connection)
            except sqlite3.Error as error:
                if damage is None:
                    raise
                raise JournalError(f"{damage}; {_ACCEPT}") from error
            yield connection

    def _connected(self, mode: str) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?{mode}",
            uri=True,
            timeout=self._busy_timeout_s,
            isolation_level=None,
            check_same_thread=False,
        )
        # Invalid UTF-8 damages one event, which its checksum shows, not the whole file.
        connection.text_factory = functools.partial(str, encoding="utf-8", errors="replace")
        try:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA fullfsync = ON")  # else macOS leaves it in the disk's cache
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> None:
        """Migrate the tables to this version, in one transaction."""
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
        """The version of the tables. Raises `JournalError` if it is newer, or not leadhand's."""
        inside = connection.in_transaction
        if not inside:
            connection.execute("BEGIN")  # one snapshot: another process may be creating the file
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
        """Set the modes of an empty file. SQLite does not wait for locks here, so this does."""
        until_s = time.monotonic() + self._busy_timeout_s
        while True:
            try:
                connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if not is_busy(error) or time.monotonic() > until_s:
                    raise
                time.sleep(0.01)
            else:
                return


def is_busy(error: Exception) -> bool:
    """Whether another connection locked the file for too long."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_damaged(error: Exception) -> bool:
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def explain(error: Exception) -> tuple[str, str]:
    """Why a file can't be read or written, and what to do."""
    match _code(error):
        case sqlite3.SQLITE_FULL:
            return "the disk is full", "free some space"
        case sqlite3.SQLITE_IOERR:
            return f"the disk reports an error ({error})", "check that it has space and works"
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "another process has locked it", "wait for that process, or end it"
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return f"it is damaged ({error})", "restore a copy of it, or move it away"
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return f"permission is missing ({error})", "make the file and its folder writable"
        case sqlite3.SQLITE_CONSTRAINT:
            return f"another process wrote to the run ({error})", "make sure that process has ended"
        case _:
            return str(error), "make sure that the file exists and is writable"


def _code(error: Exception) -> int:
    """0 for other errors."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
