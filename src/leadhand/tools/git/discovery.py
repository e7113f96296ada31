"""Finds a repository and its refs by reading a few small files, without git.

Git would read the repository's configuration as soon as it finds it. Files are read as data with a
strict syntax; anything else in them is ignored.
"""

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from leadhand.errors import InputError
from leadhand.tools.text import size_text

_ID = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_REF = (
    rb"refs/(?![^\n]*(?:\.\.|@\{|//|/\.|\.lock(?:/|$)))"
    rb"[^\x00-\x20\x7f~^:?*\[\\]{1,1000}(?<![/.])"
)
"""The full name of a ref, as in `git check-ref-format`."""
_WHOLE_REF = re.compile(_REF + rb"\Z")
_PACKED = re.compile(rb"^([0-9a-f]{40}(?:[0-9a-f]{24})?) (" + _REF + rb")$", re.MULTILINE)
_SHA256 = re.compile(rb"^\s*objectformat\s*=\s*\"?sha256\"?\s*$", re.IGNORECASE | re.MULTILINE)
_REFTABLE = re.compile(rb"^\s*refstorage\s*=\s*\"?reftable\"?", re.IGNORECASE | re.MULTILINE)
_OTHER_HEADS = ("ORIG_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "FETCH_HEAD")
_MAX_REFS = 500_000
_MAX_META_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class FoundRepository:
    work_tree: Path | None
    """The folder with its `.git`; None for a bare repository."""
    git_dir: Path
    """The folder with its HEAD and index, which each linked work tree has for itself."""
    common_dir: Path
    """The folder with its objects and branches."""
    sha256: bool

    @property
    def objects(self) -> Path:
        return self.common_dir / "objects"

    def shallow(self) -> list[bytes]:
        """The boundary commits of a shallow clone; empty for a complete one."""
        lines = (read_small(self.common_dir / "shallow") or b"").split(b"\n")
        return [line for line in lines if _ID.match(line)]

    def head(self, refs: dict[bytes, bytes]) -> bytes | None:
        """The id of HEAD, given `refs()`; None before the first commit."""
        return _target(read_small(self.git_dir / "HEAD") or b"", refs)

    def refs(self) -> dict[bytes, bytes]:
        """Full name -> id of branches, tags and remote branches, and of ORIG_HEAD and the like."""
        packed = read_small(self.common_dir / "packed-refs") or b""
        refs = {match[2]: match[1] for match in _PACKED.finditer(packed)}
        symbolic: dict[bytes, bytes] = {}
        for name, content in _loose(self.common_dir):
            value = content.split(b"\n", 1)[0].rstrip()
            if _ID.match(value):
                refs[name] = value
            elif value.startswith(b"ref:"):
                symbolic[name] = value
        for name, value in symbolic.items():
            if target := _target(value, refs):
                refs[name] = target
        for name in _OTHER_HEADS:
            value = (read_small(self.git_dir / name) or b"")[:64].split()[:1]
            if value and _ID.match(value[0]):
                refs[name.encode()] = value[0]
        return refs


def find_repository(folder: Path) -> FoundRepository:
    """Raises `InputError` if there is none or it can't be read."""
    try:
        start = Path(os.path.abspath(folder))
        if not stat.S_ISDIR(os.stat(start).st_mode):
            start = start.parent
        os.scandir(start).close()
    except OSError as error:
        raise InputError(f"can't read {folder}: {_reason(error)}") from error
    for place in (start, *start.parents):
        found = _at(place)
        if found is not None:
            return found
    raise InputError(
        f"{folder} is not in a git repository: name one with --repo, or a patch with --diff"
    )


def read_small(file: Path, max_bytes: int = _MAX_META_BYTES) -> bytes | None:
    """The content of git's own file; `None` unless it is a regular one (a pipe would block)."""
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM):
            raise InputError(f"can't read {file}: {_reason(error)}") from error
        return None
    with os.fdopen(handle, "rb") as opened:
        facts = os.fstat(handle)
        if not stat.S_ISREG(facts.st_mode):
            return None
        # A sparse file may have any size, so check it before reading.
        content = opened.read(max_bytes + 1) if facts.st_size <= max_bytes else b""
    if max(facts.st_size, len(content)) > max_bytes:
        raise InputError(f"{file} is larger than {size_text(max_bytes)}; is it damaged?")
    return content


def _at(place: Path) -> FoundRepository | None:
    dot_git = place / ".git"
    try:
        mode = os.stat(dot_git).st_mode
    except PermissionError as error:
        raise InputError(f"can't read {place}: {_reason(error)}") from error
    except OSError:
        return _repository(place, place.parent if place.name == ".git" else None)
    if stat.S_ISDIR(mode):
        return _repository(dot_git, place)
    pointer = _pointer(dot_git)
    if not pointer.startswith(b"gitdir:"):
        return None
    target = place / os.fsdecode(pointer.removeprefix(b"gitdir:").strip())
    found = _repository(target, place)
    if found is None:
        raise InputError(f"{dot_git} points to {target}, which is not a git repository")
    return found


def _pointer(file: Path) -> bytes:
    """The first line of a file of git's that names a folder."""
    line = (read_small(file, 1 << 16) or b"").split(b"\n", 1)[0]
    if b"\0" in line:
        raise InputError(f"{file} has a null byte in it; is it damaged?")
    return line


def _repository(git_dir: Path, work_tree: Path | None) -> FoundRepository | None:
    if not _is(stat.S_ISREG, git_dir / "HEAD"):
        return None
    named = _pointer(git_dir / "commondir").strip()
    common = Path(os.path.normpath(git_dir / os.fsdecode(named))) if named else git_dir
    objects = common / "objects"
    if not _is(stat.S_ISDIR, objects):
        return None
    if not os.access(objects, os.R_OK | os.X_OK):
        raise InputError(f"can't read {objects}: permission denied")
    config = read_small(common / "config", 1 << 20) or b""
    if _REFTABLE.search(config):
        raise InputError(
            f"{git_dir} keeps its branches as a reftable, which leadhand can't read: "
            "hand in a patch instead (git diff A B | leadhand review --diff -)"
        )
    return FoundRepository(work_tree, git_dir, common, sha256=bool(_SHA256.search(config)))


def _is(kind: Callable[[int], bool], file: Path) -> bool:
    """Whether `file` is of this kind. Raises `InputError` without permission to check."""
    try:
        return kind(os.stat(file).st_mode)
    except PermissionError as error:
        raise InputError(f"can't read {file}: {_reason(error)}") from error
    except OSError:
        return False


def _target(value: bytes, refs: dict[bytes, bytes]) -> bytes | None:
    value = value.split(b"\n", 1)[0].strip()
    if value.startswith(b"ref:"):
        return refs.get(value.removeprefix(b"ref:").strip())
    return value if _ID.match(value) else None


def _loose(common: Path) -> Iterator[tuple[bytes, bytes]]:
    """Symbolic links to folders are not entered."""
    root = os.fsencode(common)
    count = 0
    for folder, _, names in os.walk(os.path.join(root, b"refs"), onerror=_unreadable):
        for leaf in names:
            file = os.path.join(folder, leaf)
            name = os.path.relpath(file, root)
            count += 1
            if count > _MAX_REFS:
                raise InputError(f"{common} has more than {_MAX_REFS:,} refs; run `git pack-refs`")
            if _WHOLE_REF.match(name) and (content := read_small(Path(os.fsdecode(file)), 4096)):
                yield name, content


def _unreadable(error: OSError) -> None:
    raise InputError(f"can't read {os.fsdecode(error.filename)}: {_reason(error)}") from error


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
