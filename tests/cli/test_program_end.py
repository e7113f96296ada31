"""How the program ends: at once, with its status, and quietly where it is interrupted early."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from leadhand.cli.standard_streams import writing_output
from leadhand.errors import ToolError
from tests.cli.program import fresh_leadhand, leadhand

ENDING = """
import atexit, sys, threading
from pathlib import Path
from leadhand import Team, Worker

class Slow:
    def __del__(self):
        sys.stderr.write("TAKEN APART\\n")

SLOW = Slow()
SLOW.itself = SLOW
atexit.register(sys.stderr.write, "REGISTERED\\n")

def work(handoff):
    if "thread" in handoff.intent:
        threading.Thread(target=write_at_the_end, daemon=False).start()
    return "done"

def write_at_the_end():
    threading.main_thread().join()
    Path("written.txt").touch()

team = Team("ending", workers=(Worker("work", "Works", run=work),))
"""
INTERRUPTING = """
import importlib.abc, os, signal, sys

# A shell that starts the tests in the background has SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPT_AT"]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
"""


@pytest.fixture(name="env")
def _env(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "ending_team.py").write_text(ENDING)
    return {"LEADHAND_HOME": str(tmp_path / "home"), "LEADHAND_MODEL": "none"}


def test_the_program_ends_without_taking_the_interpreter_apart(
    tmp_path: Path, env: dict[str, str]
) -> None:
    ended = fresh_leadhand("run", "Go", "--team", "ending_team.py", folder=tmp_path, env=env)
    assert (ended.status, "done" in ended.out) == (0, True)
    assert "REGISTERED" in ended.err
    assert "TAKEN APART" not in ended.err
    shown = leadhand("show", "last", folder=tmp_path, env=env)
    assert (shown.status, "complete" in shown.out) == (0, True)


def test_a_thread_of_a_worker_that_is_no_daemon_is_waited_for(
    tmp_path: Path, env: dict[str, str]
) -> None:
    arguments = ("run", "Start a thread", "--team", "ending_team.py")
    assert fresh_leadhand(*arguments, folder=tmp_path, env=env).status == 0
    assert (tmp_path / "written.txt").exists()


LATE = """
import time
from leadhand.cli.start_time import begin, remaining_s

begin()
time.sleep(0.2)
print(remaining_s(0.1), remaining_s(1.1), remaining_s(1000.0) < 1000.0)
"""


def test_a_run_has_a_second_for_code_and_journal_however_long_the_start_took() -> None:
    """With a tenth of a second, not even offline code was run before the deadline."""
    done = subprocess.run([sys.executable, "-c", LATE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0.1", "1.0", "True"]


@pytest.mark.parametrize(
    "module",
    [
        "typer",
        "leadhand.cli.app",
        "leadhand.cli.run.command",
        "pydantic",
        "rich.console",
        "yaml",
        "sqlite3",
    ],
)
def test_f37_ctrl_c_during_imports_ends_the_program_without_a_traceback(
    tmp_path: Path, env: dict[str, str], module: str
) -> None:
    """F37"""
    (tmp_path / "hooks").mkdir()
    (tmp_path / "hooks" / "sitecustomize.py").write_text(INTERRUPTING)
    path = os.pathsep.join([str(tmp_path / "hooks"), os.environ.get("PYTHONPATH", "")])
    at = {**env, "PYTHONPATH": path, "INTERRUPT_AT": module}
    ended = fresh_leadhand("run", "Go", "--team", "ending_team.py", folder=tmp_path, env=at)
    assert (ended.status, ended.out) == (130, "")
    assert "Traceback" not in ended.err
    assert "Error" not in ended.err


def test_a_program_that_cannot_be_started_is_not_called_an_output_that_cannot_be_written(
    tmp_path: Path,
) -> None:
    """F31: an `OSError` that names a file is not one of stdout."""
    with (
        pytest.raises(ToolError, match=r"^can't use .*missing: No such file or directory$"),
        writing_output(),
    ):
        subprocess.run([tmp_path / "missing"], check=True)
