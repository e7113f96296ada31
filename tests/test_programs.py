"""A forked program is what a fresh one would be: it sees the same, and ends the same."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.patience import HANG_S
from tests.programs import ROOT, Ended, forkserver

PROBE = """
import json, os, signal, sys, threading, warnings

def stream(one):
    return one and [one.fileno(), one.encoding, one.errors, one.line_buffering, one.write_through,
                    one.isatty()]

def is_open(number):
    try:
        os.fstat(number)
    except OSError:
        return False
    return True

print(json.dumps({
    "argv": sys.argv, "path": sys.path, "folder": os.getcwd(), "env": dict(os.environ),
    "name": [__name__, sys.modules["__main__"].__dict__ is globals()],
    "streams": [stream(sys.stdin), stream(sys.stdout), stream(sys.stderr)],
    "same": [sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__],
    "signals": {one: repr(signal.getsignal(one)) for one in (*range(1, 32),)},
    "files": [number for number in range(64) if is_open(number)],
    "warnings": [sys.warnoptions, warnings.filters[0][0] == "error"],
    "threads": threading.active_count(), "tests": "tests" in sys.modules, "hash": hash("leadhand"),
    "given": sys.stdin.read(),
}))
"""


def fresh(*argv: str, folder: Path, env: dict[str, str], given: str = "") -> Ended:
    done = subprocess.run(
        [sys.executable, *argv],
        cwd=folder,
        env=env,
        input=given,
        capture_output=True,
        encoding="utf-8",
        timeout=HANG_S,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("argv", "env"),
    [
        (("-c", PROBE, "one", "zwei ü"), {"PYTHONUNBUFFERED": ""}),
        (("-m", "probe", "--help"), {"PYTHONPATH": f"inner{os.pathsep}{ROOT}"}),
        (("inner/probe.py",), {"PYTHONIOENCODING": "ascii", "PYTHONUNBUFFERED": ""}),
        (("-W", "error", "inner/probe.py"), {"PYTHONUNBUFFERED": "1"}),
        (("-m", "probe"), {"PYTHONIOENCODING": "latin-1:replace", "PYTHONUNBUFFERED": "1"}),
    ],
    ids=lambda value: " ".join(value)[:12].strip(),
)
def test_a_forked_program_sees_what_a_fresh_one_sees(
    tmp_path: Path, argv: tuple[str, ...], env: dict[str, str]
) -> None:
    (tmp_path / "inner").mkdir()
    for folder in (tmp_path, tmp_path / "inner"):
        (folder / "probe.py").write_text(PROBE)
    exact = {**os.environ, "PYTHONHASHSEED": "1", "X": "ü", **env}
    del exact["LEADHAND_HOME"]  # it is replaced, not updated
    forked = forkserver().run(*argv, folder=tmp_path, env=exact, given="1 < 2\n")
    other = fresh(*argv, folder=tmp_path, env=exact, given="1 < 2\n")
    assert (forked.status, forked.err) == (other.status, other.err) == (0, "")
    assert json.loads(forked.out) == json.loads(other.out)


@pytest.mark.parametrize(
    "code",
    [
        "raise SystemExit(3)",
        "raise SystemExit('that was it')",
        "raise KeyboardInterrupt",
        "1 / 0",
        "import os; os.kill(os.getpid(), 15)",
        "import atexit; atexit.register(print, 'bye'); print('there', end='')",
        "from threading import *\nThread(target=lambda: print(main_thread().join())).start()",
    ],
)
def test_a_forked_program_ends_as_a_fresh_one_does(tmp_path: Path, code: str) -> None:
    env = {**os.environ}
    forked = forkserver().run("-c", code, folder=tmp_path, env=env)
    other = fresh("-c", code, folder=tmp_path, env=env)
    assert (forked.status, forked.out) == (other.status, other.out)
    assert forked.err.splitlines()[-1:] == other.err.splitlines()[-1:]


@pytest.mark.parametrize(
    "command",
    [
        "echo x | python -c 'print(input()); exit(5)' a b",
        "python -c 'import sys; print(sys.stdout, sys.stdin.read())' x >&- <&-",
        "python -c 'import os; os.kill(os.getpid(), 9)'",
        "python -c 'print(1)' | true; python -c 'print(2)' > file; cat file",
    ],
)
def test_commands_of_a_shell_are_forked_too(tmp_path: Path, command: str) -> None:
    def done(commands: str) -> tuple[int, str]:
        path = f"{commands}{os.pathsep}{os.environ['PATH']}"
        ran = subprocess.run(
            ["sh", "-c", command],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        return ran.returncode, ran.stdout

    assert done(forkserver().commands) == done(str(Path(sys.executable).parent))


def test_a_deadline_counts_from_when_a_program_is_forked(tmp_path: Path) -> None:
    server = forkserver()
    since_s = time.monotonic()
    code = (
        "import time; from leadhand.cli.start_time import begin, remaining_s; begin();"
        "print(time.monotonic() - (10_000 - remaining_s(10_000)))"
    )
    assert float(server.run("-c", code, folder=tmp_path).out) > since_s - 0.2


def test_an_environment_that_only_a_start_of_python_looks_at_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="PYTHONUTF8"):
        forkserver().run("-c", "", folder=tmp_path, env={**os.environ, "PYTHONUTF8": "0"})


def test_a_context_ends_its_program(tmp_path: Path) -> None:
    code = "import signal; print(1, flush=True); signal.pause()"
    with forkserver().start("-c", code, folder=tmp_path) as program:
        program.says("1\n")
        assert program.running
    assert program.ended().status == -9
