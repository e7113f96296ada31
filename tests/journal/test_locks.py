"""Locks of runs: they end with the process, hurt nobody who looks, and leave nothing behind."""

import datetime as dt
import fcntl
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from leadhand.errors import JournalError, RunTaken
from leadhand.journal.locks import Locks, describe_holder


def test_a_lock_that_a_dead_process_left_is_nobodys(tmp_path: Path) -> None:
    """F29: what its file still says is not believed."""
    (tmp_path / "r.lock").write_text('{"pid": 1, "host": "gone", "since": "2026-01-01T00:00:00Z"}')
    locks = Locks(tmp_path)
    assert locks.holder("r") is None
    assert locks.held() == frozenset()
    with locks.hold("r"):
        assert locks.held() == {"r"}
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_is_started_meanwhile_keeps_no_lock(tmp_path: Path) -> None:
    """F29: a worker's process may outlive the run's."""
    locks = Locks(tmp_path)
    command = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    with locks.hold("r"), subprocess.Popen(command, stdin=subprocess.PIPE) as child:
        pass_on = locks.holder("r")
        assert pass_on is not None
        assert child.stdin is not None
    with locks.hold("r"):
        pass


def test_of_many_that_want_a_run_at_once_one_has_it_at_a_time(tmp_path: Path) -> None:
    """F30: while others look and files come and go, nobody shares it, and nobody breaks."""
    locks = Locks(tmp_path)
    inside = 0
    most = 0
    held = 0
    guard = threading.Lock()
    broken: list[BaseException] = []

    def contend() -> None:
        nonlocal inside, most, held
        try:
            for _ in range(200):
                locks.holder("r")
                try:
                    with locks.hold("r"):
                        with guard:
                            inside += 1
                            held += 1
                            most = max(most, inside)
                        with guard:
                            inside -= 1
                except RunTaken:
                    pass
        except BaseException as error:
            broken.append(error)

    threads = [threading.Thread(target=contend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert broken == []
    assert most == 1
    assert held > 0
    assert list(tmp_path.iterdir()) == []


def test_the_holder_is_named_though_it_has_not_written_yet_who_it_is(tmp_path: Path) -> None:
    """F30: between locking a file and writing to it there is a moment."""
    path = tmp_path / "r.lock"
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        holder = {"pid": 7, "host": "there", "since": "2026-01-01T00:00:00+00:00"}
        writing = threading.Timer(0.02, lambda: path.write_text(json.dumps(holder)))
        writing.start()
        with pytest.raises(RunTaken, match="process 7 on there"), Locks(tmp_path).hold("r"):
            pass
        writing.join()


def test_those_who_only_look_keep_nobody_out(tmp_path: Path) -> None:
    """F30: asking who has a run that nobody has, all the time, never makes it look taken."""
    (tmp_path / "r.lock").touch()
    locks = Locks(tmp_path)
    done = threading.Event()

    def look() -> None:
        while not done.is_set():
            locks.holder("r")

    watchers = [threading.Thread(target=look) for _ in range(2)]
    for watcher in watchers:
        watcher.start()
    try:
        for _ in range(100):
            with locks.hold("r"):
                pass
            (tmp_path / "r.lock").touch()
    finally:
        done.set()
        for watcher in watchers:
            watcher.join()


@pytest.mark.parametrize("id", ["../../etc/passwd", "/etc/passwd", "a/b", "..", "\0"])
def test_no_run_id_leads_out_of_the_folder(tmp_path: Path, id: str) -> None:
    folder = tmp_path / "locks"
    with Locks(folder).hold(id):
        assert [path.parent for path in tmp_path.rglob("*.lock")] == [folder]


def test_where_no_lock_can_be_made_that_is_said(tmp_path: Path) -> None:
    """F31: a read-only place."""
    (tmp_path / "locks").write_text("")
    with (
        pytest.raises(JournalError, match=r"run 'r' can't be locked: .*locks"),
        Locks(tmp_path / "locks").hold("r"),
    ):
        pass


def test_a_lock_makes_all_the_folders_that_it_needs(tmp_path: Path) -> None:
    with Locks(tmp_path / "a" / "b" / "locks").hold("r"):
        assert (tmp_path / "a" / "b" / "locks" / "r.lock").exists()


def test_a_holder_is_named_with_the_day_only_where_that_is_another_one() -> None:
    now, past = dt.datetime.now(dt.UTC), dt.datetime(2026, 3, 1, 12, 30, tzinfo=dt.UTC)
    assert describe_holder(7, "there", past) == "process 7 on there, since 2026-03-01 12:30"
    assert describe_holder(7, "there", now) == f"process 7 on there, since {now:%H:%M}"
