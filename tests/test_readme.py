"""Every command and snippet of the README works as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repositories import Repo

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)
COMMANDS = [
    line.split("#")[0].strip()
    for language, block in BLOCKS
    if language == "sh"
    for line in block.splitlines()
]
PROGRAM = [command for command in COMMANDS if "leadhand" in command]
MAKE = [command for command in COMMANDS if command.startswith("make")]


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A project with a branch, something staged, something uncommitted, and a team."""
    made = Repo(tmp_path_factory.mktemp("project"))
    made.write("app.py", "def greet(name: str) -> str:\n    return name\n")
    made.commit("Start")
    made.git("checkout", "-q", "-b", "feature")
    made.write("app.py", "def greet(name: str) -> str:\n    return f'Hello {name}'\n")
    made.commit("Say hello")
    made.write("my-team/team.yaml", "name: mine\ndescription: A team of one\n")
    made.write(
        "my-team/workers/echo.md",
        "---\ndescription: Says it again\noffline: echo_worker:echo\n---\nRepeat the intent.\n",
    )
    made.write("my-team/echo_worker.py", "def echo(handoff):\n    return handoff.intent\n")
    made.write("app.py", "def greet(name: str) -> str:\n    return f'Good day {name}'\n")
    made.git("add", "app.py")
    made.write("app.py", "def greet(name: str) -> str:\n    return f'Good night {name}'\n")
    made.write("more.py", "ANSWER = 42\n")
    return made


@pytest.mark.parametrize("command", PROGRAM)
def test_a_command_of_the_readme_works(command: str, repo: Repo) -> None:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-ec", command],
        cwd=repo.folder,
        env={**os.environ, "PATH": path, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


@pytest.mark.parametrize("command", MAKE)
def test_a_make_command_of_the_readme_has_its_target(command: str) -> None:
    done = subprocess.run(
        ["make", "--dry-run", *command.split()[1:]], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_snippet_of_the_readme_prints_what_it_says() -> None:
    (snippet,) = [block for language, block in BLOCKS if language == "python"]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", snippet], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert f"This prints `{done.stdout.strip()}`" in README


def test_there_is_something_to_try() -> None:
    assert len(PROGRAM) >= 10
    assert {"make review", "make test"} <= set(MAKE)


def test_pictures_and_documents_that_the_readme_names_are_there() -> None:
    names = re.findall(r"\]\(([^)#:]+)\)", README)
    assert "docs/review.png" in names
    assert [name for name in names if not (ROOT / name).exists()] == []
