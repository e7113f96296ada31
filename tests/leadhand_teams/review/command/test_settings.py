"""ReviewSettings of a review: read from the base of the change, never from the change itself."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest

from leadhand.synthesis.findings import Note, Review
from leadhand_teams.review.settings import Lens, ReviewSettings
from tests.cli.program import leadhand
from tests.repositories import Repo

CARELESS = """\
import os

from flask import request


def run() -> None:
    os.system(request.args["command"])
    print(undefined)
"""
RULE = "security/shell-injection"
OFF = '[review]\nthreshold = 100\nfail-on = "never"\nexclude = ["*.py"]\n'


def repository(folder: Path, **base: str) -> Repo:
    """A repository whose first commit has the files `base`; `_` stands for a dot in their names."""
    made = Repo(folder)
    made.write("README", "Runs commands.\n")
    for name, text in base.items():
        made.write(name.replace("_", "."), text)
    made.commit("Begin")
    return made


def reviewed(repo: Repo, *options: str, status: int | None = None) -> Review:
    """The review of the last commit as JSON gives it."""
    ended = leadhand("review", *options, "--json", "--quiet", folder=repo.folder)
    assert status in (None, ended.status), ended.err
    return Review.model_validate(json.loads(ended.out)["output"])


def rules(review: Review) -> set[str]:
    """The rules of everything that was found, whatever its section."""
    return {one.rule for one in (*review.findings, *review.look, *review.suppressed)}


@pytest.mark.parametrize(
    ("name", "table"),
    [("pyproject_toml", "[tool.leadhand.review]\n"), ("_leadhand_toml", "[review]\n"),
     ("_leadhand_toml", "")],
    ids=["pyproject", "own", "own-without-table"],
)  # fmt: skip
def test_the_settings_of_the_base_are_obeyed_and_named(
    tmp_path: Path, name: str, table: str
) -> None:
    text = f'{table}threshold = 0\nfail-on = "never"\nlenses = ["bugs"]\nexclude = ["legacy/"]\n'
    repo = repository(tmp_path, **{name: text})
    repo.commit("Run what is asked for", {"app.py": CARELESS, "legacy/old.py": CARELESS})
    review = reviewed(repo, status=0)
    assert {one.rule for one in review.findings} == {"bugs/undefined-name"}
    assert {one.path for one in review.findings} == {"app.py"}
    file = name.replace("_", ".")
    why = {one.path: one.why for one in review.not_assessed}
    assert why["legacy/old.py"] == f"excluded by {file}"
    [note] = review.notes
    assert (note.path, note.attempt) == (file, False)
    assert "threshold 0; fail-on never; lenses bugs; exclude legacy/" in note.text


def test_options_win_over_settings(tmp_path: Path) -> None:
    repo = repository(tmp_path, _leadhand_toml='threshold = 0\nfail-on = "never"\n')
    repo.commit("Run what is asked for", {"app.py": CARELESS})
    review = reviewed(repo, "--threshold", "100", "--fail-on", "info", "--fail-on-look")
    assert not any(one.confidence < 100 for one in review.findings)
    assert leadhand("review", "--fail-on", "info", "-q", folder=repo.folder).status == 1


def test_a_change_cannot_switch_its_own_review_off(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    repo.commit("Run what is asked for", {"app.py": CARELESS})
    before = reviewed(repo)
    repo.write(".leadhand.toml", OFF)
    repo.git("add", "--all")
    repo.git("commit", "-q", "--amend", "--no-edit")
    review = reviewed(repo)
    assert (review.findings, review.look) == (before.findings, before.look)
    [note] = review.notes
    assert (note.path, note.attempt) == (".leadhand.toml", True)
    assert "threshold 100 instead of 80; fail-on never instead of critical" in note.text
    assert "exclude *.py instead of nothing" in note.text
    number = len(review.findings)
    lost = "1 finding" if number == 1 else f"{number} findings" if number else "that need a look"
    assert lost in note.text
    for format in ("text", "markdown", "sarif", "github"):
        out = leadhand("review", "--format", format, "-q", folder=repo.folder).out
        assert "edits the settings of its own review" in " ".join(out.split())


@pytest.mark.parametrize("where", ["--staged", "--worktree"])
def test_what_is_staged_or_in_the_work_tree_sets_nothing(tmp_path: Path, where: str) -> None:
    repo = repository(tmp_path, _leadhand_toml='lenses = ["bugs"]\n')
    repo.write("app.py", CARELESS)
    repo.write(".leadhand.toml", 'lenses = ["history"]\n')
    repo.git("add", "--all")
    review = reviewed(repo, where)
    assert "bugs/undefined-name" in rules(review)
    assert [note.attempt for note in review.notes] == [False, True]
    assert "lenses history instead of bugs" in review.notes[1].text


def test_a_file_that_the_change_moves_to_an_excluded_folder_is_reviewed(tmp_path: Path) -> None:
    repo = repository(tmp_path, _leadhand_toml='exclude = ["legacy"]\n')
    repo.commit("Run what is asked for", {"app.py": CARELESS.replace("undefined", "request")})
    (repo.folder / "legacy").mkdir()
    (repo.folder / "app.py").unlink()
    repo.commit("Move it", {"legacy/app.py": CARELESS})
    assert "bugs/undefined-name" in rules(reviewed(repo))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("threshold = 300", "threshold: input should be less than or equal to 100"),
        ("threshold = true", "threshold: input should be a valid integer"),
        ('fail_on = "info"', "fail_on: there is no such key"),
        ('fail-on = "sometimes"', "fail-on: input should be 'critical', 'warning', 'info'"),
        ('lenses = ["bugs", "style"]', "lenses.1: input should be 'bugs', 'comments'"),
        ("lenses = []", "lenses: "),
        ('exclude = ["/"]', "exclude.0: "),
        ("exclude = [", ".leadhand.toml: "),
        ('review = "x"', ".leadhand.toml: review: "),
    ],
)
def test_wrong_settings_are_one_line_with_file_and_key(
    tmp_path: Path, text: str, said: str
) -> None:
    repo = repository(tmp_path, _leadhand_toml=f"{text}\n")
    repo.commit("Run what is asked for", {"app.py": CARELESS})
    ended = leadhand("review", "-q", folder=repo.folder)
    assert (ended.status, ended.out) == (2, "")
    assert ".leadhand.toml: " in ended.err
    assert said in ended.err
    assert ended.err.count("\n") == 1


def test_a_change_that_corrects_wrong_settings_can_be_reviewed(tmp_path: Path) -> None:
    repo = repository(tmp_path, _leadhand_toml="threshold = 300\n")
    repo.commit("Correct the settings", {".leadhand.toml": "threshold = 30\n"})
    first, second = reviewed(repo, status=0).notes
    assert "none were used: .leadhand.toml: threshold: input should be" in first.text
    assert second.attempt
    assert "threshold 30 instead of 80" in second.text
    repo.git("reset", "-q", "--soft", "HEAD~1")
    repo.commit("Correct the settings", {".leadhand.toml": "threshold = 301\n"})
    assert leadhand("review", folder=repo.folder).status == 2


def test_settings_that_the_change_makes_wrong_are_reported(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    repo.commit("Set the threshold", {".leadhand.toml": "threshold = 300\n"})
    [note] = reviewed(repo, status=0).notes
    assert note.attempt
    assert ".leadhand.toml: threshold: input should be" in note.text


def test_other_changes_of_a_pyproject_are_no_attempt(tmp_path: Path) -> None:
    repo = repository(tmp_path, pyproject_toml='[project]\nname = "leadhand-example"\n')
    repo.commit("Rename it", {"pyproject.toml": '[project]\nname = "leadhand-examples"\n'})
    assert reviewed(repo, status=0).notes == ()


def test_of_a_patch_it_is_said_that_no_settings_were_read(tmp_path: Path) -> None:
    repo = repository(tmp_path, _leadhand_toml="threshold = 300\n")
    repo.commit("Run what is asked for", {"app.py": CARELESS})
    repo.write("one.diff", repo.git("diff", "HEAD~1..HEAD") + "\n")
    said = "No settings were read: a patch has no base."
    assert reviewed(repo, "--diff", "one.diff").notes == (Note(kind="settings", text=said),)


@pytest.mark.parametrize(
    ("pattern", "matches", "others"),
    [
        ("legacy", ["legacy/a.py", "src/legacy/a.py", "legacy"], ["legacy.py", "src/legacy2/a"]),
        ("legacy/", ["legacy/a.py", "src/legacy/a.py"], ["a.py"]),
        ("src/*.py", ["src/a.py"], ["a.py", "src/b/a.py", "lib/src/a.py"]),
        ("src/**/data", ["src/data/x", "src/a/b/data/x"], ["data/x", "src/datas"]),
        ("**/gen/*.py", ["gen/a.py", "a/gen/b.py"], ["gen/a.txt", "a.py"]),
        ("tests/**", ["tests/a/b.py"], ["src/tests/a.py"]),
        ("*_pb2.py", ["a_pb2.py", "x/a_pb2.py"], ["a_pb2.pyi"]),
        ("**/**/**/**/**/**/**/**/x", ["a/b/x", "x"], ["a/" * 300 + "b"]),
        ("*a" * 100, ["a" * 100], ["a" * 2000 + "b"]),
    ],
)
def test_a_pattern_matches_a_path_or_a_folder_above_it(
    pattern: str, matches: Sequence[str], others: Sequence[str]
) -> None:
    settings = ReviewSettings(exclude=(pattern,))
    assert [path for path in matches if not settings.excludes(path)] == []
    assert [path for path in others if settings.excludes(path)] == []


def test_the_lenses_of_the_settings_are_those_of_the_team(tmp_path: Path) -> None:
    repo = repository(tmp_path)
    plan = leadhand("review", "--plan-only", "--json", folder=repo.folder).out
    every = {task["worker"] for task in json.loads(plan)["tasks"]}
    assert every <= set(get_args(Lens))
    assert len(get_args(Lens)) == 8


@pytest.mark.parametrize("lens", ["security", "performance"])
def test_lenses_without_a_file_to_read_find_nothing(tmp_path: Path, lens: str) -> None:
    repo = repository(tmp_path, _leadhand_toml=f'lenses = ["{lens}"]\n', a_py="x = 1\n")
    repo.write("b.py", "x = 1\n")
    (tmp_path / "a.py").unlink()
    repo.commit("Rename a module")
    review = reviewed(repo, status=0)
    assert (review.findings, review.look) == ((), ())


@pytest.mark.parametrize(
    "text", [f"threshold = {'1' * 5000}\n", f"{'.'.join('a' * 3000)} = 1\n"], ids=["digits", "keys"]
)
def test_settings_that_cannot_be_read_do_not_stop_the_review_of_the_change_that_adds_them(
    tmp_path: Path, text: str
) -> None:
    repo = repository(tmp_path, a_py="x = 1\n")
    repo.commit("Run commands", {"careless.py": CARELESS, ".leadhand.toml": text})
    review = reviewed(repo, status=1)
    assert RULE in rules(review)
    [note] = [one for one in review.notes if one.attempt]
    assert note.path == ".leadhand.toml"
