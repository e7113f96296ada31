"""Reads of trees and of the history, as lenses use them."""

from pathlib import Path

import pytest

from leadhand.errors import InputError
from leadhand.tools.git.history import PatchHunk, log, log_patches
from leadhand.tools.git.repository import open_repository
from leadhand.tools.git.trees import grep, list_tree, read_blob, read_blobs
from tests.repositories import Repo


class Opened:
    """A repository under test, our own bare one, and its HEAD."""

    def __init__(self, repo: Repo, scratch: Path) -> None:
        self.repo = repo
        self.head = repo.git("rev-parse", "HEAD")
        self.git_dir = open_repository(repo.folder, scratch).git_dir


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    """A change that no test modifies."""
    tmp_path = tmp_path_factory.mktemp("reading")
    repo = Repo(tmp_path / "theirs")
    repo.write("src/a.py", "def alpha():\n    return beta(1)\n")
    repo.write("src/b.py", "def beta(x):\n    return x\n")
    repo.write("notes.md", "beta is here\n")
    repo.commit("Add alpha and beta\n\nWith a body.")
    repo.commit("Fix beta", {"src/b.py": "def beta(x):\n    return x + 1\n\n\nbeta_2 = 2\n"})
    (repo.folder / "link.py").symlink_to("src/a.py")
    repo.write("bytes.py", b"x = '\0'\n")
    repo.write("latin.py", "é = 1\r\n".encode("latin-1"))
    repo.commit("Add odd files")
    return Opened(repo, tmp_path / "own.git")


class TestGrep:
    def test_gives_whole_words_with_path_line_and_text(self, opened: Opened) -> None:
        assert grep(opened.git_dir, opened.head, ["beta", "alpha"]) == [
            ("src/a.py", 1, "def alpha():"),
            ("src/a.py", 2, "    return beta(1)"),
            ("src/b.py", 1, "def beta(x):"),
        ]

    def test_takes_words_literally_and_none_as_an_option(self, opened: Opened) -> None:
        assert grep(opened.git_dir, opened.head, ["b.ta", "--output=x", "", "be\nta", "-e"]) == []

    def test_any_sign_in_a_word_stands_for_itself(self, tmp_path: Path) -> None:
        repo = Repo(tmp_path / "signs")
        words = ["a.b", "a(b)c", "x[1]y", "p|q", "m^n", "s$t", "k{2}l", "u*v", "w+z", "b\\c", "d?e"]
        repo.write("a.py", "".join(f"{word}\n" for word in words) + "aXb\nabc\nk22l\nkkl\n")
        repo.commit()
        found = Opened(repo, tmp_path / "signs.git")
        assert [text for _, _, text in grep(found.git_dir, found.head, words)] == words

    def test_takes_thousands_of_words_and_the_longest_that_fits(self, opened: Opened) -> None:
        words = [*(f"nowhere_{n}" for n in range(3000)), "bet", "beta_", "beta_2"]
        assert grep(opened.git_dir, opened.head, words) == [("src/b.py", 5, "beta_2 = 2")]

    def test_looks_where_pathspecs_say_and_stops_at_the_cap(self, opened: Opened) -> None:
        hits = grep(opened.git_dir, opened.head, ["beta"], pathspecs=("*.md",))
        assert hits == [("notes.md", 1, "beta is here")]
        assert len(grep(opened.git_dir, opened.head, ["beta", "x"], max_hits=2)) == 2

    def test_without_words_runs_nothing(self, opened: Opened) -> None:
        assert grep(opened.git_dir, opened.head, []) == []


