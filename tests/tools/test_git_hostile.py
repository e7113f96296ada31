"""Hostile repositories: none of their code is run, and nothing outside of them is read."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from leadhand.errors import InputError, ToolError
from leadhand.tools.git.comparison import DiffLimits, compare
from leadhand.tools.git.history import log, log_patches
from leadhand.tools.git.process import GitTimeout, run_git
from leadhand.tools.git.repository import Repository, open_repository, resolve_range
from leadhand.tools.git.trees import grep, list_tree, read_blob
from leadhand.tools.git.worktree import staged_range, worktree_range
from tests.patience import HANG_S
from tests.repositories import Repo, hermetic

_HOOKS = ("post-checkout", "pre-commit", "post-index-change", "fsmonitor-watchman", "pre-receive")


@pytest.fixture
def canaries(tmp_path: Path) -> Path:
    """A folder in which every command of the hostile repository would leave a file."""
    folder = tmp_path / "canaries"
    folder.mkdir()
    return folder


@pytest.fixture
def hostile(tmp_path: Path, canaries: Path) -> Repo:
    """A repository whose settings run a command wherever git lets them."""
    repo = Repo(tmp_path / "theirs")
    repo.write("a.py", "a = 1\n")
    repo.write("b.bin", b"\0\1")
    repo.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
    repo.commit("First")
    repo.commit("Second", {"a.py": "a = 2\n", "b.bin": b"\0\2"})

    def script(name: str) -> str:
        file = tmp_path / f"{name}.sh"
        file.write_text(f"#!/bin/sh\ntouch '{canaries}/{name}'\ncat\n")
        file.chmod(0o755)
        return str(file)

    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for hook in _HOOKS:
        (hooks / hook).write_text(f"#!/bin/sh\ntouch '{canaries}/hook-{hook}'\n")
        (hooks / hook).chmod(0o755)
    included = tmp_path / "included"
    included.write_text(f"[core]\n\teditor = {script('editor')}\n\tpager = {script('pager')}\n")
    (repo.folder / ".git" / "config").write_text(
        f"""[core]
    repositoryformatversion = 1
    fsmonitor = {script("fsmonitor")}
    hooksPath = {hooks}
    sshCommand = {script("ssh")}
    alternateRefsCommand = {script("alternates")}
    gitProxy = {script("proxy")}
    askPass = {script("askpass")}
    attributesFile = {tmp_path / "attributes"}
[include]
    path = {included}
[diff]
    external = {script("external")}
[diff "evil"]
    textconv = {script("textconv")}
    command = {script("command")}
[filter "evil"]
    clean = {script("clean")}
    smudge = {script("smudge")}
    process = {script("process")}
    required = true
[merge "evil"]
    driver = {script("driver")}
[pager]
    log = {script("pager-log")}
    grep = {script("pager-grep")}
[alias]
    log = !{script("alias")}
[gpg]
    program = {script("gpg")}
[log]
    showSignature = true
[credential]
    helper = {script("credential")}
[remote "origin"]
    url = ext::{script("remote")}
    promisor = true
    uploadpack = {script("uploadpack")}
[extensions]
    partialClone = origin
