"""Opens repositories of every layout, and resolves the user's ranges to object ids."""

import os
import subprocess
from pathlib import Path

import pytest

from leadhand.errors import InputError, ToolError
from leadhand.tools.git.comparison import DiffLimits, compare
from leadhand.tools.git.repository import Repository, RevisionRange, open_repository, resolve_range
from leadhand.tools.git.trees import read_blob
from leadhand.tools.git.worktree import staged_range, worktree_range
from tests.repositories import Repo, hermetic


def opened(folder: Path, scratch: Path) -> Repository:
    return open_repository(folder, scratch / "own.git")


def changed_paths(repository: Repository, ends: RevisionRange) -> list[str]:
    differences, _ = compare(repository.git_dir, ends.base, ends.head, limits=DiffLimits())
    return [difference.path for difference in differences]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Two commits on main: a.py, then b.py."""
    repo = Repo(tmp_path / "theirs")
    repo.commit("Add a", {"a.py": "a = 1\n"})
    repo.commit("Add b", {"b.py": "b = 1\n"})
    return repo


class TestRanges:
    def test_one_commit_is_compared_with_its_first_parent(self, repo: Repo, tmp_path: Path) -> None:
        first, second = repo.git("rev-parse", "HEAD~1"), repo.git("rev-parse", "HEAD")
        ends = resolve_range(opened(repo.folder, tmp_path))
        assert ends == RevisionRange("Add b", first, second, first)

    def test_a_first_commit_is_compared_with_the_empty_tree(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        repository = opened(repo.folder, tmp_path)
        ends = resolve_range(repository, "HEAD~1")
        assert (ends.base, ends.history) == (repository.empty_tree, None)
        assert changed_paths(repository, ends) == ["a.py"]

    def test_two_dots_compare_two_ends_and_an_empty_side_is_head(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        first, second = repo.git("rev-parse", "HEAD~1"), repo.git("rev-parse", "HEAD")
        repository = opened(repo.folder, tmp_path)
        assert resolve_range(repository, "HEAD~1..") == RevisionRange(
            "HEAD~1..", first, second, first
        )

    def test_three_dots_start_at_the_merge_base(self, repo: Repo, tmp_path: Path) -> None:
        fork = repo.git("rev-parse", "HEAD")
        repo.git("checkout", "-q", "-b", "side")
        repo.commit("On the side", {"side.py": "s = 1\n"})
        repo.git("checkout", "-q", "main")
        repo.commit("Meanwhile", {"c.py": "c = 1\n"})
        repository = opened(repo.folder, tmp_path)
        ends = resolve_range(repository, "main...side")
        assert ends.base == fork
        assert changed_paths(repository, ends) == ["side.py"]

    def test_a_merge_is_compared_with_its_first_parent(self, repo: Repo, tmp_path: Path) -> None:
        repo.git("checkout", "-q", "-b", "side", "HEAD~1")
        repo.commit("On the side", {"side.py": "s = 1\n"})
        repo.git("checkout", "-q", "main")
        repo.git("merge", "-q", "--no-ff", "-m", "Merge side", "side")
        repository = opened(repo.folder, tmp_path)
        assert changed_paths(repository, resolve_range(repository)) == ["side.py"]

    @pytest.mark.parametrize("name", ["v1", "v1-signed", "origin", "origin/main", "@", "main^{}"])
    def test_tags_remote_branches_and_short_names_are_known(
        self, repo: Repo, tmp_path: Path, name: str
    ) -> None:
        repo.git("tag", "v1")
        repo.git("tag", "-a", "-m", "annotated", "v1-signed")
        repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
        repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
        repo.git("pack-refs", "--all")
        ends = resolve_range(opened(repo.folder, tmp_path), name)
        assert ends.head == repo.git("rev-parse", "HEAD")

    @pytest.mark.parametrize(
        "name",
        ["--output=x", "-h", "--all..HEAD", "HEAD..--upload-pack=x", "HEAD:a.py", ":/Add", "a b",
         "HEAD\n--output=x", "HEAD\0x", "main@{upstream}", "HEAD^{/Add}", "a..b..c", "x" * 2000],
    )  # fmt: skip
    def test_f24_what_could_be_an_option_or_worse_is_refused_in_one_line(
        self, repo: Repo, tmp_path: Path, name: str
    ) -> None:
        with pytest.raises(InputError, match="not a revision that leadhand takes") as caught:
            resolve_range(opened(repo.folder, tmp_path), name)
        assert "\n" not in str(caught.value)
        assert not (tmp_path / "own.git" / "x").exists()
        assert not Path("x").exists()

    def test_an_unknown_revision_is_named_with_near_ones(self, repo: Repo, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"no commit 'mian' .* did you mean main"):
            resolve_range(opened(repo.folder, tmp_path), "mian")

    @pytest.mark.parametrize(("what", "kind"), [("HEAD^{tree}", "tree"), ("HEAD:a.py", "file")])
    def test_a_tag_of_something_else_is_said_to_be_no_commit(
        self, repo: Repo, tmp_path: Path, what: str, kind: str
    ) -> None:
        repo.git("tag", "odd", what)
        with pytest.raises(InputError, match=f"^odd is a {kind}, not a commit: give a commit"):
            resolve_range(opened(repo.folder, tmp_path), "odd")

    def test_f28_an_empty_range_is_said_to_be_empty(self, repo: Repo, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"main\.\.HEAD is empty"):
            resolve_range(opened(repo.folder, tmp_path), "main..HEAD")

    def test_unrelated_histories_have_no_merge_base(self, repo: Repo, tmp_path: Path) -> None:
        repo.git("checkout", "-q", "--orphan", "other")
        repo.commit("Elsewhere")
        with pytest.raises(InputError, match="no common ancestor"):
            resolve_range(opened(repo.folder, tmp_path), "main...other")

    def test_replaced_objects_are_not_honoured(self, repo: Repo, tmp_path: Path) -> None:
        repo.git("replace", "HEAD", "HEAD~1")
        assert resolve_range(opened(repo.folder, tmp_path)).title == "Add b"


class TestOpening:
    def test_f28_a_repository_without_commits_says_so(self, tmp_path: Path) -> None:
        repo = Repo(tmp_path / "theirs")
        with pytest.raises(InputError, match="has no commits yet"):
            resolve_range(opened(repo.folder, tmp_path))

    def test_a_folder_outside_any_repository_says_so(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="is not in a git repository"):
            opened(tmp_path, tmp_path)

    def test_f31_what_can_not_be_read_says_why(self, tmp_path: Path) -> None:
        loop = tmp_path / "loop"
        loop.symlink_to(loop)
        for folder, why in ((tmp_path / "gone", "no such file"), (loop, "symbolic links")):
            with pytest.raises(InputError, match=rf"can't read .*{why}"):
                opened(folder, tmp_path)

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_f31_a_folder_without_permission_says_so(self, repo: Repo, tmp_path: Path) -> None:
        (repo.folder / ".git").chmod(0)
        try:
            with pytest.raises(InputError, match="permission denied"):
                opened(repo.folder, tmp_path)
        finally:
            (repo.folder / ".git").chmod(0o755)

    def test_a_subfolder_a_bare_clone_and_the_git_folder_itself_open(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        head = repo.commit("Add c", {"deep/er/c.py": "c = 1\n"})
        bare = tmp_path / "bare.git"
        repo.git("clone", "-q", "--bare", str(repo.folder), str(bare))
        for number, folder in enumerate((repo.folder / "deep/er", bare, repo.folder / ".git")):
            assert resolve_range(opened(folder, tmp_path / str(number))).head == head

    def test_linked_work_trees_have_their_own_head_and_index(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        linked = tmp_path / "linked"
        repo.git("worktree", "add", "-q", "--detach", str(linked), "HEAD~1")
        (linked / "new.py").write_text("n = 1\n")
        repository = opened(linked, tmp_path)
        assert resolve_range(repository).title == "Add a"
        assert changed_paths(repository, worktree_range(repository)) == ["new.py"]

    def test_a_submodule_opens_as_a_repository_of_its_own(self, repo: Repo, tmp_path: Path) -> None:
        outer = Repo(tmp_path / "outer")
        outer.git("-c", "protocol.file.allow=always", "submodule", "add", str(repo.folder), "sub")
        repository = opened(outer.folder / "sub", tmp_path)
        assert resolve_range(repository).title == "Add b"

    def test_a_repository_that_borrows_objects_itself_opens(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        borrower = tmp_path / 'quoted " \\ name\nin two lines'
        repo.git("clone", "-q", "--shared", str(repo.folder), str(borrower))
        repository = opened(borrower, tmp_path)
        assert read_blob(repository.git_dir, resolve_range(repository).head, "b.py") == "b = 1\n"

    def test_sha256_repositories_open(self, tmp_path: Path) -> None:
        repo = Repo(tmp_path / "theirs", "--object-format=sha256")
        head = repo.commit("Add a", {"a.py": "a = 1\n"})
        repo.write("b.py", "b = 1\n")
        repository = opened(repo.folder, tmp_path)
        ends = resolve_range(repository)
        assert (len(head), ends.head, ends.base) == (64, head, repository.empty_tree)
        assert changed_paths(repository, ends) == ["a.py"]
        assert changed_paths(repository, worktree_range(repository)) == ["b.py"]

    def test_branches_kept_as_a_reftable_are_refused_plainly(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        config = repo.folder / ".git" / "config"
        config.write_text(config.read_text() + "[extensions]\n\trefStorage = reftable\n")
        with pytest.raises(InputError, match="reftable"):
            opened(repo.folder, tmp_path)

    def test_a_pointer_to_nowhere_is_named(self, tmp_path: Path) -> None:
        (tmp_path / ".git").write_text("gitdir: gone\n")
        with pytest.raises(InputError, match="which is not a git repository"):
            opened(tmp_path, tmp_path / "scratch")

    def test_f28_a_pointer_with_a_null_byte_is_one_line(self, tmp_path: Path) -> None:
        (tmp_path / ".git").write_bytes(b"gitdir: a\0b\n")
        with pytest.raises(InputError, match=r"\.git has a null byte in it; is it damaged\?$"):
            opened(tmp_path, tmp_path / "scratch")

    def test_without_git_the_error_says_what_to_install(
        self, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(ToolError, match="git is not installed"):
            resolve_range(opened(repo.folder, tmp_path))

    def test_refs_with_names_git_would_refuse_are_passed_over(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        head = repo.git("rev-parse", "HEAD")
        packed = repo.folder / ".git" / "packed-refs"
        packed.write_text(
            f"{head} refs/heads/fine\n{head} refs/heads/../up\n{head} refs/heads/-x y\n"
            f"{head} HEAD\n{head} refs/heads/x.lock\nnothex refs/heads/bad\n"
        )
        repository = opened(repo.folder, tmp_path)
        kept = (repository.git_dir / "packed-refs").read_text().splitlines()[1:]
        assert [line.split(" ", 1)[1] for line in kept] == ["refs/heads/fine", "refs/heads/main"]


class TestIncompleteClones:
    def test_f28_the_cut_off_commit_of_a_shallow_clone_has_no_base(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        clone = tmp_path / "shallow"
        repo.git("clone", "-q", "--depth=1", f"file://{repo.folder}", str(clone))
        repository = opened(clone, tmp_path)
        for asked in (None, "HEAD~1..HEAD"):
            with pytest.raises(InputError, match=r"shallow clone.*git fetch --unshallow"):
                resolve_range(repository, asked)

    def test_f28_missing_objects_are_named_and_never_fetched(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        clone = tmp_path / "partial"
        repo.git("config", "uploadpack.allowFilter", "true")
        repo.git(
            "clone",
            "-q",
            "--filter=blob:none",
            "--no-checkout",
            f"file://{repo.folder}",
            str(clone),
        )
        before = sorted((clone / ".git" / "objects").rglob("*"))
        repository = opened(clone, tmp_path)
        with pytest.raises(InputError, match=r"missing.*leadhand fetches nothing"):
            changed_paths(repository, resolve_range(repository))
        assert sorted((clone / ".git" / "objects").rglob("*")) == before


class TestStagedAndWorkTree:
    def test_staged_is_the_index_against_head(self, repo: Repo, tmp_path: Path) -> None:
        repo.write("a.py", "a = 2\n")
        repo.git("add", "a.py")
        repo.write("a.py", "a = 3\n")
        repo.write("new.py", "n = 1\n")
        repository = opened(repo.folder, tmp_path)
        ends = staged_range(repository)
        assert changed_paths(repository, ends) == ["a.py"]
        assert read_blob(repository.git_dir, ends.head, "a.py") == "a = 2\n"

    def test_staged_before_the_first_commit_is_against_the_empty_tree(self, tmp_path: Path) -> None:
        repo = Repo(tmp_path / "theirs")
        repo.write("a.py", "a = 1\n")
        repo.git("add", "a.py")
        repository = opened(repo.folder, tmp_path)
        assert changed_paths(repository, staged_range(repository)) == ["a.py"]

    def test_unmerged_files_can_not_be_reviewed_as_staged(self, repo: Repo, tmp_path: Path) -> None:
        repo.git("checkout", "-q", "-b", "side")
        repo.commit("Side", {"a.py": "a = 'side'\n"})
        repo.git("checkout", "-q", "main")
        repo.commit("Main", {"a.py": "a = 'main'\n"})
        subprocess.run(
            ["git", "merge", "side"], cwd=repo.folder, env=hermetic(), capture_output=True
        )
        repository = opened(repo.folder, tmp_path)
        with pytest.raises(InputError, match="unmerged files"):
            staged_range(repository)
        assert changed_paths(repository, worktree_range(repository)) == ["a.py"]

    def test_the_work_tree_is_what_is_tracked_or_not_ignored(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        repo.commit("Ignore", {".gitignore": "*.log\nbuild/\n", "gone.py": "g = 1\n"})
        repo.write("a.py", "a = 2\n")
        (repo.folder / "gone.py").unlink()
        repo.write("new/n.py", "n = 1\n")
        repo.write("x.log", "noise\n")
        repo.write("build/out.py", "o = 1\n")
        repo.write("private.txt", "p\n")
        repo.write(".git/info/exclude", "private.txt\n")
        repository = opened(repo.folder, tmp_path)
        ends = worktree_range(repository)
        assert changed_paths(repository, ends) == ["a.py", "gone.py", "new/n.py"]
        assert read_blob(repository.git_dir, ends.head, "a.py") == "a = 2\n"

    def test_their_index_and_objects_stay_untouched(self, repo: Repo, tmp_path: Path) -> None:
        repo.write("a.py", "a = 2\n")
        git_dir = repo.folder / ".git"
        before = {file: file.stat().st_mtime_ns for file in git_dir.rglob("*")}
        repository = opened(repo.folder, tmp_path)
        worktree_range(repository)
        assert {file: file.stat().st_mtime_ns for file in git_dir.rglob("*")} == before

    def test_line_ends_that_git_converts_are_no_change(self, repo: Repo, tmp_path: Path) -> None:
        repo.commit("Convert", {".gitattributes": "* text eol=crlf\n"})
        repo.write("a.py", "a = 1\r\n")
        repository = opened(repo.folder, tmp_path)
        assert changed_paths(repository, worktree_range(repository)) == []

    def test_a_large_file_whose_pointer_is_tracked_is_no_change(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
        repo.write(
            "model.bin",
            f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 5\n",
        )
        repo.commit("Track a pointer")
        repo.write("model.bin", "hello")
        repository = opened(repo.folder, tmp_path)
        assert changed_paths(repository, worktree_range(repository)) == []

    def test_what_a_sparse_checkout_leaves_out_is_not_deleted(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        repo.git("update-index", "--skip-worktree", "a.py")
        (repo.folder / "a.py").unlink()
        repository = opened(repo.folder, tmp_path)
        assert changed_paths(repository, worktree_range(repository)) == []

    def test_a_file_larger_than_the_cap_is_listed_not_read(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        repo.write("huge.txt", b"x\n" * (1 << 20))
        repository = opened(repo.folder, tmp_path)
        ends = worktree_range(repository)
        assert ends.skipped == (("huge.txt", "larger than 1 MiB"),)
        assert changed_paths(repository, ends) == []

    def test_a_bare_repository_has_no_work_tree(self, tmp_path: Path) -> None:
        repo = Repo(tmp_path / "bare.git", "--bare")
        with pytest.raises(InputError, match="no work tree"):
            worktree_range(opened(repo.folder, tmp_path))

    def test_within_a_commit_hook_the_index_of_that_commit_is_read(
        self, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        repo.write("a.py", "a = 2\n")
        repo.git("add", "a.py")
        git_dir = repo.folder / ".git"
        (git_dir / "next-index").write_bytes((git_dir / "index").read_bytes())
        repo.git("reset", "-q")
        monkeypatch.setenv("GIT_INDEX_FILE", ".git/next-index")
        repository = opened(repo.folder, tmp_path)
        assert changed_paths(repository, staged_range(repository)) == ["a.py"]
