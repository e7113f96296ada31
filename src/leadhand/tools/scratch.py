"""Scratch: temporary folders that are deleted when they are closed, or when the process is ended.

A second signal ends the process at once, and no clean-up of anybody's runs then.
"""

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

_folders: set[Path] = set()


@contextmanager
def scratch_folder(prefix: str = "leadhand-") -> Generator[Path]:
    """A new folder, for as long as the block lasts."""
    folder = new_scratch_folder(prefix)
    try:
        yield folder
    finally:
        remove_scratch_folder(folder)


def new_scratch_folder(prefix: str = "leadhand-") -> Path:
    """A new folder, until `remove_scratch_folder`."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    _folders.add(folder)
    return folder


def remove_scratch_folder(folder: Path) -> None:
    """Delete it with all that is in there."""
    shutil.rmtree(folder, ignore_errors=True)
    _folders.discard(folder)


def remove_scratch_folders() -> None:
    """Delete what there is: the process ends now."""
    for folder in tuple(_folders):
        remove_scratch_folder(folder)
