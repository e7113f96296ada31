"""The journal in Postgres: the shared suite, and what becomes of it where its server does not stay.

One real server for all of them; every test begins without a schema, as a user without privileges.
"""

import asyncio
import datetime as dt
import threading
import traceback
from collections.abc import Callable

import psycopg
import pytest

from leadhand.contracts.people import RunMessage
from leadhand.errors import JournalError
from leadhand.journal import StoreJournal
from leadhand.journal.postgres import PostgresStore
from leadhand.journal.postgres_database import STEPS, PostgresDatabase
from leadhand.journal.store import Store
from leadhand.testing.journal_stories import NOON, Story
from leadhand.testing.journals import DurableConformance, keep
from tests.journal.blocking import Blocking
from tests.journal.damage import DamageConformance, Spoil, spoiling
from tests.journal.postgres_server import PASSWORD, USER, PostgresServer, until_blocked


@pytest.fixture
def spoil(url: str) -> Spoil:
    def spoil(statement: str) -> None:
        names = {"schema": "leadhand.", "key": "run", "id": "run", "zeros": r"'\x00'::bytea"}
        with psycopg.connect(url) as connection:
            connection.execute(spoiling(statement, **names).encode())

    return spoil


class TestPostgresJournal(DurableConformance, DamageConformance):
    """The contract, over a real server."""

    @pytest.fixture
    def journal(self, journal: Store) -> Store:
        return Blocking(StoreJournal(journal))


# The server


def test_a_server_that_stays_away_stops_the_run_and_loses_nothing(
    server: PostgresServer, url: str
) -> None:
    """F31: the error is clear and lasts as long as the hold; then the run can be resumed."""
    journal = PostgresStore(url, patience_s=0.1)
    events = Story("r").whole("a")
    with journal.hold("r"):
        keep(journal, events[:3])
        server.kill()
        with pytest.raises(JournalError) as failure:
            keep(journal, events[3:4])
        with pytest.raises(JournalError, match="can't be reached"):
            journal.events("r")
        with pytest.raises(JournalError, match="can't be reached"):
            journal.taken_by("r")
        server.start()
        with pytest.raises(JournalError) as later:
            asyncio.run(journal.commit())
    said = str(failure.value)
    assert said == str(later.value)
    assert said.startswith("run 'r' can't be kept: the Postgres database test_")
    assert "can't be reached" in said
    assert "leadhand resume r" in said
    assert "\n" not in said
    assert PASSWORD not in said
    with journal.hold("r"):
        assert list(journal.events("r")) == events[:3]
        keep(journal, events[3:])
    assert list(journal.events("r")) == events
    journal.close()


def test_a_slow_commit_holds_up_nothing_else(journal: PostgresStore, url: str) -> None:
    """Neither the event loop nor those who read, nor who leaves a message."""
    events = Story("r").whole("a")
    keep(journal, events[:1])

    async def commit_while_locked() -> None:
        with psycopg.connect(url) as locking:
            locking.execute("LOCK TABLE leadhand.events IN SHARE MODE")
            journal.append(events[1])
            commit = asyncio.ensure_future(journal.commit())
            await asyncio.to_thread(until_blocked, locking)
            assert list(journal.events("r")) == events[:2]
            journal.post(RunMessage(run_id="r"))
            assert not commit.done()
        await commit

    asyncio.run(commit_while_locked())
    assert list(journal.events("r")) == events[:2]


def test_the_defaults_of_a_managed_server_do_no_harm(server: PostgresServer) -> None:
    url = server.database()
    name = url.split("/")[3].split("?")[0]
    with psycopg.connect(url, autocommit=True) as owner:
        for setting in (
            "synchronous_commit = off",
            "statement_timeout = '1s'",
            "idle_session_timeout = '1s'",
            "default_transaction_isolation = 'serializable'",
            "datestyle = 'SQL, DMY'",
            "timezone = 'Asia/Kathmandu'",
            "client_encoding = 'LATIN1'",
            "search_path = ''",
        ):
            owner.execute(f"ALTER DATABASE {name} SET {setting}".encode())
    story = Story("r")
    journal = PostgresStore(url)
    with journal.hold("r"):
        keep(journal, [story.started("é😀"), *story.planned("a")])
        assert "since" in (journal.holder("r") or "")
    (summary,) = journal.runs()
    assert (summary.request, summary.started_at) == ("é😀", NOON + dt.timedelta(seconds=1))
    assert list(journal.delete(["r"], before=NOON + dt.timedelta(days=1))) == ["r"]
    journal.close()
    with PostgresDatabase(url).connect() as session:
        for setting, wanted in (
            ("synchronous_commit", "on"),
            ("statement_timeout", "1min"),
            ("idle_session_timeout", "0"),
        ):
            shown = session.execute("SELECT current_setting(%s)", (setting,))
            assert shown.fetchone() == (wanted,)


