"""What the command line says to a user who types a command for the first time."""

from pathlib import Path

import pytest

from tests.in_process import InProcess


@pytest.mark.parametrize("command", ["run", "plan"])
def test_a_request_without_quotes_is_said_to_need_them(in_process: InProcess, command: str) -> None:
    ended = in_process(command, "Which", "region", "grows", "--team", "research")
    quotes = "because a text of several words stands in quotes"
    assert ended.status == 2
    assert f"(region grows), {quotes}; see `leadhand {command} --help`" in ended.err


def test_a_command_without_a_text_says_nothing_of_quotes(in_process: InProcess) -> None:
    ended = in_process("show", "last", "first")
    assert ended.status == 2
    assert "(first); see" in ended.err


def test_a_model_without_its_key_names_the_options_of_the_command_line(
    in_process: InProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    ended = in_process("run", "x", "--team", "research", "--model", "openai:gpt-5-mini")
    assert ended.status == 2
    assert ended.err.endswith("set OPENAI_API_KEY, leave out --model, or give --no-model\n")
    assert "auto" not in ended.err


@pytest.mark.parametrize(
    ("team", "found", "columns"),
    [
        ("portfolio", "no prices were found", "a column of dates and a column an asset"),
        ("patient", "the patient team found no records", "the columns code, value, unit and date"),
    ],
)
def test_inputs_that_planning_refuses_are_one_line(
    in_process: InProcess, tmp_path: Path, team: str, found: str, columns: str
) -> None:
    given = tmp_path / "given"
    given.mkdir()
    (given / "pic.png").write_bytes(b"\x89PNG\r\n\x1a\n\0")
    home = ("--home", str(tmp_path / "home"))
    ended = in_process("run", "x", "--team", team, "--input", str(given), "--no-model", *home)
    assert (ended.status, ended.out) == (2, "")
    (line,) = [line for line in ended.err.splitlines() if "hand in" in line]
    assert line.startswith(f"leadhand: {found} (pic.png: neither a text nor a table ")
    assert line.endswith(f" {columns} (--input PATH)")
