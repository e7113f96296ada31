"""`teams new` creates a working team, completely or not at all."""

import dataclasses
import resource
import sys
from pathlib import Path

import pytest

from leadhand.contracts.events import ToolCalled
from leadhand.errors import InputError
from leadhand.supervisor import Supervisor
from leadhand.teams.files import read_markdown, read_yaml
from leadhand.teams.loader import TeamInspection, inspect, load
from leadhand.teams.notes import Notes
from leadhand.teams.scaffold import create, module_name
from leadhand.testing import ScriptedServer
from tests.stored import store_of
from tests.teams.test_schema import FILES, mistakes


@pytest.fixture(autouse=True)
def own_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """The new team's module is imported anew in each test: every folder has its own."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("desk", "my_team"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def test_a_new_team_has_neither_problems_nor_warnings(tmp_path: Path) -> None:
    folder = create(tmp_path / "my team")
    team, problems, warnings = inspect(folder)
    assert (problems, warnings) == ((), ())
    assert team is not None
    assert team.name == "my team"
    assert [worker.name for worker in team.workers] == ["handbook", "reply", "triage"]
    assert (folder / "my_team.py").is_file()
    assert all(len(worker.instructions.splitlines()) > 10 for worker in team.workers)


@pytest.mark.parametrize(
    ("team", "module"),
    [
        ("support-desk", "support_desk"),
        ("calendar", "calendar_team"),
        ("yaml", "yaml_team"),
        ("2fa", "team_2fa"),
        ("class", "team_class"),
        ("Büro Nord", "buro_nord"),
        ("客服", "team"),
        ("leadhand", "leadhand_team"),
    ],
)
def test_the_module_of_a_new_team_is_named_after_it_and_hides_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, team: str, module: str
) -> None:
    monkeypatch.delitem(sys.modules, module, raising=False)
    folder = create(tmp_path / team)
    assert (folder / f"{module}.py").is_file()
    assert inspect(folder)[1:] == ((), ())
    assert load(folder).workers[0].offline is sys.modules[module].look_up


def test_two_new_teams_work_in_one_process(tmp_path: Path) -> None:
    teams = [load(create(tmp_path / name)) for name in ("north", "south")]
    assert [Supervisor(team).run_sync("Charged twice").status for team in teams] == ["complete"] * 2


def test_a_new_team_answers_without_a_model(tmp_path: Path) -> None:
    team = load(create(tmp_path / "desk"))
    answer = Supervisor(team).run_sync("I was charged twice and the app crashes")
    assert (answer.status, answer.engine) == ("complete", "deterministic")
    assert "The app crashes; urgency: high." in answer.answer
    assert "If the same order was charged twice, one of the two charges" in answer.answer
    assert {source.ref for source in answer.sources} == {"handbook.md:11", "handbook.md:36"}


def test_a_new_team_works_with_a_model_that_uses_its_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer() as server:
        for name, value in server.env().items():
            monkeypatch.setenv(name, value)
        team = dataclasses.replace(load(create(tmp_path / "desk")), model="openai-chat:scripted")
        supervisor = Supervisor(team)
        answer = supervisor.run_sync("I was charged twice and the app crashes")
    assert (answer.status, answer.engine) == ("complete", "model")
    called = [
        event.tool
        for event in store_of(supervisor).events(answer.run_id)
        if isinstance(event, ToolCalled)
    ]
    assert called == ["search_handbook"]


def test_a_new_team_does_not_make_up_what_its_handbook_lacks(tmp_path: Path) -> None:
    answer = Supervisor(load(create(tmp_path / "desk"))).run_sync("Do you sell elephants?")
    assert "The handbook says nothing about this." in answer.answer
    assert "I have passed your message on to a colleague" in answer.answer
    assert answer.sources == ()


def test_the_tool_of_a_new_team_searches_its_handbook(tmp_path: Path) -> None:
    team = load(create(tmp_path / "desk"))
    worker = team.worker("handbook")
    assert worker is not None
    (search,) = worker.tools
    assert callable(search)
    assert str(search("refund money")).startswith("**Refunds** (handbook.md:5): Customers may")
    assert str(search("elephants")).startswith("Nothing about that. The handbook has sections on")


def test_every_file_of_a_new_team_points_to_its_schema_and_fits_it(tmp_path: Path) -> None:
    folder = create(tmp_path / "desk")
    files = {folder / "team.yaml": "team.schema.json"}
    files |= dict.fromkeys((folder / "workers").iterdir(), "worker.schema.json")
    assert len(files) == 4
    for file, schema in files.items():
        line = next(x for x in file.read_text().splitlines() if "yaml-language-server" in x)
        there = (file.parent / line.partition("$schema=")[2]).resolve()
        assert there == (folder / "schemas" / schema).resolve()
        assert there.is_file()
        read = read_yaml if file.suffix == ".yaml" else read_markdown
        assert mistakes(read(file, file.name, Notes()), schema) == []
    assert sorted(file.name for file in (folder / "schemas").iterdir()) == sorted(FILES)


def test_an_empty_folder_is_filled_and_stays_the_same_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = tmp_path.stat().st_ino
    create(Path())
    assert Path.cwd().stat().st_ino == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "handbook.md", "schemas", "team.yaml", f"{module_name(tmp_path.name)}.py", "workers",
    ]  # fmt: skip
    assert inspect(Path()) == TeamInspection(load(tmp_path), (), ())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("full", "is not empty: name one that does not exist yet"),
        ("file", "exists and is not a folder: name another"),
        ("file/desk", "to make 'desk' in: make it first"),
        ("gone/desk", "to make 'desk' in: make it first"),
        ("a\0b", "no team can be made in"),
        ("x" * 300, "File name too long"),
    ],
)
def test_where_no_team_can_be_made_one_line_says_why_and_nothing_is_left(
    tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / ".hidden").touch()
    (tmp_path / "file").touch()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InputError) as raised:
        create(tmp_path / name)
    assert said in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["desk", "empty"])
def test_f31_a_disk_that_fills_up_leaves_nothing_half_written(tmp_path: Path, name: str) -> None:
    """F31: a file that can't be written to its end."""
    (tmp_path / "empty").mkdir()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6_000, limits[1]))
    try:
        with pytest.raises(InputError, match="File too large"):
            create(tmp_path / name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.rglob("*")) == [tmp_path / "empty"]
