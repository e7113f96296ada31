"""Follow-up runs on the command line, and sessions at a terminal."""

import asyncio
import contextlib
import json
import signal
import sqlite3
from pathlib import Path

import pytest

from leadhand import Supervisor, Team, Worker
from leadhand.testing import ScriptedServer
from tests.cli.desk_team import ENV
from tests.cli.echo_team import echo, echo_team
from tests.cli.terminal import CTRL_C, CTRL_D, Terminal
from tests.in_process import Ended, InProcess


class House:
    """A folder with the team, and its runs."""

    def __init__(self, folder: Path, leadhand: InProcess) -> None:
        self.folder = folder
        self._leadhand = leadhand
        echo_team(folder)

    def does(self, *arguments: str) -> Ended:
        """What `leadhand ARGUMENTS` does here, away from any terminal; in this process."""
        home = () if "--home" in arguments else ("--home", "runs")
        return self._leadhand(*arguments, *home)

    def damages(self, text: str) -> None:
        """Change a text in the stored runs."""
        with contextlib.closing(sqlite3.connect(self.folder / "runs" / "leadhand.db")) as database:
            database.execute("UPDATE events SET body = replace(body, ?, 'changed')", [text])
            database.commit()

    def at_terminal(self, *arguments: str, env: dict[str, str] | None = None) -> Terminal:
        """A session, or another command, in a terminal."""
        given = ("run", "--team", "echo", "--home", "runs", *arguments)
        return Terminal(*given, folder=self.folder, env=env or ENV)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_process: InProcess) -> House:
    monkeypatch.chdir(tmp_path)
    for name, value in {**ENV, "COLUMNS": "100"}.items():
        monkeypatch.setenv(name, value)
    return House(tmp_path, in_process)


# A request after a run


@pytest.mark.parametrize("command", [("resume", "last"), ("run", "May?", "--after", "last")])
def test_options_that_no_run_can_have_are_refused_on_a_stored_setup_too(
    house: House, command: tuple[str, ...]
) -> None:
    house.does("run", "April?", "--team", "echo", "-q")
    nothing = house.does(*command, "--budget-usd", "0")
    assert (nothing.status, "--budget-usd is 0: give more than 0" in nothing.err) == (2, True)
    both = house.does(*command, "--model", "openai:a", "--no-model")
    assert (both.status, "exclude each other" in both.err) == (2, True)


def test_a_request_follows_a_stored_run_and_is_run_as_that_was(house: House) -> None:
    first = json.loads(house.does("run", "April?", "--team", "echo", "--json").out)
    second = house.does("run", "May?", "--after", "last", "--json")
    document = json.loads(second.out)
    assert document["output"] == "asked 'May?' after ['April?']"
    assert document["team"] == "echo", "the team of the run before"
    assert f"follows run {first['run_id']}" in second.err
    third = house.does("run", "June?", "--after", first["run_id"][:-1], "--team", "echo")
    assert "asked 'June?' after ['April?']" in third.out
    listed = house.does("runs").out.splitlines()
    assert ["(follow-up)" in line for line in listed] == [True, True, False]
    assert f"follows {first['run_id']}: April?" in house.does("show", "last").out


def test_a_plan_that_follows_a_run_names_its_results_and_shows_what_the_planner_sees(
    house: House,
) -> None:
    house.does("run", "April?", "--team", "echo")
    house.does("run", "May?", "--after", "last")
    shown = house.does("plan", "June?", "--after", "last", "--out", "june.json")
    assert shown.status == 0
    assert "  Works on: previous\n" in shown.out
    _, _, seen = shown.out.partition("the planner sees of the earlier runs\n")
    assert seen.splitlines()[:5] == [
        "Request: May?",
        "[previous] The answer (complete, team echo): asked 'May?' after ['April?']",
        "[previous/echo] echo: May? -> asked 'May?' after ['April?']",
        "",
        "Request: April?",
    ]
    done = house.does("run", "--plan", "june.json", "--after", "last")
    assert "asked 'June?' after ['May?']" in done.out
    plain = house.does("plan", "June?", "--team", "echo")
    assert "Works on" not in plain.out
    assert "earlier runs" not in plain.out


@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_run_that_cannot_be_followed_is_one_line(house: House, command: str) -> None:
    house.does("run", "April?", "--team", "echo")
    for arguments, why in {
        ("--after", "july"): "there is no run 'july'; the last one is run-",
        ("--after", "last", "--home", "other"): "no runs are stored in ",
        (): "missing option '--team'",
    }.items():
        ended = house.does(command, "May?", *arguments)
        assert (ended.status, ended.out) == (2, "")
        assert why in ended.err.splitlines()[-1]
    house.damages("April")
    damaged = house.does(command, "May?", "--after", "last")
    assert (damaged.status, damaged.out) == (3, "")
    assert "is damaged" in damaged.err.splitlines()[-1]


