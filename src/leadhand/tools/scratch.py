"""Temporary folders that are deleted after use, or when the process ends, cleanly or not."""

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_folders: set[Path] = set()


@contextmanager
def scratch_folder(prefix: str = "leadhand-") -> Generator[Path]:
    folder = new_scratch_folder(prefix)
    try:
        yield folder
    finally:
        remove_scratch_folder(folder)


def new_scratch_folder(prefix: str = "leadhand-") -> Path:
    """A new folder that exists until `remove_scratch_folder`."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    _folders.add(folder)
    return folder


def remove_scratch_folder(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    _folders.discard(folder)


def remove_scratch_folders() -> None:
    """Delete all folders, because the process is about to end."""
    for folder in tuple(_folders):
        remove_scratch_folder(folder)
