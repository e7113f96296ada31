"""Every command and snippet of the README works as it stands there."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from leadhand.testing import ScriptedServer
from leadhand.testing.misbehaviour import TO_ANSWERS, TO_RESPONSES
from tests.patience import HANG_S
from tests.programs import forkserver
from tests.repositories import Repo

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)
SCRIPTS = [
    [line.split("#")[0].strip() for line in block.splitlines()]
    for language, block in BLOCKS
    if language == "sh"
]
COMMANDS = [command for script in SCRIPTS for command in script]
SNIPPETS = [block for language, block in BLOCKS if language == "python"]
PROGRAMS = [found for script in SCRIPTS if (found := [c for c in script if "leadhand" in c])]
MAKE = [command for command in COMMANDS if command.startswith("make")]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, repo: Repo) -> Path:
    """Where runs are kept, with one of the research team; the README begins it further up."""
    made = tmp_path_factory.mktemp("home")
    done = _sh(next(c for c in COMMANDS if c.startswith("leadhand run ")), repo, made)
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repo:
    """A project with a branch, something staged, something uncommitted, and a team."""
    made = Repo(tmp_path_factory.mktemp("project"))
    made.commit("Start", {"app.py": "def greet(name: str) -> str:\n    return name\n"})
    made.git("checkout", "-q", "-b", "feature")
    made.write("app.py", "def greet(name: str) -> str:\n    return f'Hello {name}'\n")
    made.commit("Say hello")
    made.write("reports/notes.md", "# North\nThe north grows since the new prices of March.\n")
    rows = ("month,region,revenue", "2026-01,north,10", "2026-01,south,10")
    rows = (*rows, "2026-02,north,12", "2026-02,south,11", "")
    made.write("reports/revenue.csv", "\n".join(rows))
    made.write("app.py", "def greet(name: str) -> str:\n    return f'Good day {name}'\n")
    made.git("add", "app.py")
    made.write("app.py", "def greet(name: str) -> str:\n    return f'Good night {name}'\n")
    made.write("more.py", "ANSWER = 42\n")
    return made


def _sh(command: str, repo: Repo, home: Path) -> "subprocess.CompletedProcess[str]":
    env = forkserver().shell_env({**os.environ, "NO_COLOR": "1", "LEADHAND_HOME": str(home)})
    return subprocess.run(
        ["sh", "-ec", command],
        cwd=repo.folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )


@pytest.mark.parametrize("commands", PROGRAMS, ids=lambda commands: commands[0][:40])
def test_the_commands_of_the_readme_work_one_after_the_other(
    commands: list[str], repo: Repo, home: Path
) -> None:
    for command in commands:
        done = _sh(command, repo, home)
        waits = "--approve plan" in command and "it waits for a person" in done.stderr
        assert done.returncode == (3 if waits else 0), f"{command}: {done.stderr}"
        _, writes, file = command.partition("--out ")
        assert (repo.folder / file).stat().st_size if writes else done.stdout, command


@pytest.mark.parametrize("command", MAKE)
def test_a_make_command_of_the_readme_has_its_target(command: str) -> None:
    done = subprocess.run(
        ["make", "--dry-run", *command.split()[1:]], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_the_snippet_of_the_readme_prints_what_it_says() -> None:
    """In an interpreter of its own, whose imports warn of nothing."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SNIPPETS[0]],
        capture_output=True,
        text=True,
        timeout=HANG_S,
    )
    assert done.returncode == 0, done.stderr
    assert f"This prints `{done.stdout.strip()}`" in README


def test_the_snippet_with_a_model_gives_an_answer(scripted: ScriptedServer, tmp_path: Path) -> None:
    snippet = SNIPPETS[1].replace("openai:gpt-5-mini", "openai-chat:gpt-5-mini")
    env = {**os.environ, **scripted.env()}
    done = forkserver().run("-W", "error", "-c", snippet, folder=tmp_path, env=env)
    assert done.status == 0, done.err
    assert done.out.startswith("complete ")


def test_every_misbehaviour_of_the_scripted_server_is_named() -> None:
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    assert [one for one in (*TO_ANSWERS, *TO_RESPONSES) if f"`{one}`" not in page] == []


def test_there_is_something_to_try() -> None:
    assert sum(map(len, PROGRAMS)) >= 10
    assert {"make review", "make test"} <= set(MAKE)


def test_pictures_and_documents_that_the_readme_names_are_there() -> None:
    names = re.findall(r"\]\(([^)#:]+)\)", README)
    assert "docs/review.png" in names
    assert [name for name in names if not (ROOT / name).exists()] == []
