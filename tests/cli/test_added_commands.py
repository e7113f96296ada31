"""Installed packages add teams and commands. The package of docs/extending.md is the sample."""

import re
import sys
from pathlib import Path

import pytest

from leadhand import InputError
from leadhand.cli.added_commands import added_command, check_runnable, command_infos
from leadhand.teams.installed import team_folders, unusable_teams
from leadhand.teams.loader import load
from tests.cli.program import fresh_leadhand, leadhand
from tests.test_docs import DOCS, blocks

PAGE = DOCS / "extending.md"


def install(folder: Path, name: str, entry_points: str) -> None:
    """Make `name` an installed package with these entry points, as `pip install` does."""
    metadata = folder / f"{name}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(entry_points)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder in which the sample is installed."""
    for block in blocks(PAGE):
        if block.file is not None and block.file.startswith("acme_audit/"):
            file = tmp_path / "site" / block.file
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(block.text, encoding="utf-8")
    declared = "".join(block.text for block in blocks(PAGE) if block.language == "toml")
    groups = re.findall(
        r'\[project\.entry-points\."(.+)"\]\n"?([\w.]+)"? = "(acme_audit.*)"', declared
    )
    assert len(groups) == 3
    lines = "".join(f"[{group}]\n{name} = {value}\n" for group, name, value in groups)
    install(tmp_path / "site", "acme_audit", lines)
    return tmp_path / "site"


def test_a_package_adds_a_team_and_a_command_whose_runs_are_stored_and_resumed(
    site: Path, tmp_path: Path
) -> None:
    env = {"PYTHONPATH": str(site), "LEADHAND_HOME": str(tmp_path / "home")}

    def does(*words: str) -> str:
        done = leadhand(*words, folder=tmp_path, env=env)
        assert done.status == 0, done.err
        return done.out

    assert re.search(r"│ audit +Count the words of a text\.", does("--help"))
    assert re.match(r"audit +Counts the words of a text", does("teams", "list"))
    assert "3" in does("audit", "one two three", "--quiet")
    assert "audit" in does("show", "last")
    assert re.fullmatch(r"task,words\n[\w-]+,3\n", does("show", "last", "--format", "csv"))
    assert "3" in does("resume", "last", "--quiet")
    unknown = leadhand("show", "last", "--format", "xml", folder=tmp_path, env=env)
    assert unknown.status == 2
    assert unknown.err == "leadhand: --format xml: team 'audit' has csv; see also --json\n"
    refused = leadhand("run", "x", "--team", "audit", folder=tmp_path, env=env)
    assert refused.status == 2
    assert refused.err.endswith("the team audit needs a text: use `leadhand audit`\n")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("acme_missing:command", "ModuleNotFoundError: No module named 'acme_missing'"),
        ("acme_audit.command:other", "AttributeError: "),
        ("acme_audit.command:audit", "acme_audit.command:audit is no leadhand.extension.Command"),
    ],
)
def test_a_command_that_cannot_be_used_is_one_line_and_others_work(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, why: str
) -> None:
    install(tmp_path / "more", "acme_more", f"[leadhand.commands]\nmore = {value}\n")
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])
    monkeypatch.setattr(sys, "path", [str(tmp_path / "more"), *sys.path])
    infos, problems = command_infos({"run"})
    assert {"audit", "review"} <= {info.name for info in infos}
    (problem,) = problems
    assert problem.startswith(f"the command 'more' of acme-more can't be used: {why}")
    assert "\n" not in problem
    with pytest.raises(InputError, match="acme-more"):
        added_command("more")
    with pytest.raises(InputError, match="use `leadhand audit`"):
        check_runnable("audit")


def test_two_packages_with_the_same_names_are_refused_and_a_command_of_leadhand_stays(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = "[leadhand.teams]\naudit = acme_audit\nlost = acme_lost\n"
    entries += "[leadhand.commands]\naudit = acme_audit.command:command\nrun = acme:command\n"
    install(tmp_path / "twin", "acme_twin", entries)
    monkeypatch.setattr(sys, "path", [str(site), *sys.path])
    monkeypatch.setattr(sys, "path", [str(tmp_path / "twin"), *sys.path])
    assert {"research", "review"} <= set(team_folders())
    both = "acme-audit and acme-twin both add a {} 'audit': uninstall one of them"
    assert unusable_teams() == {
        "audit": both.format("team"),
        "lost": "the team 'lost' of acme-twin can't be used: there is no package acme_lost with a "
        "team.yaml",
    }
    with pytest.raises(InputError, match="both add a team"):
        load("audit")
    assert command_infos({"run"})[1] == [
        both.format("command"),
        "acme-twin can't add a command 'run': leadhand has one itself",
    ]


def test_a_broken_command_leaves_the_help_of_all_others(tmp_path: Path) -> None:
    install(tmp_path / "site", "acme", "[leadhand.commands]\nlost = acme_lost:command\n")
    env = {"PYTHONPATH": str(tmp_path / "site")}
    done = fresh_leadhand("--help", folder=tmp_path, env=env)
    assert done.status == 0
    assert "review" in done.out
    assert done.err == (
        "leadhand: the command 'lost' of acme can't be used: ModuleNotFoundError: No module named "
        "'acme_lost'\n"
    )


@pytest.mark.parametrize(
    ("name", "code", "why"),
    [
        ("--help", "", "a name has letters, digits, - and _, and begins with a letter"),
        ("leaves", "raise SystemExit(7)", "SystemExit: 7"),
    ],
)
def test_a_command_that_would_end_or_hide_the_program_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str, why: str
) -> None:
    install(tmp_path / "site", "acme", f"[leadhand.commands]\n{name} = acme_leaves:command\n")
    (tmp_path / "site" / "acme_leaves.py").write_text(code)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    infos, problems = command_infos(set())
    assert name not in {info.name for info in infos}
    assert problems == [f"the command {name!r} of acme can't be used: {why}"]


def test_a_format_that_fails_is_one_line(tmp_path: Path) -> None:
    formats = "research.odd = acme_odd:odd\nresearch.raw = acme_odd:raw\n"
    install(tmp_path / "site", "acme", f"[leadhand.formats]\n{formats}")
    code = "def odd(view):\n    raise RuntimeError('no')\ndef raw(view):\n    return b'x'\n"
    (tmp_path / "site" / "acme_odd.py").write_text(code)
    (tmp_path / "notes.txt").write_text("Copper is mined in Chile.\n")
    env = {"PYTHONPATH": str(tmp_path / "site"), "LEADHAND_HOME": str(tmp_path / "home")}
    asked = ("Where is copper mined?", "--team", "research", "--no-model", "--input", "notes.txt")
    assert leadhand("run", *asked, folder=tmp_path, env=env).status == 0
    for format, why in {"odd": "RuntimeError: no", "raw": "gives bytes instead"}.items():
        shown = leadhand("show", "last", "--format", format, folder=tmp_path, env=env)
        assert (shown.status, shown.out) == (2, "")
        assert f"the format 'research.{format}' of acme can't be used" in shown.err
        assert why in shown.err
        assert len(shown.err.splitlines()) == 1


def test_nothing_in_the_current_folder_counts_as_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, "evil", "[leadhand.teams]\nevil = evil\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert "evil" not in unusable_teams()
