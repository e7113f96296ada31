"""A model can look up the change and its repository by ids, and nothing else."""

from collections.abc import Callable
from pathlib import Path

import pytest

from leadhand.tools.errors import ToolCallError
from leadhand_teams.review.change import Change
from leadhand_teams.review.lookup_tools import MAX_BLAMED, MAX_LINES, LookupTools
from leadhand_teams.review.snapshot import write_snapshot
from tests.repositories import Repo

LONG = "".join(f"line {n}\n" for n in range(1, 1001))


@pytest.fixture(scope="module")
def change(tmp_path_factory: pytest.TempPathFactory) -> Change:
    """A change that no test modifies."""
    tmp_path = tmp_path_factory.mktemp("browsed")
    repo = Repo(tmp_path / "theirs")
    repo.write("app.py", "def run():\n    return 1\n")
    repo.write("other.py", "from app import run\n\nrun()\n")
    repo.write("long.txt", LONG)
    repo.commit("Start")
    repo.commit("Return two, not one", {"app.py": "def run():\n    return 2\n"})
    (repo.folder / "link").symlink_to("/etc/passwd")
    repo.commit("Return three", {"app.py": "def run():\n    return 3\n"})
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    return write_snapshot(tmp_path / "change", repo=repo.folder)


def test_a_file_is_read_as_it_is_after_the_change_page_by_page(change: Change) -> None:
    tools = LookupTools(change)
    assert "    2 |     return 3" in tools.read_file("app.py")
    first = tools.read_file("long.txt")
    assert first.startswith(f"long.txt, lines 1 to {MAX_LINES} of 1,001\n")
    assert f"{MAX_LINES:>5} | line {MAX_LINES}" in first.splitlines()[-1]
    assert tools.read_file("long.txt", 999, 10**9).splitlines()[1:3] == [
        "  999 | line 999", " 1000 | line 1000",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "path", ["../secret.txt", "/etc/passwd", "link", ".git/config", "a\0b", "", ":(top)app.py", "*"]
)
def test_f17_no_other_file_can_be_read(change: Change, path: str) -> None:
    tools = LookupTools(change)
    with pytest.raises(ToolCallError):
        tools.read_file(path)
    with pytest.raises(ToolCallError):
        tools.show_diff(path)
    assert tools.file_log(path).startswith("No commit")


def test_callers_commits_and_lines_are_found(change: Change) -> None:
    tools = LookupTools(change)
    assert tools.search("run").splitlines() == [
        "app.py:1: def run():", "other.py:1: from app import run", "other.py:3: run()",
    ]  # fmt: skip
    assert tools.search("--help") == "No file has '--help' as a whole word."
    newest, oldest = tools.file_log("app.py").splitlines()
    assert newest.endswith("Return two, not one")
    assert tools.show_commit(newest.split()[0], "app.py").splitlines() == [
        "Return two, not one", "@@ line 2 before, line 2 after", "-    return 1", "+    return 2",
    ]  # fmt: skip
    blamed = tools.blame("app.py", 1, 2).splitlines()
    assert [line.split()[1] for line in blamed] == [oldest.split()[0], newest.split()[0]]
    assert blamed[1].endswith("|     return 2")
    assert len(tools.blame("long.txt", 1, 10**9).splitlines()) == MAX_BLAMED


@pytest.mark.parametrize("commit", ["HEAD", "--all", "", "0" * 40, "main", "abcdef"])
def test_f24_only_a_commit_of_the_files_own_history_is_shown(change: Change, commit: str) -> None:
    with pytest.raises(ToolCallError, match="is not in the history"):
        LookupTools(change).show_commit(commit, "app.py")


def test_what_can_not_be_is_an_answer_and_no_failure(change: Change) -> None:
    tools = LookupTools(change)
    wrong: list[Callable[[], str]] = [
        lambda: tools.read_file("app.py", 900),
        lambda: tools.show_diff("other.py"),
        lambda: tools.blame("app.py", 900, 901),
    ]
    for call in wrong:
        with pytest.raises(ToolCallError):
            call()


def test_of_a_patch_there_is_only_what_it_shows(tmp_path: Path) -> None:
    diff = tmp_path / "a.diff"
    diff.write_text(
        "--- a/app.py\n+++ b/app.py\n@@ -5,2 +5,2 @@\n def run():\n-    return 1\n+    return 2\n",
        encoding="utf-8",
    )
    with diff.open("rb") as patch:
        change = write_snapshot(tmp_path / "change", patch=patch)
    tools = LookupTools(change)
    assert [tool.__name__ for tool in tools.tools(history=True)] == ["read_file", "show_diff"]
    assert "(a patch: lines not in it are blank)" in tools.read_file("app.py")
    assert tools.show_diff("app.py").splitlines()[-1] == "+    6 |     return 2"
    with pytest.raises(ToolCallError, match="only a patch"):
        tools.search("run")
