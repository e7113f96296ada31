"""Commands whose journal another process has locked: they wait for a while, then go on without."""

import json
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from leadhand.journal import open_store
from leadhand.journal.sqlite import FILE
from leadhand.testing.journal_stories import Story, keep
from tests.cli.program import leadhand, started
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

def lock_first(handoff):
    with open("effects", "a") as effects:
        effects.write(handoff.intent + "\\n")
    return lock(handoff) if Path("effects").read_text() == "first\\n" else "done"
"""


def team_of(step: str, folder: Path, *, front: str = "", team: str = "") -> str:
    """A team folder whose worker is a function of `STEPS`."""
    step_of = worker(f"offline: steps:{step}{front}")
    made = write_team(folder / step, f"name: {step}\n{team}", worker=step_of)
    (made / "steps.py").write_text(STEPS)
    return str(made)


def test_commands_at_once_do_their_work_while_another_process_locks_their_journal(
    home: Path, tmp_path: Path
) -> None:
    team = team_of("echo", tmp_path)
    repo = Repo(tmp_path / "repo")
    repo.commit("Start", {"a.py": "x = 1\n"})
    run = ("run", "hello", "--team", team, "--json", "--home", str(home))
    review = ("review", "HEAD", "--json", "--home", str(home))
    with locked(home):
        reviews = [started(*review, folder=repo.folder) for _ in range(2)]
        ended = [program.ended() for program in (started(*run, folder=tmp_path), *reviews)]
    for one in ended:
        assert one.status == 0
        assert json.loads(one.out)["status"] == "complete"
        assert f"{home / FILE} can't be written: another process has locked it" in one.err
        assert one.err.count("this run can't be resumed") == one.err.count("locked") == 1
        assert "leadhand resume" not in one.err
    with closing(open_store(home)) as journal:
        assert len(journal.runs()) == 1


def test_a_read_only_run_whose_journal_is_locked_meanwhile_still_gives_its_answer(
    home: Path, tmp_path: Path
) -> None:
    words = ("run", "hello", "--team", team_of("lock", tmp_path, front="\nread_only: true"))
    ended = leadhand(*words, folder=tmp_path, env={"LEADHAND_HOME": str(home)})
    assert ended.status == 0
    assert "locked" in ended.out
    assert "the rest of this run is not kept" in ended.err
    assert ended.err.count("another process") == 1
    assert "leadhand show" not in ended.err


TWO_TASKS = """
planner:
  template:
    - {id: a, worker: worker, intent: first}
    - {id: b, worker: worker, intent: second, depends_on: [a]}
"""


def test_a_run_with_side_effects_starts_no_task_while_its_journal_is_locked(
    home: Path, tmp_path: Path
) -> None:
    """Nothing would say what it did, and a later resume would do it once more."""
    at = {"LEADHAND_HOME": str(home)}
    words = ("run", "hello", "--team", team_of("lock_first", tmp_path, team=TWO_TASKS), "--trust")
    ended = leadhand(*words, folder=tmp_path, env=at)
    assert (ended.status, ended.out) == (3, "")
    assert "another process has locked it" in ended.err
    assert (tmp_path / "effects").read_text() == "first\n"
    resumed = leadhand("resume", "last", "--trust", folder=tmp_path, env=at)
    assert resumed.status == 0
    assert (tmp_path / "effects").read_text() == "first\nfirst\nsecond\n"
