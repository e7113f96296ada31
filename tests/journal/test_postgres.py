"""The journal in Postgres: the shared suite, and what becomes of it when its server does not stay.

Every test has a database of its own on one real server, as a user who is no superuser.
"""

from collections.abc import Callable, Iterator

import pytest

from leadhand.journal.postgres import PostgresJournal
from tests.journal.conformance import DurableConformance
from tests.journal.postgres_server import PostgresServer


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with PostgresServer() as server:
        yield server


@pytest.fixture
def url(server: PostgresServer) -> str:
    """Of an empty database."""
    return server.database()


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


class TestPostgresJournal(DurableConformance):
    """The contract, over a real server."""
