"""Opens one listed file, and no other, whatever became of its folder since (row F17).

Every part of the way is opened from the part before it and no link is followed, so what a path
meant when it was listed is what is read. Nothing here takes a path from a model.
"""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Final

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
"""Not blocking, so that a pipe put in a file's place can't hold the reader."""


class FileReplaced(OSError):
    """What is at a listed place now is not what was listed."""


@dataclass(frozen=True, slots=True)
class FileLocation:
    """Where a listed file is, and by what it is known again."""

    root: Path
    """The folder handed in, or the one that holds the file handed in; no links in it."""
    root_id: tuple[int, int]
    parts: tuple[str, ...]
    """The way from `root` to the file."""
    file_id: tuple[int, int]
    """Device and inode of the file."""
    sole_link: bool
    """Whether the file may have no second name: one found in a folder may not."""


def file_identity(status: os.stat_result) -> tuple[int, int]:
    """Device and inode: the same pair is the same file."""
    return status.st_dev, status.st_ino


@contextmanager
def opened_folder(name: str | Path, *, parent: int | None = None) -> Generator[int]:
    """A descriptor of the folder `name` (within the folder `parent`), never through a link."""
    folder = os.open(name, _FOLDER, dir_fd=parent)
    try:
        yield folder
    finally:
        os.close(folder)


def open_listed(place: FileLocation) -> BufferedReader:
    """The file at `place` for reading; raises `FileReplaced` or another `OSError`."""
    folder = os.open(place.root, _FOLDER)
    try:
        if file_identity(os.fstat(folder)) != place.root_id:
            raise FileReplaced("its folder is another one than when it was handed in")
        for part in place.parts[:-1]:
            inner = os.open(part, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        file = os.open(place.parts[-1], _FILE, dir_fd=folder)
    finally:
        os.close(folder)
    try:
        _check(os.fstat(file), place)
        return os.fdopen(file, "rb")
    except BaseException:
        with suppress(OSError):
            os.close(file)
        raise


def _check(status: os.stat_result, place: FileLocation) -> None:
    if not stat.S_ISREG(status.st_mode) or file_identity(status) != place.file_id:
        raise FileReplaced("it was replaced since it was handed in")
    if place.sole_link and status.st_nlink != 1:
        raise FileReplaced("it was given a second name (a hard link) since it was handed in")
