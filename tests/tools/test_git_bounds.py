"""Object stores that would block git: endless trees, pipes among the objects (F42)."""

import hashlib
import os
import time
import zlib
from pathlib import Path

import pytest

from leadhand.errors import InputError, ToolError
from leadhand.tools.git.process import GitFailed, GitTimeout, conversation, reading_until
from leadhand.tools.git.repository import open_repository, resolve_range
from leadhand.tools.git.tree_limits import KEPT_PATHS, MAX_DEPTH, limited_tree
from leadhand_teams.review.snapshot import write_snapshot
from tests.repositories import Repo


def commit_tree(repo: Repo, tree: str) -> None:
    """Commit `tree` on top of what the repository holds."""
    head = repo.git("rev-parse", "HEAD")
    repo.git("update-ref", "HEAD", repo.git("commit-tree", tree, "-p", head, "-m", "Add a tree"))


def write_tree(repo: Repo, *entries: tuple[str, str, str]) -> str:
    """The id of a tree with (mode, id, name) entries, sorted by name, written without git."""
    content = b"".join(
        f"{mode} {name}".encode() + b"\0" + bytes.fromhex(id) for mode, id, name in entries
    )
    whole = b"tree %d\0" % len(content) + content
    id = hashlib.sha1(whole).hexdigest()
    file = repo.folder / ".git" / "objects" / id[:2] / id[2:]
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(zlib.compress(whole))
    return id


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "theirs")
    made.commit("First", {"a.py": "a = 1\n"})
    made.commit("Second", {"a.py": "a = 2\n"})
    return made


def test_a_tree_of_ten_billion_paths_is_cut_and_the_rest_of_the_change_is_read(
    repo: Repo, tmp_path: Path
) -> None:
    """F42: ten blobs, and nine levels of ten links to one tree."""
    blob = repo.git("hash-object", "-w", "a.py")
    tree = write_tree(repo, *(("100644", blob, f"f{n}.py") for n in range(10)))
    for _ in range(9):
        tree = write_tree(repo, *(("40000", tree, f"d{n}") for n in range(10)))
    new = repo.git("hash-object", "-w", "--stdin", given=b"a = 3\n")
    commit_tree(repo, write_tree(repo, ("100644", new, "a.py"), ("40000", tree, "bomb")))

    change = write_snapshot(tmp_path / "snapshot", repo=repo.folder)

    assert change.by_path["a.py"].added == {1: "a = 3"}
    assert len(change.files) <= KEPT_PATHS + 1
    assert {why for path, why in change.skipped if path.startswith("bomb/")} == {
        f"a tree that repeats itself: more than {KEPT_PATHS:,} paths of it"
    }
    assert "bomb/d9/" in dict(change.skipped)


def test_folders_nested_without_end_are_cut_off_and_what_lies_beside_them_is_read(
    repo: Repo, tmp_path: Path
) -> None:
    """F42: git walks trees by recursion and would crash on 20,000 of them."""
    blob = repo.git("hash-object", "-w", "a.py")
    tree = write_tree(repo, ("100644", blob, "last.py"))
    for _ in range(2 * MAX_DEPTH):
        tree = write_tree(repo, ("100644", blob, "beside.py"), ("40000", tree, "d"))
    commit_tree(repo, write_tree(repo, ("100644", blob, "a.py"), ("40000", tree, "deep")))

    change = write_snapshot(tmp_path / "snapshot", repo=repo.folder)

    assert "deep/beside.py" in change.by_path
    assert "deep/d/d/beside.py" in change.by_path
    ((path, why),) = change.skipped
    assert path.startswith("deep/d/d/")
    assert why == f"nested more than {MAX_DEPTH:,} folders deep"


def test_a_folder_that_git_refuses_to_read_is_left_out_and_the_rest_is_read(
    repo: Repo, tmp_path: Path
) -> None:
    """F42: an entry without a name makes git refuse every comparison of the tree."""
    blob = repo.git("hash-object", "-w", "--stdin", given=b"a = 3\n")
    bad = write_tree(repo, ("100644", blob, ""))
    folder = write_tree(repo, ("40000", bad, "bad"), ("100644", blob, "good.py"))
    commit_tree(repo, write_tree(repo, ("100644", blob, "a.py"), ("40000", folder, "sub")))

    change = write_snapshot(tmp_path / "snapshot", repo=repo.folder)

    assert {"a.py", "sub/good.py"} == set(change.by_path)
    assert change.skipped == (("sub/bad/", "a folder that git refuses to read: it is malformed"),)


