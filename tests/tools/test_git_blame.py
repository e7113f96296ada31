"""Blame in an untrusted repository, by object ids only."""

from pathlib import Path

import pytest

from leadhand.errors import InputError
from leadhand.tools.git.history import blame
from leadhand.tools.git.process import GitFailed
from leadhand.tools.git.repository import open_repository
from tests.repositories import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "theirs")
    made.commit("Add numbers", {"a.py": "one = 1\ntwo = 2\n"})
    made.commit("Count on", {"a.py": "one = 1\ntwo = 22\nthree = 'é'\n"})
    return made


def test_each_line_has_the_commit_that_wrote_it(repo: Repo, tmp_path: Path) -> None:
    git_dir = open_repository(repo.folder, tmp_path / "own").git_dir
    head, first = repo.git("rev-parse", "HEAD"), repo.git("rev-parse", "HEAD~1")
    lines = blame(git_dir, head, "a.py", first_line=1, last_line=3)
    assert [(one.number, one.text, one.commit.id) for one in lines] == [
        (1, "one = 1", first), (2, "two = 22", head), (3, "three = 'é'", head),
    ]  # fmt: skip
    assert {one.commit.subject for one in lines} == {"Add numbers", "Count on"}
    assert {one.commit.date for one in lines} == {"2024-01-02"}


def test_f24_neither_a_name_nor_an_option_passes_for_a_commit_or_a_path(
    repo: Repo, tmp_path: Path
) -> None:
    git_dir = open_repository(repo.folder, tmp_path / "own").git_dir
    head = repo.git("rev-parse", "HEAD")
    for name in ("HEAD", "--output=x", head[:12]):
        with pytest.raises(InputError):
            blame(git_dir, name, "a.py", first_line=1, last_line=1)
    for path in ("../a.py", "/etc/passwd", "a\0.py", ".git/config"):
        assert blame(git_dir, head, path, first_line=1, last_line=1) == []
    with pytest.raises(GitFailed):
        blame(git_dir, head, "--contents=/etc/passwd", first_line=1, last_line=1)
    with pytest.raises(GitFailed):
        blame(git_dir, head, "a.py", first_line=9, last_line=9)


def test_f25_the_repositorys_own_settings_change_nothing(repo: Repo, tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    repo.git("config", "diff.x.textconv", f"touch {touched};cat")
    repo.git("config", "blame.ignoreRevsFile", "/etc/passwd")
    repo.write(".gitattributes", "*.py diff=x\n")
    repo.write(".mailmap", "Somebody Else <tester@example.com>\n")
    head = repo.commit("Set traps")
    git_dir = open_repository(repo.folder, tmp_path / "own").git_dir
    assert len(blame(git_dir, head, "a.py", first_line=1, last_line=3)) == 3
    assert not touched.exists()
