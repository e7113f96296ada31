"""A real Postgres server for all modules, and journals in it; some have journals of their own."""

from collections.abc import Callable, Iterator

import psycopg
import pytest

from leadhand.journal.postgres import PostgresStore
from leadhand.testing.journal_stories import reopening
from tests.journal.postgres_server import PostgresServer


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture
def server(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """For tests that stop it, or change it for all of its users."""
    yield postgres
    postgres.restore()


@pytest.fixture(scope="module")
def database(postgres: PostgresServer) -> str:
    return postgres.database()


@pytest.fixture
def url(database: str) -> Iterator[str]:
    """Of an empty database."""
    yield database
    with psycopg.connect(database) as owner:
        owner.execute("DROP SCHEMA IF EXISTS leadhand CASCADE")


@pytest.fixture
def reopened(url: str) -> Iterator[Callable[[], PostgresStore]]:
    """Opens the journal, as often as one likes."""
    with reopening(lambda: PostgresStore(url)) as reopen:
        yield reopen


@pytest.fixture
def journal(reopened: Callable[[], PostgresStore]) -> PostgresStore:
    return reopened()
