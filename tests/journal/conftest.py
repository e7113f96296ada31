"""A real Postgres server a module, and journals in it; other modules have journals of their own."""

from collections.abc import Callable, Iterator

import psycopg
import pytest

from leadhand.journal.postgres import PostgresJournal
from tests.journal.postgres_server import PostgresServer


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="module")
def database(server: PostgresServer) -> str:
    return server.database()


@pytest.fixture
def url(database: str) -> Iterator[str]:
    """Of an empty database."""
    yield database
    with psycopg.connect(database) as owner:
        owner.execute("DROP SCHEMA IF EXISTS leadhand CASCADE")


@pytest.fixture
def reopened(url: str) -> Iterator[Callable[[], PostgresJournal]]:
    """Opens the journal, as often as one likes."""
    opened: list[PostgresJournal] = []

    def reopen() -> PostgresJournal:
        opened.append(PostgresJournal(url))
        return opened[-1]

    yield reopen
    for journal in opened:
        journal.close()


@pytest.fixture
def journal(reopened: Callable[[], PostgresJournal]) -> PostgresJournal:
    return reopened()
