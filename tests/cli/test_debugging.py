"""`--debug`: tracebacks of workers and of leadhand's own errors, and none without it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol, cast

import typer.main

from leadhand.cli.app import app
from tests.cli.errands_team import errands, errands_team
from tests.cli.program import leadhand

ROOT = Path(__file__).parent.parent.parent
TRACEBACK = "Traceback (most recent call last):"
RAISED = '    raise ValueError("it is not made for this")'


def test_a_failed_worker_says_where_and_its_traceback_is_shown_when_asked(tmp_path: Path) -> None:
    errands_team(tmp_path)
    errands(tmp_path, "refuser")
    env = {"PYTHONPATH": str(ROOT), "LEADHAND_MODEL": "none", "LEADHAND_HOME": str(tmp_path)}
    ran = leadhand(
        "run", "--team", "errands", "--plan", "plan.json", "--quiet", "--debug",
        folder=tmp_path, env=env,
    )  # fmt: skip
    assert ran.status == 3
    place = f"ValueError: it is not made for this (at {ROOT}/tests/cli/errands_team.py:"
    assert place in ran.out
    assert TRACEBACK in ran.err
    assert RAISED in ran.err

    shown = leadhand("show", "last", folder=tmp_path, env=env)
    # Lines are as wide as the terminal.
    assert place.replace(" ", "") in shown.out.replace("\n", "").replace(" ", "")
    assert TRACEBACK not in shown.out
    shown = leadhand("--debug", "show", "last", folder=tmp_path, env=env)
    assert "✗ t1 failed" in shown.out
    assert RAISED.strip() in shown.out


def test_errors_of_leadhand_are_one_line_and_with_debug_their_traceback_too(tmp_path: Path) -> None:
    env = {"PYTHONPATH": str(ROOT)}
    line = "leadhand: no runs are stored in "
    ended = leadhand("show", "last", "--home", "nowhere", folder=tmp_path, env=env)
    assert ended.err.startswith(line)
    ended = leadhand("show", "last", "--home", "nowhere", "--debug", folder=tmp_path, env=env)
    assert ended.status == 2
    assert ended.err.startswith(TRACEBACK)
    assert ended.err.splitlines()[-1].startswith(line)


class Option(Protocol):
    opts: list[str]


class Command(Protocol):
    params: list[Option]


def commands(command: Command, path: str = "leadhand") -> Iterator[tuple[str, Command]]:
    """A command and all below it, by what is typed."""
    yield path, command
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{path} {name}")


def test_every_command_takes_it() -> None:
    all_of_them = commands(cast("Command", typer.main.get_command(app)))
    lacking = [
        path
        for path, command in all_of_them
        if "--debug" not in [name for option in command.params for name in option.opts]
    ]
    groups = ["leadhand teams", "leadhand router", "leadhand serve tokens"]
    assert lacking == groups, "groups, which do nothing themselves"
