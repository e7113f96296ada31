"""Holds of runs in Postgres: two processes on one run, connections that are lost and come back."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator

import psycopg
import pytest

from leadhand.contracts.people import RunMessage
from leadhand.errors import JournalError, RunTaken
from leadhand.journal.codec import encode
from leadhand.journal.integrity import checksum
from leadhand.journal.postgres import PostgresStore
from leadhand.journal.postgres_database import PostgresDatabase
from leadhand.journal.postgres_sessions import PostgresSession
from leadhand.testing.journal_stories import Story
from leadhand.testing.journals import keep
from tests.journal.postgres_server import PostgresServer, end_sessions, until_blocked

HOLD = """
import sys
from leadhand.journal.postgres import PostgresStore
with PostgresStore(sys.argv[1]).hold("r"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other_process(url: str) -> Iterator["subprocess.Popen[str]"]:
    """A process that holds the run `r`."""
    command = [sys.executable, "-c", HOLD, url]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_run_is_free_as_soon_as_its_process_is_killed(
    journal: PostgresStore, other_process: "subprocess.Popen[str]", url: str
) -> None:
    """F29, F30: one of two processes has the run, the other is told who; kill -9 ends that."""
    with (
        pytest.raises(RunTaken, match=f"'r'.* process {other_process.pid} on .*, since"),
        journal.hold("r"),
    ):
        pass
    other_process.kill()
    with psycopg.connect(url, options="-c lock_timeout=600s") as waiting:
        waiting.execute("SELECT pg_advisory_xact_lock(leadhand.key('r'))")
    assert journal.holder("r") is None
    with journal.hold("r"):
        keep(journal, [Story("r").started()])


def test_whoever_has_lost_a_run_can_write_it_no_more(
    journal: PostgresStore, reopened: Callable[[], PostgresStore], url: str
) -> None:
    """F30: the server ends the session that holds the run, and another takes it meanwhile."""
    story, free, other = Story("r"), Story("free"), reopened()
    with journal.hold("r"):
        keep(journal, [story.started()])
        end_sessions(url)
        with other.hold("r"):
            keep(other, story.planned("a"))
            journal.append(story.dispatched("a"))
            with pytest.raises(JournalError, match=r"process .* has taken it over.*resume r"):
                asyncio.run(journal.commit("r"))
            # Also once there is a session again, and another run is written with it.
            keep_one(journal, free)
            with pytest.raises(JournalError, match="'r' can't be kept"):
                asyncio.run(journal.commit("r"))
            assert journal.holder("r") == other.holder("r")
        assert [event.seq for event in journal.events("r")] == [1, 2, 3]
    assert journal.last_seq("free")


def test_a_process_that_was_cut_off_learns_who_has_its_run_and_takes_no_message_of_it(
    journal: PostgresStore, reopened: Callable[[], PostgresStore], url: str
) -> None:
    """F48: the reply is for the process that has the run now."""
    other = reopened()
    with journal.hold("r"):
        keep(journal, [Story("r").started()])
        journal.post(RunMessage(run_id="r"))
        (message,) = journal.messages("r")
        assert journal.taken_by("r") == {}
        end_sessions(url)
        with other.hold("r"):
            assert "process" in journal.taken_by("r")["r"]
            journal.drop(message)
            assert list(other.messages("r")) == [message]
            other.drop(message)
            assert not other.messages("r")
        assert "process" in journal.taken_by("r")["r"], "it has had the run"


def test_a_hold_whose_session_was_lost_is_taken_again_where_nobody_took_it(
    journal: PostgresStore, reopened: Callable[[], PostgresStore], url: str
) -> None:
    """F50: one cut session is not the end of a run."""
    story, other = Story("r"), reopened()
    with journal.hold("r"), journal.hold("other"):
        keep(journal, [story.started()])
        end_sessions(url)
        keep(journal, [story.dispatched("a")])
        end_sessions(url)
        assert journal.taken_by("r") == {}
        with pytest.raises(RunTaken), other.hold("r"):
            pass
        with pytest.raises(RunTaken), other.hold("other"):
            pass
    with other.hold("r"):
        assert [event.seq for event in other.events("r")] == [1, 2]


def test_a_commit_that_arrived_though_its_session_was_lost_is_not_made_twice(
    journal: PostgresStore, url: str
) -> None:
    """F50: the server had written the events, and the word of it never came."""
    events = Story("r").whole("a")
    (body,) = encode([events[1]])

    async def commit_and_be_cut_off() -> None:
        with psycopg.connect(url) as locking:
            locking.execute("LOCK TABLE leadhand.events IN SHARE ROW EXCLUSIVE MODE")
            journal.append(events[1])
            commit = asyncio.ensure_future(journal.commit("r"))
            await asyncio.to_thread(until_blocked, locking)
            locking.execute(
                "INSERT INTO leadhand.events (run, seq, body, checksum) VALUES ('r', 2, %s, %s)",
                (body, checksum("r", 2, body)),
            )
            locking.execute(
                "SELECT pg_terminate_backend(pid, 600000) FROM pg_locks"
                " WHERE relation = 'leadhand.events'::regclass AND NOT granted"
            )
        await commit

    with journal.hold("r"):
        keep(journal, events[:1])
        asyncio.run(commit_and_be_cut_off())
        keep(journal, events[2:])
        assert list(journal.events("r")) == events


def test_a_commit_outlives_a_restart_of_the_server(
    server: PostgresServer, journal: PostgresStore
) -> None:
    """F50: as long as somebody waits for it, it is tried again."""
    events = Story("r").whole("a")

    async def commit_while_the_server_starts() -> None:
        journal.append(events[1])
        commit = asyncio.ensure_future(journal.commit("r"))
        await asyncio.to_thread(server.start)
        await commit

    with journal.hold("r"):
        keep(journal, events[:1])
        server.kill()
        asyncio.run(commit_while_the_server_starts())
        keep(journal, events[2:])
        assert list(journal.events("r")) == events


def test_a_server_that_says_nothing_is_not_waited_for(url: str) -> None:
    """F50: the limit is the client's own, as a frozen server knows no limits."""
    session = PostgresSession(PostgresDatabase(url))
    with pytest.raises(psycopg.OperationalError, match=r"no answer within 0\.1 s"):
        session.ask("SELECT pg_sleep(600)", again=False, limit_s=0.1)
    assert session.ask("SELECT 1") == [(1,)], "there is another connection"
    session.close()


def keep_one(journal: PostgresStore, story: Story) -> None:
    """Write the start of a run that is nobody's."""
    journal.append(story.started())
    asyncio.run(journal.commit(story.run_id))
