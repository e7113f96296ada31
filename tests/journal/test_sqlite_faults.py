"""What must not hurt the SQLite journal: killed processes, and disks and files that fail (F29-F31).

In every case there is one clear line, and what was committed before is there.
"""

import itertools
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from leadhand.contracts.events import Event
from leadhand.errors import JournalError, JournalLocked, RunTaken
from leadhand.journal.sqlite import FILE, SqliteStore
from leadhand.journal.sqlite_database import APPLICATION_ID, STEPS
from leadhand.testing.journal_stories import Story, keep

VERSION_1 = Path(__file__).parent / "version_1.sql"
FRAME_HEADER_BYTES, FRAME_BYTES = 24, 24 + 4096
"""Of SQLite's log: a record is a few frames, each a header and a page."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@contextmanager
def journal_in(home: Path, *, busy_timeout_s: float = 600.0) -> Generator[SqliteStore]:
    with closing(SqliteStore(home, busy_timeout_s=busy_timeout_s)) as journal:
        yield journal


def kept(home: Path, run_id: str = "r") -> list[Event]:
    """The events of a run as a new process finds them."""
    with journal_in(home) as journal:
        return [*journal.events(run_id)]


def assert_one_line(error: pytest.ExceptionInfo[JournalError], home: Path, *words: str) -> None:
    """It names the file, says why, and how to go on."""
    text = str(error.value)
    assert "\n" not in text
    for word in (str(home), *words):
        assert word in text


# F29, F30: processes


def test_two_processes_write_at_once_and_lose_nothing_when_they_are_killed(home: Path) -> None:
    """F29, F30: what they were told is committed is there; their runs are free again."""
    command = [sys.executable, "-m", "tests.journal.writer", str(home)]
    writers = {
        id: subprocess.Popen([*command, id], stdout=subprocess.PIPE, text=True)
        for id in ("one", "two")
    }
    told: dict[str, int] = {}
    try:
        for _, (id, process) in itertools.product(range(50), writers.items()):
            assert process.stdout is not None
            told[id] = int(process.stdout.readline())
        with journal_in(home) as journal:
            assert {run.status for run in journal.runs()} == {"running"}
            for id, process in writers.items():
                with pytest.raises(RunTaken, match=f"process {process.pid}"), journal.hold(id):
                    pass
    finally:
        for process in writers.values():
            process.send_signal(signal.SIGKILL)
            process.communicate()
    with journal_in(home) as journal:
        assert {run.status for run in journal.runs()} == {"interrupted"}
        for id in writers:
            with journal.hold(id):
                seqs = [event.seq for event in journal.events(id)]
                assert len(seqs) >= told[id]
                assert len(seqs) % 2 == 1, "an event was kept without the one committed with it"
                assert seqs == list(range(1, len(seqs) + 1))


def test_a_last_record_torn_anywhere_is_there_whole_or_not_at_all(
    tmp_path: Path, home: Path
) -> None:
    """F31: cut off, or blank from there on, at every byte of a header and many of a page.

    Within a page one byte is like the other: SQLite knows a frame by the sum over all of it.
    """
    story = Story("r")
    before = [story.started(), *story.planned("a", "b")]
    last = [story.dispatched("a"), story.completed("a")]
    with journal_in(home) as journal:
        keep(journal, before)
        start = (home / f"{FILE}-wal").stat().st_size
        keep(journal, last)
        # As a killed process leaves it: nobody has closed anything.
        database, log = ((home / name).read_bytes() for name in (FILE, f"{FILE}-wal"))
    assert len(log) > start
    assert (len(log) - start) % FRAME_BYTES == 0
    for end in range(start, len(log) + 1):
        within = (end - start) % FRAME_BYTES
        if within > FRAME_HEADER_BYTES and within % 512 and end < len(log) - 8:
            continue
        for tail in (b"", bytes(len(log) - end)):
            torn = tmp_path / "torn"
            torn.mkdir()
            (torn / FILE).write_bytes(database)
            (torn / f"{FILE}-wal").write_bytes(log[:end] + tail)
            whole = log[:end] + tail == log
            assert kept(torn) == (before + last if whole else before)
            shutil.rmtree(torn)


def test_a_run_goes_on_behind_a_torn_record(tmp_path: Path, home: Path) -> None:
    """F31."""
    story = Story("r")
    first, second = story.started(), story.dispatched("a")
    torn = tmp_path / "torn"
    torn.mkdir()
    with journal_in(home) as journal:
        keep(journal, [first])
        keep(journal, [second])
        for name in (FILE, f"{FILE}-wal"):
            (torn / name).write_bytes((home / name).read_bytes()[:-1])
    (torn / FILE).write_bytes((home / FILE).read_bytes())
    with journal_in(torn) as journal:
        keep(journal, [second])
    assert kept(torn) == [first, second]


# F31: disks and files


@contextmanager
def no_file_larger_than(size: int) -> Generator[None]:
    """A disk that takes no more, as far as this process can see."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_on_a_full_disk_a_run_stops_and_goes_on_when_there_is_space(home: Path) -> None:
    """F31: nothing of the batch is kept, all later commits say the same, resuming works."""
    story = Story("r")
    events = story.whole("a")
    with journal_in(home) as journal:
        with journal.hold("r"):
            keep(journal, events[:3])
            room = (home / f"{FILE}-wal").stat().st_size + FRAME_BYTES
            with no_file_larger_than(room), pytest.raises(JournalError) as stop:
                keep(journal, [events[3], story.completed("b", output="x" * 50_000)])
            assert_one_line(stop, home, "then `leadhand resume r`")
            with pytest.raises(JournalError) as again:
                keep(journal, events[3:])
            assert str(again.value) == str(stop.value)
        with journal.hold("r"):
            assert [*journal.events("r")] == events[:3]
            keep(journal, events[3:])
    assert kept(home) == events


