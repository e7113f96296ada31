"""Writes reports to files, whole or not at all, and reads an earlier one as the baseline."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ValidationError

from leadhand import InputError
from leadhand.errors import ToolError
from leadhand.extension.output import safe
from leadhand_teams.review import DocumentFormat
from leadhand_teams.review.command.rendering import DOCUMENTS

MAX_BYTES = 64 << 20
_ADVICE = "give a file with the output of `leadhand review --json`"


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


class _Known(BaseModel, defer_build=True):
    """A finding of the earlier report, or one of its further places."""

    id: str
    places: "tuple[_Known, ...]" = ()


class _Output(BaseModel, defer_build=True):
    findings: tuple[_Known, ...]
    look: tuple[_Known, ...] = ()
    suppressed: tuple[_Known, ...]
    hidden_by_baseline: tuple[str, ...] = ()


class _Document(BaseModel, defer_build=True):
    """The part of the answer document that is read."""

    output: _Output


def load_baseline(path: Path) -> frozenset[str]:
    """The ids of all findings in the answer document at `path`: shown, suppressed and hidden.

    Raises `InputError` if the file can't be read, is too large or is not such a document.
    """
    name = safe(str(path))
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        # A name with a NUL in it raises ValueError, not OSError.
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"can't read the baseline {name}: {why}") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"the baseline {name} is larger than {MAX_BYTES >> 20} MiB: {_ADVICE}")
    try:
        output = _Document.model_validate_json(data).output
    except ValidationError as error:
        broken = any(problem["type"] == "json_invalid" for problem in error.errors())
        kind = "JSON" if broken else "a review report"
        raise InputError(f"the baseline {name} is not {kind}: {_ADVICE}") from error
    every = (*output.findings, *output.look, *output.suppressed)
    known = {one.id for finding in every for one in (finding, *finding.places)}
    return frozenset((known | set(output.hidden_by_baseline)) - {""})
