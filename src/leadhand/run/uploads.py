"""Uploaded files: notes of the journal, and files of this process while it works on their run."""

import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator

from leadhand.errors import JournalError, ToolError
from leadhand.journal.notes import notes_of
from leadhand.ports import Journal

MAX_NAME_BYTES = 200
_UNFIT = re.compile("[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff/\\\\]")
"""Separators of paths and lines, controls, and what changes the direction of text."""


def fit(name: str) -> str:
    """`name`. Raises `ValueError` if no file of a run may have it."""
    if not name or name[0] == "." or _UNFIT.search(name) or len(name.encode()) > MAX_NAME_BYTES:
        raise ValueError(
            f"must have plain names of at most {MAX_NAME_BYTES} bytes, without a path, control "
            f"characters and a dot before it, and not {name!a:.60}"
        )
    return name


Uploads = Mapping[Annotated[str, AfterValidator(fit)], bytes]
"""The files by their names."""


def digests(uploads: Mapping[str, bytes]) -> dict[str, str]:
    return {name: hashlib.blake2b(one, digest_size=16).hexdigest() for name, one in uploads.items()}


async def keep(journal: Journal, run_id: str, uploads: Mapping[str, bytes]) -> None:
    """Keep files until their run is deleted, for any process that works on it."""
    kept = await journal.notes(_folder_note(run_id))  # of a process that died before it began
    for name, content in uploads.items():
        key = f"{_folder_note(run_id)}{name}"
        if not await journal.swap_note(key, kept.get(key), content):
            raise JournalError(f"run {run_id!r}: another process writes the file {name!a:.60}")


async def kept_files(journal: Journal, run_id: str) -> dict[str, bytes]:
    """The uploaded files of a run, by their names."""
    folder = _folder_note(run_id)
    notes = await journal.notes(folder)
    return {key.removeprefix(folder): content for key, content in notes.items()}


@asynccontextmanager
async def as_files(
    journal: Journal, run_id: str, names: Sequence[str]
) -> AsyncGenerator[tuple[str, ...]]:
    """The paths of a run's uploaded files, which are there during the block, for this user alone.

    The same in all processes of a user with the same TMPDIR, because plans name them. Raises
    `JournalError` if one is gone, and `ToolError` if they can't be written.
    """
    if not names:
        yield ()
        return
    from leadhand.threads import DaemonThreads  # which imports the engine

    found = await kept_files(journal, run_id)
    files = {name: found[name] for name in names if name in found}
    if gone := sorted({*names} - files.keys()):
        raise JournalError(f"run {run_id!r}: the uploaded file {gone[0]!a} is gone")
    folder = Path(tempfile.gettempdir()) / f"leadhand-{os.getuid()}" / run_id
    try:
        await DaemonThreads(idle_s=0.0).call(_write, (folder, files), name="uploads", quiet=True)
        yield tuple(str(folder / name) for name in names)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _folder_note(run_id: str) -> str:
    return f"{notes_of(run_id)}file/"


def _write(given: tuple[Path, Mapping[str, bytes]]) -> None:
    folder, files = given
    base = folder.parent
    try:
        base.mkdir(mode=0o700, exist_ok=True)
        found = base.lstat()
        ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
        if not ours or found.st_mode & 0o077:
            raise ToolError(
                f"uploaded files can't be put into {base}: it is not a folder of this user alone; "
                "remove it, or set TMPDIR"
            )
        shutil.rmtree(folder, ignore_errors=True)  # of a process that was killed
        folder.mkdir(mode=0o700)
        for name, content in files.items():
            descriptor = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with open(descriptor, "wb") as file:
                file.write(content)
    except OSError as error:
        raise ToolError(f"uploaded files can't be put into {base}: {error.strerror}") from error
