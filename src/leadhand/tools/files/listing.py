"""Lists the regular files at the input paths, within limits, and the files it skips (F17).

Folders are walked through descriptors, without following links. Only the first bytes of files with
an unknown suffix are read.
"""

import os
import stat
import unicodedata
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Final

from leadhand.errors import InputError
from leadhand.tools.files.opening import FileLocation, file_identity, opened_folder
from leadhand.tools.text import UnreadFile, size_text

HIDDEN: Final = "hidden"
_KERNEL_FOLDERS: Final = ("/proc", "/sys")
"""Their files look regular, but the kernel makes the content."""
MAX_NAME_CHARS: Final = 160
_BRACKETS: Final = str.maketrans("[]\\", "()_")
"""Citations are in square brackets, so names have none."""


@dataclass(frozen=True, slots=True)
class ListingLimits:
    """Files beyond these limits are skipped and reported."""

    max_files: int = 10_000
    max_entries: int = 100_000
    """Directory entries of any type, in all folders."""
    max_depth: int = 16
    """Levels of folders below an input folder."""
    max_bytes: int = 16 << 30
    """All files together."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    place: FileLocation
    shown: tuple[str, ...]
    """The parts of its name, starting with the input folder if there are several inputs."""
    size_bytes: int


@dataclass(slots=True)
class Listing:
    """The files found and skipped, in a stable order, each once."""

    limits: ListingLimits
    found: list[FoundFile] = field(default_factory=list[FoundFile])
    skipped: list[UnreadFile] = field(default_factory=list[UnreadFile])
    """By names that are cleaned for display; planners never see them."""
    _seen: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    _bytes: int = 0
    _entries: int = 0

    def add(self, found: FoundFile) -> None:
        if found.place.file_id in self._seen:
            return
        if len(self.found) >= self.limits.max_files:
            self.skip(found.shown, f"more than {self.limits.max_files:,} files")
        elif self._bytes + found.size_bytes > self.limits.max_bytes:
            self.skip(found.shown, f"more than {size_text(self.limits.max_bytes)} in all")
        else:
            self._seen.add(found.place.file_id)
            self._bytes += found.size_bytes
            self.found.append(found)

    def skip(self, shown: tuple[str, ...], why: str) -> None:
        self.skipped.append(UnreadFile(display_name(shown), why))

    def entries(self, folder: int, shown: tuple[str, ...]) -> list[os.DirEntry[str]]:
        """The entries of the open `folder`, by name, up to the limit of entries."""
        left = self.limits.max_entries - self._entries
        with os.scandir(folder) as scan:
            entries = list(islice(scan, left + 1))
        if len(entries) > left:
            self.skip(shown, f"more than {self.limits.max_entries:,} names in all; the rest of it")
            entries = entries[:left]
        self._entries += len(entries)
        return sorted(entries, key=lambda entry: entry.name)


def list_files(paths: Sequence[Path], limits: ListingLimits) -> Listing:
    """The regular files at `paths`. Raises `InputError` for a path that can't be read."""
    listing = Listing(limits)
    for path in paths:
        real, status = _resolved(path)
        if stat.S_ISREG(status.st_mode):
            listing.add(_handed_in(path, real, status))
        else:
            prefix = (real.name,) if len(paths) > 1 and real.name else ()
            for found in _walk(_Root(real, file_identity(status), prefix), listing):
                listing.add(found)
    return listing


def _resolved(path: Path) -> tuple[Path, os.stat_result]:
    """The real path of a file or folder: the user may name a link."""
    shown = repr(str(path))
    try:
        real = path.resolve(strict=True)
        status = real.stat()
    except (OSError, RuntimeError, ValueError) as error:
        why = "there is no such file or folder"
        if isinstance(error, PermissionError):
            why = "it can't be read with your permissions"
        raise InputError(f"input {shown}: {why}; check the path") from error
    if any(real.is_relative_to(folder) for folder in _KERNEL_FOLDERS):
        raise InputError(f"input {shown}: files of the kernel are not read; copy what you need")
    folder = stat.S_ISDIR(status.st_mode)
    if not folder and not stat.S_ISREG(status.st_mode):
        raise InputError(f"input {shown}: neither a file nor a folder; hand in a regular file")
    if not os.access(real, os.R_OK | os.X_OK if folder else os.R_OK):
        raise InputError(f"input {shown}: it can't be read with your permissions")
    return real, status