def home_is_a_file(home: Path) -> None:
    home.write_text("")


def log_cannot_be_written(home: Path) -> None:
    (home / f"{FILE}-wal").mkdir(parents=True)


@pytest.mark.parametrize("spoil", [home_is_a_file, log_cannot_be_written])
def test_where_nothing_can_be_written_a_run_stops(
    home: Path, spoil: Callable[[Path], None]
) -> None:
    """F31: a read-only place. (By obstacles, as modes don't stop an administrator.)"""
    spoil(home)
    with journal_in(home, busy_timeout_s=0.1) as journal:
        with pytest.raises(JournalError) as stop:
            keep(journal, [Story("r").started()])
        assert_one_line(stop, home, "run 'r' can't be kept")
        assert "leadhand resume" not in str(stop.value), "nothing is there to go on with"
        with pytest.raises(JournalError) as again:
            keep(journal, [])
        assert str(again.value) == str(stop.value)


def test_a_file_that_another_process_keeps_locked_stops_a_run(home: Path) -> None:
    """F31: after the time-out, and until the other has ended."""
    story = Story("r")
    events = story.whole("a")
    with journal_in(home, busy_timeout_s=0.05) as journal:
        keep(journal, events[:2])
        code = (
            "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
            "c.execute('BEGIN IMMEDIATE'); print('locked', flush=True); sys.stdin.read()"
        )
        command = [sys.executable, "-c", code, str(home / FILE)]
        with (
            journal.hold("r"),
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other,
        ):
            assert other.stdout is not None
            assert other.stdout.readline() == b"locked\n"
            with pytest.raises(JournalError) as stop:
                keep(journal, events[2:])
            with pytest.raises(JournalLocked, match="can't be written"):
                journal.check()
            other.kill()
        assert_one_line(stop, home, "another process has locked it", "`leadhand resume r`")
        with journal.hold("r"):
            keep(journal, events[2:])
    assert kept(home) == events


@pytest.mark.parametrize("content", [b"no database" * 500, b"SQLite format 3\0" + bytes(5000)])
def test_what_is_no_database_is_left_alone(home: Path, content: bytes) -> None:
    """F31: a torn header, or something else of that name."""
    home.mkdir()
    (home / FILE).write_bytes(content)
    with journal_in(home) as journal:
        for read in (journal.runs, lambda: journal.events("r"), lambda: journal.last_seq("r")):
            with pytest.raises(JournalError) as stop:
                read()
            assert_one_line(stop, home, "damaged")
        with pytest.raises(JournalError) as stop:
            keep(journal, [Story("r").started()])
        assert_one_line(stop, home, "damaged")
    assert (home / FILE).read_bytes() == content


def test_a_torn_database_is_called_damaged(home: Path) -> None:
    """F31: half of it is missing."""
    with journal_in(home) as journal:
        keep(journal, Story("r").whole(*(f"t{number}" for number in range(200))))
    with (home / FILE).open("r+b") as file:
        file.truncate(3 * 4096)
    with journal_in(home) as journal, pytest.raises(JournalError) as stop:
        journal.events("r")
    assert_one_line(stop, home, "damaged")


