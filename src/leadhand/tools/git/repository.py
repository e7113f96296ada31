"""Opens a repository and resolves the user's range to object ids, which alone reach git (F24)."""

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from leadhand.errors import InputError
from leadhand.tools.git.bare_repository import make_bare_repository
from leadhand.tools.git.discovery import FoundRepository, find_repository
from leadhand.tools.git.process import missing_objects_error, run_git, stream_git
from leadhand.tools.git.special_files import check_object_stores
from leadhand.tools.git.trees import sizes
from leadhand.tools.text import path_text, plain_text
from leadhand.untrusted.cutting import cut

EMPTY_TREE = {
    False: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    True: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
"""By whether ids are SHA-256."""

_ODD = re.compile(r"^-|[\x00-\x20\x7f:?*\[\\]|@\{|\^\{/|\.\.")
_MAX_COMMIT_BYTES = 8 << 20
_MAX_NAMES = 5000
_MAX_TITLE_CHARS = 200


@dataclass(frozen=True, slots=True)
class RevisionRange:
    """The two trees or commits to compare, by id."""

    title: str
    base: str
    head: str
    history: str | None
    """The commit before the change; None for a first commit."""
    skipped: tuple[tuple[str, str], ...] = ()
    """(path, why) of files that are missing in `head`."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A user's repository, and our own bare one through which its objects are read."""

    found: FoundRepository
    git_dir: Path

    @property
    def empty_tree(self) -> str:
        return EMPTY_TREE[self.found.sha256]

    @property
    def head(self) -> str | None:
        """The commit id of HEAD; None before the first commit."""
        content = (self.git_dir / "HEAD").read_text("ascii").strip()
        return None if content.startswith("ref:") else content


def open_repository(folder: Path, scratch: Path) -> Repository:
    """Makes our own bare repository at `scratch`. Raises `InputError` if `folder` has none,
    `ToolError` if git can't read it."""
    found = find_repository(folder)
    check_object_stores(found)
    return Repository(found, make_bare_repository(found, scratch))


def resolve_range(repository: Repository, text: str | None = None) -> RevisionRange:
    """The range of `A..B`, of `A...B` (from the merge base), or of a commit (HEAD) and its first
    parent. A may be the empty tree's id, for the whole of B."""
    range_text = text or "HEAD"
    for dots in ("...", ".."):
        left, found, right = range_text.partition(dots)
        if found:
            return _between(repository, range_text, dots, left or "HEAD", right or "HEAD")
    return _commit_range(repository, _resolve(repository, range_text)[0])


@dataclass(frozen=True, slots=True)
class _Commit:
    id: str
    parents: tuple[str, ...]
    subject: str


def _between(
    repository: Repository, range_text: str, dots: str, left: str, right: str
) -> RevisionRange:
    if left == repository.empty_tree:  # everything that is there
        [end] = _resolve(repository, right)
        return RevisionRange(range_text, left, end.id, None)
    start, end = _resolve(repository, left, right)
    base = start.id
    if dots == "...":
        found = run_git(repository.git_dir, "merge-base", start.id, end.id, ok=(0, 1))
        base = found.decode("ascii").strip()
        if not base:
            raise InputError(f"{left} and {right} have no common ancestor{_shallow(repository)}")
    if base == end.id:
        raise InputError(f"{range_text} is empty: {right} has nothing that {left} lacks")
    return RevisionRange(range_text, base, end.id, base)


def _commit_range(repository: Repository, commit: _Commit) -> RevisionRange:
    title = cut(commit.subject, _MAX_TITLE_CHARS) or commit.id[:12]
    if not commit.parents:
        return RevisionRange(title, repository.empty_tree, commit.id, None)
    parent = commit.parents[0]
    try:
        sizes(repository.git_dir, (parent,))
    except InputError as error:
        raise InputError(
            f"the parent of {commit.id[:12]} is not in this repository{_shallow(repository)}"
        ) from error
    return RevisionRange(title, parent, commit.id, parent)


def _resolve(repository: Repository, *names: str) -> list[_Commit]:
    """The commits of `names`, which git gets on standard input and never as options."""
    for name in names:
        if _ODD.search(name) or len(name) > 1000:
            raise InputError(
                f"{cut(name, 100)!r} is not a revision that leadhand takes: give a commit id, a "
                "branch or a tag, with ~N or ^N after it if needed, or A..B or A...B"
            )
    stdin = "".join(f"{name}^{{commit}}\n" for name in names).encode("utf-8", "surrogateescape")
    with stream_git(repository.git_dir, "cat-file", "--batch", stdin=stdin) as answers:
        return [_read_commit(repository, answers, name) for name in names]


def _read_commit(repository: Repository, answers: IO[bytes], name: str) -> _Commit:
    header = answers.readline().rstrip(b"\n")
    oid, _, rest = header.partition(b" ")
    kind, _, size = rest.partition(b" ")
    if header.endswith(b" ambiguous"):
        raise InputError(f"{name} could be more than one commit: give more digits of its id")
    if kind != b"commit" or not size.isdigit():
        raise _no_such(repository, name)
    if int(size) > _MAX_COMMIT_BYTES:
        raise InputError(f"{name} is a commit of {int(size) >> 20} MiB; is it damaged?")
    content = answers.read(int(size) + 1)
    head, _, message = content.partition(b"\n\n")
    parents = (line[7:] for line in head.split(b"\n") if line.startswith(b"parent "))
    subject = plain_text(message.strip().split(b"\n", 1)[0])
    return _Commit(
        oid.decode("ascii"), tuple(parent.decode("ascii", "replace") for parent in parents), subject
    )


def _no_such(repository: Repository, name: str) -> InputError:
    refs = repository.found.refs()
    if not refs or (repository.head is None and name.startswith(("HEAD", "@"))):
        return InputError(
            f"{repository.found.work_tree or repository.found.git_dir} has no commits yet: commit "
            "something, or review with --staged or --worktree"
        )
    if repository.head is not None and name in ("HEAD", "@", repository.head):
        return missing_objects_error(f"the commit that {name} stands for is")
    if kind := _kind(repository, name):
        return InputError(
            f"{name} is a {kind}, not a commit: give a commit, a branch or a tag of one"
        )
    short = [path_text(ref).split("/", 2)[-1] for ref in list(refs)[:_MAX_NAMES]]
    near = difflib.get_close_matches(name, short, n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else _shallow(repository)
    return InputError(f"there is no commit {name!r} in this repository{hint}")


def _kind(repository: Repository, name: str) -> str:
    """`tree` or `blob` if `name` or its tag stands for one; else empty."""
    for end in ("{tree}", "{blob}"):
        given = f"{name}^{end}\n".encode("utf-8", "surrogateescape")
        found = run_git(repository.git_dir, "cat-file", "--batch-check", stdin=given)
        if found.split(b" ")[1:2] == [end.strip("{}").encode()]:
            return "tree" if end == "{tree}" else "file"
    return ""


def _shallow(repository: Repository) -> str:
    if not repository.found.shallow():
        return ""
    return ": it is a shallow clone, cut off before that; run `git fetch --unshallow` there"