"""
    )
    return repo


def read_everything(repo: Repo, scratch: Path) -> None:
    repository = open_repository(repo.folder, scratch)
    git_dir = repository.git_dir
    for ends in (resolve_range(repository), staged_range(repository), worktree_range(repository)):
        compare(git_dir, ends.base, ends.head, limits=DiffLimits())
    head = resolve_range(repository).head
    assert read_blob(git_dir, head, "a.py") == "a = 2\n"
    assert grep(git_dir, head, ["a"]) == [("a.py", 1, "a = 2")]
    assert list_tree(git_dir, head) == [".gitattributes", "a.py", "b.bin"]
    assert [commit.subject for commit in log(git_dir, head, max_count=9)] == ["Second", "First"]
    assert list(log_patches(git_dir, head, max_count=9, paths=("a.py",)))


def test_f25_nothing_that_their_configuration_names_is_run(
    hostile: Repo, canaries: Path, tmp_path: Path
) -> None:
    hostile.write("a.py", "a = 3\n")
    hostile.write("new.py", "n = 1\n")
    changed = open_repository(hostile.folder, tmp_path / "changed.git")
    worktree_range(changed)
    hostile.write("a.py", "a = 2\n")
    read_everything(hostile, tmp_path / "own.git")
    assert list(canaries.iterdir()) == []
    # The trap is armed: git itself, in that work tree, does run what the configuration names.
    subprocess.run(
        ["git", "status"], cwd=hostile.folder, env=hermetic(), capture_output=True, timeout=HANG_S
    )
    assert list(canaries.iterdir()) != []


def test_f25_the_users_environment_does_not_reach_git(
    hostile: Repo, canaries: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = hostile.folder / ".git" / "config"
    for name, value in {
        "GIT_CONFIG": str(settings),
        "GIT_CONFIG_GLOBAL": str(settings),
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": f"touch {canaries}/environment",
        "GIT_CONFIG_PARAMETERS": f"'diff.external=touch {canaries}/parameters'",
        "GIT_EXTERNAL_DIFF": f"touch {canaries}/external-diff",
        "GIT_DIR": str(tmp_path / "nowhere"),
        "GIT_OBJECT_DIRECTORY": str(tmp_path / "nowhere"),
        "GIT_PAGER": f"touch {canaries}/pager",
        "GIT_TRACE2": str(canaries / "trace"),
        "PAGER": f"touch {canaries}/pager",
    }.items():
        monkeypatch.setenv(name, value)
    read_everything(hostile, tmp_path / "own.git")
    assert list(canaries.iterdir()) == []


def test_f25_a_git_in_the_current_folder_is_not_the_one_that_runs(
    hostile: Repo, canaries: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = hostile.write("git", f"#!/bin/sh\ntouch '{canaries}/git'\n")
    program.chmod(0o755)
    monkeypatch.chdir(hostile.folder)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.pathsep}{os.environ['PATH']}")
    resolve_range(open_repository(Path(), tmp_path / "own.git"))
    assert list(canaries.iterdir()) == []


def test_f26_attributes_can_not_make_text_binary(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "theirs")
    repo.write(".gitattributes", "*.py binary -diff\n")
    repo.write("a.py", "a = 1\n")
    repo.write(".git/info/attributes", "*.py binary -diff\n")
    repo.commit("First")
    repository = open_repository(repo.folder, tmp_path / "own.git")
    ends = resolve_range(repository)
    differences, _ = compare(repository.git_dir, ends.base, ends.head, limits=DiffLimits())
    found = {difference.path: difference for difference in differences}
    assert not found["a.py"].binary
    assert found["a.py"].hunks == [(0, 0, 1, 1)]
    assert grep(repository.git_dir, ends.head, ["a"]) == [("a.py", 1, "a = 1")]


class TestWorkTree:
    @pytest.fixture
    def repo(self, tmp_path: Path) -> Repo:
        (tmp_path / "secret").write_text("secret = 1\n")
        repo = Repo(tmp_path / "theirs")
        repo.commit("First", {"src/a.py": "a = 1\n"})
        return repo

    def blobs(self, repo: Repo, scratch: Path) -> tuple[Repository, str, dict[str, str]]:
        repository = open_repository(repo.folder, scratch)
        ends = worktree_range(repository)
        return repository, ends.head, dict(ends.skipped)

    def test_f17_a_link_to_a_file_outside_is_kept_as_a_link(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        (repo.folder / "src" / "a.py").unlink()
        (repo.folder / "src" / "a.py").symlink_to(tmp_path / "secret")
        (repo.folder / "more.py").symlink_to(tmp_path / "secret")
        repository, tree, _ = self.blobs(repo, tmp_path / "own.git")
        listing = run_git(repository.git_dir, "ls-tree", "-r", tree).decode()
        assert [line.split()[0] for line in listing.splitlines()] == ["120000", "120000"]
        assert "secret = 1" not in str(grep(repository.git_dir, tree, ["secret"]))

    def test_f17_a_folder_that_became_a_link_is_not_entered(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "a.py").write_text("secret = 1\n")
        (repo.folder / "src" / "a.py").unlink()
        (repo.folder / "src").rmdir()
        (repo.folder / "src").symlink_to(outside)
        repository, tree, _ = self.blobs(repo, tmp_path / "own.git")
        assert read_blob(repository.git_dir, tree, "src/a.py") is None
        assert list_tree(repository.git_dir, tree) == []

    def test_f17_a_pipe_in_place_of_a_file_does_not_block(self, repo: Repo, tmp_path: Path) -> None:
        (repo.folder / "src" / "a.py").unlink()
        os.mkfifo(repo.folder / "src" / "a.py")
        _, _, skipped = self.blobs(repo, tmp_path / "own.git")
        assert skipped == {"src/a.py": "not a regular file"}

    @pytest.mark.parametrize("name", ["HEAD", "packed-refs", "index", "shallow", "commondir"])
    def test_f17_a_pipe_in_place_of_one_of_gits_own_files_does_not_block(
        self, repo: Repo, tmp_path: Path, name: str
    ) -> None:
        file = repo.folder / ".git" / name
        file.unlink(missing_ok=True)
        os.mkfifo(file)
        if name == "HEAD":
            with pytest.raises(InputError, match="not in a git repository"):
                self.blobs(repo, tmp_path / "own.git")
        else:
            assert self.blobs(repo, tmp_path / "own.git")[2] == {}

    def test_f17_index_entries_with_unsafe_paths_are_listed_not_opened(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        oid = repo.git("rev-parse", "HEAD:src/a.py")
        index = repo.folder / ".git" / "index"
        repo.git("update-index", "--add", "--cacheinfo", f"100644,{oid},xx/secret")
        repo.git("update-index", "--index-version", "2")
        content = index.read_bytes()[:-20].replace(b"xx/secret", b"../secret")
        index.write_bytes(content + hashlib.sha1(content).digest())
        _, _, skipped = self.blobs(repo, tmp_path / "own.git")
        assert skipped == {"../secret": "a path that git would not check out"}

    def test_another_repository_inside_is_listed(self, repo: Repo, tmp_path: Path) -> None:
        inner = Repo(repo.folder / "inner")
        inner.commit("Inner", {"x.py": "x = 1\n"})
        _, _, skipped = self.blobs(repo, tmp_path / "own.git")
        assert skipped == {"inner/": "another repository"}


def test_f35_line_ends_in_names_stay_in_the_name(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "theirs")
    names = ["a\nb.py", "diff --git a b.py", "t\tab.py", 'q"uote.py', "\x01\r.py"]
    head = repo.commit("Odd names", dict.fromkeys(names, "x = 1\n"))
    repository = open_repository(repo.folder, tmp_path / "own.git")
    git_dir = repository.git_dir
    ends = resolve_range(repository)
    differences, _ = compare(git_dir, ends.base, ends.head, limits=DiffLimits())
    assert sorted(item.path for item in differences) == sorted(names)
    assert all(item.hunks == [(0, 0, 1, 1)] for item in differences)
    assert sorted(list_tree(git_dir, head)) == sorted(names)
    assert sorted(grep(git_dir, head, ["x"])) == sorted((name, 1, "x = 1") for name in names)
    assert sorted(log(git_dir, head, max_count=1)[0].files) == sorted(names)
    assert sorted(patch.path for patch in log_patches(git_dir, head, max_count=1)) == sorted(names)
    assert read_blob(git_dir, head, "a\nb.py") == "x = 1\n"


def test_f28_huge_files_are_left_uncompared_where_memory_is_short(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "theirs")
    repo.write("a*.dat", b"line\n" * 1_000_000)
    repo.write("gone.dat", b"other\n" * 1_000_000)
    repo.write("small.py", "x = 1\n" * 20)
    repo.commit("First")
    (repo.folder / "a*.dat").unlink()
    (repo.folder / "gone.dat").unlink()
    (repo.folder / "small.py").unlink()
    repo.commit("Second", {"b.dat": b"line\n" * 900_000, "moved.py": "x = 1\n" * 20 + "x = 2\n"})
    repository = open_repository(repo.folder, tmp_path / "own.git")
    ends = resolve_range(repository)

    def found(huge_bytes: int) -> list[tuple[str, str | None, bool, int]]:
        differences, _ = compare(
            repository.git_dir, ends.base, ends.head, limits=DiffLimits(), huge_bytes=huge_bytes
        )
        return [(item.path, item.old_path, item.binary, len(item.hunks)) for item in differences]

    assert found(32 << 20) == [
        ("b.dat", "a*.dat", False, 1),
        ("gone.dat", None, False, 1),
        ("moved.py", "small.py", False, 1),
    ]
    assert found(1 << 20) == [
        ("a*.dat", None, True, 0),
        ("b.dat", None, True, 0),
        ("gone.dat", None, True, 0),
        ("moved.py", "small.py", False, 1),
    ]


def test_a_command_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "theirs")
    repo.commit("First")
    repository = open_repository(repo.folder, tmp_path / "own.git")
    os.mkfifo(repository.git_dir / "objects" / "pack" / "pack-x.idx")
    os.mkfifo(repository.git_dir / "objects" / "info" / "commit-graph")
    os.mkfifo(repository.git_dir / "never")
    with pytest.raises(GitTimeout, match=r"git cat-file was stopped after 0\.2 s"):
        run_git(
            repository.git_dir, "cat-file", "--batch-check", "--buffer",
            extra={"GIT_INDEX_FILE": "never", "GIT_TRACE": str(repository.git_dir / "never")},
            timeout_s=0.2,
        )  # fmt: skip


def test_what_git_says_is_kept_when_it_fails(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "theirs")
    repo.commit("First")
    repository = open_repository(repo.folder, tmp_path / "own.git")
    with pytest.raises(ToolError, match="git no-such-command failed"):
        run_git(repository.git_dir, "no-such-command")
