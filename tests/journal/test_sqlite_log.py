"""Damage in the log that a killed process leaves is told apart from what a kill may do (F53)."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leadhand.errors import JournalError
from leadhand.journal import journal_damage, open_store
from leadhand.journal.sqlite import FILE
from leadhand.journal.sqlite_log import hides_transactions
from leadhand.testing.journal_stories import Story, keep
from tests.cli.echo_team import echo_team
from tests.in_process import InProcess

LOG = f"{FILE}-wal"
HEADER, FRAME_HEADER, FRAME, SECTOR = 32, 24, 24 + 4096, 512


KILLED = """
import os, sys
from leadhand.journal import open_store
from leadhand.testing.journal_stories import Story, keep

journal = open_store(sys.argv[1])
for id in ("early", "late"):
    for event in Story(id).whole("a", "b"):
        keep(journal, [event])
os.kill(os.getpid(), 9)
"""


@pytest.fixture(scope="module", name="killed")
def _killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("killed") / "home"
    ended = subprocess.run([sys.executable, "-c", KILLED, str(home)], check=False)
    assert ended.returncode == -signal.SIGKILL
    return home


@pytest.fixture(name="home")
def _home(killed: Path, tmp_path: Path) -> Path:
    """With two runs, as the process that wrote them was killed."""
    return shutil.copytree(killed, tmp_path / "home")


def ends(log: bytes) -> list[int]:
    """Where each transaction ends."""
    starts = range(HEADER, len(log) - FRAME + 1, FRAME)
    return [
        at + FRAME
        for at in starts
        if log[at + 8 : at + 16] == log[16:24] and any(log[at + 4 : at + 8])
    ]


def flipped(log: bytes, at: int, bit: int = 0) -> bytes:
    return log[:at] + bytes([log[at] ^ 1 << bit]) + log[at + 1 :]


def flip_in_the_middle(home: Path) -> None:
    log = (home / LOG).read_bytes()
    (home / LOG).write_bytes(flipped(log, ends(log)[-6] + FRAME_HEADER + 4000))


# Which logs are damaged


def places(log: bytes) -> Iterator[tuple[int, int]]:
    """Bits of every kind before the last transaction."""
    last, before = ends(log)[-2:-4:-1]
    yield from ((at, bit) for at in range(HEADER) for bit in (range(8) if at < 4 else (at % 8,)))
    for start in range(HEADER, last, FRAME):
        fields = range(start, start + FRAME_HEADER)
        data = range(start + FRAME_HEADER, start + FRAME, 1999)
        # All bits of the headers around the last transaction but one, else one of each byte.
        every = range(8) if start >= before - FRAME else (0,)
        yield from ((at, bit) for at in fields for bit in every)
        yield from ((at, at % 8) for at in (*data, start + FRAME - 1))


def test_every_kind_of_bit_before_the_last_transaction_is_noticed(home: Path) -> None:
    log = (home / LOG).read_bytes()
    log = log[: ends(log)[3]]
    assert not hides_transactions(log)
    step = 1 if "LEADHAND_TEST_ALL" in os.environ else 5
    some = islice(places(log), 0, None, step)
    assert [one for one in some if not hides_transactions(flipped(log, *one))] == []


def test_a_lost_part_of_the_disk_is_noticed(home: Path) -> None:
    """The first blocks too, with the log's header."""
    log = (home / LOG).read_bytes()
    log = log[: ends(log)[4]]
    spoilt = (
        log[:at] + content * SECTOR + log[at + SECTOR :]
        for at in range(0, ends(log)[2] - FRAME, SECTOR)
        for content in (b"\0", b"\xff")
    )
    assert [one for one in spoilt if one != log and not hides_transactions(one)] == []


def test_a_log_of_another_page_size_and_byte_order_is_understood() -> None:
    with TemporaryDirectory() as folder, closing(sqlite3.connect(f"{folder}/db")) as connection:
        connection.executescript("PRAGMA page_size = 512; PRAGMA journal_mode = WAL")
        connection.executescript("CREATE TABLE t (x); INSERT INTO t VALUES (1); DELETE FROM t")
        log = Path(f"{folder}/db-wal").read_bytes()
    assert not hides_transactions(log)
    assert hides_transactions(flipped(log, HEADER + 100))
    assert hides_transactions(flipped(log, 9))


@cache
def tearing() -> tuple[bytes, bytes]:
    """A log that is used again, before and after a transaction of several frames."""
    with TemporaryDirectory() as folder, closing(open_store(folder)) as journal:
        story, large = Story("r"), Story("large")
        keep(journal, [story.started()])
        for number in range(30):
            keep(journal, [story.dispatched(f"t{number}")])
        with closing(sqlite3.connect(f"{folder}/{FILE}")) as connection:
            connection.execute("PRAGMA wal_checkpoint(RESTART)")
        for number in range(12):
            keep(journal, [story.completed(f"t{number}")])
        before = Path(folder, LOG).read_bytes()
        keep(journal, large.whole(*(f"t{number}" for number in range(40))))
        return before, Path(folder, LOG).read_bytes()


