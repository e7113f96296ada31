"""Reads regular files of a work tree without following links and without blocking (F17).

Every folder is opened relative to the one above it, so that a change between check and use cannot
lead out of the work tree.
"""

import hashlib
import os
import stat
import zlib
from dataclasses import dataclass
from pathlib import Path

from leadhand.errors import InputError
from leadhand.tools.git.bare_repository import BIG_FILE_BYTES
from leadhand.tools.git.comparison import SYMLINK

REGULAR = "100644"
_READ_BYTES = 1 << 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class UnreadableFile(Exception):
    """A file or one of its folders can't be read; `why` is the system's reason."""

    def __init__(self, why: str) -> None:
        self.why = why
        super().__init__(why)


class SpecialFile(Exception):
    """The path is neither a file, nor a link, nor a folder."""


@dataclass(frozen=True, slots=True)
class FileContent:
    kind: str | None
    """Git's mode for it, without the executable bit; None if there is no file or link."""
    oid: str = ""
    """The id that git gives it without filters."""
    lf_oid: str = ""
    """The id of the content with `\\n` line ends."""
    data: bytes | None = None
    """The content; None if it is larger than `BIG_FILE_BYTES`."""


NO_CONTENT = FileContent(None)


class FolderReader:
    """Reads files below a folder; it is fast for paths in git's order, which share open folders."""

    def __init__(self, folder: Path) -> None:
        try:
            self._root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise InputError(f"can't read {folder}: {error.strerror}") from error
        self._open: list[tuple[bytes, int]] = []

    def __enter__(self) -> "FolderReader":
        return self

    def __exit__(self, *_: object) -> None:
        self._close_down_to(0)
        os.close(self._root)

    def read(self, name: bytes, *, sha256: bool) -> FileContent:
        """The file or link at `name`. Raises `UnreadableFile` or `SpecialFile`."""
        *folders, leaf = name.split(b"/")
        try:
            parent = self._parent(folders)
            mode = os.stat(leaf, dir_fd=parent, follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                target = os.readlink(leaf, dir_fd=parent)
                oid = blob_id(target, sha256=sha256)
                return FileContent(SYMLINK, oid, oid, target)
            if stat.S_ISDIR(mode):
                return NO_CONTENT
            if not stat.S_ISREG(mode):
                raise SpecialFile
            handle = os.open(leaf, _FILE, dir_fd=parent)
        except (FileNotFoundError, NotADirectoryError):
            return NO_CONTENT
        except OSError as error:
            raise UnreadableFile((error.strerror or str(error)).lower()) from error
        with os.fdopen(handle, "rb", buffering=0) as file:
            facts = os.fstat(handle)
            if not stat.S_ISREG(facts.st_mode):
                raise SpecialFile
            if facts.st_size > BIG_FILE_BYTES:
                digest = hashlib.sha256() if sha256 else hashlib.sha1(usedforsecurity=False)
                digest.update(b"blob %d\0" % facts.st_size)
                while chunk := file.read(_READ_BYTES):
                    digest.update(chunk)
                return FileContent(REGULAR, digest.hexdigest())
            data = file.read(BIG_FILE_BYTES + 1)
        oid = blob_id(data, sha256=sha256)
        lf_oid = oid
        if b"\r\n" in data:
            lf_oid = blob_id(data.replace(b"\r\n", b"\n"), sha256=sha256)
        return FileContent(REGULAR, oid, lf_oid, data if len(data) <= BIG_FILE_BYTES else None)

    def sha256(self, name: bytes) -> str | None:
        """None if there is no readable file."""
        *folders, leaf = name.split(b"/")
        try:
            handle = os.open(leaf, _FILE, dir_fd=self._parent(folders))
        except OSError:
            return None
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                return None
            return hashlib.file_digest(file, "sha256").hexdigest()

    def _parent(self, folders: list[bytes]) -> int:
        same = 0
        while same < min(len(folders), len(self._open)) and self._open[same][0] == folders[same]:
            same += 1
        self._close_down_to(same)
        for folder in folders[same:]:
            above = self._open[-1][1] if self._open else self._root
            self._open.append((folder, os.open(folder, _FOLDER, dir_fd=above)))
        return self._open[-1][1] if self._open else self._root

    def _close_down_to(self, depth: int) -> None:
        while len(self._open) > depth:
            os.close(self._open.pop()[1])


def blob_id(data: bytes, *, sha256: bool) -> str:
    """Git's id of a file with this content."""
    return object_id(b"blob %d\0" % len(data) + data, sha256=sha256)


def object_id(whole: bytes, *, sha256: bool) -> str:
    if sha256:
        return hashlib.sha256(whole).hexdigest()
    return hashlib.sha1(whole, usedforsecurity=False).hexdigest()


def write_blob(git_dir: Path, oid: str, data: bytes) -> None:
    write_object(git_dir, oid, b"blob %d\0" % len(data) + data)


def write_object(git_dir: Path, oid: str, whole: bytes) -> None:
    file = git_dir / "objects" / oid[:2] / oid[2:]
    if not file.exists():
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(zlib.compress(whole, 1))
