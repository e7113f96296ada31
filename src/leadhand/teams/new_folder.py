"""Makes a new folder of a team, completely or not at all, and overwrites nothing."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from leadhand.errors import InputError
from leadhand.teams.draft import TEAM_FILE


def fill_new(folder: Path, write: Callable[[Path], None]) -> Path:
    """Create `folder` with what `write` puts into a folder that it is given, which doesn't exist.

    An empty folder is filled. Raises `InputError` if the folder is not empty or can't be written.
    """
    try:
        place = folder.resolve()
        if place.exists():
            _check_empty(place, folder)
            _fill(place, write)
        else:
            _make(place, folder, write)
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(f"no team can be made in {str(folder)!r}: {why}") from error
    return folder


def _check_empty(place: Path, folder: Path) -> None:
    if not place.is_dir():
        raise InputError(f"{str(folder)!r} exists and is not a folder: name another")
    if any(place.iterdir()):
        raise InputError(f"folder {str(folder)!r} is not empty: name one that does not exist yet")


def _make(place: Path, folder: Path, write: Callable[[Path], None]) -> None:
    if not place.parent.is_dir():
        raise InputError(
            f"there is no folder {str(folder.parent)!r} to make {place.name!r} in: make it first"
        )
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".new-team-") as beside:
        written = Path(beside) / "team"
        write(written)
        written.rename(place)


def _fill(place: Path, write: Callable[[Path], None]) -> None:
    """Write into an existing folder. It is not replaced, because a shell may be in it."""
    with tempfile.TemporaryDirectory(dir=place, prefix=".new-team-") as beside:
        written = Path(beside) / "team"
        write(written)
        # The file that makes it a team comes last.
        names = sorted(os.listdir(written), key=lambda name: name == TEAM_FILE)
        for name in names:
            (written / name).rename(place / name)
