"""Opens a listed file, and no other, even if its folder was changed since (F17).

Each folder is opened relative to the one above it, without following links, and device and inode
are compared with those in the list.
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
"""Non-blocking, so that a pipe in place of the file can't block the reader."""


class FileReplaced(OSError):
    """The file at a location is not the one that was listed."""


@dataclass(frozen=True, slots=True)
class FileLocation:
    root: Path
    """The input folder, or the folder of an input file, without links."""
    root_id: tuple[int, int]
    parts: tuple[str, ...]
    file_id: tuple[int, int]
    sole_link: bool
    """Whether the file must not have a hard link: true for files found in a folder."""


def file_identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


@contextmanager
def opened_folder(name: str | Path, *, parent: int | None = None) -> Generator[int]:
    """A descriptor of the folder `name` in the folder `parent`; links are not followed."""
    folder = os.open(name, _FOLDER, dir_fd=parent)
    try:
        yield folder
    finally:
        os.close(folder)


def open_listed(place: FileLocation) -> BufferedReader:
    """Raises `FileReplaced` or another `OSError`."""
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
