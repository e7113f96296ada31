"""What goes wrong with a file is told in words, and what can be read of it is read (F31)."""

import gc
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from leadhand.contracts.people import RunMessage
from leadhand.journal import sqlite_tables as tables
from leadhand.journal.codec import encode
from leadhand.journal.sqlite import FILE, SqliteStore
from leadhand.journal.sqlite_database import STEPS, SqliteDatabase, explain
from leadhand.testing.journal_stories import Story, keep


def test_a_full_disk_is_called_that() -> None:
    """F31: the error that SQLite itself raises."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("PRAGMA max_page_count = 3")
        connection.execute("CREATE TABLE t (x)")
        with pytest.raises(sqlite3.OperationalError) as full:
            connection.execute("INSERT INTO t VALUES (zeroblob(100000))")
    assert explain(full.value) == ("the disk is full", "free some space")


@pytest.mark.parametrize(
    ("code", "why", "remedy"),
    [
        (
            sqlite3.SQLITE_IOERR,
            "the disk reports an error (hm)",
            "check that it has space and works",
        ),
        (sqlite3.SQLITE_BUSY, "another process has locked it", "wait for that process, or end it"),
        (sqlite3.SQLITE_CORRUPT, "it is damaged (hm)", "restore a copy of it, or move it away"),
        (
            sqlite3.SQLITE_READONLY,
            "permission is missing (hm)",
            "make the file and its folder writable",
        ),
        (
            sqlite3.SQLITE_CONSTRAINT,
            "another process wrote to the run (hm)",
            "make sure that process has ended",
        ),
        (None, "hm", "make sure that the file exists and is writable"),
    ],
)
def test_each_trouble_is_told_with_what_to_do(code: int | None, why: str, remedy: str) -> None:
    """F31: of the extended codes too, which say more in their upper bytes."""
    error = sqlite3.OperationalError("hm")
    if code is not None:
        error.sqlite_errorcode = code | 7 << 8
    assert explain(error) == (why, remedy)


def test_a_list_whose_page_is_damaged_still_names_its_runs(tmp_path: Path) -> None:
    """F31: the ids are in an index of their own. Of the limit the last by name are given."""
    with closing(SqliteStore(tmp_path)) as journal:
        for id in ("a", "b", "c"):
            keep(journal, Story(id).whole("t"))
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'runs'"
        ).fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    with (tmp_path / FILE).open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    with closing(SqliteStore(tmp_path)) as journal:
        found = [(run.run_id, run.status, run.team) for run in journal.runs()]
        assert found == [("c", "damaged", ""), ("b", "damaged", ""), ("a", "damaged", "")]
        assert [run.run_id for run in journal.runs(limit=2)] == ["c", "b"]


def test_an_empty_file_that_another_process_locks_is_set_up_once_it_is_free(tmp_path: Path) -> None:
    file = tmp_path / "leadhand.db"
    file.touch()
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        database = SqliteDatabase(file, busy_timeout_s=0.05)
        with pytest.raises(sqlite3.OperationalError, match="locked"), database.transaction():
            pass
        other.execute("ROLLBACK")
    with database.transaction() as connection:
        assert connection.execute("SELECT count(*) FROM runs").fetchone() == (0,)
    database.close()


def test_a_connection_waits_for_locks_as_long_as_the_journal_says(tmp_path: Path) -> None:
    database = SqliteDatabase(tmp_path / "leadhand.db", busy_timeout_s=1.25)
    with database.transaction() as connection:
        assert connection.execute("PRAGMA busy_timeout").fetchone() == (1250,)
    with database.reading() as reader:
        assert reader is not None
        assert reader.execute("PRAGMA busy_timeout").fetchone() == (1250,)
    database.close()


def test_a_store_that_is_forgotten_closes_its_file(tmp_path: Path) -> None:
    """From Python 3.13 on, a connection that is not closed is a warning, and here an error."""
    for number in range(20):
        store = SqliteStore(tmp_path / str(number))
        store.post(RunMessage(run_id="r", reason="stop"))
        gc.collect(number % 3)  # the order of finalization depends on what was collected before
        del store
        gc.collect()


def test_the_events_of_many_runs_are_written_by_few_statements(tmp_path: Path) -> None:
    """With each step of a statement a thread gives its turn to a busy event loop."""
    statements, batch = list[str](), dict[str, list[tables.Row]]()
    for number in range(150):
        whole = Story(f"r{number}").whole("t1", "t2")
        batch[f"r{number}"] = [*zip(whole, encode(whole), strict=True)]
    database = SqliteDatabase(tmp_path / FILE, busy_timeout_s=1, steps=STEPS)
    with closing(database), database.transaction() as connection:
        connection.set_trace_callback(statements.append)
        for part in (slice(2), slice(2, None)):
            some = {run_id: rows[part] for run_id, rows in batch.items()}
            tables.insert(connection, some, redact=None)
        for run_id, rows in batch.items():
            assert [*tables.events(connection, run_id)] == [event for event, _ in rows]
    inserted = [one for one in statements if one.startswith("INSERT INTO events")]
    events = sum(len(rows) for rows in batch.values())
    assert len(inserted) <= events // 200 + 2
    assert sum("json_group_object" in one for one in statements) == 3
