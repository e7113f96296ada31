"""The bugs lens: undefined names, and names that come from outside the file."""

from pathlib import Path

import pytest

from leadhand_teams.review.lenses import bugs
from leadhand_teams.review.snapshot import write_snapshot
from tests.leadhand_teams.review.changes import run_lens
from tests.leadhand_teams.review.lenses.bugs_reports import findings, rules
from tests.repositories import Repo


def test_a_name_that_nothing_defines_is_critical(tmp_path: Path) -> None:
    (one,) = findings(tmp_path, "def f():\n    return missing + 1\n")
    assert (one.rule, one.line, one.severity) == ("bugs/undefined-name", 2, "critical")
    assert "`missing`" in one.message


@pytest.mark.parametrize(
    "text",
    [
        "from os import *\nprint(getcwd())\n",
        "globals().update(X=1)\nprint(X)\n",
        "exec('X = 1')\nprint(X)\n",
        "try:\n    text = unicode\nexcept NameError:\n    text = str\n",
        "import sys\nif sys.version_info < (3,):\n    text = unicode\nelse:\n    text = str\n",
        "def f(x):\n    del x\n    return x\n",
        "print(_('hello'))\n",
        "from __future__ import annotations\ndef f(x: Missing): ...\n",
        "from jaxtyping import Float\ndef f(x: Float['batch dim']): ...\n",
        "class A:\n    def f(self):\n        return __class__\n",
        "def f() -> 'Later': ...\nclass Later: ...\n",
        "if __name__ == '__channelexec__':\n    channel.send(1)\n",
        "print(__file__, __path__)\n",
        "def f():\n    x: Missing = 1\n    return x\n",
    ],
)
def test_a_name_that_comes_from_elsewhere_is_left_alone(tmp_path: Path, text: str) -> None:
    assert rules(tmp_path, text) == []


def test_code_that_fails_on_purpose_in_a_test_is_left_alone(tmp_path: Path) -> None:
    text = "def test_f():\n    def f():\n        return missing\n    check(f)\ndef check(f): ...\n"
    assert rules(tmp_path, text, path="tests/test_f.py") == []
    assert rules(tmp_path / "code", text) == [("undefined-name", 3)]


def test_a_name_that_was_undefined_before_the_change_is_left_alone(tmp_path: Path) -> None:
    before = "print(given)\n"
    assert rules(tmp_path, before + "print(given + 1)\n", before) == []


def test_a_file_full_of_undefined_names_is_left_alone(tmp_path: Path) -> None:
    assert rules(tmp_path, "".join(f"print(name{n})\n" for n in range(20))) == []


def test_an_export_of_nothing_is_found_where_names_are_not_made_dynamically(tmp_path: Path) -> None:
    text = "__all__ = ['gone']\n"
    assert rules(tmp_path / "a", text) == [("undefined-export", 1)]
    assert rules(tmp_path / "b", text + "def __getattr__(name): ...\n") == []
    assert rules(tmp_path / "c", text, path="pkg/__init__.py") == []


def test_a_local_that_is_read_too_early_is_found(tmp_path: Path) -> None:
    text = "import json\ndef f():\n    x = json.loads('1')\n    json = x\n    return json\n"
    assert rules(tmp_path, text) == [("local-before-assignment", 3)]


def test_a_name_that_files_beside_it_use_undefined_is_provided(tmp_path: Path) -> None:
    """Plug-ins use what their loader sets in each module."""
    repo = Repo(tmp_path / "repo")
    used = "def search(q):\n    return traits.url + q\n"
    for name in "abc":
        repo.write(f"engines/{name}.py", used)
    repo.commit("Add engines")
    repo.commit("Add more", {"engines/d.py": used, "engines/e.py": used.replace("traits", "trait")})
    change = write_snapshot(tmp_path / "change", repo=repo.folder, revision="HEAD")
    assert [one.path for one in run_lens(bugs.review, change).findings] == ["engines/e.py"]