@given(st.data())
def test_what_a_kill_or_a_power_cut_may_leave_is_never_damage(data: st.DataObject) -> None:
    """Cut at any byte, or sectors of the last transaction not written: then older ones or zeros."""
    before, after = tearing()
    first, last = ends(after)[-2:]
    older = before[first:last].ljust(last - first, b"\0")
    torn = bytearray(after)
    lost = data.draw(st.sets(st.integers(first // SECTOR, last // SECTOR)))
    for sector in lost:
        for at in range(max(first, sector * SECTOR), min(last, (sector + 1) * SECTOR)):
            torn[at] = older[at - first]
    end = data.draw(st.just(len(torn)) | st.integers(first, len(torn)) | st.integers(0, len(torn)))
    assert not hides_transactions(bytes(torn[:end]))


def test_the_end_of_a_transaction_that_was_given_up_is_no_damage() -> None:
    """Its last frames stay in the log if the next one, which is shorter, wrote over the others."""
    before, after = tearing()
    start = ends(after)[-2]
    for given_up in range(start + FRAME, len(after), FRAME):
        assert not hides_transactions(before[:start] + after[given_up:])


# What becomes of a damaged one


def test_a_damaged_log_is_copied_and_refused_and_what_is_before_it_is_read(home: Path) -> None:
    flip_in_the_middle(home)
    spoilt = {name: (home / name).read_bytes() for name in (FILE, LOG)}
    for _ in range(2):
        with closing(open_store(home)) as journal:
            with pytest.raises(JournalError) as stop:
                keep(journal, [Story("other").started()])
            assert f"the log of {home / FILE} is damaged" in str(stop.value)
            assert "`leadhand runs check --accept-loss`" in str(stop.value)
            assert [event.seq for event in journal.events("late")] == [1, 2, 3]
            assert [run.status for run in journal.runs()] == ["interrupted", "complete"]
            assert str(home / "damaged") in str(stop.value)
    (copy,) = (home / "damaged").iterdir()
    for folder in (home, copy):
        assert {name: (folder / name).read_bytes() for name in (FILE, LOG)} == spoilt


def test_what_is_lost_can_be_accepted_and_the_copy_stays(home: Path, in_process: InProcess) -> None:
    flip_in_the_middle(home)
    at = ("--home", str(home))
    checked = in_process("runs", "check", *at)
    assert checked.status == 3
    assert [line.split() for line in checked.out.splitlines()] == [
        ["late", "sound"],
        ["early", "sound"],
    ]
    assert f"the log of {home / FILE} is damaged" in checked.err
    for words in (["show", "early"], ["trace", "early"]):
        told = in_process(*words, *at)
        assert told.status == 3
        assert f"the log of {home / FILE} is damaged" in told.err
    refused = in_process("resume", "late", *at)
    assert refused.status == 3
    assert "`leadhand runs check --accept-loss`" in refused.err
    (copy,) = (home / "damaged").iterdir()
    accepted = in_process("runs", "check", "--accept-loss", *at)
    assert (accepted.status, str(copy) in accepted.err) == (0, True)
    assert in_process("runs", "check", *at) == in_process("runs", "check", "--accept-loss", *at)
    assert in_process("runs", "check", *at).err == ""
    with closing(open_store(home)) as journal:
        keep(journal, [Story("other").started()])
    assert journal_damage(copy) is not None


def flip_in_the_header(home: Path) -> None:
    log = (home / LOG).read_bytes()
    (home / LOG).write_bytes(flipped(log, 20))


@pytest.mark.parametrize("spoil", [flip_in_the_middle, flip_in_the_header])
def test_a_run_is_not_started_in_a_damaged_journal(
    home: Path, tmp_path: Path, in_process: InProcess, spoil: Callable[[Path], None]
) -> None:
    spoil(home)
    team = str(echo_team(tmp_path))
    told = in_process("run", "hello", "--team", team, "--home", str(home))
    assert told.status == 3
    assert f"the log of {home / FILE} is damaged" in told.err
    assert len(told.err.splitlines()) <= 2


def test_only_the_first_to_open_it_checks_the_log(home: Path) -> None:
    with closing(open_store(home)) as first, closing(open_store(home)) as second:
        keep(first, [Story("one").started()])
        for number in range(4):
            keep(first, [Story(f"more-{number}").started()])
        log = (home / LOG).read_bytes()
        (home / LOG).write_bytes(flipped(log, ends(log)[0] - 1))
        keep(second, [Story("two").started()])
        (home / LOG).write_bytes(flipped((home / LOG).read_bytes(), ends(log)[0] - 1))