def test_an_empty_file_is_as_good_as_none(home: Path) -> None:
    """F31: a process was killed just when it made the file."""
    home.mkdir()
    (home / FILE).touch()
    assert kept(home) == []
    with journal_in(home) as journal:
        keep(journal, [Story("r").started()])
    assert len(kept(home)) == 1


@pytest.mark.parametrize(
    "other",
    [
        "CREATE TABLE runs (x)",
        "CREATE TABLE runs (x); PRAGMA user_version = 1",
        "CREATE TABLE runs (x); PRAGMA user_version = -1",
        "CREATE TABLE runs (x); PRAGMA user_version = 99",
        "CREATE VIEW v AS SELECT 1",
        "PRAGMA application_id = 7; PRAGMA user_version = 1",
        "PRAGMA application_id = 7",
    ],
)
def test_the_database_of_another_program_is_left_alone(home: Path, other: str) -> None:
    """F31: neither looking nor writing changes a byte of it."""
    home.mkdir()
    with closing(sqlite3.connect(home / FILE)) as connection:
        connection.executescript(other)
    before = (home / FILE).read_bytes()
    with journal_in(home) as journal:
        for use in (journal.runs, lambda: keep(journal, [Story("r").started()])):
            with pytest.raises(JournalError) as stop:
                use()
            assert_one_line(stop, home, "is no journal of leadhand", "another --home")
    assert (home / FILE).read_bytes() == before
    assert {file.name for file in home.iterdir()} <= {FILE, "locks"}


def test_a_new_file_says_whose_it_is(home: Path) -> None:
    with journal_in(home) as journal:
        keep(journal, [Story("r").started()])
    with closing(sqlite3.connect(home / FILE)) as connection:
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir])
def test_what_is_no_regular_file_is_called_that_and_blocks_nobody(
    home: Path, make: Callable[[Path], None]
) -> None:
    home.mkdir()
    make(home / FILE)
    with journal_in(home) as journal, pytest.raises(JournalError) as stop:
        journal.runs()
    assert_one_line(stop, home, "no regular file")


# F31: versions


def test_a_file_of_a_newer_version_is_refused(home: Path) -> None:
    """F31: for reading and for writing, and nothing in it is changed."""
    with journal_in(home) as journal:
        keep(journal, Story("r").whole("a"))
    with closing(sqlite3.connect(home / FILE)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with journal_in(home) as journal:
        with pytest.raises(JournalError) as stop:
            journal.runs()
        assert_one_line(stop, home, "newer leadhand", "update leadhand")
        with pytest.raises(JournalError) as stop:
            keep(journal, [Story("other").started()])
        assert_one_line(stop, home, "newer leadhand", "update leadhand")


def version_1(home: Path) -> None:
    """The file as the first release wrote it."""
    home.mkdir()
    with closing(sqlite3.connect(home / FILE)) as connection:
        connection.executescript(VERSION_1.read_text())


def test_a_file_of_version_1_is_read_and_continued(home: Path) -> None:
    version_1(home)
    story = Story("old")
    whole = story.whole("a", "b")
    assert kept(home, "old") == whole
    with journal_in(home) as journal:
        assert [run.status for run in journal.runs()] == ["complete"]
        keep(journal, [story.dispatched("c")])
        assert len(journal.events("old")) == len(whole) + 1


def test_an_older_file_is_migrated_in_one_go(home: Path) -> None:
    version_1(home)
    step = ("ALTER TABLE runs ADD COLUMN note TEXT", "UPDATE runs SET note = 'migrated'")
    with closing(SqliteStore(home, steps=(*STEPS, step))) as journal:
        assert journal.last_seq("old")
    with closing(sqlite3.connect(home / FILE)) as connection:
        assert connection.execute("SELECT note FROM runs").fetchone() == ("migrated",)
    with journal_in(home) as journal, pytest.raises(JournalError, match="newer leadhand"):
        journal.last_seq("old")


def test_a_migration_that_fails_changes_nothing(home: Path) -> None:
    version_1(home)
    step = ("ALTER TABLE runs ADD COLUMN note TEXT", "INSERT INTO nowhere VALUES (1)")
    with closing(SqliteStore(home, steps=(*STEPS, step))) as journal:
        with pytest.raises(JournalError):
            journal.last_seq("old")
        with pytest.raises(JournalError):
            keep(journal, [Story("r").started()])
    assert len(kept(home, "old")) == 8
