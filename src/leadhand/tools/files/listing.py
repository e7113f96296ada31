"""Finds the regular files in what was handed in, within bounds, and says what it left out (F17).

Folders are walked through descriptors and no link is followed. Nothing is read but directories
and, where a suffix says nothing, the first bytes of a file.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from leadhand.errors import InputError
from leadhand.tools.files.names import display_name
from leadhand.tools.files.opening import FileLocation, file_identity, opened_folder
from leadhand.tools.text import size_text

HIDDEN: Final = "hidden"
"""Why a file whose name begins with a dot is skipped: by convention, nobody means it."""
_KERNEL_FOLDERS: Final = ("/proc", "/sys")
"""Where reading a file that looks regular asks the kernel instead."""


@dataclass(frozen=True, slots=True)
class ListingLimits:
    """How much may be handed in at once; what is beyond is skipped and said so."""

    max_files: int = 10_000
    max_entries: int = 100_000
    """Names looked at in all folders, of whatever sort."""
    max_depth: int = 16
    """Folders below the one handed in."""
    max_bytes: int = 16 << 30
    """All files together."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A regular file that was handed in."""

    place: FileLocation
    shown: tuple[str, ...]
    """The parts of its name: with the folder's own in front where several were handed in."""
    size_bytes: int


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """Something among the files that is not read."""

    name: str
    """Made legible, for people: a planner never sees it."""
    why: str


@dataclass(slots=True)
class Listing:
    """What was found and what was left out, in a stable order, each file once."""

    bounds: ListingLimits
    found: list[FoundFile] = field(default_factory=list[FoundFile])
    skipped: list[SkippedFile] = field(default_factory=list[SkippedFile])
    _seen: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    _bytes: int = 0
    _entries: int = 0

    def add(self, found: FoundFile) -> None:
        """Takes `found`, unless it is there already or goes beyond a bound."""
        if found.place.file_id in self._seen:
            return
        if len(self.found) >= self.bounds.max_files:
            self.skip(found.shown, f"more than {self.bounds.max_files:,} files")
        elif self._bytes + found.size_bytes > self.bounds.max_bytes:
            self.skip(found.shown, f"more than {size_text(self.bounds.max_bytes)} in all")
        else:
            self._seen.add(found.place.file_id)
            self._bytes += found.size_bytes
            self.found.append(found)

    def skip(self, shown: tuple[str, ...], why: str) -> None:
        self.skipped.append(SkippedFile(display_name(shown), why))

    def entries(self, folder: int, shown: tuple[str, ...]) -> list[os.DirEntry[str]]:
        """What the open `folder` holds, by name, as far as the bound on entries allows."""
        left = self.bounds.max_entries - self._entries
        with os.scandir(folder) as scan:
            entries = list(islice(scan, left + 1))
        if len(entries) > left:
            self.skip(shown, f"more than {self.bounds.max_entries:,} names in all; the rest of it")
            entries = entries[:left]
        self._entries += len(entries)
        return sorted(entries, key=lambda entry: entry.name)


def list_files(paths: Sequence[Path], bounds: ListingLimits) -> Listing:
    """The regular files that `paths` name; raises `InputError` for a path that can't be had."""
    listing = Listing(bounds)
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
    """Where `path` leads (a person may name a link) and what is there: a file or a folder."""
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
    root: _Root, way: tuple[str, ...], folder: int, listing: Listing
) -> Iterator[FoundFile]:
    for entry in listing.entries(folder, (*root.prefix, *way)):
        here = (*way, entry.name)
        shown = (*root.prefix, *here)
        try:
            status = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode) and not entry.name.startswith("."):
                if why := _off_limits(status, root, len(here), listing.bounds):
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
    status: os.stat_result, root: _Root, depth: int, bounds: ListingLimits
) -> str | None:
    if depth > bounds.max_depth:
        return f"more than {bounds.max_depth} folders deep"
    return "on another file system" if status.st_dev != root.id[0] else None


def _unfit(entry: os.DirEntry[str], status: os.stat_result, folder: int) -> str | None:
    """Why an entry of a folder is not one of the files, if so."""
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