class TestBlobs:
    def test_text_comes_with_plain_line_ends(self, opened: Opened) -> None:
        assert read_blob(opened.git_dir, opened.head, "latin.py") == "\ufffd = 1\n"

    @pytest.mark.parametrize(
        "path", ["link.py", "bytes.py", "src", "gone.py", "../a.py", "*.py", ":(top)src/a.py", "-x"]
    )
    def test_what_is_no_regular_text_file_gives_none(self, opened: Opened, path: str) -> None:
        assert read_blob(opened.git_dir, opened.head, path) is None

    def test_a_file_over_the_limit_gives_none(self, opened: Opened) -> None:
        assert read_blob(opened.git_dir, opened.head, "src/a.py", max_bytes=5) is None

    def test_many_come_at_once_and_up_to_a_total(self, opened: Opened) -> None:
        paths = [*list_tree(opened.git_dir, opened.head), *(f"none/{n}" for n in range(200))]
        found = read_blobs(opened.git_dir, opened.head, paths)
        assert sorted(found) == ["latin.py", "notes.md", "src/a.py", "src/b.py"]
        assert sorted(read_blobs(opened.git_dir, opened.head, paths, total_bytes=30)) == [
            "latin.py",
            "notes.md",
        ]

    def test_only_full_ids_are_taken(self, opened: Opened) -> None:
        with pytest.raises(InputError, match="not a full object id"):
            read_blob(opened.git_dir, "HEAD", "src/a.py")

    def test_a_tree_lists_its_regular_files(self, opened: Opened) -> None:
        listed = list_tree(opened.git_dir, opened.head)
        assert listed == ["bytes.py", "latin.py", "notes.md", "src/a.py", "src/b.py"]
        assert list_tree(opened.git_dir, opened.head, max_paths=2) == listed[:2]


class TestHistory:
    def test_commits_come_newest_first_with_the_files_they_touched(self, opened: Opened) -> None:
        commits = log(opened.git_dir, opened.head, max_count=2)
        assert [(commit.subject, commit.files) for commit in commits] == [
            ("Add odd files", ("bytes.py", "latin.py", "link.py")),
            ("Fix beta", ("src/b.py",)),
        ]
        assert commits[0].id == opened.head
        assert commits[0].date.startswith("2024-01-02T03:04:05")

    def test_paths_narrow_commits_and_files(self, opened: Opened) -> None:
        commits = log(
            opened.git_dir, opened.head, max_count=9, paths=("src/b.py", "*", "-x", "../x")
        )
        assert [(commit.subject, commit.files) for commit in commits] == [
            ("Fix beta", ("src/b.py",)),
            ("Add alpha and beta", ("src/b.py",)),
        ]
        assert log(opened.git_dir, opened.head, max_count=9, paths=("no\nsuch",)) == []

    def test_merges_and_empty_commits_are_handled(self, tmp_path: Path) -> None:
        repo = Repo(tmp_path / "theirs")
        repo.commit("Empty first")
        repo.git("checkout", "-q", "-b", "side")
        repo.commit("Side", {"s.py": "s = 1\n"})
        repo.git("checkout", "-q", "main")
        repo.commit("Empty")
        repo.git("merge", "-q", "--no-ff", "-m", "Merge", "side")
        found = Opened(repo, tmp_path / "own.git")
        commits = log(found.git_dir, found.head, max_count=9)
        assert sorted((commit.subject, commit.files) for commit in commits) == [
            ("Empty", ()),
            ("Empty first", ()),
            ("Side", ("s.py",)),
        ]

    def test_patches_hold_removed_and_added_lines_with_their_numbers(self, opened: Opened) -> None:
        patches = list(log_patches(opened.git_dir, opened.head, max_count=9, paths=("src/b.py",)))
        assert [patch.commit.subject for patch in patches] == ["Fix beta", "Add alpha and beta"]
        assert patches[0].path == "src/b.py"
        assert patches[0].hunks == (
            PatchHunk(2, ("    return x",), 2, ("    return x + 1", "", "", "beta_2 = 2")),
        )
        assert patches[1].hunks == (PatchHunk(0, (), 1, ("def beta(x):", "    return x")),)

    def test_lines_that_look_like_headers_stay_lines(self, tmp_path: Path) -> None:
        repo = Repo(tmp_path / "theirs")
        text = "-- a/x\n++ b/y\ndiff --git a/p b/p\n@@ -1 +1 @@\n\x01evil\n"
        repo.commit("Add", {"a.sql": text})
        (repo.folder / "a.sql").unlink()
        repo.commit("Remove")
        found = Opened(repo, tmp_path / "own.git")
        removal, addition = log_patches(found.git_dir, found.head, max_count=9)
        lines = tuple(text.splitlines())
        assert (removal.path, removal.hunks) == ("a.sql", (PatchHunk(1, lines, 0, ()),))
        assert (addition.path, addition.hunks) == ("a.sql", (PatchHunk(0, (), 1, lines),))

    def test_patches_end_early_at_the_byte_limit(self, opened: Opened) -> None:
        whole = list(log_patches(opened.git_dir, opened.head, max_count=9))
        part = list(log_patches(opened.git_dir, opened.head, max_count=9, max_bytes=300))
        assert 0 < len(part) < len(whole)
        assert part == whole[: len(part)]
