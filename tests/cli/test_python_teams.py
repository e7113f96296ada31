"""Python teams on the command line: plan, run, approval, resume, trace; whose code is imported."""

import asyncio
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from leadhand import Plan, Supervisor, Task
from leadhand.cli.app import app
from leadhand.errors import InputError, TeamError
from leadhand.teams.sources import team_of
from tests.cli.program import fresh_leadhand
from tests.cli.program import leadhand as program
from tests.cli.terminal import Terminal

DESK = """
import os, pathlib
from leadhand import Escalated, Handoff, Team, Worker

def count(handoff: Handoff) -> int:
    return len(handoff.intent.split())

def ask(handoff: Handoff):
    if "Berlin" in handoff.intent:
        return handoff.intent
    return Escalated(reason="ambiguous_input", message="Which town?")

def apart(handoff: Handoff) -> str:
    return f"process {os.getpid()}"

desk = Team("desk", workers=(Worker("count", "Counts the words", run=count),))
asking = Team("asking", workers=(Worker("ask", "Asks", run=ask),))
def isolated() -> Team:
    return Team("isolated", workers=(Worker("apart", "Runs apart", run=apart, isolate="process"),))
"""
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with a Python team, in which commands are typed."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("LEADHAND_MODEL", "none")
    monkeypatch.setenv("LEADHAND_HOME", str(tmp_path / "home"))
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "cli_desk.py").write_text(DESK)
    monkeypatch.chdir(folder)
    yield folder
    for name in ("cli_desk", "cli_talk", "fresh"):
        sys.modules.pop(name, None)


def leadhand(*arguments: str) -> int:
    """The exit status of `leadhand ARGUMENTS`, run in this process."""
    status: object = app([*arguments], standalone_mode=False)
    assert isinstance(status, int | None)
    return status or 0


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    return cast("dict[str, object]", json.loads(capsys.readouterr().out))


@pytest.mark.parametrize("team", ["cli_desk.py:desk", "./cli_desk.py:desk", "cli_desk:desk"])
def test_a_python_team_is_planned_run_shown_and_traced(
    folder: Path, capsys: pytest.CaptureFixture[str], team: str
) -> None:
    assert leadhand("plan", "Count these four words", "--team", team, "--json", "--quiet") == 0
    plan = Plan.model_validate_json(capsys.readouterr().out)
    assert [task.worker for task in plan.tasks] == ["count"]
    assert leadhand("run", "Count these four words", "--team", team, "--json", "--quiet") == 0
    answer = printed(capsys)
    assert (answer["status"], answer["team"], answer["output"]) == ("complete", "desk", 4)
    assert leadhand("show", "last") == 0
    assert "team desk" in capsys.readouterr().out
    assert leadhand("trace", "last") == 0
    assert printed(capsys)["run_id"] == answer["run_id"]


