"""`leadhand teams check`, `teams new` and `teams import`: folders that people make teams in."""

import re
import sys
from pathlib import Path

import pytest

from leadhand.cli.teams.actions import check_team, import_folder, new_team, show_team
from leadhand.errors import InputError, TeamError
from tests.cli.program import leadhand
from tests.cli.test_teams import Screen, own_import_path, support, with_models
from tests.programs import ROOT
from tests.team_folders import worker, write_team

__all__ = ["own_import_path"]


def test_a_team_that_needs_a_model_passes_its_check_which_says_so(tmp_path: Path) -> None:
    screen = Screen()
    assert check_team(with_models(tmp_path / "desk"), screen.console)
    assert screen.text == "team 'desk' can be used with a model: 4 workers\n"


def test_a_new_team_is_made_and_the_next_steps_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "desk", raising=False)
    screen = Screen(width=20)
    new_team(Path("my desk"), screen.console)
    assert screen.text == (
        "created a team in my desk\n"
        "  leadhand teams check 'my desk'  # check it\n"
        "  leadhand run 'I was charged twice and the app crashes' --team 'my desk'"
        "  # try it, with a model or without\n"
    )
    checked = Screen()
    assert check_team(Path("my desk"), checked.console)
    assert checked.text == "team 'my desk' can be used: 3 workers\n"


def test_a_new_team_called_as_a_ready_made_one_is_told_by_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    screen = Screen()
    new_team(Path("review"), screen.console)
    assert "--team ./review" in screen.text


def test_an_import_lists_what_changed_and_then_the_next_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("agents").mkdir()
    agent = Path("agents", "one.md")
    agent.write_text("---\ndescription: D\ntools: Read\ncolor: red\n---\n\x1b[2JYou do.\n")
    screen = Screen(width=20)
    assert import_folder(Path("agents"), None, screen.console)
    assert screen.text == (
        "changed  one.md:4: `color`: not carried over, it has no counterpart\n"
        "created a team in agents-team\n"
        "  leadhand teams check agents-team  # check it\n"
        "  leadhand run ... --team agents-team  # try it, with a model\n"
    )
    agent.write_text("---\nname: [\n---\n")
    screen = Screen()
    assert not import_folder(Path("agents"), Path("b"), screen.console)
    assert re.fullmatch(
        r"problem  one.md:3: is not YAML .*\n1 problem: 'agents' was not imported\n", screen.text
    )


def test_a_team_with_problems_is_not_shown(tmp_path: Path) -> None:
    with pytest.raises(TeamError, match="`timeout_s` is 0 and must be greater than 0"):
        show_team(str(write_team(tmp_path, "limits: {timeout_s: 0}\n")), Screen().console)


def test_a_good_folder_passes_its_check(tmp_path: Path) -> None:
    screen = Screen()
    assert check_team(support(tmp_path), screen.console)
    assert screen.text == "team 'support' can be used: 3 workers\n"


def test_warnings_are_printed_and_do_not_fail_the_check(tmp_path: Path) -> None:
    screen = Screen()
    assert check_team(write_team(tmp_path, "name: mine\nhooks: {}\n"), screen.console)
    assert screen.text == (
        "warning  team.yaml:2: `hooks` has no effect in this version\n"
        "team 'mine' can be used: 1 worker, 1 warning\n"
    )


def test_problems_and_warnings_are_one_a_line_however_narrow_the_terminal(tmp_path: Path) -> None:
    screen = Screen(width=20)
    folder = write_team(
        tmp_path,
        "name: mine\nhooks: {}\nlimits: {timeout_s: 0}\n",
        solo=worker("fallback: nobody\nisolate: always"),
    )
    assert not check_team(folder, screen.console)
    assert screen.text == (
        "problem  team.yaml:3: `timeout_s` is 0 and must be greater than 0\n"
        "problem  workers/solo.md:2: 'solo' falls back to 'nobody', who is not in the team: "
        "it has solo\n"
        "problem  workers/solo.md:3: `isolate` is 'always' and must be 'none' or 'process'\n"
        "warning  team.yaml:2: `hooks` has no effect in this version\n"
        "3 problems, 1 warning: this team can't be used yet\n"
    )


def test_checking_what_is_no_folder_is_an_error_of_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no folder"):
        check_team(tmp_path / "gone", Screen().console)


def test_f34_nothing_in_a_teams_files_reaches_the_terminal_raw(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """F34, F35: escape sequences, line ends and markup are shown, not obeyed."""
    evil = "\\e]52;c;eA==\\a[bold red]x[/]\\r\\n\\u202e"
    team = f'name: "mine[red]"\ndescription: "{evil}"\n"{evil}": 1\n'
    folder = write_team(tmp_path, team, solo=worker(f'description: "{evil}"\ntools: [a]'))
    for as_json in (False, True):
        screen = Screen(200, colours=True)
        show_team(str(folder), screen.console, as_json)
        text = capsys.readouterr().out if as_json else screen.text
        shown = re.sub(r"\x1b\[[0-9;]*m", "", text)
        assert "mine[red]" in shown
        assert "[bold red]x[/]" in shown
        assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", shown)
    screen = Screen(200)
    (folder / "workers" / "\x1b]0;t\x07.md").write_text("none\n")
    check_team(folder, screen.console)
    assert "workers/\\x1b]0;t\\x07.md:1: has no front matter" in screen.text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\u202e]", screen.text)


def test_a_console_without_unicode_is_served_too(tmp_path: Path) -> None:
    folder = write_team(
        tmp_path, "name: café\nmenü: 1\n", solo=worker("tools: [a]\nconcurrency: 3")
    )
    env = {"PYTHONIOENCODING": "ascii", "PYTHONPATH": str(ROOT)}
    shown = leadhand("teams", "show", str(folder), folder=tmp_path, env=env).out
    assert "caf\\xe9" in shown
    assert "tools: a - concurrency: 3" in shown
    checked = leadhand("teams", "check", str(folder), folder=tmp_path, env=env).out
    assert "`men\\xfc` has no effect" in checked


def test_a_plugin_that_cannot_be_imported_is_named_with_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "kit" / ".claude-plugin").mkdir(parents=True)
    (tmp_path / "kit" / ".claude-plugin" / "plugin.json").write_text("{")
    done = leadhand("teams", "import", "kit", folder=tmp_path)
    assert (done.status, done.err) == (2, "")
    assert "problem  .claude-plugin/plugin.json: is not the JSON of a plugin" in done.out
    assert "1 problem: 'kit' was not imported" in done.out
