"""The SQLite journal: the contract, its files, and that it costs no more than it must."""

import asyncio
import datetime as dt
import gc
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from leadhand.contracts.outcome import Result
from leadhand.contracts.people import Reply, RunMessage
from leadhand.errors import JournalError
from leadhand.journal import StoreJournal, open_store
from leadhand.journal.sqlite import FILE, SqliteStore
from leadhand.journal.store import Store
from leadhand.testing.journal_stories import NOON, Story, keep, reopening
from leadhand.testing.journals import DurableConformance
from tests.journal.blocking import Blocking
from tests.journal.damage import DamageConformance, Spoil, spoiling
from tests.patience import wait_until


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def reopened(home: Path) -> Iterator[Callable[[], Store]]:
    """Opens the journal in the test's folder, as often as it is called."""
    with reopening(lambda: open_store(home)) as reopen:
        yield reopen


@pytest.fixture
def journal(reopened: Callable[[], Store]) -> Store:
    return reopened()


@pytest.fixture
def spoil(home: Path) -> Spoil:
    def spoil(statement: str) -> None:
        with closing(sqlite3.connect(home / FILE)) as connection, connection:
            connection.execute(spoiling(statement, schema="", key="id", id="run_id", zeros="x'00'"))

    return spoil


class TestSqliteJournal(DurableConformance, DamageConformance):
    """The contract."""

    @pytest.fixture
    def journal(self, journal: Store) -> Store:
        return Blocking(StoreJournal(journal))

    def test_text_that_is_not_utf_8_is_damage_of_its_event_alone(
        self, journal: Store, spoil: Spoil
    ) -> None:
        """F31, F44: a flipped bit; SQLite's own message holds the whole text."""
        keep(journal, Story("bad").whole("a"))
        spoil("UPDATE $events SET body = CAST(x'7bff' AS TEXT) WHERE $of_bad seq = 3")
        found = journal.inspect("bad")
        assert (found.verdict, len(found.events)) == ("damaged", 2)
        assert found.damage == "event 3: its text is not what was written"


# Files


def test_looking_makes_no_file_and_writing_makes_one_that_nobody_else_can_read(
    home: Path, journal: Store
) -> None:
    journal.runs()
    journal.events("r")
    journal.holder("r")
    assert not home.exists()
    with journal.hold("r"):
        keep(journal, Story("r").whole("a"))
        private = [home / name for name in ("leadhand.db", "leadhand.db-wal", "locks/r.lock")]
        assert [path.stat().st_mode & 0o777 for path in private] == [0o600] * 3
    assert [path.stat().st_mode & 0o777 for path in (home, home / "locks")] == [0o700] * 2
    assert list((home / "locks").iterdir()) == []


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    """It is never read as a part of a URL, nor as SQL."""
    home = tmp_path / "a ?mode=memory&%41#'é"
    journal = SqliteStore(home)
    keep(journal, Story("r").whole("a"))
    journal.close()
    assert (home / "leadhand.db").stat().st_size > 0


def test_deleting_gives_the_room_back_to_the_disk(
    home: Path, reopened: Callable[[], Store]
) -> None:
    journal = reopened()
    for number in range(20):
        story = Story(f"r{number}", begun=NOON + dt.timedelta(days=number))
        keep(journal, [story.started(), story.completed("a", output=f"{number}" * 60_000)])
    journal.post(RunMessage(run_id="r1", reason="stop"))
    (home / "locks").mkdir(exist_ok=True)
    (home / "locks" / "r1.lock").touch()  # as a process that was killed leaves it
    journal.close()
    journal = reopened()
    size = (home / "leadhand.db").stat().st_size
    ids = [run.run_id for run in journal.runs()]
    assert len(journal.delete(ids, before=NOON + dt.timedelta(days=18))) == 18
    assert (home / "leadhand.db").stat().st_size < size / 5
    assert len(journal.runs()) == 2
    assert list((home / "locks").iterdir()) == []


def test_secrets_are_taken_out_of_all_that_is_written(home: Path) -> None:
    """F36: out of events, summaries and messages, before they reach the file."""
    journal = SqliteStore(home, redact=lambda text: text.replace("hunter2", "[redacted]"))
    story = Story("r")
    request = "x" * 195 + "hunter2"  # a summary's cut must not leave a part of it
    large = "hunter2 " * 10_000
    keep(journal, [story.started(request), story.completed("a", output=large)])
    journal.post(RunMessage(run_id="r", reply=Reply(verdict="answered", text="it is hunter2")))
    assert "[redacted]" in str(journal.events("r")[1])
    assert "[redacted]" in str(journal.messages("r"))
    assert journal.runs()[0].request == "x" * 195 + "[reda"
    journal.close()
    assert b"hunter2" not in (home / "leadhand.db").read_bytes()


