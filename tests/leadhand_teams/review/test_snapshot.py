"""The snapshot of a change, from real repositories and patches to the texts that lenses read."""

import ast
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from leadhand.errors import InputError, ToolError
from leadhand_teams.review.change import Change, Hunk
from leadhand_teams.review.folder import SnapshotLimits
from leadhand_teams.review.snapshot import write_snapshot
from tests.repositories import Repo, note_git


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "theirs")
    repo.commit("First", {"kept.py": "kept = 1\n"})
    return repo


def snapshot(repo: Repo, tmp_path: Path, revision: str | None = None, **limits: int) -> Change:
    return write_snapshot(
        tmp_path / "snapshot", repo=repo.folder, revision=revision, limits=SnapshotLimits(**limits)
    )


def measured(folder: Path, source: str) -> tuple[int, dict[str, str], float]:
    """Files, skipped files, and the peak memory in MiB of a process that writes a snapshot."""
    code = f"""
import json, resource
from pathlib import Path
from leadhand_teams.review.snapshot import write_snapshot
change = write_snapshot(Path({str(folder)!r}), {source})
status = Path("/proc/self/status")
if status.exists():  # what `getrusage` says there may be of the process that started this one
    (line,) = [row for row in status.read_text().splitlines() if row.startswith("VmHWM")]
    peak = int(line.split()[1])
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([len(change.files), dict(change.skipped), peak]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    files, skipped, peak = json.loads(done.stdout)
    return files, skipped, peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


class TestFromARepository:
    def test_holds_both_texts_hunks_and_ends(self, repo: Repo, tmp_path: Path) -> None:
        base = repo.git("rev-parse", "HEAD")
        repo.write("kept.py", "zero = 0\nkept = 1\nlast = 2\n")
        repo.write("new.md", "# New\n")
        head = repo.commit("Second")
        change = snapshot(repo, tmp_path)
        assert (change.title, change.base, change.head) == ("Second", base, head)
        assert change.history == base
        assert change.git_dir == tmp_path / "snapshot" / "git"
        modified, added = change.files
        assert (modified.status, modified.base, modified.complete) == (
            "modified",
            "kept = 1\n",
            True,
        )
        assert modified.hunks == (Hunk(0, 0, 1, 1), Hunk(1, 0, 3, 1))
        assert modified.added == {1: "zero = 0", 3: "last = 2"}
        assert (added.path, added.status, added.head, added.base) == (
            "new.md",
            "added",
            "# New\n",
            "",
        )
        assert (modified.language, added.language) == ("python", "markdown")
        assert not added.base_file.exists()
        assert modified.head_file == tmp_path / "snapshot" / "head" / "000000.py"
        assert added.head_file == tmp_path / "snapshot" / "head" / "000001.txt"

    def test_relative_folders_are_taken_from_the_current_one(
        self, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(repo.folder)
        change = write_snapshot(Path("../snapshot"))
        assert change.title == "First"
        assert change.git_dir == tmp_path / "snapshot" / "git"

    def test_f28_a_deleted_file_has_its_old_text(self, repo: Repo, tmp_path: Path) -> None:
        (repo.folder / "kept.py").unlink()
        repo.commit("Delete")
        (file,) = snapshot(repo, tmp_path).files
        assert (file.status, file.base, file.head) == ("deleted", "kept = 1\n", "")
        assert file.removed == {1: "kept = 1"}
        assert not file.head_file.exists()

    def test_f28_a_renamed_file_has_both_paths(self, repo: Repo, tmp_path: Path) -> None:
        lines = "".join(f"line_{n} = {n}\n" for n in range(20))
        repo.commit("Add", {"old.py": lines})
        (repo.folder / "old.py").unlink()
        repo.commit("Rename", {"new.py": lines + "more = 1\n"})
        (file,) = snapshot(repo, tmp_path).files
        assert (file.path, file.old_path, file.status) == ("new.py", "old.py", "renamed")
        assert (file.base, file.added) == (lines, {21: "more = 1"})

    def test_f28_what_has_no_text_to_review_is_listed_with_the_reason(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        repo.write("moved.py", "".join(f"moved_{n} = 1\n" for n in range(9)))
        repo.write("crlf.txt", "one\r\ntwo\r\n")
        repo.write("link-to-file", "text\n")
        repo.commit("Before")
        repo.write("image.png", b"\x89PNG\0\0")
        repo.write("wide.txt", "wide\n".encode("utf-16"))
        repo.write("empty.py", "")
        repo.write("huge.py", "x = 1\n" * 200_000)
        repo.write("web/app.min.js", "x\n")
        repo.write("poetry.lock", "x\n")
        repo.write("node_modules/a/index.js", "x\n")
        repo.write("made.py", "# @generated by a program\nx = 1\n")
        repo.write("made.go", "// Code generated by x. DO NOT EDIT.\npackage x\n")
        repo.write("crlf.txt", "one\ntwo\n")
        (repo.folder / "link").symlink_to("/etc/passwd")
        (repo.folder / "link-to-file").unlink()
        (repo.folder / "link-to-file").symlink_to("kept.py")
        (repo.folder / "kept.py").chmod(0o755)
        (repo.folder / "moved.py").rename(repo.folder / "there.py")
        repo.git("add", "--all")
        repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
        repo.git("commit", "-q", "-m", "After")
        change = snapshot(repo, tmp_path)
        assert dict(change.skipped) == {
            "crlf.txt": "only its line ends changed",
            "empty.py": "an empty file",
            "huge.py": "larger than 1 MiB",
            "image.png": "binary",
            "kept.py": "only its mode changed",
            "link": "symbolic link",
            "link-to-file": "symbolic link",
            "made.go": "generated, according to its first lines",
            "made.py": "generated, according to its first lines",
            "node_modules/a/index.js": "vendored code",
            "poetry.lock": "a lock file",
            "sub": "submodule",
            "there.py": "renamed without a change",
            "web/app.min.js": "generated or minified",
            "wide.txt": "binary",
        }
        assert [(file.path, file.status) for file in change.files] == [("link-to-file", "deleted")]

    def test_f26_a_mark_that_the_change_adds_hides_nothing(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        repo.commit("Hide", {"kept.py": "# @generated\nkept = 2\n"})
        assert [file.path for file in snapshot(repo, tmp_path).files] == ["kept.py"]

    def test_f28_texts_keep_gits_line_numbers(self, repo: Repo, tmp_path: Path) -> None:
        repo.write(
            "odd.py",
            b"\xef\xbb\xbfa = 'x\x0cy\x1c\xc2\x85z'\r\nb = 'a return \xff'\r\n"
            b"c = 3\r\n# \xe2\x80\xa8\nlast = 5",
        )
        repo.commit("Odd")
        (file,) = snapshot(repo, tmp_path).files
        assert file.head == (
            "a = 'x\x0cy\x1c\x85z'\nb = 'a return \ufffd'\nc = 3\n# \u2028\nlast = 5"
        )
        assert file.hunks == (Hunk(0, 0, 1, 5),)
        assert file.added[5] == "last = 5"
        tree = file.head_tree
        assert tree is not None
        assert [node.lineno for node in tree.body if isinstance(node, ast.Assign)] == [1, 2, 3, 5]

    def test_f28_python_whose_lines_end_in_a_return_alone_is_named_and_not_read(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        repo.commit("Odd", {"odd.py": b"x = 1\n# harmless\rprint(undefined)\n"})
        change = snapshot(repo, tmp_path)
        assert change.files == ()
        assert change.skipped == (("odd.py", "has lines that end in a carriage return alone"),)

    def test_f28_a_nul_far_into_a_text_file_is_shown_as_unknown(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        repo.commit("Late", {"late.py": b"x = 1\n" * 2000 + b"y = '\0'\n"})
        (file,) = snapshot(repo, tmp_path).files
        assert file.head_lines[2000] == "y = '\ufffd'"

    def test_f28_a_change_of_line_ends_touches_only_what_else_changed(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        repo.commit("Before", {"mixed.py": "a = 1\r\nb = 2\r\nc = 3\r\n"})
        repo.commit("After", {"mixed.py": "a = 1\nb = 0\nc = 3\n"})
        (file,) = snapshot(repo, tmp_path).files
        assert file.added == {2: "b = 0"}

    def test_f28_a_commit_that_changes_nothing_says_so(self, repo: Repo, tmp_path: Path) -> None:
        repo.commit("Nothing at all")
        with pytest.raises(InputError, match="nothing changed in Nothing at all"):
            snapshot(repo, tmp_path)

    def test_staged_and_work_tree_changes_are_told_apart(self, repo: Repo, tmp_path: Path) -> None:
        repo.write("kept.py", "kept = 2\n")
        repo.git("add", "kept.py")
        repo.write("kept.py", "kept = 3\n")
        staged = write_snapshot(tmp_path / "1", repo=repo.folder, staged=True)
        worktree = write_snapshot(tmp_path / "2", repo=repo.folder, worktree=True)
        assert [change.files[0].head for change in (staged, worktree)] == [
            "kept = 2\n",
            "kept = 3\n",
        ]
        assert staged.history == worktree.history == repo.git("rev-parse", "HEAD")

    def test_a_clean_work_tree_has_nothing_to_review(self, repo: Repo, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="there is nothing to review"):
            write_snapshot(tmp_path / "1", repo=repo.folder, staged=True)
        with pytest.raises(InputError, match="there is nothing to review"):
            write_snapshot(tmp_path / "2", repo=repo.folder, worktree=True)


def test_f31_a_folder_that_can_not_be_written_is_a_clear_error(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ToolError, match=r"can't take a snapshot in .*: not a directory"):
        write_snapshot(tmp_path / "file" / "snapshot", repo=repo.folder)


class TestHostileTrees:
    @staticmethod
    def tree(repo: Repo, *entries: tuple[str, bytes, str]) -> str:
        """The id of a tree that is written raw, with any names."""
        raw = b"".join(
            mode.encode() + b" " + name + b"\0" + bytes.fromhex(oid) for mode, name, oid in entries
        )
        return repo.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", given=raw)

    def test_f17_names_that_would_leave_the_tree_stay_numbers(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        blob = repo.git("hash-object", "-w", "--stdin", given=b"evil = 1\n")
        inner = self.tree(repo, ("100644", b"config", blob))
        names = [b"../up.py", b"/abs.py", b"a/../../x.py", b"bell\x07.py", b"ok.py", b"ok.py"]
        root = self.tree(
            repo,
            ("40000", b"..", inner),
            ("40000", b".GIT", inner),
            ("40000", b".git", inner),
            *(("100644", name, blob) for name in names),
            ("120000", b"passwd", repo.git("hash-object", "-w", "--stdin", given=b"/etc/passwd")),
        )
        head = repo.git("commit-tree", root, "-m", "Evil")
        before = {file for file in tmp_path.rglob("*") if "snapshot" not in file.parts}
        change = snapshot(repo, tmp_path, head)
        assert [file.path for file in change.files] == ["bell\x07.py", "ok.py"]
        refused = "a path that git would not check out"
        skipped = dict(change.skipped)
        assert skipped["passwd"] == "symbolic link"
        assert skipped["ok.py"] == "a second entry of the same name; only the first is reviewed"
        assert [path for path, why in skipped.items() if why == refused] == [
            "../config", ".GIT/config", ".git/config", "../up.py", "/abs.py", "a/../../x.py",
        ]  # fmt: skip
        after = {file for file in tmp_path.rglob("*") if "snapshot" not in file.parts}
        assert after == before

    def test_f35_line_ends_and_escapes_in_names_are_one_record(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        repo.write("two\nlines\r.py", "x = 1\n")
        (repo.folder / Path(b"latin-\xe9.py".decode("utf-8", "surrogateescape"))).write_text("y\n")
        repo.commit("Names")
        change = snapshot(repo, tmp_path)
        assert [file.path for file in change.files] == ["latin-\\xe9.py", "two\nlines\r.py"]
        assert len((tmp_path / "snapshot" / "change.json").read_text().splitlines()) == 1
        json.dumps([file.path for file in change.files], ensure_ascii=False).encode()


class TestFromAPatch:
    def test_f28_the_repository_and_its_patch_give_the_same_lines(
        self, repo: Repo, tmp_path: Path
    ) -> None:
        repo.write("kept.py", "".join(f"a{n} = {n}\n" for n in range(50)))
        repo.write("gone.py", "g = 1\n")
        repo.commit("Before")
        repo.write("kept.py", "".join(f"a{n} = {n * (n % 9)}\n" for n in range(1, 52)))
        (repo.folder / "gone.py").unlink()
        repo.commit("After", {"new.py": "n = 1"})
        text = repo.git("format-patch", "--stdout", "-1").encode() + b"\n"
        whole = snapshot(repo, tmp_path)
        change = write_snapshot(tmp_path / "patch", patch=io.BytesIO(text), patch_name="x.diff")
        assert (change.title, change.base, change.head) == ("x.diff", None, None)
        assert change.git_dir is None
        assert [file.path for file in change.files] == [file.path for file in whole.files]
        for ours, theirs in zip(change.files, whole.files, strict=True):
            assert (ours.status, ours.hunks) == (theirs.status, theirs.hunks)
            assert (ours.added, ours.removed) == (theirs.added, theirs.removed)
            assert ours.complete == (ours.status != "modified")

    def test_f17_paths_of_a_patch_stay_data(self, tmp_path: Path) -> None:
        patch = b"".join(
            b"--- /dev/null\n+++ b/" + name + b"\n@@ -0,0 +1 @@\n+x\n"
            for name in (b"../x.py", b"/etc/x.py", b".git/hooks/x", b"x.py", b"x.py")
        )
        change = write_snapshot(tmp_path / "patch", patch=io.BytesIO(patch))
        assert [file.path for file in change.files] == ["x.py"]
        assert [path for path, _ in change.skipped] == [
            "../x.py", "/etc/x.py", ".git/hooks/x", "x.py",
        ]  # fmt: skip

    def test_sparse_texts_count_towards_the_cap(self, tmp_path: Path) -> None:
        patch = b"".join(
            b"--- a/%d\n+++ b/%d\n@@ -900000 +900000 @@\n-x\n+y\n" % (n, n) for n in range(9)
        )
        change = write_snapshot(
            tmp_path / "patch",
            patch=io.BytesIO(patch),
            limits=SnapshotLimits(total_bytes=4_000_000),
        )
        assert len(change.files) == 2
        assert {why for _, why in change.skipped} == {"the change has more than 3.8147 MiB of text"}


class TestSize:
    def test_f28_what_is_over_a_cap_is_listed_and_counted(self, repo: Repo, tmp_path: Path) -> None:
        for n in range(8):
            repo.write(f"{n}.py", f"x = {n}\n" * 100)
        repo.commit("Many")
        change = snapshot(repo, tmp_path, files=5, total_bytes=2000)
        assert [file.path for file in change.files] == ["0.py", "1.py", "2.py"]
        assert change.skipped[-1] == ("(3 more files)", "over the limit of 5 files")
        assert len(change.skipped) == 3

    def test_f28_too_many_separate_places_are_listed(self, repo: Repo, tmp_path: Path) -> None:
        repo.commit("Before", {"kept.py": "".join(f"{n}\n" for n in range(40))})
        repo.commit("After", {"kept.py": "".join(f"{n if n % 2 else 'x'}\n" for n in range(40))})
        change = snapshot(repo, tmp_path, hunks=10)
        assert change.skipped == (("kept.py", "changed in too many places"),)

    def test_f28_a_change_of_50_mb_ends_in_bounded_memory(self, repo: Repo, tmp_path: Path) -> None:
        repo.git("config", "core.compression", "0")  # which takes the time
        line = "x = 'a line of text in a very large change'\n"
        repo.write("one-huge.txt", line * 500_000)
        for n in range(30):
            repo.write(f"large-{n}.txt", f"# {n}\n" + line * 22_000)
        repo.commit("50 MB")
        files, skipped, peak_mib = measured(
            tmp_path / "snapshot", f"repo=Path({str(repo.folder)!r})"
        )
        assert (files, skipped) == (30, {"one-huge.txt": "larger than 1 MiB"})
        assert peak_mib < 200

    def test_f28_a_patch_of_50_mb_ends_in_bounded_memory(self, tmp_path: Path) -> None:
        file = tmp_path / "large.diff"
        with file.open("wb") as patch:
            for n in range(50):
                count = 60_000 if n % 10 == 5 else 2_500
                patch.write(b"--- /dev/null\n+++ b/%d.txt\n@@ -0,0 +1,%d @@\n" % (n, count))
                patch.write((b"+" + b"long " * 60 + b"\n") * count)
        assert file.stat().st_size > 50 << 20
        files, skipped, peak_mib = measured(
            tmp_path / "snapshot", f"patch=open({str(file)!r}, 'rb')"
        )
        assert (files, len(skipped)) == (45, 5)
        assert set(skipped.values()) == {"its part of the patch is larger than 1 MiB"}
        assert peak_mib < 200

    def test_many_files_take_no_more_git_processes_than_one(
        self, repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        noted = note_git(tmp_path, monkeypatch)

        def started(count: int) -> int:
            shape = "x = 1\n" * 25
            names = [f"pkg/m{n}.py" for n in range(count)]
            repo.commits(
                (f"{count} before", dict.fromkeys(names, shape * 2)),
                (f"{count} after", dict.fromkeys(names, f"{shape}y = {count}\n{shape}")),
            )
            noted.write_text("")
            change = write_snapshot(tmp_path / f"{count} files", repo=repo.folder)
            assert len(change.files) == count
            return noted.read_text().count("\n")

        assert started(300) == started(1) > 0
