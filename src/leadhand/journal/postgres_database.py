"""The database of a Postgres journal: connections, migrations, and messages for its errors, on
one line and without the password of the URL."""

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Final, LiteralString

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow as Row

from leadhand.errors import JournalError
from leadhand.untrusted.cutting import cut

Connection = psycopg.Connection[Row]

STEPS: Final[Sequence[LiteralString]] = (
    """
    CREATE TABLE leadhand.runs (
        run text PRIMARY KEY,
        began bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
        updated_at timestamptz NOT NULL,
        digest text NOT NULL
    );
    CREATE TABLE leadhand.events (
        run text,
        seq bigint,
        body text,
        PRIMARY KEY (run, seq)
    );
    CREATE TABLE leadhand.blobs (
        run text,
        seq bigint,
        data bytea NOT NULL,
        PRIMARY KEY (run, seq)
    );
    CREATE TABLE leadhand.messages (
        id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        run text NOT NULL,
        body text NOT NULL
    );
    CREATE TABLE leadhand.holders (
        run text PRIMARY KEY,
        backend integer NOT NULL,
        host text NOT NULL,
        pid integer NOT NULL,
        since timestamptz NOT NULL DEFAULT now()
    );
    CREATE FUNCTION leadhand.key(run text) RETURNS bigint IMMUTABLE LANGUAGE sql
        AS $$ SELECT hashtextextended('leadhand run ' || run, 0) $$;
    CREATE VIEW leadhand.held AS
        SELECT run, host, holders.pid, since
        FROM leadhand.holders JOIN pg_locks ON pg_locks.pid = backend
            AND (classid::bigint << 32) | objid::bigint = leadhand.key(run)
        WHERE locktype = 'advisory' AND objsubid = 1 AND granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    """,
    # Of the event and its blob; older events have none.
    "ALTER TABLE leadhand.events ADD COLUMN checksum bigint",
    'CREATE TABLE leadhand.notes (key text COLLATE "C" PRIMARY KEY, data bytea NOT NULL)',
)
"""All migrations. Never change one, only add."""

_MIGRATING: Final = 0x6C656164_68616E64
_CLIENT: Final = {
    "application_name": "leadhand",
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}
"""Defaults that the URL can override: a lost peer is noticed within a minute."""
_SESSION: Final = """
    SELECT set_config(name, wanted, false)
    FROM (VALUES
        ('DateStyle', 'ISO, MDY'),
        ('TimeZone', 'UTC'),
        ('default_transaction_isolation', 'read committed'),
        ('idle_session_timeout', '0'),
        ('lock_timeout', '10s'),
        ('statement_timeout', '60s'),
        ('tcp_keepalives_count', '3'),
        ('tcp_keepalives_idle', '30'),
        ('tcp_keepalives_interval', '10'),
        ('transaction_timeout', '0')
    ) AS setting (name, wanted) JOIN pg_settings USING (name)
    UNION ALL
    SELECT set_config(name, 'on', false) FROM pg_settings
    WHERE name = 'synchronous_commit' AND setting = 'off'
"""
"""Settings that a server may have set otherwise, if it knows them. A run that waits days for a
person keeps its session; one whose machine died loses it, and its hold."""
_UNREADABLE: Final = (
    "the URL of the Postgres journal can't be read: write it as"
    " postgresql://user:password@host:5432/database, an @ or / in the password as %40 or %2F"
)


class PostgresDatabase:
    def __init__(self, url: str, *, steps: Sequence[LiteralString] = STEPS) -> None:
        """Does not connect yet. Raises `JournalError` if the URL can't be read."""
        self._steps = steps
        self._migrating = threading.Lock()
        self._migrated = False
        try:
            given = {name: str(value) for name, value in conninfo_to_dict(url).items()}
        except (psycopg.Error, UnicodeError):
            raise JournalError(_UNREADABLE) from None  # libpq quotes it, password and all
        place = [given.get(name, "") for name in ("host", "port", "dbname")]
        # A password with an unescaped @ or / ends up in the name of the host, the port or both.
        if "@" in "".join(place) or place[1].strip("0123456789,"):
            raise JournalError(_UNREADABLE)
        self._parameters = {**_CLIENT, **given, "client_encoding": "utf8"}
        host, port, name = place
        at = host + (f":{port}" if port else "")
        self.where = f"the Postgres database {name or 'of the user'}" + (f" at {at}" if at else "")

    def connect(self) -> Connection:
        """A new session in autocommit mode."""
        with self.explained("can't be reached"):
            connection = psycopg.connect(make_conninfo(**self._parameters), autocommit=True)
        try:
            with self.explained("can't be set up"):
                # First: the role's or server's timeout may be too short for the rest.
                connection.execute("SET statement_timeout = '60s'")
                connection.execute(_SESSION)
        except BaseException:
            connection.close()
            raise
        return connection

    def connect_migrated(self) -> Connection:
        """A new session; the first one creates or migrates the schema. Raises `JournalError` if
        the schema is newer, or the database is not UTF-8."""
        connection = self.connect()
        try:
            with self._migrating, self.explained("can't be set up"):
                if not self._migrated:
                    self._migrate(connection)
                self._migrated = True
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: Connection) -> None:
        if self._version(connection) == len(self._steps):
            return
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise JournalError(
                f"{self.where} keeps text as {encoding}: make one with ENCODING 'UTF8'"
            )
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING,))
            version = self._version(connection)  # another process may have migrated it
            if version == 0:
                _create_schema(connection)
            for step in self._steps[version:]:
                connection.execute(step)
            connection.execute("UPDATE leadhand.journal SET version = %s", (len(self._steps),))

    def _version(self, connection: Connection) -> int:
        """0 if there is no schema. Raises if it is newer than ours."""
        # `to_regclass` may have cached that there was none.
        query = "SELECT FROM pg_tables WHERE schemaname = 'leadhand' AND tablename = 'journal'"
        if connection.execute(query).fetchone() is None:
            return 0
        row = connection.execute("SELECT version FROM leadhand.journal").fetchone()
        version = row[0] if row else 0
        if version > len(self._steps):
            raise JournalError(
                f"{self.where} was written by a newer leadhand (its journal is version {version},"
                f" this one knows {len(self._steps)}): update leadhand, or give another database"
            )
        return version

    @contextmanager
    def explained(self, what: str) -> Generator[None]:
        """Turn database errors of the block into `JournalError`."""
        try:
            yield
        except psycopg.errors.QueryCanceled as error:
            why = f"{self.message(error)}: find what holds it up, or raise its statement_timeout"
            raise JournalError(f"{self.where} is too slow: {why}") from None
        except (psycopg.Error, UnicodeError) as error:
            raise JournalError(f"{self.where} {what}: {self.message(error)}") from None

    def message(self, error: Exception) -> str:
        lines = (line.strip() for line in str(error).splitlines())
        message = next((line for line in lines if line), type(error).__name__)
        for name in ("password", "sslpassword"):
            if secret := self._parameters.get(name):
                message = message.replace(secret, "***")
        return cut(message, 300)


def _create_schema(connection: Connection) -> None:
    """Create the schema and the one table that is the same in every version."""
    # If an administrator created the schema, creating it may not be allowed.
    found = connection.execute("SELECT FROM pg_namespace WHERE nspname = 'leadhand'")
    if found.fetchone() is None:
        connection.execute("CREATE SCHEMA leadhand")
    connection.execute("CREATE TABLE leadhand.journal (version integer NOT NULL)")
    connection.execute("INSERT INTO leadhand.journal VALUES (0)")
