"""Writes the index or the work tree of a repository as a tree in our own repository.

Git sees only our configuration, so it runs no filter, monitor or hook of theirs (F25). It lists
untracked files by their `.gitignore` files, which are data; `files.py` reads the contents.
"""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from leadhand.errors import InputError
from leadhand.tools.git import files
from leadhand.tools.git.bare_repository import BIG_FILE_BYTES
from leadhand.tools.git.comparison import SUBMODULE, SYMLINK
from leadhand.tools.git.discovery import read_small
from leadhand.tools.git.process import GitFailed, run_git
from leadhand.tools.git.repository import Repository, RevisionRange
from leadhand.tools.git.special_files import special_ignore_file
from leadhand.tools.git.trees import objects, sizes
from leadhand.tools.text import is_safe_path, path_text, size_text

_MAX_INDEX_BYTES = 1 << 30
_MAX_UNTRACKED = 50_000
_SHARED_INDEX = re.compile(r"sharedindex\.[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_CLOSED = re.compile(r"could not open directory '(.*)': (.*)")
_LFS_POINTER_BYTES = 1024
_LFS = re.compile(rb"version https://git-lfs\.github\.com/spec/.*\noid sha256:([0-9a-f]{64})\n")


def staged_range(repository: Repository) -> RevisionRange:
    index = _copied_index(repository)
    if index is None:
        raise InputError("nothing is staged: the repository has no index")
    try:
        tree = run_git(
            repository.git_dir, "write-tree", "--missing-ok", extra={"GIT_INDEX_FILE": str(index)}
        )
    except GitFailed as error:
        if "unmerged" in error.stderr:
            raise InputError("there are unmerged files: finish the merge, then stage it") from error
        raise InputError(f"the index can't be read: {error}") from error
    return _range(repository, "the staged changes", tree.decode("ascii").strip(), ())


def worktree_range(repository: Repository) -> RevisionRange:
    """The range from HEAD to the files in the work tree, without ignored ones."""
    folder = repository.found.work_tree
    if folder is None:
        raise InputError("a bare repository has no work tree: give a range instead")
    index = _copied_index(repository)
    scan = _Scan(repository, _entries(repository, index))
    with files.FolderReader(folder) as reader:
        for name, entry in scan.entries.items():
            scan.tracked(reader, name, entry)
        names, closed = _untracked(repository, folder, index)
        for name in names:
            scan.untracked(reader, name)
        scan.drop_unchanged_lfs(reader)
    tree = _write_tree(repository, scan.result())
    return _range(repository, "the work tree", tree, (*scan.skipped, *closed))


def _range(
    repository: Repository, title: str, tree: str, skipped: tuple[tuple[str, str], ...]
) -> RevisionRange:
    head = repository.head
    return RevisionRange(title, head or repository.empty_tree, tree, head, skipped)


@dataclass(frozen=True, slots=True)
class _Entry:
    mode: str
    oid: str
    left_out: bool = False
    """Whether a sparse checkout leaves it out of the work tree."""


@dataclass
class _Scan:
    """Compares a work tree with its index file by file; writes changed contents to our objects."""

    repository: Repository
    entries: dict[bytes, _Entry]
    changed: dict[bytes, _Entry | None] = field(default_factory=dict[bytes, "_Entry | None"])
    """The differences from `entries`; None for a deleted file."""
    skipped: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def tracked(self, reader: files.FolderReader, name: bytes, entry: _Entry) -> None:
        if entry.mode == SUBMODULE:
            return
        content = self._read(reader, name)
        if content is None:
            return
        if content.kind is None:
            if not entry.left_out:
                self.changed[name] = None
        elif content.oid != entry.oid and content.lf_oid != entry.oid:
            # The mode is kept: not every file system has an executable bit, and it is not reviewed.
            kept = content.kind == (SYMLINK if entry.mode == SYMLINK else "100644")
            self._change(name, content, entry.mode if kept else content.kind)

    def untracked(self, reader: files.FolderReader, name: bytes) -> None:
        if name.endswith(b"/"):
            self._skip(name, "another repository")
            return
        content = self._read(reader, name)
        if content is not None and content.kind is not None:
            self._change(name, content, content.kind)

    def drop_unchanged_lfs(self, reader: files.FolderReader) -> None:
        old = {
            name: self.entries[name].oid
            for name, entry in self.changed.items()
            if entry is not None and name in self.entries
        }
        size = sizes(self.repository.git_dir, set(old.values()))
        small = {oid for oid in old.values() if size[oid] <= _LFS_POINTER_BYTES}
        pointers = {
            oid: match[1]
            for oid, data in objects(self.repository.git_dir, small)
            if (match := _LFS.match(data))
        }
        for name, oid in old.items():
            if oid in pointers and reader.sha256(name) == pointers[oid].decode("ascii"):
                del self.changed[name]

    def result(self) -> dict[bytes, _Entry]:
        merged = self.entries | self.changed
        return {name: entry for name, entry in merged.items() if entry is not None}

    def _read(self, reader: files.FolderReader, name: bytes) -> files.FileContent | None:
        if not is_safe_path(path_text(name)):
            self._skip(name, "a path that git would not check out")
            self.changed[name] = None
            return None
        try:
            return reader.read(name, sha256=self.repository.found.sha256)
        except files.UnreadableFile as error:
            self._skip(name, f"unreadable: {error.why}")
        except files.SpecialFile:
            self._skip(name, "not a regular file")
        return None

    def _change(self, name: bytes, content: files.FileContent, mode: str) -> None:
        if content.data is None:
            self._skip(name, f"larger than {size_text(BIG_FILE_BYTES)}")
            return
        files.write_blob(self.repository.git_dir, content.oid, content.data)
        self.changed[name] = _Entry(mode, content.oid)

    def _skip(self, name: bytes, why: str) -> None:
        self.skipped.append((path_text(name), why))


def _copied_index(repository: Repository) -> Path | None:
    """A copy of their index in our own repository: git may rewrite an index that it reads."""
    theirs = _index_file(repository)
    content = read_small(theirs, _MAX_INDEX_BYTES)
    if content is None:
        return None
    copy = repository.git_dir / "index-copy"
    copy.write_bytes(content)
    for name in os.listdir(repository.found.git_dir):
        # A split index has a second part, which git expects beside HEAD.
        if _SHARED_INDEX.match(name):
            part = read_small(repository.found.git_dir / name, _MAX_INDEX_BYTES)
            if part is not None:
                (repository.git_dir / name).write_bytes(part)
    return copy


def _index_file(repository: Repository) -> Path:
    """Their index; in a commit hook, the one that git made for that commit."""
    named = os.environ.get("GIT_INDEX_FILE")
    git_dir = repository.found.git_dir
    if named and repository.found.work_tree is not None:
        file = Path(os.path.abspath(repository.found.work_tree / named))
        if file.is_relative_to(os.path.abspath(git_dir)):
            return file
    return git_dir / "index"


def _entries(repository: Repository, index: Path | None) -> dict[bytes, _Entry]:
    if index is None:
        return {}
    try:
        listing = run_git(
            repository.git_dir, "ls-files", "-z", "-s", "-t", extra={"GIT_INDEX_FILE": str(index)}
        )
    except GitFailed as error:
        raise InputError(f"the index can't be read: {error}") from error
    entries: dict[bytes, _Entry] = {}
    for line in listing.split(b"\0"):
        facts, tab, name = line.partition(b"\t")
        if tab:
            tag, mode, oid, _ = facts.decode("ascii").split(" ")
            entries.setdefault(name, _Entry(mode, oid, left_out=tag == "S"))
    return entries


def _untracked(
    repository: Repository, folder: Path, index: Path | None
) -> tuple[list[bytes], list[tuple[str, str]]]:
    """The untracked files that are not ignored, and (folder, why) of unreadable folders.

    The only command that git runs in their work tree opens folders and `.gitignore` files only: it
    reads no attributes, and our configuration names no monitor. Their `.git/info/exclude` is
    copied.
    """
    odd = special_ignore_file(folder)
    if odd is not None:
        return [], [(odd, "not a regular file, so files that are not tracked were not looked for")]
    git_dir = repository.git_dir
    exclude = git_dir / "info" / "exclude"
    exclude.write_bytes(read_small(repository.found.common_dir / "info" / "exclude") or b"")
    warnings: list[str] = []
    listing = run_git(
        git_dir, "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore",
        f"--exclude-from={exclude}",
        extra={
            "GIT_WORK_TREE": os.path.abspath(folder),
            "GIT_INDEX_FILE": str(index or git_dir / "no-index"),
        },
        warnings=warnings,
    )  # fmt: skip
    names = listing.split(b"\0")[:-1]
    if len(names) > _MAX_UNTRACKED:
        raise InputError(
            f"the work tree has {len(names):,} untracked files: add what does not belong there to "
            ".gitignore, or review with --staged"
        )
    closed = (_CLOSED.search(warning) for warning in warnings)
    return names, [(match[1], f"unreadable: {match[2].lower()}") for match in closed if match]


def _write_tree(repository: Repository, entries: dict[bytes, _Entry]) -> str:
    extra = {"GIT_INDEX_FILE": str(repository.git_dir / "index-new")}
    lines = b"".join(
        f"{entry.mode} {entry.oid} 0\t".encode("ascii") + name + b"\0"
        for name, entry in entries.items()
    )
    run_git(repository.git_dir, "update-index", "-z", "--index-info", stdin=lines, extra=extra)
    tree = run_git(repository.git_dir, "write-tree", "--missing-ok", extra=extra)
    return tree.decode("ascii").strip()