# Cost


def test_committed_events_are_not_held_in_memory(journal: Store) -> None:
    story = Story("r")
    result = Result(output="x")
    seen = weakref.ref(result)
    keep(journal, [story.started(), replace(story.completed("a"), result=result)])
    del result
    wait_until(lambda: gc.collect() >= 0 and seen() is None)  # its thread may not be done yet
    assert len(journal.events("r")) == 2


def test_a_task_takes_less_than_two_kilobytes_beside_its_text(home: Path, journal: Store) -> None:
    story = Story("r")
    events = [story.started()]
    for number in range(1_000):
        events += [story.dispatched(f"t{number}"), story.completed(f"t{number}")]
    keep(journal, events)
    journal.close()
    assert (home / "leadhand.db").stat().st_size < 500 * 1_000


def test_runs_are_listed_without_a_look_at_their_events(home: Path, journal: Store) -> None:
    keep(journal, [Story(f"r{number}").started() for number in range(10)])
    listed = journal.runs()
    with closing(sqlite3.connect(home / FILE)) as connection, connection:
        connection.execute("DROP TABLE events")
    assert journal.runs() == listed


def test_a_commit_reads_no_event_that_was_committed_before(journal: Store, spoil: Spoil) -> None:
    story = Story("bad")
    keep(journal, [story.started()])
    spoil("UPDATE $events SET body = '{'")
    keep(journal, [story.dispatched("a")])
    assert journal.last_seq("bad") == 2


def test_of_many_runs_a_few_are_listed_as_fast_as_of_a_few(journal: Store) -> None:
    """By a ratio that only a look at all of them fails: there are a hundred times as many."""

    def least_s() -> float:
        taken_s: list[float] = []
        for _ in range(5):
            begun_s = time.process_time()
            assert len(journal.runs(limit=20)) == 20
            taken_s.append(time.process_time() - begun_s)
        return min(taken_s)

    keep(journal, [Story(f"few{number}").started() for number in range(20)])
    few_s = least_s()
    keep(journal, [Story(f"many{number}").started() for number in range(2_000)])
    assert least_s() < 20 * few_s


# Groups


def test_of_several_runs_in_one_transaction_only_the_bad_one_fails(
    home: Path, journal: Store
) -> None:
    """While another writer keeps the file for itself, a group gathers; one run in it is bad."""
    first, bad, good = Story("first"), Story("bad"), Story("good")
    spoilt = bad.started()
    keep(journal, [spoilt])
    other = sqlite3.connect(home / "leadhand.db", isolation_level=None)

    async def write() -> list[BaseException | None]:
        other.execute("BEGIN IMMEDIATE")
        journal.append(first.started())
        waiting = [asyncio.ensure_future(journal.commit("first"))]
        for event in [spoilt, good.started()]:
            journal.append(event)
            waiting.append(asyncio.ensure_future(journal.commit(event.run_id)))
        await asyncio.sleep(0)
        other.execute("COMMIT")
        return await asyncio.gather(*waiting, return_exceptions=True)

    _, of_bad, of_good = asyncio.run(write())
    other.close()
    assert isinstance(of_bad, JournalError)
    assert of_good is None
    assert len(journal.events("good")) == 1
    with pytest.raises(JournalError, match="'bad'"):
        asyncio.run(journal.commit("bad"))
    asyncio.run(journal.commit("good"))


def test_several_may_make_the_file_at_once(home: Path) -> None:
    """Whoever is first sets it up, and the others use what is there."""
    journals = [SqliteStore(home) for _ in range(6)]
    start = threading.Barrier(len(journals))

    def write(number: int) -> None:
        start.wait()
        if number % 2:
            journals[number].runs()
        keep(journals[number], Story(f"r{number}").whole("a"))

    threads = [threading.Thread(target=write, args=(number,)) for number in range(len(journals))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for journal in journals:
        assert {run.status for run in journal.runs()} == {"complete"}
        assert len(journal.runs()) == len(journals)
        journal.close()
