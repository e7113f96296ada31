"""Functions that a team's workers name are imported, or a problem is reported."""

import sys
import zipfile
from pathlib import Path

import pytest

from leadhand.teams.loader import load
from tests.team_folders import WORK, problems, worker, write_team


def test_a_function_is_found_in_the_teams_own_folder(tmp_path: Path) -> None:
    folder = write_team(tmp_path, solo=worker("offline: own_desk_module:Desk.serve"))
    (folder / "own_desk_module.py").write_text(
        "class Desk:\n    @staticmethod\n    def serve(handoff):\n        return handoff.intent\n"
    )
    team = load(str(folder))
    load(folder)
    assert team.workers[0].offline is sys.modules["own_desk_module"].Desk.serve
    assert sys.path.count(str(folder)) == 1


@pytest.mark.parametrize(
    ("offline", "said"),
    [
        ("no_such_module_x:f", "there is no module 'no_such_module_x': put no_such_module_x.py"),
        ("json.nothing:f", "there is no module 'json.nothing': install the package that has it"),
        ("json:dmups", "module 'json' has no 'dmups': did you mean 'dumps'?"),
        ("json:zzz.q", "module 'json' has no 'zzz.q': define it there"),
        ("sys:maxsize", "'sys:maxsize' is int and must be a function that takes a handoff"),
        ("tests_broken_a:f", "module 'tests_broken_a' can't be imported (SyntaxError: "),
        ("tests_broken_b:f", "module 'tests_broken_b' can't be imported (SystemExit: 3): fix it"),
        ("tests_broken_c:f", "module 'tests_broken_c' needs 'no_such_package_x', which is not"),
        (
            "tests_broken_d:f",
            "module 'tests_broken_d' can't be imported (ValidationError: Task: "
            "`worker` is missing; `intent` is missing; `limits` is 5 and must be a Limits): fix it",
        ),
    ],
)
def test_a_function_that_cant_be_had_is_a_problem_not_a_traceback(
    tmp_path: Path, offline: str, said: str
) -> None:
    folder = write_team(tmp_path, solo=worker(f"offline: {offline}"))
    (folder / "tests_broken_a.py").write_text("def f(:\n")
    (folder / "tests_broken_b.py").write_text("import sys\nsys.exit(3)\n")
    (folder / "tests_broken_c.py").write_text("import no_such_package_x\n")
    (folder / "tests_broken_d.py").write_text("from leadhand import Task\nTask(id='a', limits=5)\n")
    (found,) = problems(folder)
    assert found.startswith(f"workers/solo.md:2: {said}")


def test_modules_that_hide_pythons_own_are_problems_and_are_not_made_importable(
    tmp_path: Path,
) -> None:
    folder = write_team(tmp_path, solo=worker("offline: json:loads"))
    (folder / "json.py").touch()
    (folder / "queue").mkdir()
    (folder / "queue" / "__init__.py").touch()
    assert problems(folder) == [
        "json.py: hides Python's own module of that name: rename it",
        "queue: hides Python's own module of that name: rename it",
    ]
    assert str(folder) not in sys.path


def test_two_teams_with_modules_of_one_name_are_told_apart(tmp_path: Path) -> None:
    for name in ("one", "two"):
        folder = write_team(tmp_path / name, solo=worker("offline: tests_same_name:f"))
        (folder / "tests_same_name.py").write_text("def f(handoff): ...\n")
    load(tmp_path / "one")
    (found,) = problems(tmp_path / "two")
    assert "tests_same_name.py is hidden by another module called 'tests_same_name'" in found


def test_a_function_that_no_process_could_find_is_a_problem(tmp_path: Path) -> None:
    folder = write_team(tmp_path, solo=worker("offline: tests_lambda_x:f\nisolate: process"))
    (folder / "tests_lambda_x.py").write_text(
        "def make():\n    return [lambda h: h]\nf = make()[0]\n"
    )
    assert problems(folder) == []
    (folder / "tests_lambda_y.py").write_text(
        "class F:\n    def __call__(self, h): ...\n    f = None\nF.f = F()\n"
    )
    write_team(folder, solo=worker("offline: tests_lambda_y:F.f\nisolate: process"))
    (found,) = problems(folder)
    assert found.startswith("workers/solo.md:2: ")
    assert "process" in found


def test_workers_may_have_functions_of_any_importable_module(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as archive:
        archive.writestr("tests_zipped_x/__init__.py", "def f(handoff): ...\n")
    sys.path.append(str(tmp_path / "package.zip"))
    workers = {
        "a": worker("offline: tests_zipped_x:f"),
        "b": worker(f"description: B\noffline: {WORK}"),
    }
    team = load(write_team(tmp_path / "team", **workers))
    assert [getattr(one.offline, "__name__", None) for one in team.workers] == ["f", "work"]


@pytest.mark.parametrize(
    ("module", "function", "shown"),
    [
        ("tests_arity_a", "def f(): ...", "f()"),
        ("tests_arity_b", "def f(a, b): ...", "f(a, b)"),
        ("tests_arity_c", "async def f(*, a): ...", "f(*, a)"),
        ("tests_arity_d", "class f:\n    def __init__(self): ...", "f()"),
    ],
)
def test_a_function_that_cannot_take_a_handoff_is_found_when_the_team_is_checked(
    tmp_path: Path, module: str, function: str, shown: str
) -> None:
    folder = write_team(tmp_path, solo=worker(f"offline: {module}:f"))
    (folder / f"{module}.py").write_text(f"{function}\n")
    assert problems(folder) == [
        f"workers/solo.md:2: '{module}:f' does not take a handoff: {shown} can't be called with "
        "one argument, the handoff: write `def f(handoff): ...`"
    ]
