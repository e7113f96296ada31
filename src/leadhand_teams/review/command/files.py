"""Writes reports to files: whole, or not at all."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from leadhand import InputError
from leadhand.errors import ToolError
from leadhand.extension.output import safe
from leadhand_teams.review import DocumentFormat
from leadhand_teams.review.command.rendering import DOCUMENTS


def also_files(given: Iterable[str]) -> dict[DocumentFormat, str]:
    """Format -> absolute path, of what `--also` was given. Raises `InputError`."""
    files: dict[DocumentFormat, str] = {}
    known: dict[str, DocumentFormat] = {format: format for format in DOCUMENTS}
    for text in given:
        kind, _, name = text.partition("=")
        format = known.get(kind)
        if format is None or not name:
            raise InputError(
                f"--also {safe(text)}: give FORMAT=FILE, with {', '.join(known)} as format"
            )
        if format in files:
            raise InputError(f"--also {safe(text)}: {format} is given twice")
        check_writable(Path(name))
        files[format] = os.path.abspath(name)
    return files


def check_apart(written: Iterable[str | Path], read: Iterable[str | Path]) -> None:
    """Raise `InputError` if a file would be written twice, or is one that the review reads."""
    taken = {os.path.realpath(file): "the review reads it" for file in read}
    for file in written:
        place = os.path.realpath(file)
        if place in taken:
            raise InputError(f"can't write {safe(str(file))}: {taken[place]}")
        taken[place] = "another report goes there"


def check_writable(path: Path) -> None:
    """Raise `InputError` if `path` can't be written, before any work is done."""
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise InputError(f"can't write {safe(str(path))}: it is not a file")
    folder = path.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError(
            f"can't write {safe(str(path))}: {safe(str(folder))} is not a folder that you can "
            "write to"
        )


def write_whole(path: Path, text: str) -> None:
    """Write `text` to `path`, which changes only once all of it is on disk."""
    try:
        # A file of its own in the same folder: only within one file system is a move atomic.
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            try:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
                os.chmod(file.name, path.stat().st_mode if path.exists() else 0o644)
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        why = error.strerror or str(error)
        raise ToolError(f"can't write {safe(str(path))}: {why}") from error
