"""Commands whose journal another process has locked: they wait for a while, then go on without."""

import json
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from leadhand.journal import open_store
from leadhand.journal.sqlite import FILE
from tests.cli.program import leadhand, started
from tests.journal.runs import Story, keep
from tests.repositories import Repo
from tests.team_folders import worker, write_team


@pytest.fixture(name="home")
def _home(tmp_path: Path) -> Path:
    """With a run."""
    with closing(open_store(tmp_path / "home")) as journal:
        keep(journal, Story("r").whole("a"))
    return tmp_path / "home"


@contextmanager
def locked(home: Path) -> Generator[None]:
    with closing(sqlite3.connect(home / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


STEPS = """
import atexit, os, sqlite3
from pathlib import Path

def echo(handoff):
    return handoff.intent

def lock(handoff):
    file = Path(os.environ["LEADHAND_HOME"], "leadhand.db")
    other = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    atexit.register(other.close)
    other.execute("BEGIN IMMEDIATE")
    return "locked"
"""


def team_of(step: str, folder: Path) -> str:
    """A team folder whose worker is a function of `STEPS`."""
    made = write_team(folder / step, f"name: {step}\n", worker=worker(f"offline: steps:{step}"))
    (made / "steps.py").write_text(STEPS)
    return str(made)


def test_commands_at_once_do_their_work_while_another_process_locks_their_journal(
    home: Path, tmp_path: Path
) -> None:
    team = team_of("echo", tmp_path)
    repo = Repo(tmp_path / "repo")
    repo.write("a.py", "x = 1\n")
    repo.commit("Start")
    run = ("run", "hello", "--team", team, "--json", "--home", str(home))
    review = ("review", "HEAD", "--json", "--home", str(home))
    with locked(home):
        reviews = [started(*review, folder=repo.folder) for _ in range(2)]
        ended = [program.ended() for program in (started(*run, folder=tmp_path), *reviews)]
    for one in ended:
        assert one.status == 0
        assert json.loads(one.out)["status"] == "complete"
        assert f"this run is not kept: another process has locked {home / FILE}\n" in one.err
        assert one.err.count("locked") == 1
        assert "leadhand resume" not in one.err
    with closing(open_store(home)) as journal:
        assert len(journal.runs()) == 1


def test_a_run_whose_journal_is_locked_meanwhile_still_gives_its_answer(
    home: Path, tmp_path: Path
) -> None:
    words = ("run", "hello", "--team", team_of("lock", tmp_path))
    ended = leadhand(*words, folder=tmp_path, env={"LEADHAND_HOME": str(home)})
    assert ended.status == 0
    assert "locked" in ended.out
    assert f"this run is not kept: another process has locked {home / FILE}\n" in ended.err
    assert ended.err.count("another process") == 1
