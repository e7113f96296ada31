"""Finds pipes, devices and the like: git opens some files without a check and would block (F42)."""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from leadhand.errors import ToolError
from leadhand.tools.git.discovery import FoundRepository, read_small

_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_LOOSE = re.compile(r"[0-9a-f]{2}\Z")
_MAX_STORES = 20
"""Object stores that are checked of one repository and its alternates; git follows five levels."""


def check_object_stores(found: FoundRepository) -> None:
    """Raises `ToolError` for a special file."""
    stores = [found.objects]
    for store in stores:
        for folder in _folders(store):
            for entry in _entries(folder):
                if not entry.is_dir() and (kind := special_kind(entry)) is not None:
                    raise ToolError(
                        f"{entry.path} is {kind}: git would wait for it; "
                        "remove it, or hand in a patch with --diff"
                    )
        for line in (read_small(store / "info" / "alternates") or b"").split(b"\n"):
            if b"\0" in line:
                continue  # git takes none of such a file either
            other = Path(os.path.normpath(store / os.fsdecode(line.strip())))
            if line.strip() and other not in stores and len(stores) < _MAX_STORES:
                stores.append(other)


def special_ignore_file(folder: Path) -> str | None:
    """A `.gitignore` below `folder` that is no regular file; like git, follows no links."""
    open_folders = [os.fspath(folder)]
    while open_folders:
        for entry in _entries(open_folders.pop()):
            if entry.name == ".gitignore" and special_kind(entry) is not None:
                return os.path.relpath(entry.path, folder)
            if entry.name != ".git" and entry.is_dir(follow_symlinks=False):
                open_folders.append(entry.path)
    return None


def special_kind(entry: os.DirEntry[str]) -> str | None:
    """The type of `entry` if it is a special file; None for files, folders and missing ones."""
    try:
        if entry.is_file():  # a system call only for links
            return None
        mode = entry.stat().st_mode
    except OSError:
        return None
    return next((words for test, words in _KINDS if test(mode)), None)


def _folders(store: Path) -> Iterator[str]:
    yield from (os.fspath(store / name) for name in ("info", "info/commit-graphs", "pack"))
    yield from (entry.path for entry in _entries(os.fspath(store)) if _LOOSE.match(entry.name))


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return
