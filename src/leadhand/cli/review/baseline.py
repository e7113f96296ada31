"""Reads and writes the report of a review as a baseline, whose findings a later one leaves out.

Only the ids of its findings are read.
"""

import os
import tempfile
from pathlib import Path

from pydantic import BaseModel, ValidationError

from leadhand.cli.views.terminal import safe
from leadhand.errors import InputError, ToolError

MAX_BYTES = 64 << 20
_ADVICE = "give a file with the output of `leadhand review --json`"


class _Known(BaseModel):
    """A finding of the earlier report."""

    id: str


class _Output(BaseModel):
    findings: tuple[_Known, ...]
    look: tuple[_Known, ...] = ()
    suppressed: tuple[_Known, ...]
    hidden_by_baseline: tuple[str, ...] = ()


class _Document(BaseModel):
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
    known = {finding.id for finding in (*output.findings, *output.look, *output.suppressed)}
    return frozenset((known | set(output.hidden_by_baseline)) - {""})


def check_writable(path: Path) -> None:
    """Raise `InputError` if no baseline can be written to `path`, before any work is done."""
    folder = path.parent
    if path.is_dir() or (path.exists() and not path.is_file()):
        raise InputError(f"can't write the baseline {safe(str(path))}: it is not a file")
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise InputError(
            f"can't write the baseline {safe(str(path))}: {safe(str(folder))} is not a folder that "
            "you can write to"
        )


def write_baseline(path: Path, document: str) -> None:
    """Write the answer document of a review to `path`: whole, or not at all."""
    try:
        # A file of its own in the same folder: only within one file system is a move atomic.
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=f".{path.name}.", delete=False
        ) as file:
            try:
                file.write(document)
                file.flush()
                os.fsync(file.fileno())
                os.chmod(file.name, path.stat().st_mode if path.exists() else 0o644)
                os.replace(file.name, path)
            except BaseException:
                os.unlink(file.name)
                raise
    except OSError as error:
        why = error.strerror or str(error)
        raise ToolError(f"can't write the baseline {safe(str(path))}: {why}") from error