def _handed_in(path: Path, real: Path, status: os.stat_result) -> FoundFile:
    place = FileLocation(
        root=real.parent,
        root_id=file_identity(real.parent.stat()),
        parts=(real.name,),
        file_id=file_identity(status),
        sole_link=False,
    )
    return FoundFile(place, (path.name or real.name,), status.st_size)


@dataclass(frozen=True, slots=True)
class _Root:
    path: Path
    id: tuple[int, int]
    prefix: tuple[str, ...]


def _walk(root: _Root, listing: Listing) -> Iterator[FoundFile]:
    try:
        with opened_folder(root.path) as folder:
            yield from _walk_folder(root, (), folder, listing)
    except OSError as error:
        raise InputError(f"input {str(root.path)!r}: the folder can't be read") from error


def _walk_folder(
    root: _Root, path: tuple[str, ...], folder: int, listing: Listing
) -> Iterator[FoundFile]:
    for entry in listing.entries(folder, (*root.prefix, *path)):
        here = (*path, entry.name)
        shown = (*root.prefix, *here)
        try:
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode) and not entry.name.startswith("."):
                if why := _off_limits(status, root, len(here), listing.limits):
                    listing.skip(shown, why)
                    continue
                with opened_folder(entry.name, parent=folder) as inner:
                    yield from _walk_folder(root, here, inner, listing)
            elif why := _unfit(entry, status, folder):
                listing.skip(shown, why)
            else:
                place = FileLocation(
                    root.path, root.id, here, file_identity(status), sole_link=True
                )
                yield FoundFile(place, shown, status.st_size)
        except OSError:
            listing.skip(shown, "can't be read")


def _off_limits(
    status: os.stat_result, root: _Root, depth: int, limits: ListingLimits
) -> str | None:
    if depth > limits.max_depth:
        return f"more than {limits.max_depth} folders deep"
    return "on another file system" if status.st_dev != root.id[0] else None


def _unfit(entry: os.DirEntry[str], status: os.stat_result, folder: int) -> str | None:
    if entry.name.startswith("."):
        return HIDDEN
    if stat.S_ISLNK(status.st_mode):
        return "a symbolic link"
    if not stat.S_ISREG(status.st_mode):
        return "not a regular file"
    if status.st_nlink != 1:
        return "has a second name (a hard link)"
    if not os.access(entry.name, os.R_OK, dir_fd=folder):
        return "can't be read"
    return None


def legible(part: str) -> str:
    """One part of a path, safe to show: control, bidirectional and zero-width characters, and
    bytes that are not text, become `_`."""
    composed = unicodedata.normalize("NFC", part)
    shown = "".join(c if c.isprintable() or c.isspace() else "_" for c in composed)
    return " ".join(shown.translate(_BRACKETS).split()) or "_"


def display_name(parts: tuple[str, ...]) -> str:
    """The listed name of the file at `parts`: legible, and at most `MAX_NAME_CHARS` long."""
    name = "/".join(legible(part) for part in parts)
    if len(name) <= MAX_NAME_CHARS:
        return name
    half = MAX_NAME_CHARS // 2 - 1
    return f"{name[:half]}…{name[-half:]}"


def distinct(name: str, taken: Container[str]) -> str:
    """`name`, with a number if it is taken: `report (2).md`."""
    path = PurePosixPath(name)
    number, candidate = 1, name
    while candidate in taken:
        number += 1
        candidate = str(path.with_name(f"{path.stem} ({number}){path.suffix}"))
    return candidate
