"""F34: no line that `leadhand run` prints is a workflow command that a tool or a model wrote."""

import io
import json
import re
from html import unescape
from pathlib import Path
from typing import cast

import pytest

from leadhand.cli.views.terminal import InertStream, inert
from leadhand.testing import ScriptedServer
from tests.cli.program import leadhand as program
from tests.programs import Ended

TEAM = """
import sys
from leadhand import Result, Team, Worker

COMMANDS = "fine\\n::error::one\\n  ::set-output name=a::two\\r::warning::three\\n##[error]four"

def work(handoff) -> Result:
    print(COMMANDS)
    print(":", end=":error::five\\n")
    print(COMMANDS, file=sys.stderr)
    return Result(output=COMMANDS, summary=COMMANDS, missing=[COMMANDS])

def fail(handoff) -> None:
    raise ValueError(COMMANDS)

team = Team("evil", workers=[Worker("w", "Works", run=work)])
failing = Team("failing", workers=[Worker("w", "Works ##[error]", run=fail)])
"""
COMMAND = re.compile(r"(?:^|[\r\n])\s*::\w|##\[")


def run(folder: Path, *arguments: str) -> Ended:
    (folder / "evil.py").write_text(TEAM)
    env = {"LEADHAND_MODEL": "none", "PYTHONPATH": str(folder)}
    return program("run", "::error::do it", *arguments, folder=folder, env=env)


@pytest.mark.parametrize("team", ["evil:team", "evil:failing"])
@pytest.mark.parametrize(
    "how",
    [(), ("--json",), ("--format", "markdown"), ("--events", "-"), ("--debug",)],
    ids=" ".join,
)
def test_no_line_of_a_run_is_a_command(tmp_path: Path, team: str, how: tuple[str, ...]) -> None:
    ended = run(tmp_path, "--team", team, *how)
    assert "five" in ended.err or team == "evil:failing"
    assert "one" in ended.out + ended.err
    assert COMMAND.findall(ended.out + "\n" + ended.err) == []


@pytest.mark.parametrize(
    "words", [("show", "last"), ("trace", "last"), ("runs",), ("teams", "show", "evil.py:failing")]
)
@pytest.mark.parametrize("how", [(), ("--json",)], ids=" ".join)
def test_no_line_of_what_is_shown_later_is_a_command(
    tmp_path: Path, words: tuple[str, ...], how: tuple[str, ...]
) -> None:
    env = {"LEADHAND_MODEL": "none", "PYTHONPATH": str(tmp_path)}
    run(tmp_path, "--team", "evil:failing", "--home", "home")
    how = ("--format", "json") if how and words[0] == "trace" else how
    home = () if words[0] == "teams" else ("--home", "home")
    shown = program(*words, *how, *home, folder=tmp_path, env=env)
    assert (shown.status in (0, 3), shown.err) == (True, "")
    assert shown.out
    assert COMMAND.findall(f"\n{shown.out}") == []
    if "json" in str(how):
        json.loads(shown.out)


def test_a_page_on_stdout_has_no_line_that_is_a_command_and_shows_the_same(tmp_path: Path) -> None:
    env = {"LEADHAND_MODEL": "none", "PYTHONPATH": str(tmp_path)}
    run(tmp_path, "--team", "evil:team", "--home", "home")
    words = ("trace", "last", "--format", "html", "--home", "home")
    shown = program(*words, folder=tmp_path, env=env).out
    assert COMMAND.findall(shown) == []
    program(*words, "--out", "page.html", folder=tmp_path, env=env)
    assert unescape(shown) == unescape((tmp_path / "page.html").read_text(encoding="utf-8"))


@pytest.mark.parametrize("debug", [(), ("--debug",)], ids=["plain", "debug"])
def test_an_error_that_quotes_a_command_is_none(tmp_path: Path, debug: tuple[str, ...]) -> None:
    ended = program(*debug, "trace", "##[error]x\n::error::y", "--home", ".", folder=tmp_path)
    assert (ended.status, "error" in ended.err) == (2, True)
    assert COMMAND.findall(f"\n{ended.err}") == []


def test_events_on_stdout_are_escaped_as_the_answer_is(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(
        "from leadhand import Team, Worker\n"
        'def work(handoff): return "\\u202egnp.exe \\x1b[31m \\x9b \\u200b ##[error]"\n'
        'team = Team("odd", workers=[Worker("w", "Works", run=work)])\n'
    )
    env = {"LEADHAND_MODEL": "none", "PYTHONPATH": str(tmp_path)}
    for how in (("--json",), ("--events", "-")):
        ended = program("run", "Do it", "--team", "odd:team", *how, folder=tmp_path, env=env)
        lines = [line for line in ended.out.splitlines() if "gnp.exe" in line and '"' in line]
        assert lines
        for line in lines:
            assert line.isascii()
            assert line.isprintable()
            assert "##[" not in line
        text = ended.out if how == ("--json",) else lines[0]
        assert any(
            "\u202egnp.exe \x1b[31m \x9b \u200b ##[error]" in one
            for one in strings(json.loads(text))
        )


def strings(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for one in cast("dict[str, object]", value).values() for text in strings(one)]
    if isinstance(value, list):
        return [text for one in cast("list[object]", value) for text in strings(one)]
    return [value] if isinstance(value, str) else []


def test_what_a_model_writes_is_no_command(model_server: ScriptedServer, tmp_path: Path) -> None:
    model_server.configure(script=[{"reply": {"text": "::error::by the model\n##[error]by it"}}])
    team = tmp_path / "team"
    (team / "workers").mkdir(parents=True)
    (team / "team.yaml").write_text("name: team\n")
    (team / "workers" / "w.md").write_text("---\nname: w\ndescription: Works\n---\nWork.\n")
    arguments = ("--team", str(team), "--model", "openai-chat:gpt-5", "--events", "-")
    ended = program("run", "Do it", *arguments, folder=tmp_path, env=model_server.env())
    assert "by the model" in ended.out + ended.err
    assert COMMAND.findall(ended.out + "\n" + ended.err) == []


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_a_stream_that_comes_in_pieces_has_no_command(size: int) -> None:
    text = "a :: b\n::error::x\n \t::debug::y\r\n::z\n##[group]w ###[x\nstd::vector\n:\n:::\n"
    file = io.StringIO()
    stream = InertStream(file)
    for start in range(0, len(text), size):
        stream.write(text[start : start + size])
    assert file.getvalue() == inert(text)
    assert COMMAND.findall(inert(text)) == []
    assert "a :: b\n" in inert(text)
    assert "std::vector\n:\n" in inert(text)