def test_a_large_tree_that_does_not_repeat_itself_is_left_as_it_is(repo: Repo) -> None:
    tree = repo.git("rev-parse", "HEAD^{tree}")
    scratch = repo.folder.parent / "scratch"
    opened = open_repository(repo.folder, scratch)
    assert limited_tree(opened.git_dir, tree) == (tree, ())


@pytest.mark.parametrize(
    "place", ["info/alternates", "info/commit-graph", "pack/pack-1.idx", "ab/cdef", "pack/tmp"]
)
def test_a_pipe_in_an_object_store_is_named_and_never_opened(repo: Repo, place: str) -> None:
    """F42: git would wait for a writer."""
    pipe = repo.folder / ".git" / "objects" / place
    pipe.parent.mkdir(exist_ok=True)
    os.mkfifo(pipe)
    with pytest.raises(ToolError, match=f"{place} is a named pipe"):
        open_repository(repo.folder, repo.folder.parent / "scratch")


def test_a_link_to_a_device_and_stores_of_others_are_looked_at_too(
    repo: Repo, tmp_path: Path
) -> None:
    """F42: an alternate is as good as the store itself."""
    other = tmp_path / "other"
    (other / "pack").mkdir(parents=True)
    (other / "pack" / "pack-1.pack").symlink_to("/dev/zero")
    (repo.folder / ".git" / "objects" / "info" / "alternates").write_text(f"{other}\n")
    with pytest.raises(ToolError, match=r"pack-1\.pack is a device"):
        open_repository(repo.folder, repo.folder.parent / "scratch")


def test_a_pipe_as_ignore_file_costs_the_untracked_files_alone(repo: Repo, tmp_path: Path) -> None:
    """F42: what is tracked is compared without git."""
    repo.write("a.py", "a = 3\n")
    (repo.folder / "below").mkdir()
    os.mkfifo(repo.folder / "below" / ".gitignore")
    change = write_snapshot(tmp_path / "snapshot", repo=repo.folder, worktree=True)
    assert change.by_path["a.py"].added == {1: "a = 3"}
    why = "not a regular file, so files that are not tracked were not looked for"
    assert ("below/.gitignore", why) in change.skipped


def test_an_index_that_claims_a_terabyte_is_refused_before_it_is_read(
    repo: Repo, tmp_path: Path
) -> None:
    """F31: a sparse file takes no room on disk."""
    os.truncate(repo.folder / ".git" / "index", 1 << 40)
    with pytest.raises(InputError, match="index is larger than 1024 MiB"):
        write_snapshot(tmp_path / "snapshot", repo=repo.folder, staged=True)


def test_no_git_process_starts_once_time_for_reading_is_up(repo: Repo, tmp_path: Path) -> None:
    """F42: one deadline covers every process that reads."""
    opened = open_repository(repo.folder, tmp_path / "scratch")
    with (
        reading_until(time.monotonic() - 1),
        pytest.raises(GitTimeout, match="time that the deadline leaves"),
    ):
        resolve_range(opened)
    assert resolve_range(opened).head == repo.git("rev-parse", "HEAD")


def test_a_crash_of_git_is_named_by_its_signal() -> None:
    assert str(GitFailed("diff-tree", -11, "")) == "git diff-tree was killed by SIGSEGV"


@pytest.mark.skipif(not Path("/proc").exists(), reason="only Linux limits processes of others")
def test_a_git_process_has_limits_of_memory_and_cpu_time(repo: Repo, tmp_path: Path) -> None:
    """F42: they hold even if the process that watches it is killed."""
    opened = open_repository(repo.folder, tmp_path / "scratch")
    with conversation(opened.git_dir, "cat-file", "--batch", timeout_s=30.0):
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        commands = {child: Path(f"/proc/{child}/cmdline").read_text() for child in children}
        (git,) = (child for child, command in commands.items() if "cat-file" in command)
        limits = Path(f"/proc/{git}/limits").read_text()
    rows = {line[:26].strip(): line[26:].split()[0] for line in limits.splitlines()}
    assert rows["Max data size"] == str(2 << 30)
    assert int(rows["Max cpu time"]) <= 31
