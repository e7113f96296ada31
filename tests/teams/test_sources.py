"""Teams that are defined in Python, named as `module:attribute` or `file.py[:attribute]`."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from leadhand.errors import InputError
from leadhand.teams.sources import absolute, team_of

DESK = """
from leadhand import Team, Worker
def count(handoff): return len(handoff.intent.split())
desk = Team("desk", workers=(Worker("count", "Counts words", run=count),))
def make() -> Team: return Team("made", workers=desk.workers)
"""
HEAD = "from leadhand import Team, Worker\nW = (Worker('a', 'Does a', run=len),)\n"


@pytest.fixture(autouse=True)
def own_imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Remove the modules that a test imported."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield
    for name in [one for one in sys.modules if one.partition(".")[0].endswith("_source")]:
        del sys.modules[name]


def write(folder: Path, text: str = DESK, name: str = "desk_source.py") -> Path:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


def test_the_only_team_of_a_file_is_found_without_its_name(tmp_path: Path) -> None:
    assert team_of(str(write(tmp_path))).name == "desk"


def test_a_team_that_is_a_worker_of_another_is_not_meant(tmp_path: Path) -> None:
    nesting = "legal = Team('legal', workers=W)\nlaw = Worker('law', 'Law', team=legal)\n"
    text = f"{HEAD}{nesting}office = Team('office', workers=(law,))\n"
    path = write(tmp_path, text, "nesting_source.py")
    assert team_of(str(path)).name == "office"
    assert team_of(f"{path}:legal").name == "legal"


@pytest.mark.parametrize(("attribute", "name"), [("desk", "desk"), ("make", "made")])
def test_a_team_or_a_function_that_returns_one_is_found_by_its_name(
    tmp_path: Path, attribute: str, name: str
) -> None:
    write(tmp_path)
    assert team_of(f"{tmp_path}/desk_source.py:{attribute}").name == name
    assert team_of(f"desk_source.py:{attribute}", folder=tmp_path).name == name
    assert team_of(f"desk_source:{attribute}", folder=tmp_path).name == name


def test_a_file_may_import_its_neighbours_and_a_module_its_package(tmp_path: Path) -> None:
    write(tmp_path, "from leadhand import Team, Worker\nNAME = 'near'\n", "near_source.py")
    text = HEAD + "from near_source import NAME\nt = Team(NAME, workers=W)\n"
    assert team_of(str(write(tmp_path, text, "far_source.py"))).name == "near"
    write(tmp_path, "NAME = 'inside'", "packed_source/names.py")
    text = HEAD + "from .names import NAME\nt = Team(NAME, workers=W)\n"
    write(tmp_path, text, "packed_source/teams.py")
    assert team_of("packed_source.teams:t", folder=tmp_path).name == "inside"


def test_an_installed_module_is_taken_before_a_file_of_the_current_folder(tmp_path: Path) -> None:
    """F45: nothing in the folder is imported in its place, nor found by later imports."""
    write(tmp_path, "raise SystemExit('imported')", "yaml.py")
    before = list(sys.path)
    with pytest.raises(InputError, match="module 'yaml' has no 'team'"):
        team_of("yaml:team", folder=tmp_path)
    assert sys.path == before


TWO = HEAD + "one = Team('one', workers=W)\ntwo = Team('two', workers=W)\nalias = one\n"


@pytest.mark.parametrize(
    ("text", "attribute", "said"),
    [
        (TWO, "", "has 2 teams: name one, .*bad_source.py:one or .*bad_source.py:two"),
        (
            TWO,
            ":twoo",
            "module 'bad_source' has no 'twoo': did you mean 'two'.*its teams: one, two",
        ),
        (TWO, ":W", "bad_source.py:W is tuple: it must be a leadhand.Team"),
        (TWO, ":Team", "Team is type: it must be a leadhand.Team"),
        ("x = 1", "", "has no leadhand.Team at its top level: define one"),
        (DESK.replace("desk =", "def f(): return"), "", "name the function.*bad_source.py:make"),
        ("def f(a): ...", ":f", r"is a function that needs arguments \(missing.*'a'\)"),
        ("async def f(): ...", ":f", "is an async function"),
        ("def f(): return 5", ":f", "bad_source.py:f returned int: it must be a leadhand.Team"),
        ("def f():\n  return 1/0", ":f", r"f failed at .*bad_source.py:2: ZeroDivisionError"),
        ("import no_such_x", "", "module 'bad_source' needs 'no_such_x', which is not installed"),
        ("def f(:", "", r"module 'bad_source' can't be imported \(SyntaxError: "),
        ("import sys; sys.exit(3)", "", r"can't be imported \(SystemExit: 3\)"),
    ],
)
def test_what_is_no_team_is_explained(tmp_path: Path, text: str, attribute: str, said: str) -> None:
    write(tmp_path, text, "bad_source.py")
    with pytest.raises(InputError, match=said) as refused:
        team_of(f"{tmp_path}/bad_source.py{attribute}")
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "the team has no name"),
        ("pipe.py", "'pipe.py' is not a file"),
        ("gone.py", "there is no file 'gone.py'"),
        ("gone.py:team", "there is no file 'gone.py'"),
        ("my-team.py", "'my-team.py' can't be imported under that name: rename it"),
        ("json.py", "json.py hides Python's own module of that name: rename it"),
        (
            "no_module_x:team",
            "there is no module 'no_module_x' in .* `path/to/no_module_x.py:team`",
        ),
        ("no_team_x", "there is no team 'no_team_x'"),
        ("near", r"there is no team 'near': did you mean `--team near\.py`"),
    ],
)
def test_a_team_that_is_not_there_is_said_in_a_line(tmp_path: Path, source: str, said: str) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    for name in ("my-team.py", "json.py", "near.py"):
        write(tmp_path, DESK, name)
    with pytest.raises(InputError, match=said):
        team_of(source, folder=tmp_path)


def test_where_a_team_is_stays_true_in_another_folder(tmp_path: Path) -> None:
    assert absolute("a.py:b", tmp_path) == f"{tmp_path}/a.py:b"
    assert absolute("a.py", tmp_path) == f"{tmp_path}/a.py"
    assert absolute("module.x:b", tmp_path) == "module.x:b"
    assert absolute("research", tmp_path) == "research"
    (tmp_path / "mine").mkdir()
    assert absolute("mine", tmp_path) == f"{tmp_path}/mine"