def test_the_run_of_a_program_is_followed_by_a_team_that_is_named(house: House) -> None:
    team = Team("echo", workers=[Worker("echo", "Says it", run=echo)])

    async def april() -> None:
        supervisor = Supervisor(team, home=house.folder / "runs")
        await supervisor.run("April?")
        await supervisor.close()

    asyncio.run(april())
    refused = house.does("run", "May?", "--after", "last")
    assert refused.status == 2
    assert "was not started by `leadhand run`: name the team" in refused.err
    done = house.does("run", "May?", "--after", "last", "--team", "echo")
    assert "asked 'May?' after ['April?']" in done.out


def test_without_a_terminal_or_with_no_input_a_request_is_needed(house: House) -> None:
    ended = house.does("run", "--team", "echo")
    assert ended.status == 2
    assert "nothing to run: give a REQUEST" in ended.err
    with house.at_terminal("--no-input") as terminal:
        terminal.shows("nothing to run: give a REQUEST")
        assert terminal.ended() == 2


# A session


def test_each_request_of_a_session_follows_the_last_answer(house: House) -> None:
    with house.at_terminal("--events", "events.jsonl") as terminal:
        terminal.shows("an empty line ends")
        terminal.shows("echo> ")
        terminal.types("April?")
        terminal.shows("asked 'April?' after []")
        terminal.shows("echo> ")
        terminal.types("May?")
        terminal.shows("asked 'May?' after ['April?']")
        terminal.shows("echo> ")
        terminal.types("")
        assert terminal.ended() == 0
    events = [json.loads(line) for line in (house.folder / "events.jsonl").read_text().splitlines()]
    asked = [one["request"] for one in events if one["type"] == "run_started"]
    assert asked == ["April?", "May?"]


def test_a_session_may_follow_a_stored_run_and_has_a_history(house: House) -> None:
    house.does("run", "April?", "--team", "echo")
    with house.at_terminal("--after", "last") as terminal:
        terminal.shows("echo> ")
        terminal.types("May?")
        terminal.shows("asked 'May?' after ['April?']")
        terminal.shows("echo> ")
        terminal.types("\x1b[A")
        terminal.shows("asked 'May?' after ['May?']")
        terminal.shows("echo> ")
        terminal.types(CTRL_D)
        assert terminal.ended() == 0


def test_a_session_goes_on_after_an_error_and_takes_pasted_lines_as_one_request(
    house: House,
) -> None:
    with house.at_terminal() as terminal:
        terminal.shows("echo> ")
        terminal.types("April?")
        terminal.shows("echo> ")
        house.damages("April")
        terminal.types("May?")
        terminal.shows("is damaged at event 1")
        terminal.shows("the next request follows none")
        terminal.shows("echo> ")
        terminal.types("June,\n\nor July?")
        terminal.shows(r"asked 'June,\n\nor July?' after []")
        terminal.shows("echo> ")
        terminal.types("   ")
        assert terminal.ended() == 0


def test_f37_ctrl_c_stops_one_answer_and_the_next_request_follows_the_last_finished_one(
    house: House,
) -> None:
    with house.at_terminal() as terminal:
        terminal.shows("echo> ")
        terminal.types("April?")
        terminal.shows("echo> ")
        terminal.types("sleep")
        terminal.shows("● echo")
        terminal.types(CTRL_C)
        terminal.shows("continue with: leadhand resume run-")
        terminal.shows("echo> ")
        terminal.types("May?")
        terminal.shows("asked 'May?' after ['April?']")
        terminal.shows("echo> ")
        terminal.waits()
        terminal.types(CTRL_C)
        terminal.shows("an empty line ends the session")
        terminal.shows("echo> ")
        terminal.types(CTRL_D)
        assert terminal.ended() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_session_that_waits_for_a_request_ends_at_a_signal(house: House, number: int) -> None:
    with house.at_terminal() as terminal:
        terminal.shows("echo> ")
        terminal.waits()
        terminal.gets(number)
        assert terminal.ended() == 130


def test_a_session_with_a_model_shows_the_planner_what_was_answered(
    house: House, model_server: ScriptedServer
) -> None:
    env = {**ENV, **model_server.env(), "LEADHAND_MODEL": "openai-chat:scripted"}
    with house.at_terminal(env=env) as terminal:
        for request in ("Compare copper and zinc", "And lead?"):
            terminal.shows("echo> ")
            terminal.types(request)
            terminal.shows("engine: model")
        terminal.shows("echo> ")
        terminal.types("")
        assert terminal.ended() == 0
    planned = [str(one) for one in model_server.stats().bodies if one.get("role") == "planner"]
    assert len(planned) == 2
    assert "Request: Compare copper and zinc" in planned[1]
    assert "[previous] The answer (complete, team echo)" in planned[1]