def test_a_function_makes_the_team_and_its_workers_may_have_processes_of_their_own(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    team = "cli_desk.py:isolated"
    assert leadhand("run", "Go", "--team", team, "--json", "--quiet") == 0
    output = printed(capsys)["output"]
    assert str(output).startswith("process ")
    assert output != f"process {os.getpid()}"


def test_a_python_teams_run_waits_for_a_person_and_is_resumed_from_any_folder(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("cli_desk.py:asking", "cli_desk:asking"):
        monkeypatch.chdir(folder)
        run = ("run", "Where is it?", "--team", name, "--approve", "plan,escalation", "--quiet")
        assert leadhand(*run) == 3
        monkeypatch.chdir(folder.parent)
        assert leadhand("answer", "last", "--approve", "--quiet") == 3
        capsys.readouterr()
        assert leadhand("answer", "last", "--task", "ask", "Berlin", "--json", "--quiet") == 0
        assert "Berlin" in str(printed(capsys)["answer"])


def test_the_live_view_shows_a_python_team(folder: Path) -> None:
    arguments = ("run", "Count these words", "--team", "cli_desk.py:desk")
    with Terminal(*arguments, folder=folder, env={"LEADHAND_MODEL": "none"}) as terminal:
        terminal.shows("team desk")
        terminal.shows("1/1 tasks")
        assert terminal.ended() == 0


def test_a_run_that_a_program_began_is_resumed_with_its_team(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begun = _begun_by_a_program(folder)
    with pytest.raises(InputError, match=f"leadhand resume {begun} --team file.py:NAME"):
        leadhand("resume", "last")
    assert leadhand("show", "last") == 0
    assert f"leadhand answer {begun}\n" in capsys.readouterr().out
    assert leadhand("answer", "last", "--task", "a", "It is Berlin") == 0
    assert f"the program that started {begun} to resume it;" in capsys.readouterr().err
    with pytest.raises(InputError, match="is of team 'asking', not of 'desk'"):
        leadhand("resume", "last", "--team", "cli_desk.py:desk", "--quiet")
    assert leadhand("resume", "last", "--team", "cli_desk.py:asking", "--json", "--quiet") == 0
    assert printed(capsys)["run_id"] == begun


def _begun_by_a_program(folder: Path) -> str:
    home = os.environ["LEADHAND_HOME"]
    supervisor = Supervisor(team_of("cli_desk.py:asking"), home=home, approve=["escalation"])
    plan = Plan(goal="Go", tasks=(Task(id="a", worker="ask", intent="Find the town"),))
    answer = asyncio.run(supervisor.run(plan=plan))
    asyncio.run(supervisor.close())
    assert answer.waiting
    return answer.run_id


STUCK = """
import threading
from leadhand import Limits, Team, Worker
def wait(handoff): threading.Event().wait()
stuck = Worker("stuck", "Never returns", run=wait, limits=Limits(timeout_s=0.05))
team = Team("t", workers=(stuck,))
"""


def test_f38_a_worker_that_does_not_stop_is_named_once_in_words(folder: Path) -> None:
    """F38"""
    (folder / "cli_stuck.py").write_text(STUCK)
    ended = program("run", "Go", "--team", "cli_stuck.py", folder=folder)
    assert ended.status == 3
    assert "timed out in" in ended.err
    named = "worker 'stuck' is still busy with task 'stuck', whose result is ignored"
    assert ended.err.count(named) == 1
    assert "thread" not in ended.err


def test_a_worker_that_needs_a_model_is_told_the_options_of_the_command(folder: Path) -> None:
    text = "from leadhand import Team, Worker\nt = Team('t', workers=(Worker('a', 'Talks'),))\n"
    (folder / "cli_talk.py").write_text(text)
    with pytest.raises(InputError, match=r"'a' of team 't' can't work without.*--model PROVIDER"):
        leadhand("run", "Say hello", "--team", "cli_talk.py")


@AS_ROOT
@pytest.mark.parametrize("command", [("run", "Go"), ("plan", "Go"), ("doctor",), ("show",)])
def test_every_command_refuses_another_users_code_unless_it_is_trusted(
    folder: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    """F45"""
    begun = ("teams", "show", "cli_desk.py:desk") if command == ("show",) else command
    given = begun if command == ("show",) else (*begun, "--team", "cli_desk.py:desk")
    os.chown(folder / "cli_desk.py", 54_321, -1)
    with pytest.raises(
        InputError, match=r"cli_desk\.py belongs to another user .id 54321.*--trust"
    ):
        leadhand(*given)
    assert "cli_desk" not in sys.modules
    leadhand(*given, "--trust")
    assert "cli_desk" in sys.modules


@AS_ROOT
def test_trust_is_given_anew_when_a_run_is_resumed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """F45: a journal can be shared; what it says does not make anybody's code run."""
    os.chown(folder / "cli_desk.py", 54_321, -1)
    run = ("run", "Go", "--team", "cli_desk.py:asking", "--approve", "escalation", "--trust")
    assert leadhand(*run, "--no-input") == 3
    said = capsys.readouterr().err
    assert "leadhand answer run-" in said
    assert " --trust" in said
    answer = ("answer", "last", "--task", "ask", "Berlin", "--quiet")
    with pytest.raises(InputError, match="belongs to another user"):
        leadhand(*answer)
    assert leadhand(*answer, "--trust") == 0


def test_a_folder_is_checked_without_importing_anything(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """F45"""
    assert leadhand("teams", "new", "fresh") == 0
    (folder / "fresh" / "fresh.py").write_text("raise SystemExit('imported')")
    assert leadhand("teams", "check", "fresh", "--no-code") == 0
    assert "no problem found in 'fresh'; its functions were not checked" in (
        capsys.readouterr().out
    )
    assert leadhand("teams", "check", "fresh") == 2
    (folder / "fresh" / "team.yaml").write_text("planer: {}")
    assert leadhand("teams", "check", "fresh", "--no-code") == 2
    assert "did you mean `planner`?" in capsys.readouterr().out


def test_a_python_team_is_checked_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert leadhand("teams", "check", "cli_desk.py:desk") == 0
    assert capsys.readouterr().out == "team 'desk' can be used: 1 worker\n"
    text = "from leadhand import *\nt = Team('t', workers=(Worker('a', 'A', run=lambda: 1),))\n"
    (folder / "cli_talk.py").write_text(text)
    assert leadhand("teams", "check", "cli_talk.py") == 2
    assert "`run` of worker 'a' does not take a handoff" in capsys.readouterr().out
    with pytest.raises(InputError, match="with --no-code there is nothing to check"):
        leadhand("teams", "check", "cli_talk.py", "--no-code")


def test_a_setting_without_effect_is_a_warning_in_a_python_team_and_those_inside_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "cli_talk.py").write_text(
        "from leadhand import *\n"
        "work = Worker('a', 'A', run=lambda handoff: 1)\n"
        "inner = Team('inner', workers=[work], planner=Role(kind='template', max_rounds=2))\n"
        "t = Team('t', workers=[Worker('b', 'B', team=inner)],\n"
        "         planner=Role(kind='ahead', max_levels=2))\n"
    )
    assert leadhand("teams", "check", "cli_talk.py:t") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "warning `max_levels` has no effect: it is for a `recursive` planner" in told
    assert "warning in team 'inner': `max_rounds` has no effect: it is for a `step" in told
    assert told.endswith("1 worker, 2 warnings")


@pytest.mark.parametrize("command", [("teams", "list"), ("doctor", "--no-model")])
def test_python_m_leadhand_imports_nothing_of_the_folder_it_is_run_in(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    """F45: of modules that leadhand, its libraries or Python itself may import."""
    names = ("typing", "yaml", "rich", "typer", "click", "pydantic", "asyncio", "json", "openai")
    for name in (*names, "sitecustomize", "boto3", "groq", "dotenv"):
        (tmp_path / f"{name}.py").write_text(f"import os; os.write(2, b'HOSTILE {name}')")
    ended = program(*command, folder=tmp_path, env={"LEADHAND_HOME": str(tmp_path / "home")})
    assert "HOSTILE" not in ended.err
    assert ended.out


def test_a_team_error_names_the_file_of_a_folder(folder: Path) -> None:
    (folder / "mine" / "workers").mkdir(parents=True)
    (folder / "mine" / "team.yaml").write_text("planer: {}")
    with pytest.raises(TeamError, match=r"team.yaml:1: there is no key `planer`"):
        leadhand("run", "Go", "--team", "mine")


SERVED = """
from pydantic_ai.mcp import MCPToolset
from leadhand import Team, Worker

def work(handoff):
    raise ValueError("no")

team = Team("served", workers=[Worker("w", "Works", run=work)])
"""


def test_a_resumed_run_imports_a_team_while_no_thread_imports_what_it_imports(folder: Path) -> None:
    """Python gives modules that two threads import at once half-made to one of them."""
    (folder / "served.py").write_text(SERVED)
    home = {"LEADHAND_HOME": str(folder)}
    program("run", "Do it", "--team", "served.py", folder=folder, env=home)
    words = ("resume", "last", "--from", "w", "--model", "openai-chat:x")
    env = home | {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
    ended = fresh_leadhand(*words, folder=folder, env=env)
    assert ended.status == 3, ended.err
    assert "ValueError: no" in ended.err