def test_a_read_only_database_is_read_and_not_written(
    url: str, server: PostgresServer, journal: PostgresStore, reopened: Callable[[], PostgresStore]
) -> None:
    """F31: as a standby is, or a managed server that is full."""
    story = Story("r")
    keep(journal, [story.started()])
    with server.admin() as admin:
        admin.execute(f"ALTER ROLE {USER} SET default_transaction_read_only = on")
    other = reopened()
    assert len(other.events("r")) == 1
    with pytest.raises(JournalError, match=r"can't be kept.*read-only"):
        keep(other, [story.dispatched("a")])
    for _ in range(2):
        with pytest.raises(JournalError, match=r"can't lock run 'r'.*read-only"), other.hold("r"):
            pass
    with journal.hold("r"):
        keep(journal, [story.dispatched("a")])


# The schema


def test_many_may_open_an_empty_database_at_once(url: str) -> None:
    at_once, opened = threading.Barrier(6), list[PostgresStore]()

    def open_it() -> None:
        store = PostgresStore(url)
        at_once.wait()
        store.runs()
        opened.append(store)

    threads = [threading.Thread(target=open_it) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(opened) == 6
    for number, journal in enumerate(opened):
        keep(journal, [Story(f"r{number}").started()])
    assert len(opened[0].runs()) == 6
    for journal in opened:
        journal.close()


def test_an_older_schema_is_brought_up_to_date_and_a_newer_one_refused(
    journal: PostgresStore, url: str
) -> None:
    """F31: and nothing in it is changed by whoever does not know it."""
    events = Story("r").whole("a")
    keep(journal, events)
    steps = (*STEPS, "ALTER TABLE leadhand.runs ADD COLUMN note text DEFAULT 'none'")
    for _ in range(2):
        newer = PostgresStore(url, steps=steps)
        assert list(newer.events("r")) == events
        newer.close()
    with pytest.raises(JournalError, match=r"newer leadhand.*version 4, this one knows 3"):
        PostgresStore(url).runs()


def test_a_schema_that_fails_half_way_is_not_there(url: str) -> None:
    with pytest.raises(JournalError, match="can't be set up"):
        PostgresStore(url, steps=[*STEPS, "ALTER TABLE leadhand.nothing ADD COLUMN x int"]).runs()
    store = PostgresStore(url)
    assert store.runs() == []
    store.close()


def test_where_we_may_not_make_the_schema_an_administrator_can(server: PostgresServer) -> None:
    url = server.database("OWNER postgres")
    with pytest.raises(JournalError, match="can't be set up: permission denied"):
        PostgresStore(url).runs()
    with server.admin(url) as admin:
        admin.execute(f"CREATE SCHEMA leadhand AUTHORIZATION {USER}")
    journal = PostgresStore(url)
    keep(journal, [Story("r").started()])
    journal.close()


def test_a_database_without_unicode_is_refused(server: PostgresServer) -> None:
    url = server.database(f"OWNER {USER} TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    with pytest.raises(JournalError, match=r"LATIN1.*UTF8"):
        PostgresStore(url).runs()


# Secrets


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:s3cret@127.0.0.1:1/runs",
        "postgresql://ann@127.0.0.1:1/runs?password=s3cret",
        "postgresql://ann:s3cret@127.0.0.1:port/runs",
        "postgresql://ann:@s3cret@127.0.0.1:1/runs",
        "postgresql://ann:/s3cret@127.0.0.1:1/runs",
        "postgresql://ann:?s3cret@127.0.0.1:1/runs",
        "postgresql://ann:a@/s3cret@127.0.0.1:1/runs",
        "postgresql://ann:%s3cret@127.0.0.1:1/runs",
        "host=127.0.0.1 port=1 password='s3cret",
        "postgresql://ann:s3cret\udcff@127.0.0.1:1/runs",
    ],
)
def test_no_error_tells_the_password(url: str) -> None:
    """F36: nor what a traceback shows, whichever way the URL is wrong."""
    with pytest.raises(JournalError, match=r"can't be (reached|read)") as failure:
        PostgresStore(url).runs()
    assert "s3cret" not in "".join(traceback.format_exception(failure.value))
    assert "\n" not in str(failure.value)


def test_secrets_are_taken_out_before_anything_is_written(url: str) -> None:
    """F36: of events short and long, of what is left for a run, and of its summary."""
    journal = PostgresStore(url, redact=lambda text: text.replace("hunter2", "***"))
    story = Story("r")
    keep(journal, [story.started("hunter2"), story.completed("a", output="hunter2" * 20_000)])
    journal.post(RunMessage(run_id="r", reason="hunter2"))
    assert "hunter2" not in f"{journal.events('r')} {journal.messages('r')} {journal.runs()}"
    assert journal.runs()[0].request == "***"
    journal.close()
