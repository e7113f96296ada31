"""Where the journal can't be written the run stops with a clear line, and goes on later (F31)."""

import asyncio
import resource
import shutil
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from leadhand import Supervisor
from leadhand.contracts.answer import Answer
from leadhand.contracts.events import TaskCompleted
from leadhand.errors import JournalError
from leadhand.journal import StoreJournal
from leadhand.journal.sqlite import FILE, SqliteStore
from tests.handles import resumed
from tests.patience import wait_until
from tests.programs import Program
from tests.run.resuming.gates import folder_of_team, plan, team, work
from tests.run.resuming.processes import CLI, Processes

RESUME_IT = ("resume", "last", "--json", "--quiet")


def at_the_gate(processes: Processes, folder: Path) -> Program:
    """The program, with one task safe, one that waits to be let through, and one that works on."""
    child = processes.start(CLI, *folder_of_team(folder), folder=folder)
    wait_until(lambda: {"a done", "b begun", "d begun"} <= {*work(folder)})
    with closing(SqliteStore(folder / "home")) as journal:
        (run,) = journal.runs()
        wait_until(lambda: has_result(journal, run.run_id))
    return child


def abandon(folder: Path, *gates: str) -> None:
    """Let the workers through that wait there."""
    for gate in gates:
        (folder / gate).touch()


def has_result(journal: SqliteStore, run_id: str) -> bool:
    """Whether a task of the run is done, as far as anybody can see."""
    return any(isinstance(event, TaskCompleted) for event in journal.events(run_id))


def assert_goes_on(processes: Processes, folder: Path, *, safe: int) -> None:
    """Once the trouble is over, what was safe is not done again."""
    since = len(work(folder))
    abandon(folder, "open", "end")
    ended = processes.run(CLI, *RESUME_IT, folder=folder)
    assert (ended.status, ended.err) == (0, "")
    assert Answer.model_validate_json(ended.out).status == "complete"
    begun = sorted(line for line in work(folder)[since:] if line.endswith("begun"))
    assert begun == ["a begun", "b begun", "c begun", "d begun"][safe:]


def test_on_a_full_disk_the_program_stops_its_workers_and_says_why(
    processes: Processes, later: Processes, tmp_path: Path
) -> None:
    """F31: one line, exit status 3, nothing goes on unrecorded, and the run goes on later."""
    child = at_the_gate(processes, tmp_path)
    log = tmp_path / "home" / f"{FILE}-wal"
    _, most = resource.prlimit(child.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(child.pid, resource.RLIMIT_FSIZE, (log.stat().st_size, most))
    abandon(tmp_path, "open")
    ended = child.ended()
    assert (ended.status, ended.out) == (3, "")
    assert ended.err.startswith("leadhand: run ")
    assert "can't be kept in " in ended.err
    assert ended.err.count("\n") == 1
    assert "d stopped" in work(tmp_path)
    assert "c begun" not in work(tmp_path)
    assert_goes_on(later, tmp_path, safe=1)


def test_where_the_journal_can_not_be_opened_nothing_is_done_and_nothing_lost(
    processes: Processes, later: Processes, tmp_path: Path
) -> None:
    """F31: a read-only place, by an obstacle, as modes don't stop an administrator."""
    child = at_the_gate(processes, tmp_path)
    child.kill(signal.SIGINT)
    assert child.ended().status == 130
    home, obstacle = tmp_path / "home", tmp_path / "home" / f"{FILE}-wal"
    shutil.copytree(home, tmp_path / "copy")
    obstacle.unlink(missing_ok=True)
    obstacle.mkdir()
    since = len(work(tmp_path))
    ended = later.run(CLI, *RESUME_IT, folder=tmp_path)
    assert (ended.status, ended.out) == (3, "")
    assert ended.err.count("\n") == 1
    assert str(home) in ended.err
    assert len(work(tmp_path)) == since
    obstacle.rmdir()
    assert_goes_on(later, tmp_path, safe=1)


def test_a_record_torn_by_the_crash_was_never_there(
    processes: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F31: cut anywhere; what was safe before it is."""
    child = at_the_gate(processes, tmp_path)
    child.kill(signal.SIGKILL)
    child.ended()
    abandon(tmp_path, "open", "end")
    log = (tmp_path / "home" / f"{FILE}-wal").read_bytes()
    (tmp_path / "work").unlink()
    monkeypatch.chdir(tmp_path)
    for cut in (1, 24, 4_095, 4_096, 4_120, 4_121, 8_240):
        torn = tmp_path / f"torn-{cut}"
        shutil.copytree(tmp_path / "home", torn)
        (torn / f"{FILE}-wal").write_bytes(log[:-cut])
        with closing(SqliteStore(torn)) as journal:
            (run,) = journal.runs()
            answer = asyncio.run(
                resumed(Supervisor(team(), journal=StoreJournal(journal)), run.run_id)
            )
            assert answer.status == "complete"
            seqs = [event.seq for event in journal.events(run.run_id)]
        assert seqs == [*range(1, len(seqs) + 1)]


async def under_way(folder: Path, journal: SqliteStore) -> asyncio.Task[Answer]:
    """A run with a result that is kept, and a task that works."""
    host = Supervisor(team(), journal=StoreJournal(journal))
    going = asyncio.ensure_future(host.run(plan=plan(), run_id="r"))
    while True:
        if "d begun" in work(folder) and has_result(journal, "r"):
            break
        await asyncio.sleep(0.01)
    await journal.commit("r")
    return going


@pytest.mark.wall_clock
async def test_a_file_that_stays_locked_stops_the_run_and_it_goes_on_when_that_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F31: by whatever other process, for longer than it is worth waiting."""
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    with closing(SqliteStore(home, busy_timeout_s=0.1)) as journal:
        going = await under_way(tmp_path, journal)
        with closing(sqlite3.connect(home / FILE, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            abandon(tmp_path, "open")
            with pytest.raises(JournalError, match="another process has locked it") as stop:
                await going
            assert str(stop.value).endswith("then `leadhand resume r`")
        assert "d stopped" in work(tmp_path)
        assert "c begun" not in work(tmp_path)
        assert journal.holder("r") is None
        abandon(tmp_path, "end")
        answer = await resumed(Supervisor(team(), journal=StoreJournal(journal)), "r")
        assert answer.status == "complete"
        assert work(tmp_path).count("a begun") == 1


@pytest.mark.wall_clock
async def test_a_file_that_is_deleted_under_way_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F31: what goes on being written to a file that nobody finds is kept nowhere."""
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    with closing(SqliteStore(home)) as journal:
        going = await under_way(tmp_path, journal)
        for file in home.glob(f"{FILE}*"):
            file.unlink()
        abandon(tmp_path, "open")
        with pytest.raises(JournalError, match="was deleted or replaced"):
            await going
    assert "d stopped" in work(tmp_path)
    assert "c begun" not in work(tmp_path)
