"""What a Postgres server's own limits do to a journal, and what is said of it (F50)."""

import pytest

from leadhand.errors import JournalError
from leadhand.journal.postgres_database import PostgresDatabase
from tests.journal.postgres_server import USER, PostgresServer


def test_a_role_s_statement_timeout_does_not_hold_for_the_journal(server: PostgresServer) -> None:
    with server.admin() as admin:
        admin.execute(f"ALTER ROLE {USER} SET statement_timeout = '1s'")
    with PostgresDatabase(server.database()).connect() as connection:
        assert connection.execute("SHOW statement_timeout").fetchone() == ("1min",)


def test_a_statement_that_takes_too_long_is_not_said_to_be_out_of_reach(
    server: PostgresServer,
) -> None:
    database = PostgresDatabase(server.database())
    connection = database.connect()
    connection.execute("SET statement_timeout = '10ms'")
    with connection, pytest.raises(JournalError) as error, database.explained("can't be reached"):
        connection.execute("SELECT pg_sleep(60)")
    assert "is too slow: canceling statement due to statement timeout: find" in str(error.value)
    assert "reached" not in str(error.value)
