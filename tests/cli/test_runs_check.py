"""What the command line says of runs that are not what was written (F31, F44)."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from leadhand.errors import JournalError
from leadhand.journal import open_store
from leadhand.journal.sqlite import FILE
from leadhand.testing.journal_stories import Story, keep
from tests.in_process import InProcess

WHY = "event 4: its text is not what was written"
SAVED = "What can be read: 3 events, with the results of 0 of 1 task"


@pytest.fixture(name="home")
def _home(tmp_path: Path) -> Path:
    """With a sound run, a damaged one and one of 0.1."""
    home = tmp_path / "home"
    with closing(open_store(home)) as journal:
        for id in ("sound", "spoilt", "early"):
            keep(journal, Story(id).whole("a"))
    spoil(home, "UPDATE events SET body = '{}' WHERE run = 2 AND seq = 4")
    spoil(home, "UPDATE events SET checksum = NULL WHERE run = 3")
    spoil(home, "UPDATE runs SET digest = replace(digest, ',\"seq\":6', '') WHERE id = 3")
    return home


def spoil(home: Path, statement: str) -> None:
    with closing(sqlite3.connect(home / FILE)) as connection, connection:
        connection.execute(statement)


def test_each_run_is_sound_damaged_or_not_verifiable(home: Path, in_process: InProcess) -> None:
    checked = in_process("runs", "check", "--home", str(home))
    assert checked.status == 3
    assert checked.out.splitlines() == [
        "early   not verifiable: leadhand 0.1 wrote 6 events without checksums",
        f"spoilt  damaged: {WHY}. {SAVED}",
        "sound   sound",
    ]
    as_json = json.loads(in_process("runs", "check", "--json", "--home", str(home)).out)
    assert [one["verdict"] for one in as_json] == ["not verifiable", "damaged", "sound"]


def test_a_damaged_run_is_shown_as_far_as_it_is_sound(home: Path, in_process: InProcess) -> None:
    """F44: `trace` showed a traceback, and `show` said nothing."""
    for words in (["show", "spoilt"], ["trace", "spoilt"]):
        told = in_process(*words, "--home", str(home))
        assert told.status == 3
        assert told.err == f"leadhand: run 'spoilt' is damaged: {WHY}. {SAVED}\n"
        assert told.out
    traced = json.loads(in_process("trace", "spoilt", "--home", str(home)).out)
    assert [event["seq"] for event in traced["events"]] == [1, 2, 3]


def test_a_damaged_run_is_not_resumed(home: Path, in_process: InProcess) -> None:
    """F44: it said nothing, and went on from what was left."""
    told = in_process("resume", "spoilt", "--home", str(home))
    assert (told.status, told.out) == (3, "")
    first, error = told.err.splitlines()
    assert first == "reading spoilt"
    assert f"run 'spoilt' is damaged at {WHY}; `leadhand show spoilt` shows" in error


def test_one_bad_digest_hides_no_other_run(home: Path, in_process: InProcess) -> None:
    """F44: it made `runs` fail for all."""
    spoil(home, "UPDATE runs SET digest = '{' WHERE id = 2")
    listed = in_process("runs", "--home", str(home))
    assert listed.status == 0
    assert [line.split()[0] for line in listed.out.splitlines()] == ["early", "spoilt", "sound"]
    assert "damaged" in listed.out.splitlines()[1]
    assert listed.err == "some runs are damaged: `leadhand runs check` shows where\n"


def test_a_page_of_the_file_that_is_gone_hides_no_run_on_others(
    tmp_path: Path, in_process: InProcess
) -> None:
    """F44: the disk lost a part of the file."""
    home = tmp_path / "home"
    with closing(open_store(home)) as journal:
        for number in range(200):
            keep(journal, Story(f"run-{number}").whole("a"))
    path = home / FILE
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    pages = path.read_bytes()
    at = pages.index(b'"task_dispatched"', len(pages) // 2) // size * size
    path.write_bytes(pages[:at] + b"\xff" * size + pages[at + size :])
    checked = in_process("runs", "check", "--home", str(home))
    verdicts = [line.split()[1].rstrip(":") for line in checked.out.splitlines()]
    assert checked.status == 3
    assert len(verdicts) == 200
    assert {*verdicts} == {"sound", "damaged"}
    assert 0 < verdicts.count("damaged") < 20
    bad = next(line.split()[0] for line in checked.out.splitlines() if " damaged" in line)
    with closing(open_store(home)) as journal, pytest.raises(JournalError, match="damaged"):
        journal.events(bad)
