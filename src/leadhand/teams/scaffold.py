"""`teams new`: a small team that works, in a folder of its own, to be changed into another one."""

import os
import shutil
import tempfile
from pathlib import Path

from leadhand.errors import InputError
from leadhand.teams.draft import TEAM_FILE
from leadhand.teams.schema import FOLDER as SCHEMAS

_TEMPLATE = Path(__file__).parent / "scaffold" / "support"


def create(folder: Path) -> Path:
    """The folder with a new team in it; it is there complete or not at all.

    An empty folder is filled. Raises `InputError` where there is something already, or where
    nothing can be written.
    """
    try:
        place = folder.resolve()
        if place.exists():
            _check_empty(place, folder)
            _fill(place)
        else:
            _make(place, folder)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"no team can be made in {str(folder)!r}: {why}") from error
    return folder


def _check_empty(place: Path, folder: Path) -> None:
    if not place.is_dir():
        raise InputError(f"{str(folder)!r} is there already and is no folder: name another")
    if any(place.iterdir()):
        raise InputError(f"folder {str(folder)!r} is not empty: name one that is not there yet")


def _make(place: Path, folder: Path) -> None:
    if not place.parent.is_dir():
        raise InputError(
            f"there is no folder {str(folder.parent)!r} to make {place.name!r} in: make it first"
        )
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".new-team-") as beside:
        _write(Path(beside) / "team").rename(place)


def _fill(place: Path) -> None:
    """Write into a folder that is there: it may be where the user's shell is, so it is kept."""
    with tempfile.TemporaryDirectory(dir=place, prefix=".new-team-") as beside:
        written = _write(Path(beside) / "team")
        # What makes it a team comes last.
        names = sorted(os.listdir(written), key=lambda name: name == TEAM_FILE)
        for name in names:
            (written / name).rename(place / name)


def _write(folder: Path) -> Path:
    # File by file: folders of an installed package may be read-only, and these must not be.
    for source, target in ((_TEMPLATE, folder), (SCHEMAS, folder / SCHEMAS.name)):
        for file in sorted(source.rglob("*")):
            if file.is_file() and file.suffix != ".pyc":
                there = target / file.relative_to(source)
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, there)
    return folder
