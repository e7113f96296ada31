"""Commands whose journal another process has locked: they wait for a while, then go on without."""

import json
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from leadhand.journal import open_store
from leadhand.journal.sqlite import FILE
from leadhand.testing.journal_stories import Story, keep
from tests.cli.program import leadhand, started
from tests.in_process import Ended
from tests.programs import Program
from tests.repositories import Repo
from tests.team_folders import worker, write_team


def home_in(folder: Path) -> Path:
    """A home with a run."""
    with closing(open_store(folder / "home")) as journal:
        keep(journal, Story("r").whole("a"))
    return folder / "home"


@contextmanager
def locked(home: Path) -> Generator[None]:
    with closing(sqlite3.connect(home / FILE, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


STEPS = """
import atexit, os, sqlite3
from pathlib import Path
from typing import NamedTuple

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


TWO_TASKS = """
planner:
  template:
    - {id: a, worker: worker, intent: first}
    - {id: b, worker: worker, intent: second, depends_on: [a]}
"""


class Commands(NamedTuple):
    """What programs leave behind that waited for their journals, all at the same time."""

    folder: Path
    at_once: list[Ended]
    """A run and two reviews, whose home was locked all the time."""
    read_only: Ended
    """A run during which its home was locked."""
    effects: Ended
    """The same with side effects; its folder is `folder`/lock_first."""


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Commands:
    folder = tmp_path_factory.mktemp("commands")
    repo = Repo(folder / "repo")
    repo.commit("Start", {"a.py": "x = 1\n"})
    home = home_in(folder)
    run = ("run", "hello", "--json", "--home", str(home), "--team", team_of("echo", folder))
    review = ("review", "HEAD", "--json", "--home", str(home))

    def alone(step: str, *words: str, front: str = "", team: str = "") -> Program:
        """A run whose first task locks its home."""
        made = team_of(step, folder, front=front, team=team)
        env = {"LEADHAND_HOME": str(home_in(folder / step))}
        return started("run", "hello", "--team", made, *words, folder=folder / step, env=env)

    with locked(home):
        at_once = [started(*run, folder=folder)]
        at_once += [started(*review, folder=repo.folder) for _ in range(2)]
        read_only = alone("lock", front="\nread_only: true")
        effects = alone("lock_first", "--trust", team=TWO_TASKS)
        return Commands(
            folder, [one.ended() for one in at_once], read_only.ended(), effects.ended()
        )


def test_commands_at_once_do_their_work_while_another_process_locks_their_journal(
    commands: Commands,
) -> None:
    home = commands.folder / "home"
    for one in commands.at_once:
        assert one.status == 0
        assert json.loads(one.out)["status"] == "complete"
        assert f"{home / FILE} can't be written: another process has locked it" in one.err
        assert one.err.count("this run can't be resumed") == one.err.count("locked") == 1
        assert "leadhand resume" not in one.err
    with closing(open_store(home)) as journal:
        assert len(journal.runs()) == 1


def test_a_read_only_run_whose_journal_is_locked_meanwhile_still_gives_its_answer(
    commands: Commands,
) -> None:
    ended = commands.read_only
    assert ended.status == 0
    assert "locked" in ended.out
    assert "the rest of this run is not kept" in ended.err
    assert ended.err.count("another process") == 1
    assert "leadhand show" not in ended.err


def test_a_run_with_side_effects_starts_no_task_while_its_journal_is_locked(
    commands: Commands,
) -> None:
    """Nothing would say what it did, and a later resume would do it once more."""
    ended, folder = commands.effects, commands.folder / "lock_first"
    assert (ended.status, ended.out) == (3, "")
    assert "another process has locked it" in ended.err
    assert (folder / "effects").read_text() == "first\n"
    env = {"LEADHAND_HOME": str(folder / "home")}
    resumed = leadhand("resume", "last", "--trust", folder=folder, env=env)
    assert resumed.status == 0
    assert (folder / "effects").read_text() == "first\nfirst\nsecond\n"
